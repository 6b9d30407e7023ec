package app

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"rollcall/adapters"
	"rollcall/internal/agentname"
	"rollcall/internal/eventually"
	"rollcall/internal/must"
	"rollcall/proc"
)

// yard is a process table that shows the processes of one test, and what the test started.
type yard struct {
	*proc.Table
	t   *testing.T
	dir string
}

func newYard(t *testing.T) *yard {
	y := &yard{Table: proc.OpenAt("/proc", "/etc"), t: t, dir: t.TempDir()}
	t.Cleanup(func() {
		list, _ := y.List(context.Background())
		for _, p := range list {
			if h, err := y.Hold(p.Identity); err == nil {
				_ = h.Send(proc.Kill)
				h.Close()
			}
		}
	})
	return y
}

// List implements proc.Lister.
func (y *yard) List(ctx context.Context) ([]proc.Process, error) {
	list, err := y.Table.List(ctx)
	return slices.DeleteFunc(list, func(p proc.Process) bool {
		env, err := y.Env(p.Identity)
		return err != nil || !slices.Contains(env, "YARD="+y.dir)
	}), err
}

// run runs a script of a shell that ends at once, and waits until there are n more processes of the test.
func (y *yard) run(n int, script string, env ...string) {
	y.t.Helper()
	before := must.Get(y.List(y.t.Context()))(y.t)
	cmd := exec.Command("sh", "-c", script)
	cmd.Env = slices.Concat(env, []string{"YARD=" + y.dir, "PATH=" + os.Getenv("PATH"), "TERM=xterm"})
	cmd.Dir = y.dir
	if out, err := cmd.CombinedOutput(); err != nil {
		y.t.Fatalf("%s: %v: %s", script, err, out)
	}
	eventually.True(y.t, script, func() bool {
		list, err := y.List(y.t.Context())
		return err == nil && len(list) >= len(before)+n && !slices.ContainsFunc(list, func(p proc.Process) bool { return y.becomes(&p, list, script) })
	})
}

// becomes reports whether a process is still to become another program: it is a copy of the script's shell or of its own parent, or was made to run that program.
func (y *yard) becomes(p *proc.Process, list []proc.Process, script string) bool {
	args, err := y.Args(p.Identity)
	if err != nil || len(args) == 0 || slices.Contains(args, script) || slices.Contains([]string{"setsid", "setpriv", "env"}, p.Comm) {
		return true
	}
	return slices.ContainsFunc(list, func(parent proc.Process) bool {
		of, _ := y.Args(parent.Identity)
		return parent.PID == p.PPID && slices.Equal(of, args)
	})
}

// program returns a program of that name that does nothing for a minute.
func (y *yard) program(name string) string {
	path := filepath.Join(y.dir, name)
	sleep := must.Get(exec.LookPath("sleep"))(y.t)
	text := must.Get(os.ReadFile(sleep))(y.t)
	must.Do(y.t, os.WriteFile(path, text, 0o755))
	return path + " 60"
}

const (
	lost   = "(setsid sleep 60 </dev/null >/dev/null 2>&1 &)"
	marked = "CLAUDE_CODE_SESSION_ID=gone"
)

// endedIn returns a session that is over.
func endedIn(folder string) adapters.Session {
	return changed(on("gone", adapters.Stopped, 0), func(s *adapters.Session) { s.CWD = folder })
}

// leftBehind returns the names of the processes that are left behind by a session.
func (y *yard) leftBehind(c *Core) (names []string) {
	y.t.Helper()
	left, _, err := c.LeftBehind(y.t.Context())
	must.Do(y.t, err)
	for _, l := range left {
		for _, p := range l.Tree {
			names = append(names, string(l.Agent)+" "+l.Session+" "+p.Comm)
		}
	}
	return names
}

// TestLeftBehind starts processes as agents do, and asks which of them are left behind.
func TestLeftBehind(t *testing.T) {
	live, stored := on("gone", adapters.Idle, 0), endedIn("/elsewhere")
	for name, c := range map[string]struct {
		start    func(y *yard)
		sessions []adapters.Session
		err      error
		want     []string
	}{
		"its session is over":       {func(y *yard) { y.run(1, lost, marked) }, []adapters.Session{stored}, nil, []string{"claude-code gone sleep"}},
		"its session lives":         {func(y *yard) { y.run(1, lost, marked) }, []adapters.Session{live}, nil, nil},
		"its session is not known":  {func(y *yard) { y.run(1, lost, marked) }, nil, nil, nil},
		"its agent does not answer": {func(y *yard) { y.run(1, lost, marked) }, []adapters.Session{stored}, errors.New("no"), nil},
		"with a process below it": {func(y *yard) { y.run(2, "(setsid sh -c 'sleep 60; true' >/dev/null 2>&1 &)", marked) },
			[]adapters.Session{stored}, nil, []string{"claude-code gone sh", "claude-code gone sleep"}},
		"another program is its parent": {func(y *yard) {
			y.run(2, "(env -u CLAUDE_CODE_SESSION_ID sh -c 'CLAUDE_CODE_SESSION_ID=gone sleep 60; true' >/dev/null 2>&1 &)", marked)
		},
			[]adapters.Session{stored}, nil, nil},
		"tmux": {func(y *yard) { y.run(2, "tmux -S tmux -f /dev/null new-session -d 'sh -c \"sleep 60; true\"'", marked) }, []adapters.Session{stored}, nil, nil},
		"a terminal": {func(y *yard) {
			y.run(2, "(setsid script -qc 'sleep 60' /dev/null >/dev/null 2>&1 </dev/null &)", marked)
		}, []adapters.Session{stored}, nil, nil},
		"a program of the agent": {func(y *yard) { y.run(1, "(setsid "+y.program("claude")+" >/dev/null 2>&1 &)", marked) }, []adapters.Session{stored}, nil, nil},
		"Rollcall's keeper":      {func(y *yard) { y.run(1, "(setsid "+y.program("rollcall")+" >/dev/null 2>&1 &)", marked) }, []adapters.Session{stored}, nil, nil},
		"the agent goes on in its folder": {func(y *yard) {
			y.run(1, "("+y.program("claude")+" >/dev/null 2>&1 &)")
			y.run(1, lost, marked)
		}, []adapters.Session{endedIn("")}, nil, nil},
		"the agent lives elsewhere": {func(y *yard) {
			y.run(1, "("+y.program("claude")+" >/dev/null 2>&1 &)")
			y.run(1, lost, marked)
		}, []adapters.Session{endedIn(os.TempDir())}, nil, []string{"claude-code gone sleep"}},
		"an agent that began later": {func(y *yard) {
			y.run(1, lost, marked)
			y.run(1, "(sleep 0.02; exec "+y.program("claude")+" >/dev/null 2>&1 &)")
		}, []adapters.Session{endedIn("")}, nil, []string{"claude-code gone sleep"}},
		"its process has ended": {func(y *yard) { y.run(1, lost, marked, "CLAUDE_PID=1") }, nil, nil, []string{"claude-code  sleep"}},
		"its process lives": {func(y *yard) {
			y.run(1, "("+y.program("claude")+" >/dev/null 2>&1 & echo $! >pid)")
			pid := must.Get(os.ReadFile(filepath.Join(y.dir, "pid")))(y.t)
			y.run(1, lost, marked, "CLAUDE_PID="+strings.TrimSpace(string(pid)))
		}, []adapters.Session{stored}, nil, nil},
		"a process of the agent has it too": {func(y *yard) {
			y.run(1, "("+y.program("claude")+" >/dev/null 2>&1 &)", "CLAUDE_PID=1")
			y.run(1, lost, "CLAUDE_PID=1")
		}, nil, nil, nil},
		"another session lives, too": {func(y *yard) { y.run(1, lost, marked, "GROK_SESSION_ID=live") },
			[]adapters.Session{stored, changed(on("live", adapters.Working, 0), func(s *adapters.Session) { s.Agent = "grok" })}, nil, nil},
		"another session is over, too": {func(y *yard) { y.run(1, lost, marked, "GROK_SESSION_ID=live") },
			[]adapters.Session{stored, changed(on("live", adapters.Stopped, 0), func(s *adapters.Session) { s.Agent = "grok" })}, nil, []string{"claude-code gone sleep"}},
		"nothing names a session": {func(y *yard) { y.run(1, lost, "GEMINI_CLI=1") }, []adapters.Session{stored}, nil, nil},
		"another user's":          {func(y *yard) { y.asNobody() }, []adapters.Session{stored}, nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			y := newYard(t)
			c.start(y)
			core := y.core(c.sessions, c.err)
			if got := y.leftBehind(core); !slices.Equal(got, c.want) {
				t.Errorf("left behind: %q, want %q", got, c.want)
			}
			_, unknown, err := core.LeftBehind(t.Context())
			must.Do(t, err)
			if (c.err != nil) != slices.Equal(unknown, []adapters.Name{agentname.ClaudeCode}) {
				t.Errorf("not asked: %v", unknown)
			}
		})
	}
}

// core returns a core of two agents with these sessions.
func (y *yard) core(sessions []adapters.Session, err error) *Core {
	var list []adapters.Adapter
	for _, name := range []adapters.Name{agentname.ClaudeCode, "grok"} {
		a := &agent{name: name}
		a.says(err, slices.DeleteFunc(slices.Clone(sessions), func(s adapters.Session) bool { return s.Agent != name })...)
		comm := map[adapters.Name]string{agentname.ClaudeCode: "claude", "grok": "grok"}[name]
		list = append(list, ownerOf{a, func(p proc.Process) bool { return p.Comm == comm }})
	}
	return New(Config{Adapters: list, Table: y})
}

// asNobody starts a process of another user.
func (y *yard) asNobody() {
	if os.Getuid() != 0 {
		y.t.Skip("only root can start processes of others")
	}
	must.Do(y.t, os.Chmod(y.dir, 0o755))
	y.run(1, "(setpriv --reuid=65534 --clear-groups setsid sleep 60 </dev/null >/dev/null 2>&1 &)", marked)
}

// TestEndLeftBehind: exactly the processes that were shown are ended, and only while they are left behind.
func TestEndLeftBehind(t *testing.T) {
	y := newYard(t)
	y.run(2, "(setsid sh -c 'sleep 60; true' >/dev/null 2>&1 &)", marked)
	y.run(1, "(sleep 60 >/dev/null 2>&1 & echo $! >other)")
	core := y.core([]adapters.Session{endedIn("/elsewhere")}, nil)
	left, _, err := core.LeftBehind(t.Context())
	if err != nil || len(left) != 1 || len(left[0].Tree) != 2 || left[0].Commands[left[0].Tree[1].Identity] != "sleep 60" {
		t.Fatalf("%+v, %v", left, err)
	}
	reused := left[0]
	reused.Tree = slices.Clone(reused.Tree)
	reused.Tree[0].Start++
	if _, err := core.EndLeftBehind(t.Context(), &reused); !errors.Is(err, ErrMoved) {
		t.Errorf("another process with its pid: %v", err)
	}
	lives := y.core([]adapters.Session{on("gone", adapters.Working, 0)}, nil)
	if _, err := lives.EndLeftBehind(t.Context(), &left[0]); !errors.Is(err, ErrMoved) {
		t.Errorf("its session is resumed: %v", err)
	}
	ended, err := core.EndLeftBehind(t.Context(), &left[0])
	if err != nil || len(ended) != 2 {
		t.Errorf("ended %v, %v", ended, err)
	}
	list := must.Get(y.List(t.Context()))(t)
	other := must.Get(os.ReadFile(filepath.Join(y.dir, "other")))(t)
	if len(list) != 1 || strconv.Itoa(list[0].PID) != strings.TrimSpace(string(other)) {
		t.Errorf("what lives: %v", list)
	}
}
