package cli

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"rollcall/adapters"
	"rollcall/app"
	"rollcall/app/control/answer"
	"rollcall/app/present"
)

// The columns of the table.
const (
	colStatus = iota
	colProject
	colMachine
	colAgent
	colModel
	colGroup
	colUses
	colAge
	colID
	colTopic
	columns
)

var header = [columns]string{"STATUS", "PROJECT", "MACHINE", "AGENT", "MODEL", "GROUP", "USES", "AGE", "ID", "TOPIC"}

// gap is the number of cells between two columns.
const gap = 2

// leaveOut is the width of a column that is not shown.
const leaveOut = -gap

// narrowing lists the steps by which a table is made narrower until it fits its terminal: a column is cut to a width, or
// left out. An id is cut last, since other commands take it, but for one whose beginning is shared by others: the topic names that session, too.
var narrowing = []struct{ column, width int }{
	{colTopic, 40}, {colUses, leaveOut}, {colModel, 20}, {colGroup, 16}, {colProject, 20}, {colMachine, 16}, {colTopic, 24}, {colModel, 12}, {colProject, 12}, {colGroup, 8},
	{colMachine, 8}, {colTopic, 14}, {colAgent, 7}, {colTopic, 12}, {colModel, leaveOut}, {colGroup, leaveOut}, {colID, 20}, {colTopic, leaveOut}, {colAgent, leaveOut},
	{colAge, leaveOut}, {colMachine, leaveOut}, {colProject, 8}, {colID, 36}, {colStatus, 9}, {colProject, leaveOut}, {colID, 8}, {colID, leaveOut}, {colStatus, 1},
}

// row is one line of the table.
type row struct {
	session *app.Session
	depth   int
	cells   [columns]string
}

// printTable prints sessions for people, sub-agents below their parents.
func printTable(o *output, sessions []app.Session, now time.Time) {
	if len(sessions) == 0 {
		return
	}
	rows := nest(sessions)
	prefixes := map[string]string{} // without a terminal the ids are whole
	if o.streams.Width > 0 {
		prefixes = shortIDs(sessions)
	}
	for i := range rows {
		rows[i].fill(now, prefixes, nil)
	}
	widths := columnWidths(rows, o.streams.Width)
	for _, r := range append([]row{{cells: header}}, rows...) {
		printRow(o, r, widths)
	}
}

// nest returns the rows of sessions, each sub-agent below its parent, where the parent
// is listed.
func nest(sessions []app.Session) []row {
	family := app.Nest(sessions)
	rows := make([]row, 0, len(sessions))
	var place func(i, depth int)
	place = func(i, depth int) {
		rows = append(rows, row{session: &sessions[i], depth: depth})
		for _, child := range family.Children[i] {
			place(child, min(depth+1, 4))
		}
	}
	for i, parent := range family.Parent {
		if parent < 0 {
			place(i, 0)
		}
	}
	return rows
}

// shortIDs maps each session's id to its shortest beginning, of 8 characters or more,
// that no other id has.
func shortIDs(sessions []app.Session) map[string]string {
	ids := map[string][]string{} // by machine
	out := map[string]string{}
	for i := range sessions {
		if s := &sessions[i]; s.IsProcess() {
			out[s.ID] = present.ShortID(&s.Session)
		} else {
			ids[s.Machine] = append(ids[s.Machine], s.IDThere())
		}
	}
	for name, there := range ids {
		for id, prefix := range uniquePrefixes(there, present.MinID) {
			if name != "" {
				id, prefix = app.MachineID(name, id), app.MachineID(name, prefix)
			}
			out[id] = prefix
		}
	}
	return out
}

// fill makes the texts of the row. board has the requests of sessions that wait; nil: only their records are known.
func (r *row) fill(now time.Time, prefixes map[string]string, board *answer.Board) {
	s := r.session
	r.cells = [columns]string{
		colStatus:  sign(s) + " " + present.Status(s.Session),
		colProject: indent(r.depth) + present.Project(s.CWD),
		colMachine: present.Line(s.Machine),
		colAgent:   strings.TrimSpace(present.AgentName(s.Agent) + " " + present.Line(s.Account)),
		colModel:   present.Line(s.Model),
		colAge:     present.Since(s.LastActivityAt, now),
		colID:      present.Line(cmp.Or(prefixes[s.ID], s.ID)),
		colTopic:   present.Doing(s.Session, now),
	}
	if asks := board.Asks(s); asks.Text != "" {
		r.cells[colTopic] = asks.Mark() + asks.Topic()
	}
	if s.LeftBehind > 0 {
		r.cells[colTopic] = strings.TrimSuffix(present.LeftBehind(s.LeftBehind)+"; "+r.cells[colTopic], "; ")
	}
	if s.Launch != nil {
		r.cells[colGroup] = present.Line(s.Launch.Group)
	}
	if s.Load != nil { // top reads it
		r.cells[colUses] = s.Load.Short()
	}
	if s.Stale != nil {
		r.cells[colStatus] += " (stale)"
	}
	if s.Remote != "" && s.Remote != s.Machine {
		r.cells[colProject] += " @" + present.Line(s.Remote)
	}
	if s.Container != "" {
		r.cells[colProject] += " @container"
	}
}

func indent(depth int) string {
	if depth == 0 {
		return ""
	}
	return strings.Repeat("  ", depth-1) + "└ "
}

// sign returns the mark of a status, which needs no colour.
func sign(s *app.Session) string {
	switch s.Status {
	case adapters.Waiting:
		return "!"
	case adapters.Working:
		if s.Suspended {
			return "-"
		}
		return ">"
	case adapters.Idle:
		if s.Outcome == adapters.Failed {
			return "x"
		}
		return "-"
	case adapters.Stopped:
		if s.Outcome == adapters.Died || s.Outcome == adapters.Failed {
			return "x"
		}
		return "."
	}
	return "?"
}

// columnWidths returns the width of each column in a terminal of total cells: the width of its longest cell, or less if
// the terminal is too narrow. Without a terminal (total is 0) nothing is cut and every column but that of the machine is
// shown, for programs that read the table. In a terminal the columns of model and group are shown only if a session has a
// value for them. The column of the machine is always shown only under this condition, so that a user without other
// machines sees no change.
func columnWidths(rows []row, total int) [columns]int {
	var w [columns]int
	for col := range w {
		for _, r := range rows {
			w[col] = max(w[col], present.Width(r.cells[col]))
		}
		if w[col] == 0 && (col == colMachine || col == colUses || total > 0 && (col == colModel || col == colGroup)) {
			w[col] = leaveOut
		} else {
			w[col] = max(w[col], present.Width(header[col]))
		}
	}
	if total == 0 {
		return w
	}
	return fit(w, total)
}

// fit narrows columns until their table has at most total cells.
func fit(full [columns]int, total int) [columns]int {
	w, left := full, total+gap
	for _, width := range full {
		left -= gap + width
	}
	for _, step := range narrowing {
		if left >= 0 {
			break
		}
		width := min(w[step.column], max(w[step.column]+left, step.width))
		if step.width == leaveOut {
			width = leaveOut
		}
		left += w[step.column] - width
		w[step.column] = width
	}
	// A column that was left out frees more cells than were missing.
	for _, col := range []int{colStatus, colAgent, colProject, colID, colTopic, colModel, colGroup} {
		if w[col] != leaveOut && left > 0 {
			more := min(left, full[col]-w[col])
			w[col] += more
			left -= more
		}
	}
	return w
}

func printRow(o *output, r row, widths [columns]int) {
	var b strings.Builder
	for col, text := range r.cells {
		if widths[col] == leaveOut {
			continue
		}
		if b.Len() > 0 {
			b.WriteString(strings.Repeat(" ", gap))
		}
		cell := present.Cut(text, widths[col])
		switch col {
		case colAge:
			b.WriteString(strings.Repeat(" ", max(widths[col]-present.Width(cell), 0)) + cell)
		case colStatus:
			b.WriteString(paint(o, r.session, cell) + pad("", widths[col]-present.Width(cell)))
		default:
			b.WriteString(pad(cell, widths[col]))
		}
	}
	o.printf("%s\n", strings.TrimRight(b.String(), " "))
}

// paint returns the status of a session in its colour; without a session, text is the
// header's.
func paint(o *output, s *app.Session, text string) string {
	code := ""
	switch {
	case s == nil:
		code = "1"
	case s.Status == adapters.Waiting:
		code = "1;33"
	case s.Status == adapters.Working && !s.Suspended:
		code = "32"
	case sign(s) == "x":
		code = "31"
	case s.Status == adapters.Stopped:
		code = "2"
	}
	return o.colored(text, code)
}

// uniquePrefixes maps each id to its shortest beginning of at least n characters
// that no other id begins with; an id that another begins with stays whole. It sorts ids.
func uniquePrefixes(ids []string, n int) map[string]string {
	out := make(map[string]string, len(ids))
	slices.Sort(ids)
	ids = slices.Compact(ids) // two processes may run one session
	for i, id := range ids {
		shared := n - 1
		if i > 0 {
			shared = max(shared, commonPrefix(id, ids[i-1]))
		}
		if i < len(ids)-1 {
			shared = max(shared, commonPrefix(id, ids[i+1]))
		}
		out[id] = present.Begin(id, shared+1)
	}
	return out
}

// commonPrefix returns the length of the longest common beginning of a and b.
func commonPrefix(a, b string) int {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n
}
