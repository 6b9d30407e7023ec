package cli

import (
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
	minID      = 8 // characters of an id
)

// row is one line of the table.
type row struct {
	session *app.Session
	depth   int
	cells   [columns]string
}

// table prints sessions for people, sub-agents below their parents.
func (c *command) table(sessions []app.Session, now time.Time) {
	if len(sessions) == 0 {
		return
	}
	rows := nest(sessions)
	prefixes := shortIDs(sessions)
	for i := range rows {
		rows[i].fill(now, prefixes)
	}
	widths := c.widths(rows)
	c.line(row{cells: header}, widths)
	for _, r := range rows {
		c.line(r, widths)
	}
}

// nest puts each sub-agent below its parent, where the parent is listed.
func nest(sessions []app.Session) []row {
	type key struct {
		agent adapters.Name
		id    string
	}
	listed := make(map[key]bool, len(sessions))
	for i := range sessions {
		listed[key{sessions[i].Agent, sessions[i].ID}] = true
	}
	children := map[key][]*app.Session{}
	var top []*app.Session
	for i := range sessions {
		s := &sessions[i]
		if parent := (key{s.Agent, s.Parent}); s.Parent != "" && s.Parent != s.ID && listed[parent] {
			children[parent] = append(children[parent], s)
		} else {
			top = append(top, s)
		}
	}
	rows := make([]row, 0, len(sessions))
	placed := make(map[key]bool, len(sessions))
	var place func(s *app.Session, depth int)
	place = func(s *app.Session, depth int) {
		k := key{s.Agent, s.ID}
		if placed[k] {
			return
		}
		placed[k] = true
		rows = append(rows, row{session: s, depth: depth})
		for _, child := range children[k] {
			place(child, min(depth+1, 4))
		}
	}
	for _, s := range top {
		place(s, 0)
	}
	for i := range sessions { // parents in a circle have no top
		place(&sessions[i], 0)
	}
	return rows
}

// shortIDs are the shortest beginnings, of 8 characters or more, that tell the
// ids apart.
func shortIDs(sessions []app.Session) map[string]string {
	ids := make([]string, len(sessions))
	for i := range sessions {
		ids[i] = sessions[i].ID
	}
	return uniquePrefixes(ids, minID)
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
}

func indent(depth int) string {
	if depth == 0 {
		return ""
	}
	return strings.Repeat("  ", depth-1) + "└ "
}

// sign tells statuses apart without colour.
func sign(s *app.Session) string {
	switch s.Status {
	case adapters.Waiting:
		return "!"
	case adapters.Working:
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

// widths gives each column what it needs and the topic the rest; where there is
// too little, the project gives way.
func (c *command) widths(rows []row) [columns]int {
	var w [columns]int
	for col := range w {
		w[col] = present.Width(header[col])
		for _, r := range rows {
			w[col] = max(w[col], present.Width(r.cells[col]))
		}
	}
	total := c.streams.Width
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

func (c *command) line(r row, widths [columns]int) {
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
			b.WriteString(c.paint(r.session, cell) + fill)
		default:
			b.WriteString(cell + fill)
		}
	}
	c.out.WriteString(strings.TrimRight(b.String(), " ") + "\n")
}

// paint colours a status. The words and the sign say the same.
func (c *command) paint(s *app.Session, text string) string {
	if !c.streams.Color {
		return text
	}
	code := "1" // the header
	if s != nil {
		switch {
		case s.Status == adapters.Waiting:
			code = "1;33"
		case s.Status == adapters.Working:
			code = "32"
		case sign(s) == "x":
			code = "31"
		case s.Status == adapters.Stopped:
			code = "2"
		default:
			return text
		}
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

// uniquePrefixes maps each id to its shortest beginning of at least n characters
// that no other id begins with; an id that another begins with stays whole.
func uniquePrefixes(ids []string, n int) map[string]string {
	out := make(map[string]string, len(ids))
	groups := map[string][]string{}
	for _, id := range ids {
		p := begin(id, n)
		groups[p] = append(groups[p], id)
	}
	for p, group := range groups {
		switch {
		case len(group) == 1:
			out[group[0]] = p
		case allSame(group):
			out[group[0]] = group[0]
		default:
			longer := make([]string, 0, len(group))
			for _, id := range group {
				if len(id) <= n {
					out[id] = id
				} else {
					longer = append(longer, id)
				}
			}
			for id, q := range uniquePrefixes(longer, n+1) {
				out[id] = q
			}
		}
	}
	return out
}

func begin(id string, n int) string {
	if len(id) <= n {
		return id
	}
	return id[:n]
}

func allSame(ids []string) bool {
	for _, id := range ids {
		if id != ids[0] {
			return false
		}
	}
	return true
}
