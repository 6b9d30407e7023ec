package all

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"rollcall/adapters"
	"rollcall/adapters/internal/agentproc"
	"rollcall/internal/adaptertest"
	"rollcall/internal/must"
	"rollcall/proc"
)

// oneProcess is a table with one process.
type oneProcess struct {
	adaptertest.Shown
	p proc.Process
}

func (o oneProcess) List(context.Context) ([]proc.Process, error) { return []proc.Process{o.p}, nil }
func (o oneProcess) Alive(proc.Identity) bool                     { return true }

// cut cuts the name of a process as its system does.
func cut(system, comm string) string {
	length := map[string]int{"linux": 15, "darwin": 16, "windows": len(comm)}[system]
	return comm[:min(length, len(comm))]
}

// TestWays: the process of each way of installing an agent is a row of that agent and of no other, and is known by its name where that is no
// interpreter's. Paths of Windows are looked at there (make test-wine) alone.
func TestWays(t *testing.T) {
	for _, w := range agentproc.Ways {
		// Another command for containers is called copilot, too, on Linux: there the place of the program decides.
		if (w.System == "windows") != (runtime.GOOS == "windows") || w.Agent == "copilot" && w.System != runtime.GOOS {
			continue
		}
		what := fmt.Sprintf("%s, %s on %s", w.Agent, w.Way, w.System)
		p := proc.Process{Identity: proc.Identity{PID: 70, Start: 1}, PPID: 1, Comm: cut(w.System, w.Comm), Started: time.Now().Add(-time.Hour)}
		home := t.TempDir()
		table := oneProcess{adaptertest.Shown{Line: w.Line, Program: w.Exe, Variables: append(slices.Clone(w.Env), "HOME="+home, "USERPROFILE="+home), Folder: home}, p}
		for _, a := range New(table, Config{Home: home}) {
			owner, ok := a.(adapters.ProcessOwner)
			if got := ok && owner.OwnsProcess(p); got != (a.Name() == w.Agent) {
				t.Errorf("%s: a process of %s: %v", what, a.Name(), got)
			}
		}
		byName := !agentproc.IsInterpreter(w.Comm) && !strings.HasPrefix(w.Comm, "2.")
		if d, ok := adapters.OfProcess(p.Comm); ok != byName || ok && d.Name != w.Agent {
			t.Errorf("%s: by its name %q it is one of %q", what, p.Comm, d.Name)
		}
	}
}

// docs/platforms.md shows the table.
func TestWaysAreDocumented(t *testing.T) {
	const begin, end = "| agent | system | installed by | name of the process | known |\n| --- | --- | --- | --- | --- |\n", "\n\n"
	text, err := os.ReadFile("../../docs/platforms.md")
	must.Do(t, err)
	_, rest, _ := strings.Cut(strings.ReplaceAll(string(text), "\r", ""), begin)
	got, _, _ := strings.Cut(rest, end)
	var lines []string
	for _, w := range agentproc.Ways {
		known := "read"
		if w.Seen != "" {
			known = "seen: " + w.Seen
		}
		d, _ := adapters.Describe(w.Agent)
		system := map[string]string{"linux": "Linux", "darwin": "macOS", "windows": "Windows"}[w.System]
		lines = append(lines, fmt.Sprintf("| %s | %s | %s | `%s` | %s |", d.Title, system, w.Way, cut(w.System, w.Comm), known))
	}
	if want := strings.Join(lines, "\n"); got != want {
		t.Errorf("the table has to be:\n%s", want)
	}
}
