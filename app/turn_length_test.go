package app

import (
	"testing"
	"time"

	"rollcall/adapters"
)

// The length of a turn is that of the agent's own records: its end may be noticed late, and a session without a prompt has none.
func TestTurnLength(t *testing.T) {
	begin := time.Date(2026, 11, 25, 12, 0, 0, 0, time.UTC)
	const noticed, took = 2 * time.Minute, 25 * time.Second
	for name, c := range map[string]struct {
		before, now adapters.Session
		want        time.Duration // 0: not known
	}{
		"noticed late": {adapters.Session{State: adapters.State{Status: adapters.Working}}, adapters.Session{
			State: adapters.State{Status: adapters.Idle, Outcome: adapters.Completed},
			Times: adapters.Times{TurnStartedAt: begin, LastActivityAt: begin.Add(took)},
		}, took},
		"ended, late": {adapters.Session{State: adapters.State{Status: adapters.Working}}, adapters.Session{
			State: adapters.State{Status: adapters.Stopped, Outcome: adapters.Failed},
			Times: adapters.Times{TurnStartedAt: begin, LastActivityAt: begin.Add(took)},
		}, took},
		"died": {adapters.Session{State: adapters.State{Status: adapters.Working}}, adapters.Session{
			State: adapters.State{Status: adapters.Stopped, Outcome: adapters.Died},
			Times: adapters.Times{TurnStartedAt: begin, LastActivityAt: begin.Add(took)},
		}, noticed},
		"one prompt": {adapters.Session{State: adapters.State{Status: adapters.Working}}, adapters.Session{
			State: adapters.State{Status: adapters.Idle},
			Topic: adapters.Topic{FirstPrompt: "a", LastPrompt: "a"},
			Times: adapters.Times{StartedAt: begin, LastActivityAt: begin.Add(took)},
		}, noticed},
		"no prompt, /clear": {adapters.Session{State: adapters.State{Status: adapters.Idle}}, adapters.Session{
			State: adapters.State{Status: adapters.Stopped},
			Times: adapters.Times{StartedAt: begin, LastActivityAt: begin.Add(time.Second)},
		}, 0},
	} {
		ev := Event{At: begin.Add(noticed), Before: Session{Session: c.before}, Session: Session{Session: c.now}}
		if got, ok := ev.TurnLength(); got != c.want || ok != (c.want != 0) {
			t.Errorf("%s: %v, %v; want %v", name, got, ok, c.want)
		}
	}
}
