package app

import (
	"time"

	"rollcall/adapters"
)

// BetweenTurns reports whether the last turn of the session was over before e.
func (e *Event) BetweenTurns() bool {
	return e.Before.Status == adapters.Idle && !e.Before.Suspended
}

// TurnLength returns how long the last turn ran: until e, or, if the turn was over
// before, until its last record. It returns false where that is not known.
func (e *Event) TurnLength() (took time.Duration, ok bool) {
	start, end := e.turnStart(), e.At
	if e.BetweenTurns() || end.IsZero() {
		end = e.Session.LastActivityAt
		if before := e.Before.LastActivityAt; e.BetweenTurns() && !before.IsZero() && before.Before(end) {
			end = before // agents may store a record of their end
		}
	}
	if start.IsZero() || end.IsZero() || end.Before(start) {
		return 0, false
	}
	return end.Sub(start), true
}

// turnStart returns when the last turn began. Where the agent does not store that, it
// returns the session's start, if there was only one prompt.
func (e *Event) turnStart() time.Time {
	for _, s := range []*Session{&e.Session, &e.Before} {
		switch {
		case !s.TurnStartedAt.IsZero():
			return s.TurnStartedAt
		case !s.StartedAt.IsZero() && (s.FirstPrompt == "" || s.LastPrompt == s.FirstPrompt):
			return s.StartedAt
		}
	}
	return time.Time{}
}
