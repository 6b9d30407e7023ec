package ui

import (
	"strings"
	"time"

	"rollcall/adapters"
	"rollcall/app"
	"rollcall/app/present"
)

// A group is a heading of the list. The order is that of urgency.
type group int

const (
	needsYou group = iota
	working
	idle
	unknown
	stopped
	groups // how many there are
)

func (g group) String() string {
	switch g {
	case needsYou:
		return "Needs you"
	case working:
		return "Working"
	case idle:
		return "Idle"
	case unknown:
		return "Unknown"
	}
	return "Stopped"
}

func groupOf(s adapters.Status) group {
	switch s {
	case adapters.Waiting:
		return needsYou
	case adapters.Working:
		return working
	case adapters.Idle:
		return idle
	case adapters.Stopped:
		return stopped
	}
	return unknown
}

// key names a session in the window. Two agents may use the same id, and one
// agent may list an id twice (a session resumed by two processes): repeated
// tells those apart.
type key struct {
	agent    adapters.Name
	id       string
	repeated int
}

type rowKind int

const (
	headerRow rowKind = iota
	sessionRow
	moreRow // stands for finished sub-agents that are folded away
)

// row is one line of the list. Its words are made when it is shown.
type row struct {
	kind    rowKind
	group   group        // of a header
	count   int          // headers: families; moreRow: sessions folded or unfolded
	agents  int          // headers: sub-agents within
	session *app.Session // of a sessionRow
	key     key          // of a sessionRow, or the parent's for a moreRow
	depth   int
	open    bool // moreRow: unfolded
}

// view is what the list shows of one snapshot. It never changes once built.
type view struct {
	snapshot *app.Snapshot
	rows     []row
	at       map[key]int // where a session stands in rows
	more     map[key]int // where the line for its finished sub-agents stands
	byKey    map[key]*app.Session
	children map[key][]key
	parent   map[key]key
	counts   [groups]int
	matching int // sessions that the filter lets through
	filter   string
	placed   map[key]placing
}

// index is what one snapshot says about who belongs to whom.
type index struct {
	keys     []key // parallel to the snapshot's sessions
	children [][]int
	parent   []int // -1: none listed
}

func newIndex(sessions []app.Session) *index {
	n := len(sessions)
	x := &index{keys: make([]key, n), children: make([][]int, n), parent: make([]int, n)}
	first := make(map[key]int, n)
	seen := make(map[key]int, n)
	for i := range sessions {
		k := key{agent: sessions[i].Agent, id: sessions[i].ID}
		if _, ok := first[k]; !ok {
			first[k] = i
		}
		x.keys[i] = key{k.agent, k.id, seen[k]}
		seen[k]++
		x.parent[i] = -1
	}
	for i := range sessions {
		if sessions[i].Parent == "" {
			continue
		}
		p, ok := first[key{agent: sessions[i].Agent, id: sessions[i].Parent}]
		if ok && !x.descends(p, i) {
			x.parent[i] = p
			x.children[p] = append(x.children[p], i)
		}
	}
	return x
}

// descends says whether i is of, or below, ancestor: agents' files are not
// trusted to be free of circles.
func (x *index) descends(i, ancestor int) bool {
	for ; i >= 0; i = x.parent[i] {
		if i == ancestor {
			return true
		}
	}
	return false
}

// sieve decides which sessions of a snapshot are shown.
type sieve struct {
	filter string
	// since leaves out sessions that stopped before it, except those in seen:
	// adapters may answer with more than they were asked for.
	since time.Time
	seen  map[key]bool
	open  map[key]bool // parents whose finished sub-agents are unfolded
	// placed is where sessions stood in the view before; it may be nil.
	placed map[key]placing
	afresh bool // placed is to be left out of account
}

// newView builds the list from a snapshot. It takes time in proportion to the
// snapshot and belongs on no UI goroutine.
func newView(snap *app.Snapshot, x *index, hay []string, s sieve) *view {
	n := len(snap.Sessions)
	b := &builder{snap: snap, x: x, s: s, shown: make([]bool, n), match: make([]bool, n)}
	words := strings.Fields(strings.ToLower(s.filter))
	for i := range snap.Sessions {
		b.match[i] = b.recent(i) && (len(words) == 0 || containsAll(hay[i], words))
		if b.match[i] {
			b.matching++
			// A sub-agent that matches brings its parents along.
			for p := i; p >= 0 && !b.shown[p]; p = x.parent[p] {
				b.shown[p] = true
			}
		}
	}
	return b.view(len(words) > 0)
}

func containsAll(s string, words []string) bool {
	for _, w := range words {
		if !strings.Contains(s, w) {
			return false
		}
	}
	return true
}

type builder struct {
	snap         *app.Snapshot
	x            *index
	s            sieve
	shown, match []bool
	matching     int
	filtering    bool
	placed       []placing // parallel to the sessions
	v            *view
}

func (b *builder) recent(i int) bool {
	s := &b.snap.Sessions[i]
	return s.Live() || b.s.since.IsZero() || s.LastActivityAt.IsZero() ||
		!s.LastActivityAt.Before(b.s.since) || b.s.seen[b.x.keys[i]]
}

func (b *builder) view(filtering bool) *view {
	n := len(b.snap.Sessions)
	b.filtering = filtering
	b.v = &view{
		snapshot: b.snap, matching: b.matching, filter: b.s.filter,
		rows: make([]row, 0, n+int(groups)), at: make(map[key]int, n), more: make(map[key]int),
		byKey: make(map[key]*app.Session, n), children: make(map[key][]key), parent: make(map[key]key),
	}
	b.place()
	var families [groups][]int
	for i := range b.snap.Sessions {
		k := b.x.keys[i]
		b.v.byKey[k] = &b.snap.Sessions[i]
		if p := b.x.parent[i]; p >= 0 {
			b.v.parent[k] = b.x.keys[p]
		} else if b.shown[i] {
			g := b.placed[i].family
			families[g] = append(families[g], i)
		}
		for _, c := range b.inOrder(b.x.children[i]) {
			b.v.children[k] = append(b.v.children[k], b.x.keys[c])
		}
	}
	for g, tops := range families {
		b.v.counts[g] = len(tops)
		if len(tops) == 0 {
			continue
		}
		header := len(b.v.rows)
		b.v.rows = append(b.v.rows, row{kind: headerRow, group: group(g), count: len(tops)})
		for _, i := range b.inOrder(tops) {
			b.v.rows[header].agents += b.family(i, 0)
		}
	}
	return b.v
}

// urgency is the group of a whole family: a sub-agent that needs the user must
// not hide under a parent that works.
func (b *builder) urgency(i int) group {
	g := groupOf(b.snap.Sessions[i].Status)
	for _, c := range b.x.children[i] {
		if b.shown[c] {
			g = min(g, b.urgency(c))
		}
	}
	return g
}

// family adds the session and its sub-agents, and returns how many of the
// latter there are. Finished ones are folded away: there can be dozens.
func (b *builder) family(i, depth int) int {
	k := b.x.keys[i]
	b.v.at[k] = len(b.v.rows)
	b.v.rows = append(b.v.rows, row{kind: sessionRow, session: &b.snap.Sessions[i], key: k, depth: depth})
	var finished []int
	total := 0
	for _, c := range b.inOrder(b.x.children[i]) {
		switch {
		case !b.shown[c]:
		case !b.filtering && b.placed[c].family == stopped:
			finished = append(finished, c)
			total += b.size(c)
		default:
			total += 1 + b.family(c, depth+1)
		}
	}
	if len(finished) == 0 {
		return total
	}
	open := b.s.open[k]
	b.v.more[k] = len(b.v.rows)
	b.v.rows = append(b.v.rows, row{kind: moreRow, key: k, depth: depth + 1, count: len(finished), open: open})
	for _, c := range finished {
		if open {
			b.family(c, depth+1)
		}
	}
	return total
}

// size is how many shown sessions the family of i has.
func (b *builder) size(i int) int {
	n := 1
	for _, c := range b.x.children[i] {
		if b.shown[c] {
			n += b.size(c)
		}
	}
	return n
}

// maxSearched is how much of each text the filter looks at, in bytes.
const maxSearched = 4 << 10

// haystacks are the texts that the filter looks into, one per session.
func haystacks(sessions []app.Session) []string {
	out := make([]string, len(sessions))
	var b strings.Builder
	for i := range sessions {
		s := &sessions[i].Session
		b.Reset()
		for _, t := range [...]string{
			present.AgentName(s.Agent), string(s.Agent), s.CWD, s.Title, s.FirstPrompt, s.LastPrompt, s.Branch, s.Model,
			s.ID, s.Remote, present.Status(*s), string(s.Status), groupOf(s.Status).String(), launchGroup(&sessions[i]),
		} {
			b.WriteString(head(t, maxSearched))
			b.WriteByte('\n')
		}
		out[i] = strings.ToLower(b.String())
	}
	return out
}

// launchGroup is the group that a session was launched in; empty: none.
func launchGroup(s *app.Session) string {
	if s.Launch == nil {
		return ""
	}
	return s.Launch.Group
}

// head is the start of s, at most n bytes, cut between characters. It bounds
// what cleaning a hostile text can cost.
func head(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && s[n]&0xc0 == 0x80 {
		n--
	}
	return s[:n]
}
