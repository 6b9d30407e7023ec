package claudecode

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"rollcall/adapters"
	"rollcall/internal/eventually"
	"rollcall/proc"
)

func TestOwnsProcess(t *testing.T) {
	w := newFixture(t)
	p := w.start(filepath.Join(w.home, "proj"))
	for _, c := range []struct {
		comm string
		args []string
		want bool
	}{
		{"claude", []string{"claude"}, true},
		{"claude", []string{"/usr/bin/claude", "--resume", id(1)}, true},
		{"claude", []string{"claude", "-p", "hi"}, true},
		{"claude", []string{"claude", "daemon", "run"}, false},
		{"claude", []string{"claude", "bg-pty-host"}, false},
		{"claude", []string{"claude", "bg-spare"}, false},
		{"claude", []string{"claude", "mcp", "serve"}, false},
		{"claude", []string{"claude", "--version"}, false},
		{"claude", nil, false}, // ended, or about to become another program
		{"node", []string{"node", "/usr/lib/node_modules/@anthropic-ai/claude-code/cli.js", "-c"}, true},
		{"node", []string{"node", "--no-warnings", "/usr/local/bin/claude"}, true},
		{"node", []string{"node", "/usr/local/bin/claude", "daemon"}, false},
		{"bun", []string{"bun", "/opt/claude-code/cli.js"}, true},
		{"node", []string{"node", "/opt/other/cli.js"}, false},
		{"node", []string{"node", "server.js", "claude"}, false},
		{"node", []string{"node"}, false},
		{"bash", []string{"bash", "claude"}, false},
		{"claude.exe", []string{"/opt/node_modules/@anthropic-ai/claude-code/bin/claude.exe", "-p", "x"}, true},
		{"claude.exe", []string{"claude.exe", "daemon", "run"}, false},
		{"MainThread", []string{"node", "/opt/claude-agent-sdk/cli.js", "--output-format", "stream-json"}, true},
		{"2.1.332", []string{"claude"}, false}, // not where versions of Claude Code are
	} {
		w.config.Table = arguing{w.ownTable(), c.args}
		p := p
		p.Comm = c.comm
		if got := New(w.config).OwnsProcess(p); got != c.want {
			t.Errorf("%s %q: %v, want %v", c.comm, c.args, got, c.want)
		}
	}
}

// Of a process that ended nothing is known, and of a child that still shows its
// parent's program it isn't known what it will be.
func TestOwnsNoForkAndNoneThatEnded(t *testing.T) {
	w := newFixture(t)
	a := New(w.config)
	p := w.start(filepath.Join(w.home, "proj"))
	if !a.OwnsProcess(p) {
		t.Error("a claude is not owned")
	}
	ended := p
	ended.Start++
	if a.OwnsProcess(ended) {
		t.Error("a process that ended is owned")
	}
	child := w.start(filepath.Join(w.home, "proj"))
	child.PPID = p.PID // same program, arguments and environment
	if a.OwnsProcess(child) {
		t.Error("a child before its exec is owned")
	}
	other := w.start(filepath.Join(w.home, "proj"), "CLAUDE_CODE_CHILD=1")
	other.PPID = p.PID
	if !a.OwnsProcess(other) {
		t.Error("a claude that a claude started is not owned")
	}
}

// Most processes are told by their name alone.
func BenchmarkOwnsProcess(b *testing.B) {
	w := newFixture(b)
	a := New(w.config)
	p := proc.Process{Identity: proc.Identity{PID: 1, Start: 1}, Comm: "bash"}
	for b.Loop() {
		a.OwnsProcess(p)
	}
}

// A process that was started by its real path has the name of the file: its home is looked in, and it can be stopped.
func TestStartedByItsRealPath(t *testing.T) {
	for _, name := range []string{"claude.exe", "versions/2.1.332"} {
		t.Run(filepath.Base(name), func(t *testing.T) {
			w := newFixture(t)
			program := filepath.Join(w.home, "share", "claude", name)
			w.check(os.MkdirAll(filepath.Dir(program), 0o755))
			self, err := os.Executable()
			w.check(err)
			contents, err := os.ReadFile(self) // no link: the home may be on another file system
			w.check(err)
			w.check(os.WriteFile(program, contents, 0o755))
			second := filepath.Join(w.home, "second")
			cmd := exec.Command(program)
			cmd.Dir = w.home
			cmd.Env = []string{"HOME=" + w.home, "CLAUDE_CONFIG_DIR=" + second, "ROLLCALL_TEST_ROLE=sleep", "GORACE=atexit_sleep_ms=0"}
			in, err := cmd.StdinPipe()
			w.check(err)
			w.check(cmd.Start())
			t.Cleanup(func() {
				in.Close()
				_ = cmd.Wait()
			})
			var p proc.Process
			eventually.True(t, "the name of the process, and its arguments", func() bool { // its environment comes with them
				p, err = w.table.Find(cmd.Process.Pid)
				w.check(err)
				args, err := w.table.Args(p.Identity)
				return p.Comm == filepath.Base(name) && err == nil && len(args) > 0
			})
			w.check(os.MkdirAll(filepath.Join(second, "sessions"), 0o755))
			w.check(os.Rename(w.entry(p, id(1), map[string]any{"status": "waiting", "waitingFor": "input needed"}), filepath.Join(second, "sessions", fmt.Sprintf("%d.json", p.PID))))
			sessions, _, err := w.discover(adapters.Query{})
			if s := w.expect(sessions, 1, "waiting question"); err != nil || s.Process != p.Identity || len(sessions) != 1 {
				t.Errorf("%v, process %v, %d rows", err, s.Process, len(sessions))
			}
			if !New(w.config).OwnsProcess(p) {
				t.Error("it is not owned")
			}
		})
	}
}
