//go:build agents && linux

package agents

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"rollcall/internal/must"
)

// A command that only waits gives no sign of life, although the agent's interface draws all the time; one that uses the processor does. What runs is seen by the
// processes themselves.
func TestClaudeNoSignOfLife(t *testing.T) {
	each(t, []Release{ClaudeNewest}, func(t *testing.T, s *Sandbox, r Release) {
		settings := filepath.Join(s.Home, ".config", "rollcall", "config.toml")
		must.Do(t, os.MkdirAll(filepath.Dir(settings), 0o700))
		must.Do(t, os.WriteFile(settings, []byte("stalled_after = \"8s\"\n"), 0o600))
		open := func(prompt string) string {
			id := uuid(t)
			terminal := s.Open(s.Program(r), "--session-id", id, "--permission-mode", "default", "--allowedTools", "Bash")
			terminal.Shows("? for shortcuts")
			terminal.Prompt(prompt)
			return id
		}
		waits := open("one [[bash perl -e 'select(undef,undef,undef,500)']]")
		busy := open("two [[bash perl -e 'while(time<" + "$^T+500" + "){}']]")
		quiet := func(x Session) bool {
			return x.Status == "working" && strings.Contains(x.Evidence, "no sign of life since")
		}
		s.Becomes(byID(busy), time.Now(), soon, "working")
		s.shows(byID(waits), time.Now(), soon, "no sign of life", quiet)
		for range 5 {
			roll := must.Get(s.List())(t)
			if x, _ := roll.find(byID(busy)); x.Status != "working" || quiet(x) {
				t.Errorf("a command that uses the processor: %v", x)
			}
			if x, _ := roll.find(byID(waits)); !quiet(x) {
				t.Errorf("a command that waits: %v", x)
			}
		}
	})
}
