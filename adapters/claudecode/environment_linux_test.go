package claudecode

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"rollcall/adapters"
	"rollcall/internal/adaptertest"
	"rollcall/internal/eventually"
	"rollcall/internal/must"
	"rollcall/proc"
)

// TestMain lets the test binary stand for Claude Code: linked as "claude" and
// started with ROLLCALL_TEST_SLEEP it only lives, with a child if asked.
func TestMain(m *testing.M) {
	switch os.Getenv("ROLLCALL_TEST_ROLE") {
	case "sleep":
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	case "discover":
		os.Exit(discoverAsNobody())
	}
	os.Exit(m.Run())
}

// fixture is a home folder and real processes named claude. Its table has the processes
// of the test alone.
type fixture struct {
	testing.TB
	home   string
	bin    string
	table  *proc.Table
	hidden map[int]bool // processes that the adapter does not see
	config adapters.Config
}

const slug = "-home-dev-proj"

func newFixture(t testing.TB) *fixture {
	t.Helper()
	w := &fixture{TB: t, home: filepath.Join(t.TempDir(), "home"), table: proc.Open(), hidden: make(map[int]bool)}
	w.bin = filepath.Join(t.TempDir(), "claude")
	self, err := os.Executable()
	w.check(err)
	w.check(os.Symlink(self, w.bin))
	w.check(os.MkdirAll(w.path("sessions"), 0o755))
	w.check(os.MkdirAll(w.path("projects", slug), 0o755))
	w.config = adapters.Config{Home: w.home, Env: func(string) string { return "" }, Table: w.ownTable()}
	return w
}

// ownTable is the process table of the test's own processes, without hidden ones. They
// are old enough to have written the transcripts that the test writes, also in the tick
// of the clock in which they started.
type ownTable struct {
	adaptertest.OwnTable
	hidden map[int]bool
}

func (w *fixture) ownTable() ownTable {
	return ownTable{adaptertest.NewOwnTable(os.Getpid()), w.hidden}
}

func (t ownTable) List(ctx context.Context) ([]proc.Process, error) {
	all, err := t.OwnTable.List(ctx)
	rows := slices.DeleteFunc(all, func(p proc.Process) bool { return t.hidden[p.PID] })
	for i := range rows {
		rows[i].Started = rows[i].Started.Add(-clockSlack)
	}
	return rows, err
}

func (t ownTable) Find(pid int) (proc.Process, error) {
	p, err := t.Table.Find(pid)
	p.Started = p.Started.Add(-clockSlack)
	return p, err
}

func (w *fixture) check(err error) {
	w.Helper()
	must.Do(w, err)
}

func (w *fixture) path(parts ...string) string {
	return filepath.Join(append([]string{w.home, ".claude"}, parts...)...)
}

func (w *fixture) write(path, content string) string {
	w.Helper()
	w.check(os.MkdirAll(filepath.Dir(path), 0o755))
	w.check(os.WriteFile(path, []byte(content), 0o644))
	return path
}

// start starts a claude in a folder, with further environment, and waits until
// its name shows, and its arguments, which come with its environment a moment later.
func (w *fixture) start(dir string, env ...string) proc.Process {
	w.Helper()
	w.check(os.MkdirAll(dir, 0o755))
	cmd := exec.Command(w.bin)
	cmd.Dir = dir
	cmd.Env = append([]string{"HOME=" + w.home, "ROLLCALL_TEST_ROLE=sleep", "GORACE=atexit_sleep_ms=0"}, env...)
	in, err := cmd.StdinPipe()
	w.check(err)
	w.check(cmd.Start())
	w.Cleanup(func() {
		in.Close()
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	var p proc.Process
	eventually.True(w.TB, "the name of the process", func() bool {
		p, err = w.table.Find(cmd.Process.Pid)
		if err != nil || p.Comm != "claude" {
			return false
		}
		args, err := w.table.Args(p.Identity)
		return err == nil && len(args) > 0
	})
	return p
}

// gone returns a process that has ended.
func (w *fixture) gone() proc.Process {
	w.Helper()
	cmd := exec.Command("/bin/sleep", "60")
	w.check(cmd.Start())
	p, err := w.table.Find(cmd.Process.Pid)
	w.check(err)
	w.check(cmd.Process.Signal(syscall.SIGKILL))
	_ = cmd.Wait()
	return p
}

// entry writes a registry file as 2.1.329 does; more overrides its members, nil
// removes one.
func (w *fixture) entry(p proc.Process, id string, more map[string]any) string {
	w.Helper()
	e := map[string]any{
		"pid": p.PID, "sessionId": id, "cwd": "/home/dev/proj", "startedAt": time.Now().Add(-time.Second).UnixMilli(),
		"procStart": fmt.Sprint(p.Start), "version": "2.1.329", "kind": "interactive", "entrypoint": "cli",
		"pidDomain": w.table.Domain(), "name": "proj-35", "nameSource": "derived", "status": "idle",
		"updatedAt": time.Now().UnixMilli(), "statusUpdatedAt": time.Now().UnixMilli(),
	}
	for k, v := range more {
		e[k] = v
		if v == nil {
			delete(e, k)
		}
	}
	data, err := json.Marshal(e)
	w.check(err)
	return w.write(w.path("sessions", fmt.Sprintf("%d.json", p.PID)), string(data))
}

// transcript writes a session's transcript, modified now.
func (w *fixture) transcript(n int, lines ...string) string {
	w.Helper()
	return w.write(w.path("projects", slug, id(n)+".jsonl"), strings.Join(lines, ""))
}

// discover asks a new adapter.
func (w *fixture) discover(q adapters.Query) (map[string]adapters.Session, adapters.Roll, error) {
	w.Helper()
	return ask(w, New(w.config), q)
}

func ask(t testing.TB, a *Adapter, q adapters.Query) (map[string]adapters.Session, adapters.Roll, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	roll, err := a.Discover(ctx, q)
	if ctx.Err() != nil {
		t.Errorf("Discover took the whole 30 s")
	}
	byID := make(map[string]adapters.Session)
	for _, s := range roll.Sessions {
		for _, wrong := range adaptertest.Invalid(&s) {
			t.Errorf("session %s: %s", s.ID, wrong)
		}
		if _, twice := byID[s.ID]; twice {
			t.Errorf("session %s twice", s.ID)
		}
		byID[s.ID] = s
	}
	return byID, roll, err
}

// expect asks and compares status, what it waits for, and outcome.
func (w *fixture) expect(sessions map[string]adapters.Session, n int, want string) adapters.Session {
	w.Helper()
	s, ok := sessions[id(n)]
	got := strings.TrimSpace(fmt.Sprint(s.Status, " ", s.WaitingFor, s.Outcome))
	if !ok {
		got = "missing"
	}
	if got != want {
		w.Errorf("session %d is %q, want %q; evidence: %s", n, got, want, s.Evidence)
	}
	return s
}
