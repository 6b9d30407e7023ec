package app

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"rollcall/adapters"
	"rollcall/internal/agentname"
	"rollcall/internal/eventually"
	"rollcall/internal/must"
)

// unreadableAgent is a roster that reports what it could not read.
type unreadableAgent struct {
	roster roster
	asked  int
}

func (g *unreadableAgent) Name() adapters.Name { return g.roster.Name() }

func (g *unreadableAgent) Discover(ctx context.Context, q adapters.Query) (adapters.Roll, error) {
	g.asked++
	roll, err := g.roster.Discover(ctx, q)
	if err != nil {
		return roll, adapters.Unreadable(g.roster.dir, err)
	}
	files, err := filepath.Glob(filepath.Join(g.roster.dir, "*"))
	problems := []error{err}
	for _, file := range files {
		if _, err := os.ReadFile(file); err != nil {
			problems = append(problems, adapters.Unreadable(file, err))
		}
	}
	return roll, errors.Join(problems...)
}

// becomeNobody makes the tests another user until the test ends, who owns dir.
func becomeNobody(t *testing.T, dir string) {
	t.Helper()
	if os.Geteuid() != 0 {
		return // a user can close his own files
	}
	const nobody = 65534
	for up := dir; len(up) > len(os.TempDir()); up = filepath.Dir(up) {
		must.Do(t, os.Chmod(up, 0o755))
	}
	must.Do(t, filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		return errors.Join(err, os.Chown(path, nobody, -1))
	}))
	must.Do(t, syscall.Setresuid(-1, nobody, -1))
	t.Cleanup(func() { must.Do(t, syscall.Setresuid(-1, 0, -1)) })
}

// What can be read again shows within 3 s, however long it was closed.
func TestReadableAgain(t *testing.T) {
	for name, closed := range map[string]string{"a session's file": "agent/sessions/a", "its folder": "agent/sessions", "a folder above": "agent"} {
		for _, mode := range []fs.FileMode{0, 0o444, 0o111} {
			t.Run(name+" "+mode.String(), func(t *testing.T) {
				base := t.TempDir()
				makeSessions(t, base)
				g := &unreadableAgent{roster: roster{dir: filepath.Join(base, "agent", "sessions")}}
				g.roster.write(t, "a", entry{Status: adapters.Idle})
				becomeNobody(t, base)
				path := filepath.Join(base, closed)
				was := must.Get(os.Stat(path))(t)
				must.Do(t, os.Chmod(path, mode))
				defer os.Chmod(path, was.Mode())
				if _, err := g.Discover(t.Context(), adapters.Query{}); err == nil {
					t.Skip("with this mode it can be read")
				}
				synctest.Test(t, func(t *testing.T) {
					core, _ := started(t, Config{Adapters: []adapters.Adapter{g}})
					time.Sleep(time.Hour) // the pause between two tries is as long as it gets
					h := core.Snapshot().Adapters[0]
					if h.State != Failed || !strings.Contains(strings.Join(h.Problems, " "), base) {
						t.Fatalf("%+v", h)
					}
					must.Do(t, os.Chmod(path, was.Mode()))
					time.Sleep(3 * time.Second)
					synctest.Wait()
					snapshot := core.Snapshot()
					if h := snapshot.Adapters[0]; h.State != OK {
						t.Errorf("after 3 s: %+v", h)
					}
					if x, err := findExact(snapshot, "a"); err != nil || x.Status != adapters.Idle {
						t.Errorf("%+v, %v", x, err)
					}
				})
			})
		}
	}
}

// watchedAgent is an unreadableAgent whose folder is watched, as those of real agents are.
type watchedAgent struct{ unreadableAgent }

func (g *watchedAgent) WatchPaths() []string { return g.roster.WatchPaths() }

// What was readable and no longer is shows within 3 s, and so does what can be read again, each time.
func TestUnreadableMeanwhile(t *testing.T) {
	for name, closed := range map[string]string{"its folder": "agent/sessions", "a folder above": "agent"} {
		for _, mode := range []fs.FileMode{0, 0o444, 0o111} {
			t.Run(name+" "+mode.String(), func(t *testing.T) {
				base := t.TempDir()
				makeSessions(t, base)
				g := &watchedAgent{unreadableAgent{roster: roster{dir: filepath.Join(base, "agent", "sessions")}}}
				g.roster.write(t, "a", entry{Status: adapters.Idle})
				becomeNobody(t, base)
				path := filepath.Join(base, closed)
				was := must.Get(os.Stat(path))(t)
				defer os.Chmod(path, was.Mode())
				must.Do(t, os.Chmod(path, mode))
				if _, err := g.Discover(t.Context(), adapters.Query{}); err == nil {
					t.Skip("with this mode it can be read")
				}
				must.Do(t, os.Chmod(path, was.Mode()))
				core, _ := started(t, Config{Adapters: []adapters.Adapter{g}})
				shown := func(want AdapterState) func() bool {
					return func() bool { return core.Snapshot().Adapters[0].State == want }
				}
				for range 2 {
					eventually.True(t, "a readable folder", shown(OK))
					must.Do(t, os.Chmod(path, mode))
					eventually.True(t, "an unreadable folder", shown(Failed))
					must.Do(t, os.Chmod(path, was.Mode()))
				}
				eventually.True(t, "a folder that is readable again", shown(OK))
				g.roster.write(t, "b", entry{Status: adapters.Working})
				eventually.True(t, "a session that is new in it", func() bool {
					x, err := findExact(core.Snapshot(), "b")
					return err == nil && x.Status == adapters.Working
				})
			})
		}
	}
}

// brokenAgent is an adapter that fails because of a place that can be opened.
type brokenAgent struct {
	path  string
	asked int
}

func (*brokenAgent) Name() adapters.Name { return agentname.ClaudeCode }

func (b *brokenAgent) Discover(context.Context, adapters.Query) (adapters.Roll, error) {
	b.asked++
	return adapters.Roll{}, adapters.Unreadable(b.path, fs.ErrPermission)
}

// A source that fails on because of a place that can be opened is not asked at
// every look.
func TestReadableAndFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &brokenAgent{path: t.TempDir()}
		started(t, Config{Adapters: []adapters.Adapter{b}})
		time.Sleep(time.Hour)
		synctest.Wait()
		if most := int(time.Hour/retryMax) + 10; b.asked > most {
			t.Errorf("asked %d times in an hour, want at most %d", b.asked, most)
		}
	})
}

// pipedAgent is an adapter whose file may be a named pipe.
type pipedAgent struct{ path string }

func (*pipedAgent) Name() adapters.Name { return agentname.ClaudeCode }

func (p *pipedAgent) Discover(context.Context, adapters.Query) (adapters.Roll, error) {
	if info, err := os.Stat(p.path); err != nil || !info.Mode().IsRegular() {
		return adapters.Roll{}, adapters.Unreadable(p.path, errors.Join(err, errors.New("a named pipe")))
	}
	return adapters.Roll{}, nil
}

// What can be read again before it was tried for the first time is noticed as well.
func TestReadableAtOnce(t *testing.T) {
	p := &pipedAgent{filepath.Join(t.TempDir(), "a")}
	must.Do(t, syscall.Mkfifo(p.path, 0o600))
	synctest.Test(t, func(t *testing.T) {
		core, _ := started(t, Config{Adapters: []adapters.Adapter{p}})
		synctest.Wait()
		if h := core.Snapshot().Adapters[0]; h.State != Failed {
			t.Fatalf("%+v", h)
		}
		must.Do(t, os.Remove(p.path))
		must.Do(t, os.WriteFile(p.path, nil, 0o600))
		time.Sleep(3 * time.Second)
		synctest.Wait()
		if h := core.Snapshot().Adapters[0]; h.State != OK {
			t.Errorf("after 3 s: %+v", h)
		}
	})
}
