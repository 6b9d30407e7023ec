//go:build agents && linux

package agents

import (
	"fmt"
	"testing"
	"time"
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

		working := terminal.FirstJob(agent, "kilo")
		terminal.Shows("Mock answer to: first job")
		idle := s.Becomes(byID(working.ID), time.Now(), soon, "idle/completed")
		if idle.Model != mockProvider+"/"+mockModel || idle.Stale != nil {
			t.Errorf("idle: model %q, stale %v", idle.Model, idle.Stale)
		}

		terminal.Permit(byID(working.ID), "Permission required", "Enter")
		terminal.PromptUntil("ask me [[ask]]", "Which colour?")
		s.Becomes(byID(working.ID), time.Now(), soon, "waiting/question")
		terminal.Dismiss("Enter", "esc dismiss")
		s.Becomes(byID(working.ID), time.Now(), soon, "idle/completed")

		terminal.Works(byID(working.ID), "never ends [[delay 300]]")
		terminal.Leave("/exit", agent)
		s.Becomes(byID(working.ID), time.Now(), soon, "stopped/died", "stopped/interrupted")

		killed, prompt := runKilo(s, r)
		alone := s.Becomes(byPrompt(prompt), s.Asked(prompt), soon, "working")
		if alone.PID != killed.PID {
			t.Errorf("pid %d, want %d", alone.PID, killed.PID)
		}
		s.Kill(killed)
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
		s.Kill(p)
	}
	s.t.Fatal("kilo run never asks the model")
	return p, prompt
}
