// Package usagepage has the page of the window that sums up tokens and cost.
package usagepage

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"rollcall/adapters"
	"rollcall/app"
	"rollcall/app/describe"
	"rollcall/app/present"
	"rollcall/app/settings"
	"rollcall/app/ui/widgets"
	"rollcall/app/usage"
)

// Window is what the page needs of the window.
type Window struct {
	*widgets.Host
	Agents     []adapters.Adapter // whose limits are shown
	Settings   func() settings.Settings
	History    func(ctx context.Context, since time.Time) *app.Snapshot // reads the sessions that were active since a time; a zero time means all
	ShowAgents func()                                                   // opens the page with the health of the agents
}

// Page sums up tokens and cost as a chart and a table. It reads the sessions when it is opened.
type Page struct {
	Content fyne.CanvasObject
	window  Window
	by      *widgets.Choice[usage.By]
	since   *widgets.Choice[int] // in days; 0: all
	total   *widget.Label
	figures []*widgets.Line // today, 7 days, cost, share of the cache
	costed  *widgets.Line   // of which sessions the cost is known
	problem *widgets.Banner
	body    *widgets.Stage
	chart   *widgets.Chart
	header  *fyne.Container
	list    *widgets.List
	table   fyne.CanvasObject

	read   *reading // the last result; nil: none yet
	rows   usage.Table
	cancel context.CancelFunc // ends the reading; nil: nothing is being read
	limits *limitStrip
}

// reading is one result of reading the sessions.
type reading struct {
	days     int
	since    time.Time // usage before this time does not count
	snapshot *app.Snapshot
	projects usage.Projects
}

// names are the ways to group sessions, in the order of usage.Ways.
var names = []string{"By day", "By project", "By agent", "By model", "By branch", "By group", "By home", "By session"}

// New returns the page, which has read nothing yet.
func New(w Window) *Page {
	p := &Page{window: w, limits: newLimitStrip()}
	p.by = widgets.NewChoice(w.Host, names, usage.Ways, 0, p.Show)
	p.since = widgets.NewChoice(w.Host, []string{"Last 7 days", "Last 30 days", "Last year", "All time"}, []int{7, 30, 365, 0}, 1, p.Look)
	p.total = widgets.Hint("")
	p.total.SizeName = theme.SizeNameCaptionText
	details := w.NewButton("Details", nil, w.ShowAgents)
	p.problem = widgets.NewBanner("waiting", details)
	p.chart = widgets.NewChart()
	p.header = newCells(theme.SizeNameCaptionText, true)
	setCells(p.header, []string{"", "Sessions", "Turns", "Input", "Output", "Cache read", "Cache write", "Reasoning", "Cost"}, widgets.ColorMuted)
	p.list = w.NewList()
	p.list.Length = func() int { return len(p.rows.Rows) }
	p.list.CreateItem = func() fyne.CanvasObject {
		return widgets.Pad(4, 4, 0, 12, newCells(theme.SizeNameText, false))
	}
	p.list.UpdateItem = func(i widget.ListItemID, o fyne.CanvasObject) {
		if i < len(p.rows.Rows) {
			setCells(o.(*fyne.Container).Objects[0].(*fyne.Container), p.cells(&p.rows.Rows[i]), theme.ColorNameForeground)
		}
	}
	p.list.OnSelected = func(widget.ListItemID) { p.list.UnselectAll() }
	p.table = p.frame()
	p.body = widgets.NewStage()
	top := widgets.Rows(10, widgets.Headline("Usage"), widgets.Inset(widgets.Rows(6, widgets.Flow(p.by.List, p.since.List), p.problem.Content)), p.total, widgets.Inset(p.limits.content))
	p.Content = widgets.Centred(pageWidth, widgets.Border(top, nil, nil, p.body.Content))
	p.Show()
	return p
}

// leastTable is the height of the table that the chart leaves, and leastChart that below which it is left out, in a low window.
const leastTable, leastChart = 150, 80

// frame arranges the figures, the chart and the table.
func (p *Page) frame() *fyne.Container {
	figures, chart := widgets.Pad(8, 8, 6, 6, p.figuresRow()), widgets.Inset(p.chart)
	names, header := widgets.Pad(0, 0, 3, 6, legend()), widgets.Rows(4, widgets.Pad(4, 0, 6, 12, p.header), widgets.Inset(widget.NewSeparator()))
	list := widgets.Pad(0, 0, 6, 0, p.list) // its bar is beside the rows
	return container.New(widgets.Layout{Arrange: func(_ []fyne.CanvasObject, size fyne.Size) {
		high := min(p.chart.MinSize().Height, size.Height-figures.MinSize().Height-names.MinSize().Height-header.MinSize().Height-leastTable)
		names.Hidden, chart.Hidden = high < leastChart, high < leastChart
		y := float32(0)
		for _, o := range []*fyne.Container{figures, chart, names, header, list} {
			height := o.MinSize().Height
			switch o {
			case chart:
				height = high
			case list:
				height = size.Height - y
			}
			if o.Visible() {
				widgets.Place(o, 0, y, size.Width, height)
				y += height
			}
		}
	}, Least: func([]fyne.CanvasObject) fyne.Size { return figures.MinSize().Max(header.MinSize()) }}, figures, chart, names, header, list)
}

// pageWidth is the largest width of the page.
const pageWidth = 900

// figuresRow returns the four figures above the chart, each below its name.
func (p *Page) figuresRow() fyne.CanvasObject {
	row := container.NewGridWithColumns(4)
	p.costed = widgets.NewCaption("")
	for _, name := range []*widgets.Line{widgets.NewCaption("Today"), widgets.NewCaption("7 days"), p.costed, widgets.NewCaption("Read from cache")} {
		value := widgets.NewLine("", theme.ColorNameForeground, theme.SizeNameHeadingText, fyne.TextStyle{Bold: true})
		p.figures = append(p.figures, value)
		row.Add(widgets.Rows(0, name, value))
	}
	return row
}

// partNames are the names of the parts of a bar.
var partNames = [3]string{"input", "output", "cache"}

// legend names the colours of the bars.
func legend() fyne.CanvasObject {
	row := widgets.Columns(6)
	for i, name := range partNames {
		row.Add(container.NewCenter(widgets.NewImage(widgets.NewIcon("stopped", widgets.ChartColors[i]), 14)))
		row.Add(widgets.NewCaption(name).Whole())
	}
	return row
}

// showFigures shows the figures of what was read. The days are local ones, the last 7 with today.
func (p *Page) showFigures() {
	now := p.window.Now().Local()
	days := p.sum(usage.ByDay)
	today, week := days.Recent(now)
	t, share := &days.Total, "–"
	if input := t.Tokens.Input + t.Tokens.CacheRead + t.Tokens.CacheWrite; input > 0 {
		share = fmt.Sprintf("%.0f %%", 100*float64(t.Tokens.CacheRead)/float64(input))
	}
	p.costed.Set("Cost"+present.When(t.Costed < t.Sessions, fmt.Sprintf(", %d of %d", t.Costed, t.Sessions)), widgets.ColorMuted) // a longer text is cut in a narrow window
	for i, text := range []string{present.ShortCount(float64(today)), present.ShortCount(float64(week)), strings.TrimPrefix(present.Cost(t.CostUSD, t.Costed, t.Sessions), "at least "), share} {
		p.figures[i].Set(text, theme.ColorNameForeground)
	}
}

// chartBar returns the bar of a row.
func chartBar(label string, r *usage.Row) widgets.ChartBar {
	cache := r.Tokens.CacheRead + r.Tokens.CacheWrite
	written := r.All() - r.Tokens.Input - cache
	return widgets.ChartBar{Label: label, Parts: [3]float64{float64(r.Tokens.Input), float64(written), float64(cache)},
		Tip: fmt.Sprintf("%s: %s · input %s · output %s · cache read %s, written %s", label, present.Tokens(r.All()), present.Count(r.Tokens.Input),
			present.Count(written), present.Count(r.Tokens.CacheRead), present.Count(r.Tokens.CacheWrite))}
}

// columnWidths are the widths of the columns after the first. spareColumns are the columns that a narrow window leaves out, those of the cache first: the cost is
// what people look for.
var columnWidths, spareColumns = []float32{52, 44, 78, 66, 84, 74, 68, 92}, []int{6, 5, 7, 2, 1, 4, 3}

func newCells(size fyne.ThemeSizeName, isHeader bool) *fyne.Container {
	style := fyne.TextStyle{Bold: isHeader}
	row := widgets.Cells(columnWidths, spareColumns, widgets.NewLine("", theme.ColorNameForeground, size, style).Path())
	for range columnWidths {
		row.Add(widgets.NewLine("", theme.ColorNameForeground, size, style).Trailing())
	}
	return row
}

func setCells(row *fyne.Container, texts []string, color fyne.ThemeColorName) {
	for i, text := range texts {
		row.Objects[i].(*widgets.Line).Set(text, color)
	}
}

// cells returns the texts of a row.
func (p *Page) cells(r *usage.Row) []string {
	return []string{present.UsageKey(string(p.rows.By), present.Tail(r.Name(), describe.MaxText)), strconv.Itoa(r.Sessions), present.Count(int64(r.Turns)), present.Count(r.Tokens.Input), present.Count(r.Tokens.Output),
		present.Count(r.Tokens.CacheRead), present.Count(r.Tokens.CacheWrite), present.Count(r.Tokens.Reasoning),
		present.Cost(r.CostUSD, r.Costed, r.Sessions)}
}

// Look reads the sessions again. The earlier result stays visible if it is of the same period.
func (p *Page) Look() {
	widgets.Call(p.cancel)
	var ctx context.Context
	ctx, p.cancel = context.WithCancel(p.window.Context)
	days := p.since.Value()
	if p.read != nil && p.read.days != days {
		p.read = nil
	}
	p.Show()
	period := app.All
	if days > 0 {
		period = time.Duration(days) * 24 * time.Hour
	}
	since := usage.Start(p.window.Now(), period)
	p.limits.read(&p.window)
	widgets.InBackground(ctx, p.window.Host, func(ctx context.Context) (*reading, error) {
		s := p.window.History(ctx, since)
		return &reading{days, since, s, usage.ProjectsOf(s.Sessions())}, nil
	}, func(read *reading, _ error) {
		p.cancel()
		p.cancel = nil
		p.read = read
		p.Show()
	})
}

// sum sums up what was read.
func (p *Page) sum(by usage.By) usage.Table {
	return usage.Of(p.read.snapshot.Sessions(), usage.Query{By: by, Prices: p.window.Settings().Prices, Since: p.read.since, Projects: p.read.projects})
}

// Show shows what was read, grouped as selected.
func (p *Page) Show() {
	p.rows = usage.Table{By: p.by.Value()}
	if p.read != nil {
		p.rows = p.sum(p.by.Value())
	}
	banner, total, has := p.draw()
	if p.problem.Set(banner) {
		p.Content.Refresh()
	}
	widgets.SetLabel(p.total, total)
	again := p.window.NewButton("Refresh", widgets.PlainIcon("refresh"), p.Look)
	switch {
	case has:
		p.body.Show(p.table)
	case p.read == nil:
		p.body.Say(widgets.Message{Busy: true, Title: "Summing up…", Text: "Rollcall reads the totals of all sessions."})
	case describe.Problems(p.read.snapshot) != "":
		p.body.Say(widgets.Trouble("Cannot read the sessions of "+present.Join(describe.Names(describe.Failures(p.read.snapshot))), describe.Problems(p.read.snapshot), again, p.window.NewButton("Details", nil, p.window.ShowAgents)))
	default:
		p.body.Say(widgets.Message{Icon: "idle", Color: widgets.ColorMuted, Title: "No sessions", Text: "No session was active in this period.", Actions: []fyne.CanvasObject{again}})
	}
}

// chartBars is the largest number of rows that the chart shows.
const chartBars = 31

// draw fills the chart and the table, if there are rows, and returns the texts above them. The days of the chart are in chronological order; days without usage are
// included.
func (p *Page) draw() (problem, total string, has bool) {
	if len(p.rows.Rows) == 0 {
		return "", "", false
	}
	var bars []widgets.ChartBar
	rows := p.rows.Rows
	if p.rows.By == usage.ByDay {
		for day, r := range usage.Days(rows, p.window.Now(), chartBars) {
			bars = append(bars, chartBar(day.Format("2 Jan"), r))
		}
	} else {
		for i := range rows[:min(len(rows), chartBars)] {
			label := present.UsageKey(string(p.rows.By), present.Tail(rows[i].Name(), describe.MaxText))
			if p.rows.By == usage.ByProject && rows[i].Key != "" {
				label = present.Project(present.Tail(rows[i].Key, describe.MaxText))
			}
			bars = append(bars, chartBar(label, &rows[i]))
		}
	}
	p.chart.Set(bars, present.ShortCount)
	p.showFigures()
	p.list.Refresh()
	return describe.ProblemSummary(p.read.snapshot), describe.Totals(&p.rows, p.read.snapshot) + present.When(p.cancel != nil, " · reading again…"), true
}
