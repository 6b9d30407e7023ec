//go:build agents && linux

package agents

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// openCline starts Cline in a terminal, and returns when it takes prompts. A session of the first terminal is in its own process; the hub
// hosts those of later ones.
func openCline(s *Sandbox, r Release, args ...string) (*Terminal, Process) {
	s.t.Helper()
	terminal := s.Open(s.Argv(r, append([]string{"--auto-approve", "false", "--tui"}, args...)...)...)
	agent := s.Descendant(terminal.PID(), "cline")
	terminal.Shows("What can I do for you?")
	return terminal, agent
}

// Cline through start, work, permission, question, interruption, sub-agent, exit, resumption and kill.
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
		terminal.Shows("Mock answer to:")
		idle := s.Becomes(session, time.Now(), soon, "idle/completed")
		if idle.Model != mockModel || idle.Stale != nil {
			t.Errorf("idle: model %q, stale %v", idle.Model, idle.Stale)
		}

		terminal.Prompt("need it [[bash touch asked.txt]]")
		s.Becomes(session, time.Now(), soon, "waiting/permission")
		t.Log(terminal.Screen())
		terminal.Press("y")
		s.Becomes(session, time.Now(), soon, "idle/completed")
		if _, err := os.Stat(filepath.Join(s.Project, "asked.txt")); err != nil {
			t.Error("the permitted command did not run:", err)
		}
		terminal.Prompt("ask me [[ask]]")
		terminal.Shows("Which colour?")
		s.Becomes(session, time.Now(), soon, "waiting/question")
		t.Log(terminal.Screen())
		terminal.Press("Enter")
		s.Becomes(session, time.Now(), soon, "idle/completed")

		asked = terminal.Prompt("never ends [[delay 300]]")
		s.Becomes(session, asked, soon, "working")
		terminal.Press("Escape")
		time.Sleep(2 * time.Second)
		t.Log(terminal.Screen())
		state, _ := s.List("--all")
		t.Log(state)
		dumpCline(s)
		s.Signal(agent, unix.SIGINT)
		time.Sleep(2 * time.Second)
		t.Log(terminal.Screen())
		state, _ = s.List("--all")
		t.Log(state)
		dumpCline(s)
	})
}

func dumpCline(s *Sandbox) {
	files, _ := filepath.Glob(filepath.Join(s.Home, ".cline/data/sessions/*/*.json"))
	files = append(files, filepath.Join(s.Home, ".cline/data/locks/hub/production.json"))
	for _, f := range files {
		data, _ := os.ReadFile(f)
		info, _ := os.Stat(f)
		s.t.Logf("%s %v\n%s", f, info, data[max(0, len(data)-2500):])
	}
}
