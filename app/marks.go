package app

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"rollcall/adapters"
)

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
