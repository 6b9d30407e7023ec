package listing

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"rollcall/adapters"
	"rollcall/app"
)

// Selection decides which sessions of a snapshot are shown, and in which order.
type Selection struct {
	Filter string
	Scope  Scope // the only group that is shown; AllGroups: every group is
	// since hides sessions that stopped before it, except those in seen. Adapters may return more sessions than were requested.
	Since    time.Time
	Seen     map[Key]bool
	Projects map[string]Project // by folder; nil: sessions are grouped by status
	Open     map[Key]bool       // what the user unfolded, or folded
	// positions are those of the previous view; may be nil.
	Positions map[Key]Position
	SortAgain bool // sort by activity, as if positions were nil
}

// New builds the list from a snapshot. texts are the texts that the filter searches, one per session. New
// takes time in proportion to the snapshot, so it must not be called on Fyne's goroutine.
func New(snap *app.Snapshot, x *Index, texts []string, s Selection) *View {
	list := snap.Sessions()
	n := len(list)
	b := &builder{snap: snap, list: list, x: x, s: s, listed: make([]bool, n), shown: make([]bool, n), match: make([]bool, n)}
	words := strings.Fields(strings.ToLower(s.Filter))
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
	x            *Index
	s            Selection
	listed       []bool // which are shown without a filter
	shown, match []bool
	matching     int
	filtering    bool
	positions    []Position // one entry per session of the snapshot
	v            *View
}

func (b *builder) recent(i int) bool {
	s := &b.list[i]
	return s.Live() || s.Pinned || b.s.Since.IsZero() || s.LastActivityAt.IsZero() ||
		!s.LastActivityAt.Before(b.s.Since) || b.s.Seen[b.x.Keys[i]]
}

func (b *builder) view(filtering bool) *View {
	n := len(b.list)
	b.filtering = filtering
	b.v = &View{
		Snapshot: b.snap, Matching: b.matching, Filter: b.s.Filter, Scope: b.s.Scope,
		Rows: make([]Row, 0, n+Groups), At: make(map[Key]int, n), More: make(map[Key]int),
		ByKey: make(map[Key]*app.Session, n), Children: make(map[Key][]Key), Parent: make(map[Key]Key),
	}
	b.arrange()
	var families [Groups][]int
	for i := range b.list {
		k := b.x.Keys[i]
		b.v.ByKey[k] = &b.list[i]
		if p := b.x.Parent[i]; p >= 0 {
			b.v.Parent[k] = b.x.Keys[p]
		} else if g := b.positions[i].family; b.listed[i] {
			b.v.Counts[g]++
			if b.shown[i] {
				families[g] = append(families[g], i)
			}
		}
		for _, c := range b.inOrder(b.x.Children[i]) {
			b.v.Children[k] = append(b.v.Children[k], b.x.Keys[c])
		}
	}
	if b.s.Projects != nil {
		b.byProject(families)
		return b.v
	}
	for g, tops := range families {
		if len(tops) == 0 || b.s.Scope != AllGroups && b.s.Scope != ScopeOf(Group(g)) {
			continue
		}
		header := len(b.v.Rows)
		b.v.Rows = append(b.v.Rows, Row{Kind: HeaderRow, Group: Group(g), Count: len(tops)})
		b.v.Rows[header].Agents = b.families(Group(g).String(), b.inOrder(tops))
	}
	return b.v
}

// PutAway is the key that unfolds every row of sessions that were put away.
var PutAway = Key{ID: "put away"}

// families adds the families of sessions below a header. Those that the user hid or snoozed here or archived in the agent are folded into one row, unless they wait.
func (b *builder) families(header string, tops []int) (agents int) {
	var away []int
	for _, i := range tops {
		if s := &b.list[i]; !b.filtering && (s.PutAway() || s.Archived) && b.positions[i].family != GroupOf(adapters.Waiting) {
			away = append(away, i)
			continue
		}
		agents += b.family(i, 0)
	}
	return agents + b.fold(Key{ID: PutAway.ID + " " + header}, b.awayTitle(away), away, b.s.Open[PutAway])
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
func (b *builder) fold(k Key, title string, tops []int, open bool) (agents int) {
	if len(tops) == 0 {
		return 0
	}
	if chosen, ok := b.s.Open[k]; ok {
		open = chosen || slices.ContainsFunc(tops, func(i int) bool { return b.positions[i].family == GroupOf(adapters.Waiting) })
	}
	b.v.At[k], b.v.More[k] = len(b.v.Rows), len(b.v.Rows)
	b.v.Rows = append(b.v.Rows, Row{Kind: MoreRow, Key: k, Title: title, Count: len(tops), Open: open})
	for _, i := range tops {
		if open {
			agents += b.family(i, 1)
		}
	}
	return agents
}

// urgency returns the group of a whole family, which is the group of its most urgent member: a sub-agent that needs
// the user must not be listed under a parent that works.
func (b *builder) urgency(i int) Group {
	g := GroupOf(b.list[i].Status)
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
	k := b.x.Keys[i]
	b.v.At[k] = len(b.v.Rows)
	b.v.Rows = append(b.v.Rows, Row{Kind: SessionRow, Session: &b.list[i], Key: k, Depth: depth, below: b.s.Projects != nil})
	var finished []int
	total := 0
	for _, c := range b.inOrder(b.x.Children[i]) {
		switch {
		case !b.shown[c]:
		case !b.filtering && b.positions[c].family == Stopped:
			finished = append(finished, c)
			total += b.size(c)
		default:
			total += 1 + b.family(c, depth+1)
		}
	}
	if len(finished) == 0 {
		return total
	}
	open := b.s.Open[k]
	b.v.More[k] = len(b.v.Rows)
	b.v.Rows = append(b.v.Rows, Row{Kind: MoreRow, Key: k, Depth: depth + 1, Count: len(finished), Open: open})
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

// Position is the place of a session in its group of the list. A session gets its position when it enters the
// group, and keeps it: if a dozen working agents were always sorted by their last activity, rows would move under
// the pointer.
type Position struct {
	pinned      int       // 0: the user pinned it; 1: not
	own, family Group     // the groups of the session and of its family
	at          time.Time // last activity of the session when it entered the group
	seq         int       // index of the session in the snapshot at that time, for sessions with an equal activity
}

// arrange sets the position of each session. A session that stays in its group keeps its position; the others get a new one.
func (b *builder) arrange() {
	b.positions = make([]Position, len(b.list))
	b.v.Positions = make(map[Key]Position, len(b.list))
	for i := range b.list {
		s, k := &b.list[i], b.x.Keys[i]
		p := Position{pinned: 1, own: GroupOf(s.Status), family: b.urgency(i), at: s.LastActivityAt, seq: i}
		if s.Pinned {
			p.pinned = 0
		}
		if was, ok := b.s.Positions[k]; ok && was.own == p.own && was.family == p.family && was.pinned == p.pinned {
			p = was
		}
		b.positions[i], b.v.Positions[k] = p, p
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
