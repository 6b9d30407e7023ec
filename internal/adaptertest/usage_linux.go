package adaptertest

import (
	"math"
	"testing"
	"time"

	"rollcall/adapters"
	"rollcall/internal/agentname"
)

// counted are the tokens that count for sessions of recordings whose records hold answers of other sessions, or that had sub-agents, by what their records
// hold.
var counted = map[string]struct{ recorded, counts adapters.Tokens }{
	"90f677d2-245a-47f0-aa04-48fb40d09d9a": { // with its sub-agent
		adapters.Tokens{Input: 200, Output: 40, CacheRead: 2000, CacheWrite: 14}, adapters.Tokens{Input: 300, Output: 60, CacheRead: 3000, CacheWrite: 21}},
	"bb77f674-d99d-4f50-9849-d9c3e164b6f7": { // with two sub-agents of 2.0.50
		adapters.Tokens{Input: 100, Output: 20, CacheRead: 1000, CacheWrite: 7}, adapters.Tokens{Input: 300, Output: 60, CacheRead: 3000, CacheWrite: 21}},
	"a8318bfa-c427-48b4-a35e-7bef2832d033": { // a fork
		adapters.Tokens{Input: 600, Output: 60, CacheRead: 3000, CacheWrite: 21}, adapters.Tokens{Input: 300, Output: 30, CacheRead: 1000, CacheWrite: 7}},
	"8a6ad91e-3fd4-4903-b445-a5f46342c3cf": { // with a sub-agent of Gemini CLI that is over
		adapters.Tokens{Input: 1500, Output: 204, CacheRead: 6000, Reasoning: 30}, adapters.Tokens{Input: 1940, Output: 272, CacheRead: 8000, Reasoning: 40}},
	"ses_e03919e45ffeUHsOhzv3MPcNQK": { // a fork
		adapters.Tokens{Input: 1000, Output: 136, CacheRead: 4000}, adapters.Tokens{Input: 280, Output: 34, CacheRead: 1000}},
}

// CheckUsage checks that what counts for each session adds up to its totals exactly. Only agents that record no times, and
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
			if s.Agent != agentname.OpenClaw {
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
	var sum adapters.Usage
	for i, u := range s.Usage {
		sum.Add(&u)
		if !u.At.Equal(u.At.Truncate(adapters.UsageStep)) || u.At.IsZero() && !s.LastActivityAt.IsZero() {
			t.Errorf("%s %s: a step begins %s", s.Agent, s.ID, u.At)
		}
		if i > 0 && (s.Usage[i-1].At.After(u.At) || s.Usage[i-1].IsAt(&u)) {
			t.Errorf("%s %s: the step %+v follows %+v", s.Agent, s.ID, u, s.Usage[i-1])
		}
		if u.At.After(s.LastActivityAt.Add(time.Minute)) || u.Turns < 0 {
			t.Errorf("%s %s, last active %s: %+v", s.Agent, s.ID, s.LastActivityAt, u)
		}
	}
	want, other := *s.Tokens, false
	if c, is := counted[s.ID]; is && c.recorded == want {
		want, other = c.counts, true
	}
	if sum.Tokens != want || !other && math.Abs(sum.CostUSD-s.CostUSD) > 1e-6 {
		t.Errorf("%s %s: its steps add up to %+v, $%v; want %+v, $%v", s.Agent, s.ID, sum.Tokens, sum.CostUSD, want, s.CostUSD)
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
