package cli

import (
	"cmp"
	"strings"
	"time"

	"github.com/gdamore/tcell/v3"
	"github.com/gdamore/tcell/v3/color"

	"rollcall/adapters"
	"rollcall/app"
	"rollcall/app/present"
)

// narrowTop is the width below which the keys are listed in short.
const narrowTop = 70

var (
	plainStyle = tcell.StyleDefault
	boldStyle  = tcell.StyleDefault.Bold(true)
)

// draw draws the whole screen. Only the cells that changed are sent to the terminal.
func (t *topScreen) draw() {
	t.screen.Clear()
	width, height := t.screen.Size()
	clock := time.Now().Format(ifelse(width < phoneWidth, "15:04", time.TimeOnly))
	t.put(0, 0, width-len(clock)-1, t.summary(), boldStyle)
	t.put(width-len(clock), 0, width, clock, plainStyle)
	body := max(1, height-3)
	message := present.Line(t.message)
	if !t.view.open {
		t.drawList(width, body)
	} else if t.drawView(width, body) && message == "" {
		message = "more below: ↓, PgDn"
	}
	if t.choice.typing {
		message = t.choice.prompt()
	}
	t.put(0, height-2, width, message, boldStyle)
	t.put(0, height-1, width, t.keys(width), plainStyle.Reverse(true))
	t.screen.Show()
}

// put draws a text, cut to the cells before the column to.
func (t *topScreen) put(x, y, to int, text string, style tcell.Style) {
	t.screen.PutStrStyled(max(0, x), y, present.Cut(text, max(0, to-x)), style)
}

// summary returns the numbers of sessions by status, and which agents could not be read.
func (t *topScreen) summary() string {
	n := map[adapters.Status]int{}
	for i := range t.sessions {
		n[t.sessions[i].Status]++
	}
	var parts []string
	for _, s := range []adapters.Status{adapters.Waiting, adapters.Working, adapters.Idle, adapters.Unknown} {
		if n[s] > 0 {
			parts = append(parts, plainCount(n[s], s))
		}
	}
	text := strings.Join(parts, ", ")
	snap := t.core.Snapshot()
	if agents, sessions := snap.Reading(); text == "" && len(agents) > 0 {
		text = "reading: " + present.Reading(agents, sessions)
	} else if text == "" {
		text = "no live sessions"
	}
	text += t.choice.words(len(t.rows))
	for _, h := range snap.Adapters {
		if h.State == app.Failed {
			text += "; " + present.AgentName(h.Name) + ": not everything could be read"
		}
	}
	for _, m := range snap.Machines {
		if m.State == app.Failed {
			text += "; " + present.Line(m.Name) + ": no answer"
		}
	}
	return text
}

func plainCount(n int, s adapters.Status) string {
	if s == adapters.Waiting {
		return present.Count(int64(n)) + ifelse(n == 1, " needs you", " need you")
	}
	return present.Count(int64(n)) + " " + string(s)
}

func (t *topScreen) drawList(width, height int) {
	if t.fitted != width {
		t.widths, t.fitted = topWidths(t.rows, width), width
	}
	widths, head := t.widths, row{cells: header}
	if widths[colStatus] == 1 {
		head.cells[colStatus] = ""
	}
	t.drawRow(1, head, widths, boldStyle)
	visible := height - 1
	t.first = max(0, min(t.first, len(t.rows)-visible))
	t.first = min(t.first, t.at)
	t.first = max(t.first, t.at-visible+1)
	for i := t.first; i < min(len(t.rows), t.first+visible); i++ {
		style := plainStyle
		if i == t.at {
			style = style.Reverse(true)
			t.put(0, 2+i-t.first, width, strings.Repeat(" ", width), style)
		}
		t.drawRow(2+i-t.first, t.rows[i], widths, style)
	}
}

// phoneWidth is the width below which a row has the sign of the status, the project and what the session does: what a user needs to choose one.
const phoneWidth = 60

// topWidths returns the widths of the columns. Keys choose a session, so that its id goes first.
func topWidths(rows []row, total int) [columns]int {
	w := columnWidths(rows, total)
	if total >= phoneWidth {
		return w
	}
	project := present.Width(header[colProject])
	for _, r := range rows {
		project = max(project, present.Width(r.cells[colProject]))
	}
	for col := range w {
		w[col] = leaveOut
	}
	w[colStatus], w[colProject] = 1, min(project, max(8, total/3))
	w[colTopic] = max(0, total-1-w[colProject]-2*gap)
	return w
}

func (t *topScreen) drawRow(y int, r row, widths [columns]int, style tcell.Style) {
	x := 0
	for col, text := range r.cells {
		if widths[col] == leaveOut {
			continue
		}
		if s := r.session; s != nil && widths[colStatus] == 1 { // topWidths of a phone
			r.cells[colStatus] = sign(s)
			text = ifelse(col == colTopic, cmp.Or(text, present.Status(s.Session)), r.cells[col])
		}
		cell := present.Cut(text, widths[col])
		at, look := x, style
		if col == colAge {
			at += max(0, widths[col]-present.Width(cell))
		}
		if col == colStatus && r.session != nil {
			look = statusStyle(r.session, style)
		}
		t.screen.PutStrStyled(at, y, cell, look)
		x += widths[col] + gap
	}
}

// statusStyle returns the style of a status. Its sign tells the same without colours.
func statusStyle(s *app.Session, style tcell.Style) tcell.Style {
	switch {
	case s.Status == adapters.Waiting:
		return style.Bold(true).Foreground(color.Olive)
	case s.Status == adapters.Working && !s.Suspended:
		return style.Foreground(color.Green)
	case sign(s) == "x":
		return style.Foreground(color.Maroon)
	}
	return style
}

// drawView draws the text of the view, each line wrapped, and notes whether its end was visible. more reports that it is not now.
func (t *topScreen) drawView(width, height int) (more bool) {
	var lines []string
	for line := range strings.SplitSeq(t.view.text, "\n") {
		lines = append(lines, wrapLine(line, width)...)
	}
	t.view.first = max(0, min(t.view.first, len(lines)-height))
	end := min(len(lines), t.view.first+height)
	for i, line := range lines[t.view.first:end] {
		style := plainStyle
		if strings.HasPrefix(line, "  ! ") {
			style = style.Bold(true).Foreground(color.Maroon)
		}
		t.put(0, 1+i, width, line, style)
	}
	t.view.entire = t.view.entire || end == len(lines)
	return end < len(lines)
}

// wrapLine returns a line in pieces of at most width cells, which end after a space where the second half of a piece has one. Nothing of it is left out.
func wrapLine(line string, width int) (pieces []string) {
	begin, used := 0, 0
	for i, r := range line {
		w := present.Width(string(r))
		if used+w > width && i > begin {
			end := i
			if space := strings.LastIndexByte(line[begin:i], ' ') + 1; space > width/2 {
				end = begin + space
			}
			pieces = append(pieces, line[begin:end])
			begin, used = end, present.Width(line[end:i])
		}
		used += w
	}
	return append(pieces, line[begin:])
}

// keys returns the last row of the screen.
func (t *topScreen) keys(width int) string {
	v := &t.view
	switch narrow := width < narrowTop; {
	case t.choice.typing:
		return ifelse(narrow, " Enter done  Esc all rows", " type words of the rows to list  Enter done  Esc all rows")
	case v.help:
		return " ↑ ↓ scroll  Esc back"
	case v.plan != nil:
		return " Y stop  Esc back"
	case v.open && v.request != nil:
		return ifelse(narrow, " A/D/1-9 answer  ↑↓  Esc", " A allow  D deny  1-9 option  ↑ ↓ scroll  F terminal  S stop  Esc back")
	case v.open:
		return ifelse(narrow, " ↑↓  F show  S stop  Esc", " ↑ ↓ scroll  F terminal  S stop  Esc back")
	default:
		return ifelse(narrow, " ↑↓ Enter  S stop  F show  / O ?  Q quit", " ↑ ↓ choose  Enter details  A D 1-9 answer  / filter  O sort  ? keys  Q quit")
	}
}
