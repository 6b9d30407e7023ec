package pistore

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"rollcall/adapters"
	"rollcall/adapters/adaptertest"
	"rollcall/proc"
)

// TestMain lets a copy of the test binary, named pi, stand for either agent: it
// only lives, with a child if asked.
func TestMain(m *testing.M) {
	switch os.Getenv("ROLLCALL_TEST_ROLE") {
	case "pi":
		if id := os.Getenv("ROLLCALL_TEST_TOOL"); id != "" {
			tool := exec.Command("/bin/sleep", "100")
			tool.Env = append(os.Environ(), "PI_SESSION_ID="+id)
			_ = tool.Start()
			defer func() { _ = tool.Process.Kill() }()
		}
		if bin := os.Getenv("ROLLCALL_TEST_CHILD"); bin != "" {
			child := exec.Command(bin)
			child.Env = append(os.Environ(), "ROLLCALL_TEST_CHILD=", "ROLLCALL_TEST_TOOL=")
			in, _ := child.StdinPipe()
			out, _ := child.StdoutPipe()
			_ = child.Start()
			_, _ = out.Read(make([]byte, 8))
			defer func() { in.Close(); _ = child.Wait() }()
		}
		if dir := os.Getenv("ROLLCALL_TEST_WATCH"); dir != "" {
			fd, _ := unix.InotifyInit()
			_, _ = unix.InotifyAddWatch(fd, dir, unix.IN_CREATE)
		}
		fmt.Println("ready")
		_, _ = io.Copy(io.Discard, os.Stdin)
	case "discover":
		discoverAsNobody()
	default:
		os.Exit(m.Run())
	}
}

// world is a home folder and real processes named pi. Other processes of the
// machine are left out of its table, but for the children of its own.
type world struct {
	testing.TB
	home  string
	table *proc.Table
	mine  map[int]bool
	now   time.Time // the zero value is the real time
}

func newWorld(t testing.TB) *world {
	t.Helper()
	w := &world{TB: t, home: filepath.Join(t.TempDir(), "home"), table: proc.Open(), mine: map[int]bool{}}
	w.check(os.MkdirAll(filepath.Join(w.home, ".pi", "agent", "sessions"), 0o755))
	w.check(os.MkdirAll(w.cwd(), 0o755))
	return w
}

func (w *world) cwd() string { return filepath.Join(w.home, "proj") }

func (w *world) check(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

// ownTable is the process table without what the test did not start.
type ownTable struct {
	*proc.Table
	mine map[int]bool
}

func (t ownTable) List(ctx context.Context) ([]proc.Process, error) {
	rows, err := t.Table.List(ctx)
	var own []proc.Process
	for _, p := range rows {
		if t.mine[p.PID] || t.mine[p.PPID] {
			own = append(own, p)
		}
	}
	return own, err
}

// store is a new adapter over the world.
func (w *world) store(name adapters.Name) *Store {
	return New(name, adapters.Config{Home: w.home, Env: func(string) string { return "" }, Table: ownTable{w.table, w.mine},
		Now: func() time.Time {
			if w.now.IsZero() {
				return time.Now()
			}
			return w.now
		}})
}

// start starts a process of an agent in a folder.
func (w *world) start(name adapters.Name, dir string, env ...string) (proc.Process, func()) {
	w.Helper()
	bin := filepath.Join(w.TempDir(), "pi")
	if slices.Contains(env, "ROLLCALL_TEST_CHILD=same") {
		env = append(env, "ROLLCALL_TEST_CHILD="+bin)
	}
	self, err := os.Executable()
	w.check(err)
	if os.Link(self, bin) != nil {
		w.check(exec.Command("cp", self, bin).Run())
	}
	if name == adapters.Pi { // as Pi built into a single binary has it
		w.check(os.WriteFile(filepath.Join(filepath.Dir(bin), "package.json"), []byte(`{"name": "@earendil-works/pi-coding-agent"}`), 0o600))
	}
	cmd := exec.Command(bin)
	cmd.Dir = dir
	cmd.Env = append([]string{"HOME=" + w.home, "ROLLCALL_TEST_ROLE=pi"}, env...)
	in, err := cmd.StdinPipe()
	w.check(err)
	out, err := cmd.StdoutPipe()
	w.check(err)
	w.check(cmd.Start())
	w.mine[cmd.Process.Pid] = true
	stop := func() {
		in.Close()
		_ = cmd.Wait()
	}
	w.Cleanup(stop)
	_, err = out.Read(make([]byte, 8))
	w.check(err)
	p, err := w.table.Find(cmd.Process.Pid)
	w.check(err)
	if strings.Contains(strings.Join(env, " "), "ROLLCALL_TEST_TOOL=") {
		w.toolRuns(p.PID)
	}
	return p, stop
}

// toolRuns waits until the tool of a process shows its environment: that comes a
// moment after the exec that its parent sees.
func (w *world) toolRuns(pid int) {
	w.Helper()
	for range 1000 {
		rows, err := w.table.List(w.Context())
		w.check(err)
		for _, row := range rows {
			if env, _ := w.table.Env(row.Identity); row.PPID == pid && len(env) > 0 {
				return
			}
		}
		time.Sleep(time.Millisecond)
	}
	w.Fatal("the tool doesn't run")
}

// put writes a session where Pi does, with its last entry's time.
func (w *world) put(s *script) string {
	w.Helper()
	name := strings.NewReplacer(":", "-", ".", "-").Replace(stamp(s.at)) + "_" + s.label + ".jsonl"
	path := filepath.Join(w.home, ".pi", "agent", "sessions", folderName(s.cwd), name)
	w.check(os.MkdirAll(filepath.Dir(path), 0o755))
	w.check(os.WriteFile(path, []byte(s.text()), 0o600))
	return path
}

func ask(t testing.TB, s *Store, q adapters.Query) (map[string]adapters.Session, adapters.Roll, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	roll, err := s.Discover(ctx, q)
	byID := map[string]adapters.Session{}
	for _, x := range roll.Sessions {
		for _, wrong := range adaptertest.Invalid(&x) {
			t.Errorf("session %s: %s", x.ID, wrong)
		}
		if _, twice := byID[x.ID]; twice {
			t.Errorf("session %s twice", x.ID)
		}
		byID[x.ID] = x
	}
	return byID, roll, err
}

// expect asks a new adapter and compares "status outcome" of each session.
func (w *world) expect(s *Store, want map[string]string) map[string]adapters.Session {
	w.Helper()
	got, _, err := ask(w, s, adapters.Query{})
	if err != nil {
		w.Errorf("Discover: %v", err)
	}
	for id, status := range want {
		x, there := got[id]
		is := strings.TrimSpace(string(x.Status) + " " + string(x.Outcome))
		if !there {
			is = "missing"
		}
		if is != status {
			w.Errorf("session %s is %q, want %q; evidence: %s", id, is, status, x.Evidence)
		}
	}
	for id, x := range got {
		if _, there := want[id]; !there {
			w.Errorf("session %s (%s, %s) is not expected", id, x.Status, x.Evidence)
		}
	}
	return got
}
