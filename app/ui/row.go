package ui

import (
	"cmp"
	"fmt"
	"image/color"
	"strings"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"
	"github.com/dustin/go-humanize/english"

	"rollcall/adapters"
	"rollcall/app"
	"rollcall/app/present"
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
	secondTop = 21
)

// rowText contains a row's texts.
type rowText struct {
	first, status, second, right string
	spare                        string // the beginning of second that is left out where second does not fit
	firstColor, statusColor      fyne.ThemeColorName
	secondColor                  fyne.ThemeColorName
	bold                         bool
	icon                         *widgets.Icon
}

// text returns the texts of r at the time now.
func (r row) text(now time.Time, days int) rowText {
	switch r.kind {
	case headerRow:
		return headerText(r, days)
	case moreRow:
		icon := "closed"
		if r.open {
			icon = "opened"
		}
		return rowText{first: cmp.Or(r.title, english.Plural(r.count, "finished sub-agent", "finished sub-agents")), firstColor: widgets.ColorMuted,
			icon: widgets.NewIcon(icon, widgets.ColorMuted)}
	}
	return sessionText(r.session, r.depth > 0 || r.below, now)
}

func headerText(r row, days int) rowText {
	w := rowText{first: cmp.Or(r.title, r.group.String()), status: fmt.Sprint(r.count), bold: true, firstColor: theme.ColorNameForeground, statusColor: widgets.ColorMuted}
	if r.title != "" {
		return w
	}
	switch app.Order[r.group] {
	case adapters.Waiting:
		w.firstColor = widgets.ColorWaiting
	case adapters.Working:
		w.firstColor = widgets.ColorWorking
	case adapters.Stopped:
		if days > 0 {
			w.right = fmt.Sprintf("last %d days", days)
		}
	}
	if r.agents > 0 {
		w.status += " and " + english.Plural(r.agents, "sub-agent", "sub-agents")
	}
	return w
}

// maxRowText is the number of bytes of a text that a row uses.
const maxRowText = 600

func sessionText(s *app.Session, nested bool, now time.Time) rowText {
	short := present.Brief(s.Session)
	w := rowText{
		first: present.Project(short.CWD), status: present.Status(short), bold: true,
		firstColor: theme.ColorNameForeground, statusColor: statusColor(&short), secondColor: widgets.ColorMuted,
		right: present.Since(s.LastActivityAt, now), icon: statusIcon(&short),
	}
	if s.Pinned {
		w.right = strings.TrimSuffix("pinned · "+w.right, " · ")
	}
	if s.Stale != nil {
		w.second, w.secondColor = when(s.Machine != "", onMachine(s)+" · ")+present.Cut(staleText(s), maxRowText), widgets.ColorWaiting
		return w
	}
	topic, doing := present.Topic(short), present.Doing(short, now)
	branch := present.Cut(present.Line(head(short.Branch, maxRowText)), 30)
	second := []string{present.AgentName(s.Agent)}
	if s.Account != "" {
		second[0] += " " + present.Cut(present.Line(head(s.Account, maxRowText)), 30)
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
		second = append(second, onMachine(s))
	}
	if s.Container != "" {
		second = append(second, "in a container")
	}
	switch {
	case nested && topic != "":
		// The row of the parent, or the header, shows the project.
		w.first, w.bold = topic, s.Parent == ""
		if doing != topic {
			second = append(second, doing)
		}
	case doing != "":
		second = append(second, doing)
	}
	w.second = strings.Join(second, " · ")
	return w
}

// onMachine returns the machine or gateway that runs a session, as in "on devbox".
func onMachine(s *app.Session) string {
	return "on " + present.Cut(present.Line(head(machineOf(s), maxRowText)), 30)
}

// tail returns the end of s, at most n bytes, cut between characters.
func tail(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[len(s)-n:], "")
}

// rowView shows one row of the list.
type rowView struct {
	widget.BaseWidget
	row               row
	text              rowText
	selected, focused bool
}

var _ fyne.Accessible = (*rowView)(nil)

func newRowView() *rowView {
	v := &rowView{}
	v.ExtendBaseWidget(v)
	return v
}

func (v *rowView) set(r row, w rowText, selected, focused bool) {
	if v.row == r && v.text == w && v.selected == selected && v.focused == focused {
		return
	}
	v.row, v.text, v.selected, v.focused = r, w, selected, focused
	v.Refresh()
}

// AccessibilityLabel returns all texts of the row.
func (v *rowView) AccessibilityLabel() string {
	return strings.Join([]string{v.text.first, v.text.status, v.text.second, v.text.right}, ", ")
}

// AccessibilityRole returns the role of a text.
func (v *rowView) AccessibilityRole() fyne.AccessibleRole { return fyne.AccessibleRoleText }

// CreateRenderer implements fyne.Widget.
func (v *rowView) CreateRenderer() fyne.WidgetRenderer {
	r := &rowParts{
		v: v, back: canvas.NewRectangle(nil), bar: canvas.NewRectangle(nil), rule: canvas.NewRectangle(nil),
		icon: widgets.NewImage(nil, rowIcon), first: canvas.NewText("", nil), status: canvas.NewText("", nil),
		second: canvas.NewText("", nil), right: canvas.NewText("", nil),
	}
	r.back.CornerRadius = 6
	r.bar.CornerRadius = 1.5
	out := &widgets.Renderer{Widget: v, Min: func() fyne.Size { return fyne.NewSize(220, rowHeight) }, Arrange: r.layOut, Update: r.update,
		Parts: []fyne.CanvasObject{r.back, r.bar, r.rule, r.icon, r.first, r.status, r.second, r.right}}
	out.Refresh()
	return out
}

// rowParts holds the canvas objects of a row.
type rowParts struct {
	v                            *rowView
	back, bar, rule              *canvas.Rectangle
	icon                         *canvas.Image
	first, status, second, right *canvas.Text
}

func (r *rowParts) update() {
	w := &r.v.text
	text, small := widgets.TextSize(theme.SizeNameText), widgets.TextSize(theme.SizeNameCaptionText)
	style(r.first, w.firstColor, text, w.bold)
	style(r.status, w.statusColor, small+1, false)
	style(r.second, w.secondColor, small+1, false)
	style(r.right, widgets.ColorMuted, small, false)
	r.right.Text = w.right
	if r.v.row.kind != sessionRow {
		r.first.TextSize = small + 1
	}
	r.icon.Hidden = w.icon == nil
	if w.icon != nil {
		r.icon.Resource = w.icon
	}
	r.back.FillColor, r.bar.FillColor, r.rule.FillColor = color.Transparent, color.Transparent, color.Transparent
	if r.v.selected {
		r.back.FillColor = widgets.ThemeColor(widgets.ColorRowOn)
		if r.v.focused {
			r.bar.FillColor = widgets.ThemeColor(theme.ColorNamePrimary)
		}
	}
	if r.v.row.kind == headerRow {
		r.rule.FillColor = widgets.ThemeColor(theme.ColorNameSeparator)
	}
}

func style(t *canvas.Text, name fyne.ThemeColorName, size float32, bold bool) {
	if name == "" {
		name = widgets.ColorMuted
	}
	t.Color, t.TextSize, t.TextStyle.Bold = widgets.ThemeColor(name), size, bold
}

func (r *rowParts) layOut(size fyne.Size) {
	if size.Width <= 0 {
		return
	}
	widgets.Place(r.back, 4, 0, size.Width-8, size.Height)
	widgets.Place(r.bar, 4, 7, 3, size.Height-14)
	if r.v.row.kind == headerRow {
		r.layoutHeader(size)
		return
	}
	x := float32(rowLeft + r.v.row.depth*rowIndent)
	r.icon.Resize(fyne.NewSquareSize(rowIcon))
	if r.v.row.kind == moreRow {
		r.icon.Move(fyne.NewPos(x, (size.Height-rowIcon)/2))
		r.place(r.first, r.v.text.first, x+rowIcon+rowGap, size.Width-rowRight, (size.Height-r.first.MinSize().Height)/2)
		r.status.Text, r.second.Text = "", ""
		return
	}
	r.icon.Move(fyne.NewPos(x, rowTop+1))
	x += rowIcon + rowGap
	right := size.Width - rowRight
	ageWidth := r.right.MinSize().Width
	r.right.Move(fyne.NewPos(right-ageWidth, rowTop+2))
	r.firstLine(x, right-ageWidth-rowGap)
	second := r.v.text.second
	if fyne.MeasureText(second, r.second.TextSize, r.second.TextStyle).Width > right-x {
		second = strings.TrimPrefix(second, r.v.text.spare)
	}
	r.place(r.second, second, x, right, secondTop)
}

// firstLine divides the width between the project and the status. The status is always shown; the project is shortened
// first.
func (r *rowParts) firstLine(left, right float32) {
	room := right - left
	status := fyne.MeasureText(r.v.text.status, r.status.TextSize, r.status.TextStyle).Width
	status = min(status, room*0.6)
	end := r.place(r.first, r.v.text.first, left, right-status-rowGap, rowTop)
	r.place(r.status, r.v.text.status, end+rowGap, right+1, rowTop+1)
}

func (r *rowParts) layoutHeader(size fyne.Size) {
	r.second.Text = ""
	y := size.Height - 20
	w := r.right.MinSize().Width
	r.right.Move(fyne.NewPos(size.Width-rowRight-w, y+1))
	end := r.place(r.first, r.v.text.first, rowLeft, size.Width-rowRight-w-rowGap, y)
	r.place(r.status, r.v.text.status, end+rowGap, size.Width-rowRight-w-rowGap, y)
	widgets.Place(r.rule, rowLeft, size.Height, size.Width-rowLeft-rowRight, 1)
}

// place draws text between left and right and returns the position of its end.
func (r *rowParts) place(t *canvas.Text, text string, left, right, y float32) float32 {
	t.Text = widgets.Truncate(text, right-left, t.TextSize, t.TextStyle)
	s := t.MinSize()
	widgets.Place(t, left, y, s.Width, s.Height)
	return left + s.Width
}

// statusIcon returns the icon of a session's status. The icons differ by shape as well as by colour.
func statusIcon(s *adapters.Session) *widgets.Icon {
	names := map[adapters.Status]string{adapters.Waiting: "waiting", adapters.Working: "working", adapters.Idle: "idle", adapters.Stopped: "stopped"}
	name, color := cmp.Or(names[s.Status], "unknown"), statusColor(s)
	switch {
	case s.Suspended && s.Live() && s.Status != adapters.Waiting:
		name = "suspended"
	case s.Status == adapters.Stopped && s.Outcome == adapters.Completed:
		name, color = "done", widgets.ColorGood
	case s.Status == adapters.Stopped && color == widgets.ColorBad:
		name = "failed"
	}
	return widgets.NewIcon(name, color)
}

// statusColor returns the colour of a session's status in words.
func statusColor(s *adapters.Session) fyne.ThemeColorName {
	switch {
	case s.Status == adapters.Waiting:
		return widgets.ColorWaiting
	case s.Status == adapters.Working && !s.Suspended:
		return widgets.ColorWorking
	case s.Outcome == adapters.Failed, s.Outcome == adapters.Died:
		return widgets.ColorBad
	}
	return widgets.ColorMuted
}
