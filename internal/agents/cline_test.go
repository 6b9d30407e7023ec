//go:build agents && linux

package agents

import (
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// openCline starts Cline in a terminal, and returns when it takes prompts.
func openCline(s *Sandbox, r Release, args ...string) (*Terminal, Process) {
	s.t.Helper()
	terminal := s.Open(s.Argv(r, append([]string{"--auto-approve", "false", "--tui"}, args...)...)...)
	agent := s.Descendant(terminal.PID(), "cline")
	terminal.Shows("Auto-approve all disabled")
	return terminal, agent
}

// Cline through start, work, question, idle, interruption, exit, resumption and kill, in a terminal that hosts its session itself, and
// in a run without a terminal.
func TestCline(t *testing.T) {
	each(t, []Release{ClineNewest}, func(t *testing.T, s *Sandbox, r Release) {
		terminal, agent := openCline(s, r)
		s.Becomes(byPID(agent.PID), time.Now(), soon, "idle")

		asked := terminal.Prompt("first job [[delay 4]][[usage 111 22]]")
		working := s.Becomes(byPrompt("first job"), asked, soon, "working")
		if working.PID != agent.PID || working.CWD != s.Project || working.Agent != "cline" {
			t.Errorf("working: %v in %s, want pid %d in %s", working, working.CWD, agent.PID, s.Project)
		}
		session := byID(working.ID)
		idle := s.Becomes(session, time.Now(), soon, "idle/completed")
		if idle.Model != mockModel || idle.Stale != nil {
			t.Errorf("idle: model %q, stale %v", idle.Model, idle.Stale)
		}

		terminal.Prompt("need it [[bash touch asked.txt]]")
		s.Becomes(session, time.Now(), soon, "waiting/permission")
		terminal.Press("Escape")
		s.Becomes(session, time.Now(), soon, "idle/interrupted", "idle/completed")
		terminal.Prompt("ask me [[ask]]")
		terminal.Shows("Which colour?")
		s.Becomes(session, time.Now(), soon, "waiting/question")
		terminal.Press("Enter")
		s.Becomes(session, time.Now(), soon, "idle/completed")

		asked = terminal.Prompt("never ends [[delay 300]]")
		s.Becomes(session, asked, soon, "working")
		terminal.Press("Escape")
		s.Becomes(session, time.Now(), soon, "idle/interrupted")
		s.Signal(agent, unix.SIGINT)
		s.Gone(agent)
		s.Becomes(session, time.Now(), soon, "stopped/interrupted")

		terminal, agent = openCline(s, r, "--id", working.ID)
		s.Becomes(session, time.Now(), soon, "idle/interrupted")
		asked = terminal.Prompt("resumed [[delay 60]]")
		if resumed := s.Becomes(session, asked, soon, "working"); resumed.PID != agent.PID {
			t.Errorf("pid %d, want %d", resumed.PID, agent.PID)
		}
		s.Signal(agent, unix.SIGKILL)
		s.Gone(agent)

		s.Detached(append([]string{"env", "CLINE_SESSION_BACKEND_MODE=local"}, s.Argv(r, "in the background [[delay 60]]")...)...)
		asked = s.Asked("in the background")
		alone := s.Becomes(byPrompt("in the background"), asked, soon, "working")
		s.Signal(s.Agent("cline", "in the background [[delay 60]]"), unix.SIGINT)
		s.Becomes(byID(alone.ID), time.Now(), soon, "stopped/interrupted")
	})
}
