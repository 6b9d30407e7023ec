//go:build agents && linux

package agents

import (
	"testing"
	"time"
)

// reopenings are the ways to open a session again without a prompt.
var reopenings = map[string]func(id string) []string{
	"by id":      func(id string) []string { return []string{"-s", id} },
	"the latest": func(string) []string { return []string{"-c"} },
}

// killOpenCode starts OpenCode in a terminal, gives it a prompt, kills it in
// mid-turn and returns the session.
func killOpenCode(s *Sandbox, r Release, prompt string) Session {
	s.t.Helper()
	terminal, agent := openOpenCode(s, r)
	working := terminal.Works(byPrompt(prompt), prompt)
	s.Kill(agent)
	return working
}

// A turn that was left open by a process that was killed is over, also while a
// later process has its session open; its next turn is one again.
func TestOpenCodeReopenedAfterDeath(t *testing.T) {
	nightly(t)
	for name, args := range reopenings {
		t.Run(name, func(t *testing.T) {
			each(t, openCodes, func(t *testing.T, s *Sandbox, r Release) {
				const prompt = "killed in mid-turn [[delay 60]]"
				died := killOpenCode(s, r, prompt)
				terminal := s.Open(s.Argv(r, args(died.ID)...)...)
				terminal.Shows("killed in mid-turn")
				agent := s.Descendant(terminal.PID(), "opencode") // now; what starts it has that name for a moment
				idle := s.Becomes(byID(died.ID), time.Now(), soon, "idle/died")
				if idle.PID != agent.PID {
					t.Errorf("pid %d, want %d", idle.PID, agent.PID)
				}
				s.Stays(byID(died.ID), 3*time.Second, "idle/died")
				terminal.Works(byID(died.ID), "once more [[delay 4]]")
				terminal.Shows("Mock answer to: once more")
				s.Becomes(byID(died.ID), time.Now(), soon, "idle", "idle/completed")
				terminal.Leave("/exit", agent)
				s.Becomes(byID(died.ID), time.Now(), soon, "stopped/completed")
			})
		})
	}
}
