// Package steady keeps an answer from being put together of two moments. The
// process table is read first and files after it; a session that is resumed in
// between has no process in the first, and a new turn in the second, which
// would make it one that died.
package steady

import (
	"context"
	"time"

	"rollcall/adapters"
)

const (
	attempts = 5
	// tick is by how much a time in a file can lie before that of its writing.
	tick = 20 * time.Millisecond
)

// Ask calls look, and again if it says that a session without a process was
// active since look began: then the process may have begun meanwhile. It is
// settled when the next look, whose process table is newer than what was read
// before, says the same. It is seldom needed, so it costs nothing.
func Ask(ctx context.Context, look func() (adapters.Roll, error)) (adapters.Roll, error) {
	var before map[string]time.Time
	for attempt := 1; ; attempt++ {
		begun := time.Now().Add(-tick)
		roll, err := look()
		recent, settled := overtaken(roll.Sessions, begun, before)
		if settled || attempt == attempts || ctx.Err() != nil {
			return roll, err
		}
		before = recent
	}
}

// overtaken are the stopped sessions that were active since begun; all of them
// are settled if the look before saw no more.
func overtaken(sessions []adapters.Session, begun time.Time, before map[string]time.Time) (recent map[string]time.Time, settled bool) {
	settled = true
	for i := range sessions {
		s := &sessions[i]
		if s.Status != adapters.Stopped || !s.LastActivityAt.After(begun) {
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
