package agentproc

import (
	"context"
	"time"

	"rollcall/adapters"
	"rollcall/proc"
)

const (
	attempts = 5
	// clockPrecision is the longest time by which a time in a file can be earlier than
	// the writing of that time.
	clockPrecision = 20 * time.Millisecond
)

// Ask returns what look returns, with the sessions of containers marked as such
// (container.Mark), and with the programs in which agents run. It calls look again if a session without a process, one whose
// turn is said to have died with an earlier process, or one that waits, was active since look began: its process, or that of
// its call, may have begun meanwhile. Ask believes the session when the next look,
// whose process table is newer than what was read before, returns the same. A second look is
// seldom needed.
func Ask(ctx context.Context, table proc.Lister, look func() (adapters.Roll, error)) (adapters.Roll, error) {
	var before map[string]time.Time
	for attempt := 1; ; attempt++ {
		begun := time.Now().Add(-clockPrecision)
		roll, err := look()
		recent, settled := activeSince(roll.Sessions, begun, before)
		if settled || attempt == attempts || ctx.Err() != nil {
			Mark(table, roll.Sessions)
			nameHosts(table, roll.Sessions)
			return roll, err
		}
		before = recent
	}
}

// activeSince returns the sessions that are stopped, wait or died and were active since begun, with the
// time of their last activity. settled reports whether before has them all, with
// the same times.
func activeSince(sessions []adapters.Session, begun time.Time, before map[string]time.Time) (recent map[string]time.Time, settled bool) {
	settled = true
	for i := range sessions {
		s := &sessions[i]
		lacksProcess := s.Status == adapters.Stopped || s.Status == adapters.Waiting || s.Outcome == adapters.Died
		if !lacksProcess || !s.LastActivityAt.After(begun) {
			continue
		}
		if recent == nil {
			recent = map[string]time.Time{}
		}
		recent[s.ID] = s.LastActivityAt
		if at, there := before[s.ID]; !there || !at.Equal(s.LastActivityAt) {
			settled = false
		}
	}
	return recent, settled
}
