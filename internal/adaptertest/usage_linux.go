package adaptertest

import (
	"math"
	"testing"
	"time"

	"rollcall/adapters"
)

// CheckUsage checks that what each session used by time adds up to its totals exactly. Only agents that record no times, and
// sessions without totals, may have none. It returns how many sessions have some.
func CheckUsage(t testing.TB, sessions []adapters.Session) (known int) {
	t.Helper()
	for i := range sessions {
		s := &sessions[i]
		if s.Tokens == nil {
			if s.Usage != nil {
				t.Errorf("%s %s: it has usage but no totals", s.Agent, s.ID)
			}
			continue
		}
		if s.Usage == nil {
			if s.Agent != adapters.OpenClaw {
				t.Errorf("%s %s: it has totals but no usage", s.Agent, s.ID)
			}
			continue
		}
		known++
		checkSteps(t, s)
	}
	return known
}

func checkSteps(t testing.TB, s *adapters.Session) {
	t.Helper()
	var sum adapters.Tokens
	cost := 0.0
	for i, u := range s.Usage {
		sum.Add(u.Tokens)
		cost += u.CostUSD
		if !u.At.Equal(u.At.Truncate(adapters.UsageStep)) || u.At.IsZero() && !s.LastActivityAt.IsZero() {
			t.Errorf("%s %s: a step begins %s", s.Agent, s.ID, u.At)
		}
		if i > 0 && !s.Usage[i-1].At.Before(u.At) {
			t.Errorf("%s %s: the step of %s follows that of %s", s.Agent, s.ID, u.At, s.Usage[i-1].At)
		}
		if u.At.After(s.LastActivityAt.Add(time.Minute)) || u.Turns < 0 {
			t.Errorf("%s %s, last active %s: %+v", s.Agent, s.ID, s.LastActivityAt, u)
		}
	}
	if sum != *s.Tokens || math.Abs(cost-s.CostUSD) > 1e-6 {
		t.Errorf("%s %s: its steps add up to %+v, $%v; it used %+v, $%v", s.Agent, s.ID, sum, cost, *s.Tokens, s.CostUSD)
	}
}

// checkTurns checks that a session that answered its prompt has a turn, and one with several prompts not more than the agent can
// have counted.
func checkTurns(t testing.TB, s *adapters.Session) {
	t.Helper()
	turns, ok := s.Turns()
	if ok && turns == 0 && s.FirstPrompt != "" && s.Outcome == adapters.Completed && s.Tokens.Output > 0 {
		t.Errorf("%s %s: it answered %.40q, and has no turn", s.Agent, s.ID, s.FirstPrompt)
	}
}
