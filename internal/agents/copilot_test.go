//go:build agents && linux

package agents

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"rollcall/app"
)

// copilotBelow waits for the native program at or below a pid: npm's script starts it.
func copilotBelow(s *Sandbox, pid int) (found Process) {
	s.t.Helper()
	err := poll(30*time.Second, func() bool {
		all := s.Processes()
		for _, p := range all {
			if strings.Contains(p.Args[0], "/@github/copilot-") && below(all, p.PID, pid) {
				found = p
				return true
			}
		}
		return false
	})
	if err != nil {
		s.t.Fatalf("no Copilot below %d: %v", pid, err)
	}
	return found
}

// openCopilot starts Copilot in a terminal and returns when it takes prompts.
func openCopilot(s *Sandbox, r Release, flags ...string) (*Terminal, Process) {
	s.t.Helper()
	terminal := s.Open(s.Argv(r, flags...)...)
	agent := copilotBelow(s, terminal.PID())
	s.Becomes(byPID(agent.PID), time.Now(), 2*soon, "idle", "idle/interrupted", "idle/completed")
	return terminal, agent
}

// Copilot through start, work, permission, question, sub-agent, interruption, exit, resumption, a second one in its folder, and a kill.
func TestCopilot(t *testing.T) {
	each(t, []Release{CopilotNewest}, func(t *testing.T, s *Sandbox, r Release) {
		terminal, agent := openCopilot(s, r)
		asked := terminal.Prompt("first job [[delay 4]][[usage 111 22]]")
		working := s.Becomes(byPrompt("first job"), asked, soon, "working")
		if working.PID != agent.PID || working.CWD != s.Project || working.Agent != "copilot" || working.Branch != branch {
			t.Errorf("working: %v in %s, want pid %d in %s", working, working.CWD, agent.PID, s.Project)
		}
		terminal.Shows("Mock answer to") // the time comes before the prompt
		one := byID(working.ID)
		idle := s.Becomes(one, time.Now(), soon, "idle/completed")
		if idle.Model != mockModel || idle.Stale != nil || idle.Tokens.Output != 22 {
			t.Errorf("idle: model %q, stale %v, tokens %v", idle.Model, idle.Stale, idle.Tokens)
		}
		terminal.Prompt("need it [[bash touch asked.txt]]")
		waiting := s.Becomes(one, time.Now(), soon, "waiting/permission")
		if !strings.Contains(waiting.Evidence, "touch asked.txt") {
			t.Errorf("evidence: %s", waiting.Evidence)
		}
		terminal.Answer("Enter", "Done.")
		s.Becomes(one, time.Now(), soon, "idle/completed")
		if _, err := os.Stat(filepath.Join(s.Project, "asked.txt")); err != nil {
			t.Error("the permitted command did not run:", err)
		}
		terminal.Prompt("ask me [[ask]]")
		s.Becomes(one, time.Now(), soon, "waiting/question")
		terminal.Press("Escape")
		s.Becomes(one, time.Now(), soon, "idle/interrupted", "idle/completed")
		asked = terminal.Prompt("delegate [[agent child work]]")
		s.Becomes(one, asked, soon, "working")
		s.Becomes(one, time.Now(), 2*soon, "idle/completed")

		asked = terminal.Prompt("never ends [[delay 300]]")
		s.Becomes(one, asked, soon, "working")
		terminal.Press("Escape")
		time.Sleep(200 * time.Millisecond) // two keys at once are one
		terminal.Press("Escape")
		s.Becomes(one, time.Now(), soon, "idle/interrupted")
		s.Signal(agent, unix.SIGTERM)
		s.Gone(agent)
		s.Becomes(one, time.Now(), soon, "stopped/interrupted")

		again, agent := openCopilot(s, r, "--resume="+working.ID)
		s.Becomes(one, time.Now(), soon, "idle/interrupted")
		asked = again.Prompt("once more [[delay 300]]")
		if session := s.Becomes(one, asked, soon, "working"); session.PID != agent.PID {
			t.Errorf("resumed: pid %d, want %d", session.PID, agent.PID)
		}
		f := follow(s)
		wrapper := s.Detached(s.Argv(r, "-p", "in the background [[delay 300]]", "--allow-all-tools")...)
		asked = s.Asked("in the background")
		alone := s.Becomes(byPrompt("in the background"), asked, soon, "working")
		killed := copilotBelow(s, wrapper.PID)
		if alone.PID != killed.PID || alone.ID == working.ID {
			t.Errorf("%v, want pid %d", alone, killed.PID)
		}
		s.Signal(killed, unix.SIGKILL)
		s.Gone(killed)
		s.Becomes(byID(alone.ID), time.Now(), soon, "stopped/died")
		s.Becomes(one, time.Now(), soon, "working")
		if err := poll(soon, func() bool { return f.count(app.Ended, "in the background") == 1 }); err != nil {
			t.Errorf("its end is told %d times", f.count(app.Ended, "in the background"))
		}
	})
}
