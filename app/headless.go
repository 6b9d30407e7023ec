package app

import "rollcall/adapters"

// Headless is how the menu and the notifications treat headless sessions (adapters.Session.Headless) that Rollcall did not launch. A session that waits for the
// user is never left out: only the user can answer it. The zero value is FoldHeadless.
type Headless string

// The values of the setting "headless".
const (
	ShowHeadless  Headless = "show"  // like every other session
	FoldHeadless  Headless = "fold"  // the menu shows their number; there is no notification of their ends and replies
	QuietHeadless Headless = "quiet" // the menu does not show their number either
)

// Folds reports whether the menu has no row for s.
func (h Headless) Folds(s *Session) bool {
	return h != ShowHeadless && s.Headless && s.Launch == nil && s.Status != adapters.Waiting
}

// Mutes reports whether the user is not notified of ev, the end of a turn or of a session. What a live session was counts more than what its files say after its
// end: the user may have resumed a headless session in a terminal.
func (h Headless) Mutes(ev *Event) bool {
	s := ev.Session
	if ev.Before.Live() {
		s.Headless = ev.Before.Headless
	}
	if s.Launch == nil {
		s.Launch = ev.Before.Launch
	}
	return h.Folds(&s)
}

// SetHeadless replaces how headless sessions are treated from the next snapshot on.
func (c *Core) SetHeadless(h Headless) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.headless != h {
		c.headless = h
		c.publishLocked()
	}
}
