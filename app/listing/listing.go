// Package listing arranges the sessions of a snapshot as the rows of a list: in groups by status or by project, sub-agents below their parents, finished and put away
// ones folded. What is listed keeps its place while its status stays. It reads nothing but which repository a folder belongs to.
package listing

import (
	"slices"
	"strings"

	"rollcall/adapters"
	"rollcall/app"
	"rollcall/app/control/answer"
)

// Group is a heading of the list. Its value is the index in app.Order of the status that its sessions have.
type Group int

// String returns the heading.
func (g Group) String() string {
	if s := app.Order[g]; s != adapters.Waiting {
		return strings.ToUpper(string(s[:1])) + string(s[1:])
	}
	return "Needs you"
}

// Groups is the number of groups.
const Groups = len(app.Order)

// Stopped is the group of stopped sessions.
var Stopped = GroupOf(adapters.Stopped)

// GroupOf returns the group of the sessions with a status.
func GroupOf(s adapters.Status) Group { return Group(app.Rank(s)) }

// Scope is what the list of sessions is limited to: one more than a group, or AllGroups.
type Scope int

// AllGroups limits the list to nothing.
const AllGroups Scope = 0

// NeedsYou limits the list to what waits for the user. Its rows are the requests, the longest wait first, and its keys answer the selected one.
var NeedsYou = ScopeOf(GroupOf(adapters.Waiting))

// ScopeOf limits the list to a group.
func ScopeOf(g Group) Scope { return Scope(g) + 1 }

// Scopes are what the list can be limited to.
var Scopes = []Scope{NeedsYou, AllGroups, ScopeOf(GroupOf(adapters.Working)), ScopeOf(GroupOf(adapters.Idle)), ScopeOf(Stopped)}

// Key identifies a session in a list. Two agents may use the same id, and one agent may list an id twice (a session
// resumed by two processes): repeated distinguishes those.
type Key struct {
	Agent    adapters.Name
	ID       string
	repeated int
}

// rowKind is what a row of the list is.
type rowKind int

// The kinds of rows.
const (
	HeaderRow rowKind = iota
	SessionRow
	MoreRow // can be unfolded: the finished sub-agents of a session, the sessions of a worktree, or those that were put away
)

// Row is a row of the list. Its texts are made when it is shown.
type Row struct {
	Kind    rowKind
	Group   Group        // of a header
	Title   string       // of a header: the project, where sessions are grouped by project; of a MoreRow that is not of sub-agents: what it folds
	Count   int          // of a header: its families; of a MoreRow: the sessions that it folds or unfolds
	Agents  int          // of a header: the sub-agents in its families
	Session *app.Session // of a SessionRow
	Key     Key          // of a SessionRow, or the parent's for a MoreRow
	Depth   int
	below   bool       // of a SessionRow: its header shows the project
	Open    bool       // of a MoreRow: its sessions are unfolded
	Ref     answer.Ref // of a SessionRow in the scope NeedsYou: its request
}

// IsNested reports whether a row above that of a session shows the project.
func (r *Row) IsNested() bool { return r.Depth > 0 || r.below }

// View holds the rows of the list for one snapshot. It is immutable.
type View struct {
	Snapshot  *app.Snapshot
	Rows      []Row
	At        map[Key]int // indexes in rows of the sessions
	More      map[Key]int // indexes in rows of the rows for the finished sub-agents of a session
	ByKey     map[Key]*app.Session
	Children  map[Key][]Key
	Parent    map[Key]Key
	Counts    [Groups]int // of families, also of those that the filter leaves out
	Matching  int         // sessions that match the filter
	Filter    string
	Scope     Scope
	Positions map[Key]Position
}

// Waiting returns a view in the scope NeedsYou: it has a row for each thing that waits, in the order of asked, instead of the rows of v.
func Waiting(v *View, asked []answer.Asked) *View {
	out := *v
	out.Rows = nil
	out.At = map[Key]int{}
	out.More = nil
	out.Scope = NeedsYou
	for i := range asked {
		s := &asked[i].Entry.Session
		k := Key{Agent: s.Agent, ID: s.ID}
		if _, matches := v.At[k]; v.Filter != "" && !matches {
			continue
		}
		if _, ok := out.At[k]; !ok {
			out.At[k] = len(out.Rows)
		}
		out.Rows = append(out.Rows, Row{Kind: SessionRow, Session: s, Key: k, Ref: asked[i].Ref()})
	}
	return &out
}

// Index contains the keys of a snapshot's sessions, and the parent of each session.
type Index struct {
	app.Family
	Keys []Key // one key per session of the snapshot
}

// NewIndex returns the index of sessions.
func NewIndex(sessions []app.Session) *Index {
	x := &Index{Family: app.Nest(sessions), Keys: make([]Key, len(sessions))}
	seen := make(map[Key]int, len(sessions))
	for i := range sessions {
		k := Key{Agent: sessions[i].Agent, ID: sessions[i].ID}
		x.Keys[i] = Key{k.Agent, k.ID, seen[k]}
		seen[k]++
	}
	return x
}

// Match returns the session with that id, or the only one whose id begins with it.
func Match(v *View, id string) (Key, bool) {
	var found []Key
	for k := range v.ByKey {
		if k.ID == id && k.repeated == 0 {
			return k, true
		}
		if strings.HasPrefix(k.ID, id) && k.repeated == 0 {
			found = append(found, k)
		}
	}
	if len(found) == 1 {
		return found[0], true
	}
	return Key{}, false
}

// LaunchGroups returns the groups of launches that have a session, in the order of the list.
func LaunchGroups(s *app.Snapshot) []string {
	var out []string
	for x := range s.All() {
		if g := GroupOfLaunch(x); g != "" && !slices.Contains(out, g) {
			out = append(out, g)
		}
	}
	return out
}

// GroupOfLaunch returns the group that a session was launched in; empty: none.
func GroupOfLaunch(s *app.Session) string {
	if s.Launch == nil {
		return ""
	}
	return s.Launch.Group
}
