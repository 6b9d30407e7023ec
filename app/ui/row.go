package ui

import (
	"fmt"
	"image/color"
	"strings"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"rollcall/app"
	"rollcall/app/present"
)

// The measures of a row. Fyne's list puts the padding between two rows, so
// rows follow each other every 43 units.
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

// rowWords are a row's texts.
type rowWords struct {
	first, status, second, right string
	firstColor, statusColor      fyne.ThemeColorName
	secondColor                  fyne.ThemeColorName
	bold                         bool
	icon                         *icon
}

// words makes the texts of r as they are at now.
func (r row) words(now time.Time, days int) rowWords {
	switch r.kind {
	case headerRow:
		return headerWords(r, days)
	case moreRow:
		w := rowWords{
			first:      fmt.Sprintf("%d finished %s", r.count, plural(r.count, "sub-agent", "sub-agents")),
			firstColor: colorMuted, icon: newIcon("closed", colorMuted),
		}
		if r.open {
			w.icon = newIcon("opened", colorMuted)
		}
		return w
	}
	return sessionWords(r.session, r.depth > 0, now)
}

func headerWords(r row, days int) rowWords {
	w := rowWords{first: r.group.String(), status: fmt.Sprint(r.count), bold: true,
		firstColor: theme.ColorNameForeground, statusColor: colorMuted}
	switch r.group {
	case needsYou:
		w.firstColor = colorWaiting
	case working:
		w.firstColor = colorWorking
	case stopped:
		if days > 0 {
			w.right = fmt.Sprintf("last %d days", days)
		}
	}
	if r.agents > 0 {
		w.status += fmt.Sprintf(" and %d %s", r.agents, plural(r.agents, "sub-agent", "sub-agents"))
	}
	return w
}

// maxRowText bounds what a row reads of a text, in bytes.
const maxRowText = 600

func sessionWords(s *app.Session, nested bool, now time.Time) rowWords {
	short := s.Session
	short.CWD = tail(s.CWD, maxRowText)
	short.Title = head(s.Title, maxRowText)
	short.LastPrompt = head(s.LastPrompt, maxRowText)
	short.FirstPrompt = head(s.FirstPrompt, maxRowText)
	w := rowWords{
		first: present.Project(short.CWD), status: present.Status(short), bold: true,
		firstColor: theme.ColorNameForeground, statusColor: statusColor(&short), secondColor: colorMuted,
		right: present.Since(s.LastActivityAt, now), icon: statusIcon(&short),
	}
	if s.Stale != nil {
		w.second = "stale: " + present.Line(head(s.Stale.Reason, maxRowText))
		w.secondColor = colorWaiting
		return w
	}
	topic := present.Topic(short)
	second := []string{present.AgentName(s.Agent)}
	if s.Parent != "" {
		second = append(second, "sub-agent")
	}
	if s.Remote != "" {
		second = append(second, "on "+present.Cut(present.Line(head(s.Remote, maxRowText)), 30))
	}
	switch {
	case nested && topic != "":
		// Its parent's row has just named the project.
		w.first, w.bold = topic, false
	case topic != "":
		second = append(second, topic)
	}
	w.second = strings.Join(second, " · ")
	return w
}

// tail is the end of s, at most n bytes, cut between characters.
func tail(s string, n int) string {
	if len(s) <= n {
		return s
	}
	i := len(s) - n
	for i < len(s) && s[i]&0xc0 == 0x80 {
		i++
	}
	return s[i:]
}

func plural(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

// rowView shows one row of the list.
type rowView struct {
	widget.BaseWidget
	row               row
	words             rowWords
	selected, focused bool
}

var _ fyne.Accessible = (*rowView)(nil)

func newRowView() *rowView {
	v := &rowView{}
	v.ExtendBaseWidget(v)
	return v
}

func (v *rowView) set(r row, w rowWords, selected, focused bool) {
	if v.row == r && v.words == w && v.selected == selected && v.focused == focused {
		return
	}
	v.row, v.words, v.selected, v.focused = r, w, selected, focused
	v.Refresh()
}

// AccessibilityLabel is the whole row in words.
func (v *rowView) AccessibilityLabel() string {
	return strings.Join([]string{v.words.first, v.words.status, v.words.second, v.words.right}, ", ")
}

// AccessibilityRole is that of text.
func (v *rowView) AccessibilityRole() fyne.AccessibleRole { return fyne.AccessibleRoleText }

func (v *rowView) CreateRenderer() fyne.WidgetRenderer {
	r := &rowRenderer{
		v: v, back: canvas.NewRectangle(nil), bar: canvas.NewRectangle(nil), rule: canvas.NewRectangle(nil),
		icon: canvas.NewImageFromResource(nil), first: canvas.NewText("", nil), status: canvas.NewText("", nil),
		second: canvas.NewText("", nil), right: canvas.NewText("", nil),
	}
	r.back.CornerRadius = 6
	r.bar.CornerRadius = 1.5
	r.icon.FillMode = canvas.ImageFillContain
	r.Refresh()
	return r
}

type rowRenderer struct {
	v                            *rowView
	back, bar, rule              *canvas.Rectangle
	icon                         *canvas.Image
	first, status, second, right *canvas.Text
}

func (r *rowRenderer) MinSize() fyne.Size { return fyne.NewSize(220, rowHeight) }
func (r *rowRenderer) Destroy()           {}

func (r *rowRenderer) Objects() []fyne.CanvasObject {
	return []fyne.CanvasObject{r.back, r.bar, r.rule, r.icon, r.first, r.status, r.second, r.right}
}

func (r *rowRenderer) Refresh() {
	w := &r.v.words
	text, small := sizes[theme.SizeNameText], sizes[theme.SizeNameCaptionText]
	style(r.first, w.firstColor, text, w.bold)
	style(r.status, w.statusColor, small+1, false)
	style(r.second, w.secondColor, small+1, false)
	style(r.right, colorMuted, small, false)
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
		r.back.FillColor = themeColor(colorRowOn)
		if r.v.focused {
			r.bar.FillColor = themeColor(theme.ColorNamePrimary)
		}
	}
	if r.v.row.kind == headerRow {
		r.rule.FillColor = themeColor(theme.ColorNameSeparator)
	}
	r.Layout(r.v.Size())
	for _, o := range r.Objects() {
		o.Refresh()
	}
}

func style(t *canvas.Text, name fyne.ThemeColorName, size float32, bold bool) {
	if name == "" {
		name = colorMuted
	}
	t.Color, t.TextSize, t.TextStyle.Bold = themeColor(name), size, bold
}

func (r *rowRenderer) Layout(size fyne.Size) {
	if size.Width <= 0 {
		return
	}
	r.back.Move(fyne.NewPos(4, 0))
	r.back.Resize(fyne.NewSize(size.Width-8, size.Height))
	r.bar.Move(fyne.NewPos(4, 7))
	r.bar.Resize(fyne.NewSize(3, size.Height-14))
	if r.v.row.kind == headerRow {
		r.layoutHeader(size)
		return
	}
	x := float32(rowLeft + r.v.row.depth*rowIndent)
	r.icon.Resize(fyne.NewSquareSize(rowIcon))
	if r.v.row.kind == moreRow {
		r.icon.Move(fyne.NewPos(x, (size.Height-rowIcon)/2))
		r.place(r.first, r.v.words.first, x+rowIcon+rowGap, size.Width-rowRight, (size.Height-r.first.MinSize().Height)/2)
		r.status.Text, r.second.Text = "", ""
		return
	}
	r.icon.Move(fyne.NewPos(x, rowTop+1))
	x += rowIcon + rowGap
	right := size.Width - rowRight
	ageWidth := r.right.MinSize().Width
	r.right.Move(fyne.NewPos(right-ageWidth, rowTop+2))
	r.firstLine(x, right-ageWidth-rowGap)
	r.place(r.second, r.v.words.second, x, right, secondTop)
}

// firstLine shares the room between the project and the status: the status is
// never left out, the project gives way first.
func (r *rowRenderer) firstLine(left, right float32) {
	room := right - left
	status := fyne.MeasureText(r.v.words.status, r.status.TextSize, r.status.TextStyle).Width
	status = min(status, room*0.6)
	end := r.place(r.first, r.v.words.first, left, right-status-rowGap, rowTop)
	r.place(r.status, r.v.words.status, end+rowGap, right+1, rowTop+1)
}

func (r *rowRenderer) layoutHeader(size fyne.Size) {
	r.second.Text = ""
	y := size.Height - 20
	w := r.right.MinSize().Width
	r.right.Move(fyne.NewPos(size.Width-rowRight-w, y+1))
	end := r.place(r.first, r.v.words.first, rowLeft, size.Width-rowRight-w-rowGap, y)
	r.place(r.status, r.v.words.status, end+rowGap, size.Width-rowRight-w-rowGap, y)
	r.rule.Move(fyne.NewPos(rowLeft, size.Height))
	r.rule.Resize(fyne.NewSize(size.Width-rowLeft-rowRight, 1))
}

// place puts text between left and right and returns where it ends.
func (r *rowRenderer) place(t *canvas.Text, text string, left, right, y float32) float32 {
	t.Text = fit(text, right-left, t.TextSize, t.TextStyle)
	s := t.MinSize()
	t.Move(fyne.NewPos(left, y))
	t.Resize(s)
	return left + s.Width
}
