//go:build agents && linux

package agents

import (
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// openOmp returns the terminal of an oh-my-pi, and its process.
func openOmp(s *Sandbox, open func(...string) *Terminal, r Release, args ...string) (*Terminal, Process) {
	s.t.Helper()
	terminal := open(s.Argv(r, args...)...)
	terminal.Shows("⬢ Mock")
	return terminal, s.Descendant(terminal.PID(), "omp")
}

// oh-my-pi through start, first turn, work, permission, interruption, kill and resume, in a tmux whose titles can be read.
func TestOmp(t *testing.T) {
	each(t, []Release{OmpNewest}, func(t *testing.T, s *Sandbox, r Release) {
		terminal, agent := openOmp(s, s.OpenInTmux, r)
		s.Becomes(byPID(agent.PID), time.Now(), soon, "idle")
		asked := terminal.Prompt("first job [[delay 6]][[usage 111 22]]")
		s.Becomes(byPID(agent.PID), asked, soon, "working") // by the title: nothing is stored
		terminal.Shows("Mock answer to: first job")
		idle := s.Becomes(byPrompt("first job"), time.Now(), soon, "idle/completed")
		if idle.PID != agent.PID || idle.CWD != s.Project || idle.Agent != "omp" || idle.Model != "mock-1" {
			t.Errorf("idle: %v, model %q in %s, want pid %d in %s", idle, idle.Model, idle.CWD, agent.PID, s.Project)
		}

		asked = terminal.Prompt("second job [[delay 4]]")
		s.Becomes(byID(idle.ID), asked, soon, "working")
		terminal.Shows("Mock answer to: second job")
		s.Becomes(byID(idle.ID), time.Now(), soon, "idle/completed")

		terminal.Permit(byID(idle.ID), "Allow tool", "Enter")

		terminal.PromptUntil("run it [[bash sleep 8]]", "Allow tool")
		terminal.Press("Enter")
		s.Becomes(byID(idle.ID), time.Now(), soon, "unknown") // the title stays that of a wait
		terminal.Press("Escape")
		s.Becomes(byID(idle.ID), time.Now(), soon, "idle/interrupted")

		asked = terminal.Prompt("never ends [[delay 300]]")
		s.Becomes(byID(idle.ID), asked, soon, "working")
		s.Kill(agent)
		s.Becomes(byID(idle.ID), time.Now(), soon, "stopped/died")

		terminal, agent = openOmp(s, s.OpenInTmux, r, "--resume", idle.ID)
		s.shows(byID(idle.ID), time.Now(), soon, "its new process", func(x Session) bool { return x.PID == agent.PID && x.state() == "idle/died" })
		terminal.Leave("/exit", agent)
		s.Becomes(byID(idle.ID), time.Now(), soon, "stopped/died")
	})
}

// Two in one folder, outside of a tmux that can be asked: their terminals tell them apart, and what a call does is not known. A run with -p ends or is killed.
func TestOmpTogether(t *testing.T) {
	each(t, []Release{OmpNewest}, func(t *testing.T, s *Sandbox, r Release) {
		first, firstAgent := openOmp(s, s.Open, r)
		second, secondAgent := openOmp(s, s.Open, r)
		s.Becomes(byPID(firstAgent.PID), time.Now(), soon, "idle")
		asked := first.Prompt("the first [[delay 6]]")
		s.Becomes(byPID(firstAgent.PID), asked, soon, "unknown") // a first turn is in no file, and no title says more
		first.Shows("Mock answer to: the first")
		second.PromptUntil("the second", "Mock answer to: the second")
		asked = second.Prompt("more of it [[delay 30]]")
		working := s.Becomes(byPrompt("the second"), asked, soon, "working")
		idle := s.Becomes(byPrompt("the first"), asked, soon, "idle/completed")
		if idle.PID != firstAgent.PID || working.PID != secondAgent.PID {
			t.Errorf("pids %d and %d, want %d and %d", idle.PID, working.PID, firstAgent.PID, secondAgent.PID)
		}
		first.PromptUntil("ask me [[bash touch asked.txt]]", "Allow tool")
		s.Becomes(byID(idle.ID), time.Now(), soon, "unknown")
		s.Signal(secondAgent, unix.SIGTERM)
		s.Gone(secondAgent)
		s.Becomes(byID(working.ID), time.Now(), soon, "stopped/interrupted")

		wrapper := s.Detached(s.Argv(r, "-p", "in the background [[delay 300]]")...)
		asked = s.Asked("in the background")
		run := s.Descendant(wrapper.PID, "omp")
		s.Becomes(byPID(run.PID), asked, soon, "working")
		s.Kill(run)
		s.Gone(s.Detached(s.Argv(r, "-p", "short job")...))
		s.Becomes(byPrompt("short job"), time.Now(), soon, "stopped/completed")
		s.Becomes(byID(idle.ID), time.Now(), soon, "unknown")
	})
}

// A question, a sub-agent, requests that fail and are tried again or not, and a session after another one in the same process.
func TestOmpTurns(t *testing.T) {
	each(t, []Release{OmpNewest}, func(t *testing.T, s *Sandbox, r Release) {
		terminal, agent := openOmp(s, s.OpenInTmux, r, "--approval-mode", "yolo")
		asked := terminal.Prompt("hello there")
		first := s.Becomes(byPrompt("hello there"), asked, soon, "idle/completed")
		terminal.PromptUntil("ask me [[ask]]", "Which colour?")
		s.Becomes(byID(first.ID), time.Now(), soon, "waiting/question")
		terminal.Answer("Enter", "Done.")
		s.Becomes(byID(first.ID), time.Now(), soon, "idle/completed")

		terminal.Prompt("run it [[bash sleep 6]]")
		s.Becomes(byID(first.ID), time.Now(), soon, "working")
		s.Becomes(byID(first.ID), time.Now(), soon, "idle/completed")

		asked = terminal.Prompt("delegate [[agent child job ((delay 8))]]")
		s.shows(func(x Session) bool { return x.Parent == first.ID }, asked, soon, "the sub-agent", func(x Session) bool { return x.state() == "working" && x.PID == agent.PID })
		s.Becomes(byID(first.ID), time.Now(), soon, "idle/completed")

		terminal.Prompt("refused [[fail 400]]")
		s.Becomes(byID(first.ID), time.Now(), soon, "idle/failed")
		asked = terminal.Prompt("tried again [[fail]]")
		s.Becomes(byID(first.ID), asked, soon, "working")
		s.Stays(byID(first.ID), 5*time.Second, "working") // by the title: only the first failure is recorded
		terminal.Press("Escape")
		s.Becomes(byID(first.ID), time.Now(), soon, "idle/interrupted")

		terminal.Enter("/new")
		asked = terminal.Prompt("another one [[delay 2]]")
		second := s.Becomes(byPrompt("another one"), asked, soon, "idle/completed")
		if second.PID != agent.PID || second.ID == first.ID {
			t.Errorf("%v after %v", second, first)
		}
		s.Becomes(byID(first.ID), time.Now(), soon, "stopped/interrupted")
	})
}

// Sessions that one process hosts for another program over the Agent Client Protocol: each has its own status, none has died while it works, what is cancelled is
// over, and all end with the process.
func TestOmpHosted(t *testing.T) {
	each(t, []Release{OmpNewest}, func(t *testing.T, s *Sandbox, r Release) {
		h := s.hosts(r, "acp")
		first, second := h.open(s.Project), h.open(s.Project)
		h.reply(h.prompt(first, "first one"))
		idle := s.Becomes(byID(first), time.Now(), soon, "idle/completed")
		h.prompt(second, "second one [[delay 300]]")
		if working := s.Becomes(byID(second), s.Asked("second one"), soon, "working"); working.PID != idle.PID {
			t.Errorf("%v and %v", working, idle)
		}
		s.Stays(byID(first), 2*time.Second, "idle/completed")
		h.write(map[string]any{"method": "session/cancel", "params": map[string]string{"sessionId": second}})
		s.Becomes(byID(second), time.Now(), soon, "idle/interrupted")
		h.prompt(first, "a tool [[bash sleep 77.5]]")
		s.Becomes(byID(first), s.Asked("a tool"), soon, "unknown") // a permission and a command that runs are the same in its files
		h.prompt(second, "never ends [[delay 300]]")
		s.Becomes(byID(second), s.Asked("never ends"), soon, "working")
		s.Kill(s.Agent("omp"))
		s.Becomes(byID(second), time.Now(), soon, "stopped/died")
		s.Becomes(byID(first), time.Now(), soon, "stopped/died")
	})
}
