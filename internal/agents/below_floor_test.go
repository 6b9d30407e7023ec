//go:build agents && linux

package agents

import (
	"strings"
	"testing"
	"time"

	"rollcall/internal/must"
)

// A live process of a version below the floor is one row: "open" before its session, whose status is unknown.
func TestBelowTheFloor(t *testing.T) {
	nightly(t)
	each(t, []Release{ClaudeBelow, CodexBelow}, func(t *testing.T, s *Sandbox, r Release) {
		comm, prompt := "claude", "begin [[delay 30]]"
		if r == CodexBelow {
			comm = "codex"
		}
		terminal := s.Open(s.Argv(r)...)
		terminal.Shows("? for shortcuts")
		agent := s.Descendant(terminal.PID(), comm)
		s.Becomes(byPID(agent.PID), time.Now(), soon, "idle", "unknown")
		asked := terminal.Prompt(prompt)
		s.Becomes(byPID(agent.PID), asked, soon, "idle", "unknown")
		s.Stays(byPID(agent.PID), 3*time.Second, "idle", "unknown")
		terminal.Shows("Mock answer to: begin")
		s.Becomes(byPID(agent.PID), time.Now(), soon, "unknown")
		roll := must.Get(s.List("--all"))(t)
		if _, rows := roll.find(byPID(agent.PID)); rows != 1 {
			t.Errorf("%d rows of process %d:%v", rows, agent.PID, roll)
		}
		s.Kill(agent)
		s.shows(byPrompt("begin"), time.Now(), soon, "stopped", func(x Session) bool { return strings.HasPrefix(x.state(), "stopped") })
	})
}
