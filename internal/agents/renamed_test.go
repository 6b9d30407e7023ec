//go:build agents && linux

package agents

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"rollcall/internal/must"
)

// Two processes that a program started in a folder which is renamed while both work: each session goes on working. Nothing of the processes tells the folder's
// former name: the PWD in their environment is that of who started them.
func TestRenamedTogether(t *testing.T) {
	for _, release := range []Release{GeminiNewest, OpenCodeNewest, KiloNewest} {
		t.Run(release.Agent, func(t *testing.T) {
			each(t, []Release{release}, func(t *testing.T, s *Sandbox, r Release) {
				folder := filepath.Join(s.Home, "other")
				must.Do(t, s.makeProject(folder))
				prompts := []string{s.runIn(folder, r, "first"), s.runIn(folder, r, "second")}
				for _, prompt := range prompts {
					s.Becomes(byPrompt(prompt), time.Now(), soon, "working", "unknown")
				}
				must.Do(t, os.Rename(folder, folder+"-renamed"))
				for _, prompt := range prompts {
					s.Becomes(byPrompt(prompt), time.Now(), soon, "working")
					s.Stays(byPrompt(prompt), 3*time.Second, "working")
				}
				roll, err := s.List("--all")
				t.Logf("%v, %v", roll, err)
			})
		})
	}
}

// runIn runs a prompt in a folder until the model is asked, and returns it: now and then `kilo run` (7.7.9) never asks.
func (s *Sandbox) runIn(folder string, r Release, job string) (prompt string) {
	s.t.Helper()
	for i := range 5 {
		prompt = fmt.Sprintf("%s job %d", job, i)
		s.Detached(slices.Concat([]string{"env", "-C", folder}, s.Argv(r), alone[r.Agent], []string{prompt + " [[delay 300]]"})...)
		if poll(30*time.Second, func() bool { return !s.asked(prompt).IsZero() }) == nil {
			return prompt
		}
		s.stopAgents(func(p Process) bool { return slices.Contains(p.Args, prompt+" [[delay 300]]") })
	}
	s.t.Fatal("the run never asks the model")
	return prompt
}
