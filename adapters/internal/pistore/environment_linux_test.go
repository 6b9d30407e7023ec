package pistore

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"rollcall/adapters"
	"rollcall/internal/adaptertest"
	"rollcall/internal/agentname"
	"rollcall/internal/eventually"
	"rollcall/internal/must"
	"rollcall/proc"
)

// The two adapters above this package register their agents; its own tests do it here.
func init() {
	for _, name := range []adapters.Name{agentname.Pi, agentname.PiRust} {
		adapters.Register(adapters.Description{Name: name, Title: string(name), Short: string(name), Program: "pi", Install: "-", Folders: []string{".pi"}, Processes: []string{"pi"}}, (*Store)(nil))
	}
}

// TestMain lets a copy of the test binary, named pi, stand for either agent: it
// only lives, with a child if asked.
func TestMain(m *testing.M) {
	switch os.Getenv("ROLLCALL_TEST_ROLE") {
	case "pi":
		if uid, err := strconv.Atoi(os.Getenv("ROLLCALL_TEST_UID")); err == nil {
			if err := syscall.Setuid(uid); err != nil {
				panic(err)
			}
		}
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
		answerCommands()
	case "discover":
		discoverAsNobody()
	default:
		os.Exit(m.Run())
	}
}

// order is what a process named pi is told to do with a file, in a line of JSON.
type order struct {
	Path string
	Text string // to add to it; none: read it
	Dial string // address to connect to
}

// answerCommands does what the lines of the input say, each with an answer.
func answerCommands() {
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(nil, 1<<20)
	for in.Scan() {
		var o order
		err := json.Unmarshal(in.Bytes(), &o)
		switch {
		case err != nil:
		case o.Dial != "":
			_, err = net.Dial("unix", o.Dial) //nolint:noctx // it stays open until the process ends
		case o.Text == "":
			_, err = os.ReadFile(o.Path)
		default:
			var f *os.File
			f, err = os.OpenFile(o.Path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
			if err == nil {
				_, err = f.WriteString(o.Text)
				err = errors.Join(err, f.Close())
			}
		}
		fmt.Printf("%v\n", err)
	}
}

// fixture is a home folder and real processes named pi. Other processes of the
// machine are left out of its table, but for the children of its own.
type fixture struct {
	testing.TB
	home  string
	table *proc.Table
	now   time.Time // the zero value is the real time
	// counts: what processes have really written counts. Most tests write the
	// sessions themselves.
	counts bool
	// threads are when those of a process began, by pid; of others the real ones
	// count. Nil: that can't be known.
	threads map[int][]time.Time
	inside  []string // command that starts the next processes in a container
	agents  map[int]*agent
}

// agent is a process named pi that does what it is told.
type agent struct {
	in  io.Writer
	out *bufio.Reader
}

// order tells a process to do something and waits until it has.
func (w *fixture) order(p proc.Process, o order) {
	w.Helper()
	line, err := json.Marshal(o)
	w.check(err)
	_, err = w.agents[p.PID].in.Write(append(line, '\n'))
	w.check(err)
	if said, err := w.agents[p.PID].out.ReadString('\n'); err != nil || said != "<nil>\n" {
		w.Fatalf("process %d: %+v: %q, %v", p.PID, o, said, err)
	}
}

// reads has a process read a session, as it does that resumes one. How exact the
// time of an access is depends on the system's clock tick.
func (w *fixture) reads(p proc.Process, path string) {
	w.Helper()
	before := time.Now().Add(-time.Minute)
	w.check(os.Chtimes(path, before, before))
	w.order(p, order{Path: path})
}

func newFixture(t testing.TB) *fixture {
	t.Helper()
	w := &fixture{TB: t, home: filepath.Join(t.TempDir(), "home"), table: proc.Open(), agents: map[int]*agent{},
		threads: map[int][]time.Time{}}
	w.check(os.MkdirAll(filepath.Join(w.home, ".pi", "agent", "sessions"), 0o755))
	w.check(os.MkdirAll(w.cwd(), 0o755))
	return w
}

func (w *fixture) cwd() string { return filepath.Join(w.home, "proj") }

func (w *fixture) check(err error) {
	w.Helper()
	must.Do(w, err)
}

// ownTable is the process table of the test's own processes.
type ownTable struct {
	adaptertest.OwnTable
	counts  *bool
	threads map[int][]time.Time
}

func (t ownTable) Threads(id proc.Identity) ([]time.Time, error) {
	began, told := t.threads[id.PID]
	switch {
	case !told:
		return t.Table.Threads(id)
	case began == nil:
		return nil, proc.ErrUnsupported
	}
	return began, nil
}

func (t ownTable) Written(id proc.Identity) (uint64, error) {
	if !*t.counts {
		return freshLimit - 1, nil // more than the sessions of most tests have, and no sign of a turn
	}
	return t.Table.Written(id)
}

func (w *fixture) ownTable() ownTable {
	return ownTable{adaptertest.NewOwnTable(os.Getpid()), &w.counts, w.threads}
}

// store is a new adapter over the fixture.
func (w *fixture) store(name adapters.Name) *Store {
	return newStore(name, adapters.Config{Home: w.home, Env: func(string) string { return "" }, Table: w.ownTable(),
		Now: func() time.Time {
			if w.now.IsZero() {
				return time.Now()
			}
			return w.now
		}})
}

// start starts a process of an agent in a folder.
func (w *fixture) start(name adapters.Name, dir string, env ...string) (proc.Process, func()) {
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
	if name == agentname.Pi { // as Pi built into a single binary has it
		w.check(os.WriteFile(filepath.Join(filepath.Dir(bin), "package.json"), []byte(`{"name": "@earendil-works/pi-coding-agent"}`), 0o600))
	}
	cmd := exec.Command(bin)
	if len(w.inside) > 0 {
		cmd = exec.Command(w.inside[0], append(w.inside[1:], bin)...)
	}
	cmd.Dir = dir
	cmd.Env = append([]string{"HOME=" + w.home, "ROLLCALL_TEST_ROLE=pi", "GORACE=atexit_sleep_ms=0"}, env...)
	in, err := cmd.StdinPipe()
	w.check(err)
	out, err := cmd.StdoutPipe()
	w.check(err)
	w.check(cmd.Start())
	stop := func() {
		in.Close()
		_ = cmd.Wait()
	}
	w.Cleanup(stop)
	lines := bufio.NewReader(out)
	_, err = lines.ReadString('\n')
	w.check(err)
	w.agents[cmd.Process.Pid] = &agent{in, lines}
	p, err := w.table.Find(cmd.Process.Pid)
	w.check(err)
	if strings.Contains(strings.Join(env, " "), "ROLLCALL_TEST_TOOL=") {
		w.toolRuns(p.PID)
	}
	return p, stop
}

// toolRuns waits until the tool of a process shows its environment: that comes a
// moment after the exec that its parent sees.
func (w *fixture) toolRuns(pid int) {
	w.Helper()
	eventually.True(w, "the tool", func() bool {
		rows, err := w.table.List(w.Context())
		w.check(err)
		return slices.ContainsFunc(rows, func(row proc.Process) bool {
			env, _ := w.table.Env(row.Identity)
			return row.PPID == pid && len(env) > 0
		})
	})
}

// put writes a session where Pi does, with its last entry's time.
func (w *fixture) put(s *script) string {
	w.Helper()
	path := w.path(s)
	w.check(os.MkdirAll(filepath.Dir(path), 0o755))
	w.check(os.WriteFile(path, []byte(s.text()), 0o600))
	return path
}

// path is where Pi writes a session.
func (w *fixture) path(s *script) string {
	name := strings.NewReplacer(":", "-", ".", "-").Replace(stamp(s.at)) + "_" + s.label + ".jsonl"
	return filepath.Join(w.home, ".pi", "agent", "sessions", folderName(s.cwd), name)
}

func ask(t testing.TB, s *Store, q adapters.Query) (map[string]adapters.Session, adapters.Roll, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), eventually.Limit)
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
func (w *fixture) expect(s *Store, want map[string]string) map[string]adapters.Session {
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
