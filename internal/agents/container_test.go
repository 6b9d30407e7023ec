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

// An agent in a container with a home of its own, under the name of the user's, is
// listed from there. The user's own session in the folder of that name stays as
// it is.
func TestContainerWithOwnHome(t *testing.T) {
	nightly(t)
	run := map[Release][]string{ClaudeNewest: {"-p"}, PiNewest: {"-p"}, CodexNewest: {"exec"}, OpenCodeNewest: {"run"}}
	for r, args := range run {
		each(t, []Release{r}, func(t *testing.T, s *Sandbox, r Release) {
			inner := filepath.Join(s.dir, "inner")
			must.Do(t, os.CopyFS(inner, os.DirFS(s.Home)))
			complete(s, r, append(args, "outside")...)
			s.Becomes(byPrompt("outside"), time.Now(), soon, "stopped/completed")
			namespaces := []string{"unshare", "--mount", "--propagation", "private"}
			if r == ClaudeNewest { // it writes its pid, which is another one in there
				namespaces = append(namespaces, "--pid", "--fork", "--mount-proc")
			}
			script := `mount --bind "$1" "$2" && cd "$3" && shift 3 && exec "$@"`
			argv := append(append(namespaces, "sh", "-c", script, "sh", inner, s.Home, s.Project),
				s.Argv(r, append(args, "inside [[bash sleep 8.5]]")...)...)
			s.Detached(argv...)
			s.Asked("inside")
			s.Agent("sleep", "8.5")
			inside := s.Becomes(byPrompt("inside"), time.Now(), soon, "working")
			if inside.Container == "" || inside.CWD != s.Project || !strings.Contains(inside.Evidence, "in a container (mount namespace ") {
				t.Errorf("inside: %v, container %q, in %s", inside, inside.Container, inside.CWD)
			}
			s.Becomes(byPrompt("outside"), time.Now(), soon, "stopped/completed")
		})
	}
}
