package ui

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"
	"github.com/dustin/go-humanize/english"

	"rollcall/adapters"
	"rollcall/app"
	"rollcall/app/control/answer"
	"rollcall/app/describe"
	"rollcall/app/listing"
	"rollcall/app/present"
	"rollcall/app/ui/facts"
	"rollcall/app/ui/widgets"
)

// The sizes of a row, in Fyne's units. Fyne's list adds a padding of 4 between two rows.
const (
	rowHeight = 39
	rowStep   = rowHeight + 4
	rowIndent = 20
	rowIcon   = 16
	rowLeft   = 10
	rowGap    = 8
	rowRight  = 12
	rowTop    = 3
	// leastStatus is the width from which a part of the status is worth showing.
	leastStatus = 24
	secondTop   = 21
	// wideRow is the width from which a row shows the model and its usage. In a window of 1,400 units the list has it.
	wideRow = 514
)

// rowText contains a row's texts.
type rowText struct {
	first, status, second, right         string
	usage                                string // the model and its usage
	spare                                string // the beginning of second that is left out where second does not fit
	firstColor, statusColor, secondColor fyne.ThemeColorName
	bold                                 bool
	hasPlace                             bool // first is the project with the branch, which come before the words of the status: the icon has it, too
	icon                                 *widgets.Icon
}

// rowTextOf returns the texts of a row at the time now.
func rowTextOf(r *listing.Row, now time.Time, days int) rowText {
	switch r.Kind {
	case listing.HeaderRow:
		return headerText(r, days)
	case listing.MoreRow:
		icon := map[bool]string{true: "opened", false: "closed"}[r.Open]
		return rowText{first: cmp.Or(r.Title, english.Plural(r.Count, "finished sub-agent", "finished sub-agents")), firstColor: widgets.ColorMuted,
			icon: widgets.NewIcon(icon, widgets.ColorMuted)}
	}
	asks := answer.AsksOf(r.Session, nil)
	return sessionText(r.Session, &asks, r.IsNested(), now)
}

func headerText(r *listing.Row, days int) rowText {
	w := rowText{first: cmp.Or(r.Title, r.Group.String()), status: fmt.Sprint(r.Count), bold: true, firstColor: theme.ColorNameForeground, statusColor: widgets.ColorMuted}
	if r.Title != "" {
		return w
	}
	switch app.Order[r.Group] {
	case adapters.Waiting:
		w.firstColor = widgets.ColorWaiting
	case adapters.Working:
		w.firstColor = widgets.ColorWorking
	case adapters.Stopped:
		if days > 0 {
			w.right = fmt.Sprintf("last %d days", days)
		}
	}
	if r.Agents > 0 {
		w.status += " and " + english.Plural(r.Agents, "sub-agent", "sub-agents")
	}
	return w
}

// sessionText returns the texts of the row of a session, and for one that waits what it asks.
func sessionText(s *app.Session, asks *answer.Asks, nested bool, now time.Time) rowText {
	short := present.Brief(s.Session)
	w := rowText{
		first: present.Project(short.CWD), status: asks.Words, bold: true, hasPlace: true,
		firstColor: theme.ColorNameForeground, statusColor: facts.StatusColor(&short), secondColor: widgets.ColorMuted,
		right: present.Since(s.LastActivityAt, now), usage: describe.Usage(s), icon: facts.StatusIcon(&short),
	}
	for _, mark := range []struct {
		is   bool
		text string
	}{{s.Muted, "muted · "}, {s.Snoozed, "snoozed · "}, {s.Pinned, "pinned · "}} {
		if mark.is {
			w.right = strings.TrimSuffix(mark.text+w.right, " · ")
		}
	}
	if s.Stale != nil {
		w.second, w.secondColor = present.When(s.Machine != "", describe.OnMachine(s)+" · ")+present.Cut(describe.Stale(s), describe.MaxText), widgets.ColorWaiting
		return w
	}
	topic, doing := present.Topic(short.Topic), cmp.Or(asks.Topic(), present.Doing(short, now))
	if len(asks.Dangers) > 0 {
		w.icon, w.statusColor = widgets.NewIcon("waiting", widgets.ColorBad), widgets.ColorBad
	}
	branch := present.Cut(present.Line(present.Begin(short.Branch, describe.MaxText)), 30)
	second := []string{present.AgentName(s.Agent) + present.When(s.Account != "", " "+describe.Account(s))}
	if s.Status == adapters.Waiting { // the details name the agent, too
		w.spare = strings.TrimSuffix(second[0], describe.Account(s)) + present.When(s.Account == "", " · ")
	}
	switch {
	case branch == "" || s.Parent != "":
	case nested:
		second = append(second, branch)
	default:
		w.first += " · " + branch
	}
	if s.Parent != "" {
		second = append(second, "sub-agent")
	}
	if s.Remote != "" {
		second = append(second, describe.OnMachine(s))
	}
	if s.Container != "" {
		second = append(second, "in a container")
	}
	switch {
	case nested && topic != "":
		// The row of the parent, or the header, shows the project.
		w.first, w.bold, w.hasPlace = topic, s.Parent == "", false
		if doing != topic {
			second = append(second, doing)
		}
	case doing != "":
		second = append(second, doing)
	}
	w.second = strings.Join(second, " · ")
	return w
}

// rowView shows one row of the list.
type rowView struct {
	widget.BaseWidget
	row                                 listing.Row
	text                                rowText
	selected, focused                   bool
	back, bar                           *widgets.Background // of the selected row, and of one in a list that has the focus
	rule                                *widget.Separator   // below a header
	icon                                *canvas.Image
	first, status, second, usage, right *widgets.Line
}

var _ fyne.Accessible = (*rowView)(nil)

func newRowView() *rowView {
	line := func(size fyne.ThemeSizeName) *widgets.Line {
		return widgets.NewLine("", widgets.ColorMuted, size, fyne.TextStyle{}).Whole()
	}
	v := &rowView{back: widgets.NewBackground(widgets.ColorRowOn, ""), bar: widgets.NewBackground(theme.ColorNamePrimary, ""), rule: widget.NewSeparator(), icon: widgets.NewImage(nil, rowIcon),
		first: line(theme.SizeNameText), status: line(widgets.SizeSmall), second: line(widgets.SizeSmall).CutBy(present.CutPath), usage: line(theme.SizeNameCaptionText), right: line(theme.SizeNameCaptionText)}
	v.ExtendBaseWidget(v)
	return v
}

// CreateRenderer implements fyne.Widget.
func (v *rowView) CreateRenderer() fyne.WidgetRenderer {
	least := func([]fyne.CanvasObject) fyne.Size { return fyne.NewSize(220, rowHeight) }
	return widget.NewSimpleRenderer(container.New(widgets.Layout{Arrange: v.layOut, Least: least}, v.back, v.bar, v.rule, v.icon, v.first, v.status, v.second, v.usage, v.right))
}

func (v *rowView) set(r listing.Row, w rowText, selected, focused bool) {
	if v.row == r && v.text == w && v.selected == selected && v.focused == focused {
		return
	}
	v.row = r
	v.text = w
	v.selected = selected
	v.focused = focused
	size := map[bool]fyne.ThemeSizeName{true: theme.SizeNameText, false: widgets.SizeSmall}[r.Kind == listing.SessionRow]
	v.first.SetFont(size, w.bold)
	v.first.Set(w.first, w.firstColor)
	v.status.Set(w.status, cmp.Or(w.statusColor, widgets.ColorMuted))
	v.second.Set(w.second, cmp.Or(w.secondColor, widgets.ColorMuted))
	v.usage.Set(w.usage, widgets.ColorMuted)
	v.right.Set(w.right, widgets.ColorMuted)
	v.icon.Hidden = w.icon == nil
	if !v.icon.Hidden {
		widgets.SetImage(v.icon, w.icon)
	}
	v.back.Hidden = !selected
	v.bar.Hidden = !selected || !focused
	v.rule.Hidden = r.Kind != listing.HeaderRow
	v.Refresh()
}

// AccessibilityLabel returns all texts of the row.
func (v *rowView) AccessibilityLabel() string {
	return strings.Join([]string{v.text.first, v.text.status, v.text.second, v.text.right}, ", ")
}

// AccessibilityRole returns the role of a text.
func (v *rowView) AccessibilityRole() fyne.AccessibleRole { return fyne.AccessibleRoleText }

func (v *rowView) layOut(_ []fyne.CanvasObject, size fyne.Size) {
	widgets.Place(v.back, 4, 0, size.Width-8, size.Height)
	widgets.Place(v.bar, 4, 7, 3, size.Height-14)
	widgets.Place(v.rule, rowLeft, size.Height, size.Width-rowLeft-rowRight, 1)
	left, right := float32(rowLeft+v.row.Depth*rowIndent), size.Width-rowRight
	before := right - v.right.MinSize().Width - rowGap // the end of what is before the age
	switch v.row.Kind {
	case listing.HeaderRow:
		y := size.Height - 20
		place(v.right, before+rowGap, right, y+1)
		place(v.status, place(v.first, rowLeft, before, y)+rowGap, before, y)
	case listing.MoreRow:
		widgets.Place(v.icon, left, rowTop+1, rowIcon, rowIcon) // close to the rows that it goes on
		place(v.first, left+rowIcon+rowGap, right, rowTop+1)
	case listing.SessionRow:
		widgets.Place(v.icon, left, rowTop+1, rowIcon, rowIcon)
		left += rowIcon + rowGap
		place(v.right, before+rowGap, right, rowTop+2)
		status := min(v.status.MinSize().Width, (before-left)*0.6)
		if v.text.hasPlace {
			status = min(status, max(before-left-v.first.MinSize().Width-rowGap, 0))
		}
		widgets.SetVisible(v.status, status > leastStatus)
		place(v.status, place(v.first, left, before-status-rowGap, rowTop)+rowGap, before+1, rowTop+1)
		v.layOutSecond(left, right, size.Width >= wideRow)
	}
}

// layOutSecond divides the second line between what happens and, in a wide row, the model and its usage.
func (v *rowView) layOutSecond(left, right float32, wide bool) {
	v.second.Set(v.text.second, v.text.secondColor)
	needs := v.second.MinSize().Width + 2*rowGap + v.usage.MinSize().Width
	v.usage.Hidden = !wide || v.text.usage == "" || v.text.spare != "" && needs > right-left // what is asked comes first
	if !v.usage.Hidden {
		begin := right - v.usage.MinSize().Width
		place(v.usage, begin, right, secondTop+1)
		right = begin - 2*rowGap
	}
	if v.second.MinSize().Width > right-left {
		v.second.Set(strings.TrimPrefix(v.text.second, v.text.spare), v.text.secondColor)
	}
	place(v.second, left, right, secondTop)
}

// place shows a line between left and right, and returns the position of its end.
func place(l *widgets.Line, left, right, y float32) float32 {
	least := l.MinSize()
	width := max(min(least.Width, right-left), 0)
	widgets.Place(l, left, y, width, least.Height)
	return left + width
}
