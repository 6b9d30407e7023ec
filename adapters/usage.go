package adapters

import "time"

// UsageStep is the length of the time that one Usage covers. Every time zone of today differs from UTC by a multiple
// of it, so that the steps of a day add up to that day in any of them.
const UsageStep = 15 * time.Minute

// Usage is what a session used within one step of time.
type Usage struct {
	// At is the beginning of the step, in UTC: a multiple of UsageStep. It is zero in a
	// step whose time is not known.
	At      time.Time
	Tokens  Tokens
	CostUSD float64 // only as the agent states it, at the time of the record that states it
	// Turns is how many prompts of the user were answered: the first answers, in the step
	// in which they came. Several prompts before one answer are one turn.
	Turns int
}

// Turns returns how many prompts of the user the session answered. ok is false where Usage was not asked for or is
// not known.
func (s *Session) Turns() (turns int, ok bool) {
	for i := range s.Usage {
		turns += s.Usage[i].Turns
	}
	return turns, s.Usage != nil
}
