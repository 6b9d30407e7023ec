package ui

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"rollcall/adapters"
	"rollcall/app"
	"rollcall/app/control/answer"
	"rollcall/app/present"
)

// group is a heading of the list. Its value is the index in app.Order of the status that its sessions have.
type group int

const groups = len(app.Order) // number of groups

// stopped is the group of stopped sessions.
var stopped = groupOf(adapters.Stopped)

func (g group) String() string {
	if s := app.Order[g]; s != adapters.Waiting {
		return strings.ToUpper(string(s[:1])) + string(s[1:])
	}
	return "Needs you"
}

func groupOf(s adapters.Status) group { return group(app.Rank(s)) }

// key identifies a session in the window. Two agents may use the same id, and one agent may list an id twice (a session
// resumed by two processes): repeated distinguishes those.
type key struct {
	agent    adapters.Name
	id       string
	repeated int
}

type rowKind int

const (
	headerRow rowKind = iota
	sessionRow
	moreRow // can be unfolded: the finished sub-agents of a session, the sessions of a worktree, or those that were put away
)

// row is a row of the list. Its texts are made when it is shown.
type row struct {
	kind    rowKind
	group   group        // of a header
	title   string       // of a header: the project, where sessions are grouped by project; of a moreRow that is not of sub-agents: what it folds
	count   int          // of a header: its families; of a moreRow: the sessions that it folds or unfolds
	agents  int          // of a header: the sub-agents in its families
	session *app.Session // of a sessionRow
	key     key          // of a sessionRow, or the parent's for a moreRow
	depth   int
	below   bool       // of a sessionRow: its header shows the project
	open    bool       // of a moreRow: its sessions are unfolded
	ref     answer.Ref // of a sessionRow in the scope needsYou: its request
}

// view holds the rows of the list for one snapshot. It is immutable.
type view struct {
	snapshot  *app.Snapshot
	rows      []row
	at        map[key]int // indexes in rows of the sessions
	more      map[key]int // indexes in rows of the rows for the finished sub-agents of a session
	byKey     map[key]*app.Session
	children  map[key][]key
	parent    map[key]key
	counts    [groups]int // of families, also of those that the filter leaves out
	matching  int         // sessions that match the filter
	filter    string
	scope     scope
	positions map[key]position
}

// index contains the keys of a snapshot's sessions, and the parent of each session.
type index struct {
	app.Family
	keys []key // one key per session of the snapshot
}

func newIndex(sessions []app.Session) *index {
	x := &index{Family: app.Nest(sessions), keys: make([]key, len(sessions))}
	seen := make(map[key]int, len(sessions))
	for i := range sessions {
		k := key{agent: sessions[i].Agent, id: sessions[i].ID}
		x.keys[i] = key{k.agent, k.id, seen[k]}
		seen[k]++
	}
	return x
}

// selection decides which sessions of a snapshot are shown, and in which order.
type selection struct {
	filter string
	scope  scope // the only group that is shown; allGroups: every group is
	// since hides sessions that stopped before it, except those in seen. Adapters may return more sessions than were requested.
	since    time.Time
	seen     map[key]bool
	projects map[string]project // by folder; nil: sessions are grouped by status
	open     map[key]bool       // what the user unfolded, or folded
	// positions are those of the previous view; may be nil.
	positions map[key]position
	sortAgain bool // sort by activity, as if positions were nil
}

// newView builds the list from a snapshot. texts are the texts that the filter searches, one per session. newView
// takes time in proportion to the snapshot, so it must not be called on Fyne's goroutine.
func newView(snap *app.Snapshot, x *index, texts []string, s selection) *view {
	list := snap.Sessions()
	n := len(list)
	b := &builder{snap: snap, list: list, x: x, s: s, listed: make([]bool, n), shown: make([]bool, n), match: make([]bool, n)}
	words := strings.Fields(strings.ToLower(s.filter))
	for i := range list {
		if !b.recent(i) {
			continue
		}
		for p := i; p >= 0 && !b.listed[p]; p = x.Parent[p] {
			b.listed[p] = true
		}
		b.match[i] = !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(texts[i], w) })
		if b.match[i] {
			b.matching++
			// If a sub-agent matches, its parents are shown too.
			for p := i; p >= 0 && !b.shown[p]; p = x.Parent[p] {
				b.shown[p] = true
			}
		}
	}
	return b.view(len(words) > 0)
}

type builder struct {
	snap         *app.Snapshot
	list         []app.Session // of snap
	x            *index
	s            selection
	listed       []bool // which are shown without a filter
	shown, match []bool
	matching     int
	filtering    bool
	positions    []position // one entry per session of the snapshot
	v            *view
}

func (b *builder) recent(i int) bool {
	s := &b.list[i]
	return s.Live() || s.Pinned || b.s.since.IsZero() || s.LastActivityAt.IsZero() ||
		!s.LastActivityAt.Before(b.s.since) || b.s.seen[b.x.keys[i]]
}

func (b *builder) view(filtering bool) *view {
	n := len(b.list)
	b.filtering = filtering
	b.v = &view{
		snapshot: b.snap, matching: b.matching, filter: b.s.filter, scope: b.s.scope,
		rows: make([]row, 0, n+groups), at: make(map[key]int, n), more: make(map[key]int),
		byKey: make(map[key]*app.Session, n), children: make(map[key][]key), parent: make(map[key]key),
	}
	b.arrange()
	var families [groups][]int
	for i := range b.list {
		k := b.x.keys[i]
		b.v.byKey[k] = &b.list[i]
		if p := b.x.Parent[i]; p >= 0 {
			b.v.parent[k] = b.x.keys[p]
		} else if g := b.positions[i].family; b.listed[i] {
			b.v.counts[g]++
			if b.shown[i] {
				families[g] = append(families[g], i)
			}
		}
		for _, c := range b.inOrder(b.x.Children[i]) {
			b.v.children[k] = append(b.v.children[k], b.x.keys[c])
		}
	}
	if b.s.projects != nil {
		b.byProject(families)
		return b.v
	}
	for g, tops := range families {
		if len(tops) == 0 || b.s.scope != allGroups && b.s.scope != scopeOf(group(g)) {
			continue
		}
		header := len(b.v.rows)
		b.v.rows = append(b.v.rows, row{kind: headerRow, group: group(g), count: len(tops)})
		b.v.rows[header].agents = b.families(group(g).String(), b.inOrder(tops))
	}
	return b.v
}

// putAway is the key that unfolds every row of sessions that were put away.
var putAway = key{id: "put away"}

// families adds the families of sessions below a header. Those that the user hid or snoozed here or archived in the agent are folded into one row, unless they wait.
func (b *builder) families(header string, tops []int) (agents int) {
	var away []int
	for _, i := range tops {
		if s := &b.list[i]; !b.filtering && (s.PutAway() || s.Archived) && b.positions[i].family != groupOf(adapters.Waiting) {
			away = append(away, i)
			continue
		}
		agents += b.family(i, 0)
	}
	return agents + b.fold(key{id: putAway.id + " " + header}, b.awayTitle(away), away, b.s.open[putAway])
}

// awayTitle returns the title of the row that folds sessions which were put away.
func (b *builder) awayTitle(away []int) string {
	if slices.ContainsFunc(away, func(i int) bool { return !b.list[i].PutAway() }) {
		return fmt.Sprintf("%d archived or hidden", len(away))
	}
	return fmt.Sprintf("Hidden (%d)", len(away))
}

// fold adds a row that folds sessions, and the sessions if it is open. It is open as the user left it, else if open is set, and while one of them waits for
// the user. Without sessions it adds nothing.
func (b *builder) fold(k key, title string, tops []int, open bool) (agents int) {
	if len(tops) == 0 {
		return 0
	}
	if chosen, ok := b.s.open[k]; ok {
		open = chosen || slices.ContainsFunc(tops, func(i int) bool { return b.positions[i].family == groupOf(adapters.Waiting) })
	}
	b.v.at[k], b.v.more[k] = len(b.v.rows), len(b.v.rows)
	b.v.rows = append(b.v.rows, row{kind: moreRow, key: k, title: title, count: len(tops), open: open})
	for _, i := range tops {
		if open {
			agents += b.family(i, 1)
		}
	}
	return agents
}

// urgency returns the group of a whole family, which is the group of its most urgent member: a sub-agent that needs
// the user must not be listed under a parent that works.
func (b *builder) urgency(i int) group {
	g := groupOf(b.list[i].Status)
	for _, c := range b.x.Children[i] {
		if b.listed[c] {
			g = min(g, b.urgency(c))
		}
	}
	return g
}

// family adds the rows of a session and its sub-agents, and returns the number of sub-agents. Finished sub-agents are
// folded into one row: there can be dozens.
func (b *builder) family(i, depth int) int {
	k := b.x.keys[i]
	b.v.at[k] = len(b.v.rows)
	b.v.rows = append(b.v.rows, row{kind: sessionRow, session: &b.list[i], key: k, depth: depth, below: b.s.projects != nil})
	var finished []int
	total := 0
	for _, c := range b.inOrder(b.x.Children[i]) {
		switch {
		case !b.shown[c]:
		case !b.filtering && b.positions[c].family == stopped:
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

// size returns how many sessions of the family of i are shown.
func (b *builder) size(i int) int {
	n := 1
	for _, c := range b.x.Children[i] {
		if b.shown[c] {
			n += b.size(c)
		}
	}
	return n
}

// maxSearched is the number of bytes of each text in which the filter searches.
const maxSearched = 4 << 10

// searchTexts returns the texts that the filter searches, one per session.
func searchTexts(sessions []app.Session) []string {
	out := make([]string, len(sessions))
	var b strings.Builder
	for i := range sessions {
		s := &sessions[i].Session
		b.Reset()
		for _, t := range [...]string{
			present.AgentName(s.Agent), string(s.Agent), s.CWD, s.Name, s.Title, s.FirstPrompt, s.LastPrompt, s.Doing, s.Branch, s.Model,
			s.ID, s.Remote, sessions[i].Machine, s.Container, present.Status(*s), string(s.Status), groupOf(s.Status).String(), launchGroup(&sessions[i]),
		} {
			b.WriteString(head(t, maxSearched))
			b.WriteByte('\n')
		}
		out[i] = strings.ToLower(b.String())
	}
	return out
}

// launchGroup returns the group that a session was launched in; empty: none.
func launchGroup(s *app.Session) string {
	if s.Launch == nil {
		return ""
	}
	return s.Launch.Group
}

// head returns the start of s, at most n bytes, cut between characters. It limits the cost of cleaning a hostile text.
func head(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && s[n]&0xc0 == 0x80 {
		n--
	}
	return s[:n]
}

// position is the place of a session in its group of the list. A session gets its position when it enters the
// group, and keeps it: if a dozen working agents were always sorted by their last activity, rows would move under
// the pointer.
type position struct {
	pinned      int       // 0: the user pinned it; 1: not
	own, family group     // the groups of the session and of its family
	at          time.Time // last activity of the session when it entered the group
	seq         int       // index of the session in the snapshot at that time, for sessions with an equal activity
}

// arrange sets the position of each session. A session that stays in its group keeps its position; the others get a new one.
func (b *builder) arrange() {
	b.positions = make([]position, len(b.list))
	b.v.positions = make(map[key]position, len(b.list))
	for i := range b.list {
		s, k := &b.list[i], b.x.keys[i]
		p := position{pinned: 1, own: groupOf(s.Status), family: b.urgency(i), at: s.LastActivityAt, seq: i}
		if s.Pinned {
			p.pinned = 0
		}
		if was, ok := b.s.positions[k]; ok && was.own == p.own && was.family == p.family && was.pinned == p.pinned {
			p = was
		}
		b.positions[i], b.v.positions[k] = p, p
	}
}

// inOrder returns sessions in the order of their positions.
func (b *builder) inOrder(sessions []int) []int {
	if len(sessions) < 2 {
		return sessions
	}
	out := slices.Clone(sessions) // a copy, since the index is used again for the next view
	slices.SortStableFunc(out, func(i, j int) int {
		p, q := &b.positions[i], &b.positions[j]
		return cmp.Or(cmp.Compare(p.pinned, q.pinned), cmp.Compare(p.own, q.own), app.CompareActivity(b.list[i].Status, p.at, q.at), cmp.Compare(p.seq, q.seq))
	})
	return out
}
