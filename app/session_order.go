package app

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"rollcall/adapters"
)

// Order contains the statuses in the order of every list of sessions: those that need the
// user first. The window groups by it, with a sub-agent that needs the user among its
// parent's family; the command line and the tray list sessions as Sort puts them.
var Order = [...]adapters.Status{adapters.Waiting, adapters.Working, adapters.Idle, adapters.Unknown, adapters.Stopped}

// Rank returns the place of a status in Order. A status that this version does not
// know ranks as unknown.
func Rank(s adapters.Status) int {
	if i := slices.Index(Order[:], s); i >= 0 {
		return i
	}
	return Rank(adapters.Unknown)
}

// Sort sorts sessions by Rank; within a rank those that the user pinned come first, then the newest activity, and of those that wait what waits longest. Ties are
// broken by agent and id, so the order is always the same.
func Sort(s []Session) {
	slices.SortFunc(s, func(a, b Session) int { return compareSessions(&a, &b) })
}

// CompareActivity compares two sessions with the same status by their last activity, a and b, in the order of Sort. An unknown time comes last.
func CompareActivity(s adapters.Status, a, b time.Time) int {
	if s != adapters.Waiting || a.IsZero() || b.IsZero() {
		return b.Compare(a)
	}
	return a.Compare(b)
}

func compareSessions(a, b *Session) int {
	if c := cmp.Compare(Rank(a.Status), Rank(b.Status)); c != 0 {
		return c
	}
	if a.Pinned != b.Pinned {
		return ifPinned(a)
	}
	if c := CompareActivity(a.Status, a.LastActivityAt, b.LastActivityAt); c != 0 {
		return c
	}
	return cmp.Or(cmp.Compare(a.Agent, b.Agent), cmp.Compare(a.ID, b.ID))
}

// ifPinned returns the result of comparing s to a session that is pinned if s is not.
func ifPinned(s *Session) int {
	if s.Pinned {
		return -1
	}
	return 1
}

// sortSessions sorts pointers instead of the large values, then copies once.
func sortSessions(s []Session) []Session {
	order := make([]*Session, len(s))
	for i := range s {
		order[i] = &s[i]
	}
	slices.SortFunc(order, compareSessions)
	out := make([]Session, len(s))
	for i, p := range order {
		out[i] = *p
	}
	return out
}

// merge joins sorted lists into one sorted list.
func merge(lists [][]Session) []Session {
	total, last := 0, -1
	for i, l := range lists {
		if len(l) > 0 {
			total, last = total+len(l), i
		}
	}
	if total == 0 {
		return nil
	}
	if total == len(lists[last]) {
		return lists[last]
	}
	out := make([]Session, 0, total)
	at := make([]int, len(lists))
	for len(out) < total {
		best := -1
		for i, l := range lists {
			if at[i] < len(l) && (best < 0 || compareSessions(&l[at[i]], &lists[best][at[best]]) < 0) {
				best = i
			}
		}
		out = append(out, lists[best][at[best]])
		at[best]++
	}
	return out
}

// Mark is what the user noted about a session. The zero value is no note.
type Mark struct {
	// Name is the user's own name for it, which is shown instead of the agent's title.
	Name string `json:"name,omitempty"`
	// Pinned sessions come first among those with their status.
	Pinned bool `json:"pinned,omitempty"`
	// Hidden sessions are put away; see Session.PutAway.
	Hidden bool `json:"hidden,omitempty"`
	// Snooze puts a session away for a while.
	Snooze Snooze `json:"snooze,omitzero"`
	// Muted sessions have no notifications.
	Muted bool `json:"muted,omitempty"`
}

// Snooze is for how long a session is put away: until a time or until the session changes, whichever comes first. The zero value is not at all.
type Snooze struct {
	Since time.Time `json:"since,omitzero"`
	Until time.Time `json:"until,omitzero"` // zero: until the session changes
	// The session as it was when it was snoozed.
	Status  adapters.Status  `json:"status,omitempty"`
	Outcome adapters.Outcome `json:"outcome,omitempty"`
	Turn    time.Time        `json:"turn,omitzero"` // when its last turn began; zero: not known
}

// NewSnooze returns the snooze of a session as it is now. A zero until is until the session changes.
func NewSnooze(s *Session, now, until time.Time) (Snooze, error) {
	switch {
	case s.Status == adapters.Waiting:
		return Snooze{}, errors.New("it needs you, so it can't be snoozed: answer it first")
	case !until.IsZero() && !until.After(now):
		return Snooze{}, fmt.Errorf("%s has already passed: choose a later time", until.Format(time.DateTime))
	}
	return Snooze{Since: now, Until: until, Status: s.Status, Outcome: s.Outcome, Turn: s.TurnStartedAt}, nil
}

// holds reports whether the snooze of s has not ended at the time now.
func (z Snooze) holds(s *Session, now time.Time) bool {
	sameTurn := z.Turn.IsZero() || s.TurnStartedAt.IsZero() || z.Turn.Equal(s.TurnStartedAt)
	inTime := !z.Since.IsZero() && (z.Until.IsZero() || now.Before(z.Until))
	return inTime && z.Status == s.Status && z.Outcome == s.Outcome && sameTurn
}

// Marks provides what the user noted about sessions.
type Marks interface {
	// Of returns the notes about an agent's sessions, by id. With an error, it returns those that could be read. Any goroutine may call it. It must return quickly.
	Of(agent adapters.Name) (map[string]Mark, error)
}

// addMarks sets what the user noted about sessions of an agent.
func (c *Core) addMarks(agent adapters.Name, rows []Session) {
	if c.cfg.Marks == nil {
		return
	}
	marks, err := c.cfg.Marks.Of(agent)
	if err != nil {
		c.cfg.Log.Warn("names of sessions are not shown", "error", err)
	}
	now := time.Now()
	for i := range rows {
		rows[i].SetMark(marks[rows[i].ID], now)
	}
}

// SetMark sets what the user noted about s, as it counts at the time now.
func (s *Session) SetMark(m Mark, now time.Time) {
	s.Name = m.Name
	s.Pinned = m.Pinned
	s.Hidden = m.Hidden
	s.Muted = m.Muted
	s.Snoozed = m.Snooze.holds(s, now)
	s.SnoozedUntil = time.Time{}
	if s.Snoozed {
		s.SnoozedUntil = m.Snooze.Until
	}
}

// PutAway reports whether lists fold s: the user hid or snoozed it. One that needs the user is never folded.
func (s *Session) PutAway() bool {
	return (s.Hidden || s.Snoozed) && s.Status != adapters.Waiting
}

// CanMark returns why the user can't note anything about s; nil: the user can.
func (s *Session) CanMark() error {
	switch {
	case s.Machine != "":
		return fmt.Errorf("it runs on %s, and its marks are kept there", s.Machine)
	case s.IsProcess():
		return errors.New("it has no session yet: a session begins with the first prompt")
	case s.Launch != nil && s.Launch.Unlisted:
		return errors.New("its agent does not list it yet: try again in a moment")
	}
	return nil
}

// PutAway reports for each session of a list whether lists fold it: it is put away, or a session that started it is. One that needs the user is never folded.
func PutAway(list []Session) []bool {
	away := make([]bool, len(list))
	if !slices.ContainsFunc(list, func(s Session) bool { return s.PutAway() }) {
		return away
	}
	family := Nest(list)
	for i := range list {
		for p := i; p >= 0 && !away[i] && list[i].Status != adapters.Waiting; p = family.Parent[p] {
			away[i] = list[p].PutAway()
		}
	}
	return away
}
