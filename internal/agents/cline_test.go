//go:build agents && linux

package agents

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"rollcall/internal/must"
)

// openCline starts Cline in a terminal, and returns when it takes prompts.
func openCline(s *Sandbox, r Release, args ...string) (*Terminal, Process) {
	s.t.Helper()
	terminal := s.Open(s.Argv(r, append([]string{"--auto-approve", "false", "--tui"}, args...)...)...)
	agent := s.Descendant(terminal.PID(), ".cline")
	terminal.Shows("Auto-approve all disabled")
	return terminal, agent
}

// The hub of Cline hosts the session of a terminal that starts once it runs: what that asks is answered through the hub, and its turn is stopped there.
func TestClineHub(t *testing.T) {
	each(t, []Release{ClineNewest}, func(t *testing.T, s *Sandbox, r Release) {
		openCline(s, r)
		hub := s.Agent(".cline", "--cline-hub-daemon")
		s.made(filepath.Join(s.Home, ".cline", "data", "locks", "hub", "production.json"))
		terminal, _ := openCline(s, r)
		terminal.Prompt("allow me [[bash touch allowed.txt]]")
		waiting := s.Becomes(byPrompt("allow me"), time.Now(), soon, "waiting/permission")
		if waiting.PID != hub.PID || waiting.CWD != s.Project {
			t.Errorf("waiting: %v in %s, want pid %d in %s", waiting, waiting.CWD, hub.PID, s.Project)
		}
		session := byID(waiting.ID)
		first := s.asks("touch allowed.txt")
		if first.Kind != "command" || first.Session.ID != waiting.ID || !first.CanAllow || !first.CanDeny {
			t.Errorf("%+v", first)
		}
		s.answered(first, "--allow")
		s.made(filepath.Join(s.Project, "allowed.txt"))
		s.Becomes(session, time.Now(), soon, "idle/completed")
		s.stale(first)

		send := func(prompt string) time.Time {
			s.rollcall("send", waiting.ID, "-p", prompt)
			return s.Asked(prompt)
		}
		send("deny me [[bash touch denied.txt]]")
		s.answered(s.asks("touch denied.txt"), "--deny")
		s.Becomes(session, time.Now(), soon, "idle/completed")
		s.notMade(filepath.Join(s.Project, "denied.txt"))

		asked := send("never ends [[delay 300]]")
		if working := s.Becomes(session, asked, soon, "working"); !strings.HasPrefix(working.LastPrompt, "never ends") {
			t.Errorf("last prompt %q", working.LastPrompt)
		}
		s.rollcall("interrupt", waiting.ID)
		s.Becomes(session, time.Now(), soon, "idle/interrupted")
		if s.Agent(".cline", "--cline-hub-daemon").PID != hub.PID || !s.left("never ends") {
			t.Error("the hub has ended, or the turn goes on")
		}
	})
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
		terminal.Shows("Approve tool call?")
		terminal.Dismiss("Escape", "Approve tool call?")
		s.Becomes(session, time.Now(), soon, "idle/interrupted", "idle/completed")
		terminal.PromptUntil("ask me [[ask]]", "Which colour?")
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
		s.Kill(agent)

		s.Detached(append([]string{"env", "CLINE_SESSION_BACKEND_MODE=local"}, s.Argv(r, "in the background [[delay 60]]")...)...)
		asked = s.Asked("in the background")
		alone := s.Becomes(byPrompt("in the background"), asked, soon, "working")
		s.Signal(s.Agent(".cline", "in the background [[delay 60]]"), unix.SIGINT)
		s.Becomes(byID(alone.ID), time.Now(), soon, "stopped/interrupted")
	})
}

// The hub counts denials as mistakes: at the third it asks in the terminal how to go on, and ends no turn before the answer.
func TestClineMistakes(t *testing.T) {
	each(t, []Release{ClineNewest}, func(t *testing.T, s *Sandbox, r Release) {
		openCline(s, r)
		s.made(filepath.Join(s.Home, ".cline", "data", "locks", "hub", "production.json"))
		terminal, _ := openCline(s, r)
		terminal.Prompt("three times [[hold on]]")
		s.Asked("three times")
		for i := range 3 {
			must.Do(t, s.Server.Release(t.Context(), "on", fmt.Sprintf("[[bash touch denied%d.txt]]", i)))
			terminal.Shows("Approve tool call?")
			terminal.Dismiss("n", "Approve tool call?")
		}
		terminal.Shows("How should Cline continue?")
		waiting := s.Becomes(byPrompt("three times"), time.Now(), soon, "waiting/question")
		if !strings.Contains(waiting.Evidence, "How should Cline continue after 3 mistakes in a row?") {
			t.Errorf("evidence %q", waiting.Evidence)
		}
		terminal.Press("Enter")
		must.Do(t, s.Server.Release(t.Context(), "on", ""))
		s.Becomes(byID(waiting.ID), time.Now(), soon, "idle/completed")
	})
}
