package cli

import (
	"maps"
	"slices"
	"strings"
	"time"

	"rollcall/adapters"
	"rollcall/app"
	"rollcall/app/present"
)

// The columns of the table, with the fewest and the most cells that they get;
// the topic gets what is left.
const (
	colStatus = iota
	colProject
	colAgent
	colAge
	colID
	colTopic
	columns
)

var header = [columns]string{"STATUS", "PROJECT", "AGENT", "AGE", "ID", "TOPIC"}

const (
	gap        = 2
	minWidth   = 60
	plainWidth = 80 // where there is no terminal to ask
	minTopic   = 24
	minProject = 12
	maxProject = 20
)

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
	prefixes := shortIDs(sessions)
	for i := range rows {
		rows[i].fill(now, prefixes)
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
	ids := make([]string, 0, len(sessions))
	out := map[string]string{}
	for i := range sessions {
		if s := &sessions[i]; s.IsProcess() {
			out[s.ID] = present.ShortID(&s.Session)
		} else {
			ids = append(ids, s.ID)
		}
	}
	maps.Copy(out, uniquePrefixes(ids, present.MinID))
	return out
}

func (r *row) fill(now time.Time, prefixes map[string]string) {
	s := r.session
	r.cells = [columns]string{
		colStatus:  sign(s) + " " + present.Status(s.Session),
		colProject: indent(r.depth) + present.Project(s.CWD),
		colAgent:   present.AgentName(s.Agent),
		colAge:     present.Since(s.LastActivityAt, now),
		colID:      present.Line(prefixes[s.ID]),
		colTopic:   present.Topic(s.Session),
	}
	if s.Stale != nil {
		r.cells[colStatus] += " (stale)"
	}
	if s.Remote != "" {
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

// columnWidths returns the width of each column in a terminal of total cells: what its
// cells need, and for the topic the rest. Where that is too little, the project gets
// less. A total of 0 means that there is no terminal.
func columnWidths(rows []row, total int) [columns]int {
	var w [columns]int
	for col := range w {
		w[col] = present.Width(header[col])
		for _, r := range rows {
			w[col] = max(w[col], present.Width(r.cells[col]))
		}
	}
	if total == 0 {
		total = plainWidth
	}
	total = max(total, minWidth)
	w[colProject] = min(w[colProject], maxProject)
	fixed := gap * (columns - 1)
	for col := range colTopic {
		fixed += w[col]
	}
	if lack := minTopic - (total - fixed); lack > 0 {
		give := max(min(lack, w[colProject]-minProject), 0)
		w[colProject] -= give
		fixed -= give
	}
	w[colTopic] = max(total-fixed, 0)
	if w[colTopic] < 4 { // very long ids: the line is cut at its end instead
		w[colTopic] = 0
	}
	return w
}

func printRow(o *output, r row, widths [columns]int) {
	var b strings.Builder
	for col, text := range r.cells {
		if widths[col] == 0 {
			break
		}
		if col > 0 {
			b.WriteString(strings.Repeat(" ", gap))
		}
		cell := present.Cut(text, widths[col])
		fill := strings.Repeat(" ", max(widths[col]-present.Width(cell), 0))
		switch col {
		case colTopic:
			b.WriteString(cell)
		case colAge:
			b.WriteString(fill + cell)
		case colStatus:
			b.WriteString(paint(o, r.session, cell) + fill)
		default:
			b.WriteString(cell + fill)
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
