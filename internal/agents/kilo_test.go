//go:build agents && linux

package agents

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// kiloProgram is the name of its process. With the package @kilocode/cli it is ".kilo", which a script starts.
const kiloProgram = "kilo"

// Kilo through start, work, question, permission, idle, interruption, kill and exit: it keeps its sessions as OpenCode does.
func TestKilo(t *testing.T) {
	each(t, []Release{KiloNewest}, func(t *testing.T, s *Sandbox, r Release) {
		terminal := s.Open(s.Argv(r)...)
		terminal.Shows("Ask anything")
		agent := s.Descendant(terminal.PID(), kiloProgram)
		s.Becomes(byPID(agent.PID), time.Now(), soon, "idle")

		asked := terminal.Prompt("first job [[delay 4]][[usage 111 22]]")
		working := s.Becomes(byPrompt("first job"), asked, soon, "working")
		if working.PID != agent.PID || working.CWD != s.Project || working.Agent != "kilo" {
			t.Errorf("working: %v in %s, want pid %d in %s", working, working.CWD, agent.PID, s.Project)
		}
		terminal.Shows("Mock answer to: first job")
		idle := s.Becomes(byID(working.ID), time.Now(), soon, "idle/completed")
		if idle.Model != mockProvider+"/"+mockModel || idle.Stale != nil {
			t.Errorf("idle: model %q, stale %v", idle.Model, idle.Stale)
		}

		terminal.Prompt("need it [[bash touch asked.txt]]")
		terminal.Shows("Permission required")
		s.Becomes(byID(working.ID), time.Now(), soon, "waiting/permission")
		terminal.Answer("Enter", "Done.")
		s.Becomes(byID(working.ID), time.Now(), soon, "idle/completed")
		if _, err := os.Stat(filepath.Join(s.Project, "asked.txt")); err != nil {
			t.Error("the permitted command did not run:", err)
		}
		terminal.Prompt("ask me [[ask]]")
		terminal.Shows("Which colour?")
		s.Becomes(byID(working.ID), time.Now(), soon, "waiting/question")
		terminal.Dismiss("Enter", "esc dismiss")
		s.Becomes(byID(working.ID), time.Now(), soon, "idle/completed")

		asked = terminal.Prompt("never ends [[delay 300]]")
		s.Becomes(byID(working.ID), asked, soon, "working")
		terminal.Leave("/exit", agent)
		s.Becomes(byID(working.ID), time.Now(), soon, "stopped/died", "stopped/interrupted")

		killed, prompt := runKilo(s, r)
		alone := s.Becomes(byPrompt(prompt), s.Asked(prompt), soon, "working")
		if alone.PID != killed.PID {
			t.Errorf("pid %d, want %d", alone.PID, killed.PID)
		}
		s.Signal(killed, unix.SIGKILL)
		s.Gone(killed)
		s.Becomes(byID(alone.ID), time.Now(), soon, "stopped/died")
	})
}

// runKilo runs a prompt in the background, and returns the process and the prompt. Now and then `kilo run` (7.7.9) prints its first line and never
// asks the model: then it is started again.
func runKilo(s *Sandbox, r Release) (p Process, prompt string) {
	s.t.Helper()
	for i := range 5 {
		prompt = fmt.Sprintf("in the background, %d", i)
		p = s.Descendant(s.Detached(s.Argv(r, "run", prompt+" [[delay 300]]")...).PID, kiloProgram)
		if poll(15*time.Second, func() bool { return !s.asked(prompt).IsZero() }) == nil {
			return p, prompt
		}
		s.t.Logf("kilo run asks nothing: %q", prompt)
		s.Signal(p, unix.SIGKILL)
		s.Gone(p)
	}
	s.t.Fatal("kilo run never asks the model")
	return p, prompt
}
