package codex

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"rollcall/adapters"
	"rollcall/adapters/internal/agentfile"
	"rollcall/internal/must"
)

// aged makes everything below home look as if nothing had happened for an hour,
// also since the adapter looked at everything.
func aged(t *testing.T, a *Adapter, home string) {
	t.Helper()
	at := time.Now().Add(-time.Hour)
	must.Do(t, filepath.WalkDir(home, func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Chtimes(path, at, at)
	}))
	<-time.After(50 * time.Millisecond) // a file that was changed just now is read again
	look(t, a, home, adapters.Query{})
	putBack(a, home, 2*agentfile.SweepPause)
}

func putBack(a *Adapter, home string, by time.Duration) {
	root := filepath.Join(home, ".codex")
	s, _ := a.folders.swept.Get(root)
	s.At = s.At.Add(-by)
	a.folders.swept.Put(root, s)
}

// TestColdRollouts: whoever appends to an old rollout is noticed, by the process,
// by what it leaves in the root, or by the clock.
func TestColdRollouts(t *testing.T) {
	resume := func(t *testing.T, path string) {
		more := newScript(threadA, "0.142.5").turn("b", "once more")
		appendTo(t, path, strings.Join(more.lines[1:], "\n")+"\n")
	}
	for _, c := range []struct {
		name   string
		holds  bool // a process has it open when everything is looked at
		change func(t *testing.T, a *Adapter, home, path string, p *codexProcess)
		seen   bool
	}{
		{"no process can have, for less than a minute", false, func(t *testing.T, _ *Adapter, _, path string, _ *codexProcess) { resume(t, path) }, false},
		{"no process can have, for a minute", false, func(t *testing.T, a *Adapter, home, path string, _ *codexProcess) {
			resume(t, path)
			putBack(a, home, agentfile.SweepAfter)
		}, true},
		{"a process came and went", false, func(t *testing.T, _ *Adapter, home, path string, _ *codexProcess) {
			resume(t, path)
			write(t, filepath.Join(home, ".codex", "history.jsonl"), "{}\n")
		}, true},
		{"a process opens it", false, func(t *testing.T, _ *Adapter, _, path string, p *codexProcess) {
			p.do("open", path)
			resume(t, path)
		}, true},
		{"a process has it open", true, func(t *testing.T, _ *Adapter, _, path string, _ *codexProcess) { resume(t, path) }, true},
		{"a process had it open a moment ago", true, func(t *testing.T, _ *Adapter, _, path string, p *codexProcess) {
			resume(t, path)
			p.kill()
		}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			home := home(t)
			path := write(t, rolloutPath(home, threadA), newScript(threadA, "0.142.5").turn("a", "x").text())
			write(t, rolloutPath(home, threadB), newScript(threadB, "0.142.5").turn("a", "x").text())
			p := startCodex(t, "codex", nil)
			if c.holds {
				p.do("open", path)
			}
			a := atNow(home)
			aged(t, a, home)
			c.change(t, a, home, path, p)
			sessions := look(t, a, home, adapters.Query{Since: time.Now().Add(-2 * time.Hour)})
			if seen := sessions[threadA].LastPrompt == "once more"; len(sessions) != 2 || seen != c.seen {
				t.Errorf("%d sessions, seen: %t, want %t", len(sessions), seen, c.seen)
			}
		})
	}
}
