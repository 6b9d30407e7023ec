package proc

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"rollcall/internal/eventually"
	"rollcall/internal/must"
)

func init() {
	roles["first thread ends"] = endFirstThread
	roles["exec"] = func() error {
		fmt.Println("ready")
		var one [1]byte
		if _, err := os.Stdin.Read(one[:]); err != nil {
			return err
		}
		_ = os.Setenv(roleVariable, "wait")
		return syscall.Exec("/proc/self/exe", []string{"renamed", "after exec"}, os.Environ())
	}
}

// endFirstThread ends the thread that the process began with and lives on in
// the others, as a program that calls pthread_exit in main does.
func endFirstThread() error {
	ended := make(chan error)
	go func() { ended <- ready(strconv.Itoa(os.Getpid())) }()
	time.Sleep(50 * time.Millisecond)
	if unix.Gettid() == os.Getpid() { // TestMain runs on it: see init below
		unix.RawSyscall(unix.SYS_EXIT, 0, 0, 0)
	}
	return errors.New("not on the first thread: " + fmt.Sprint(<-ended))
}

// The main goroutine stays on the first thread, for endFirstThread's sake.
func init() {
	if os.Getenv(roleVariable) == "first thread ends" {
		runtime.LockOSThread()
	}
}

// row finds a pid in List.
func row(t *testing.T, table *Table, pid int) (Process, bool) {
	t.Helper()
	rows := must.Get(table.List(t.Context()))(t)
	for _, p := range rows {
		if p.PID == pid {
			return p, true
		}
	}
	return Process{}, false
}

func TestChildIsListed(t *testing.T) {
	before := time.Now()
	c := start(t, "wait", func(c *exec.Cmd) { c.SysProcAttr = &syscall.SysProcAttr{Setsid: true} })
	table := OpenAt("/proc", "/etc")
	got, ok := row(t, table, c.Process.Pid)
	if !ok {
		t.Fatal("child isn't listed")
	}
	if got.PPID != os.Getpid() || got.SID != got.PID {
		t.Errorf("ppid %d, sid %d of %d", got.PPID, got.SID, got.PID)
	}
	if want := filepath.Base(os.Args[0]); got.Comm != want[:min(15, len(want))] {
		t.Errorf("comm is %q, want %q cut to 15 bytes", got.Comm, want)
	}
	const tick = 10 * time.Millisecond
	if got.Started.Before(before.Add(-2*tick)) || got.Started.After(time.Now()) {
		t.Errorf("started %v, want between %v and now", got.Started, before)
	}
	found, err := table.Find(got.PID)
	if err != nil || found != got {
		t.Errorf("Find says %+v, %v; List says %+v", found, err, got)
	}
	if got.Boot == "" || !table.Alive(got.Identity) {
		t.Errorf("%+v: no boot id, or not alive", got.Identity)
	}
}

func TestSelf(t *testing.T) {
	if got, ok := row(t, OpenAt("/proc", "/etc"), os.Getpid()); !ok || got.Identity != Self() || Self().IsZero() {
		t.Errorf("Self is %v, the table says %v", Self(), got)
	}
}

// gone asserts that every question about id is answered with ErrGone.
func assertGone(t *testing.T, table *Table, id Identity) {
	t.Helper()
	if table.Alive(id) {
		t.Errorf("%s: is called alive", id)
	}
	_, errArgs := table.Args(id)
	_, errExe := table.Exe(id)
	_, errCWD := table.CWD(id)
	_, errEnv := table.Env(id)
	_, errFiles := table.OpenFiles(id)
	for name, err := range map[string]error{"Args": errArgs, "Exe": errExe, "CWD": errCWD, "Env": errEnv, "OpenFiles": errFiles} {
		if !errors.Is(err, ErrGone) {
			t.Errorf("%s(%s): %v, want ErrGone", name, id, err)
		}
	}
	w := must.Get(NewWatcher(table))(t)
	defer w.Close()
	if _, err := w.Watch(id, func() { t.Errorf("%s: its end was reported", id) }); !errors.Is(err, ErrGone) {
		t.Errorf("Watch(%s): %v, want ErrGone", id, err)
	}
}

func TestZombieIsDead(t *testing.T) {
	table := OpenAt("/proc", "/etc")
	c := start(t, "wait", nil)
	id := c.identity(t, table)
	c.kill(t)
	must.Do(t, unix.Waitid(unix.P_PID, id.PID, nil, unix.WEXITED|unix.WNOWAIT, nil))
	awaitState(t, id.PID, 'Z') // nobody has reaped it
	if _, ok := row(t, table, id.PID); ok {
		t.Error("List has a zombie")
	}
	if _, err := table.Find(id.PID); !errors.Is(err, ErrGone) {
		t.Errorf("Find: %v, want ErrGone", err)
	}
	assertGone(t, table, id)
}

// awaitState waits until the kernel shows a process in a state.
func awaitState(t *testing.T, pid int, state byte) {
	t.Helper()
	eventually.Nil(t, "a state of the process", func() error {
		b := must.Get(os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid)))(t)
		if s, err := parseStat(b); err == nil && s.state == state {
			return nil
		}
		return fmt.Errorf("pid %d: not in state %c: %s", pid, state, b)
	})
}

func TestOtherStartTimeIsAnotherProcess(t *testing.T) {
	table := OpenAt("/proc", "/etc")
	id := start(t, "wait", nil).identity(t, table)
	for _, other := range []Identity{
		{PID: id.PID, Start: id.Start - 1, Boot: id.Boot},
		{PID: id.PID, Start: id.Start + 1, Boot: id.Boot},
		{PID: id.PID, Start: id.Start, Boot: "an earlier boot"},
		{PID: id.PID + 1<<22, Start: id.Start, Boot: id.Boot},
		{PID: -id.PID, Start: id.Start, Boot: id.Boot},
		{},
	} {
		assertGone(t, table, other)
	}
	if !table.Alive(Identity{PID: id.PID, Start: id.Start}) {
		t.Error("an agent's record of pid and start time isn't recognised")
	}
}

func TestThreadIsNoProcess(t *testing.T) {
	table := OpenAt("/proc", "/etc")
	tasks := must.Get(os.ReadDir("/proc/self/task"))(t)
	for _, task := range tasks {
		id, err := strconv.Atoi(task.Name())
		if err != nil || id == os.Getpid() {
			continue
		}
		if _, err := os.Stat(fmt.Sprintf("/proc/%d/stat", id)); err != nil {
			continue // it has ended
		}
		if p, err := table.Find(id); !errors.Is(err, ErrGone) {
			t.Errorf("thread %d is taken for a process: %+v, %v", id, p, err)
		}
		return
	}
	t.Fatal("the test has one thread only")
}

func TestProcessLivesOnWithoutItsFirstThread(t *testing.T) {
	table := OpenAt("/proc", "/etc")
	c := start(t, "first thread ends", nil)
	awaitState(t, c.Process.Pid, 'Z')
	got, ok := row(t, table, c.Process.Pid)
	if !ok || !table.Alive(got.Identity) {
		t.Fatal("a process whose other threads run is called dead")
	}
	ended := watch(t, table, got.Identity)
	ended.never(t, 50*time.Millisecond)
	c.kill(t)
	ended.once(t)
	if table.Alive(got.Identity) {
		t.Error("still called alive after its end")
	}
}

func TestExecKeepsIdentity(t *testing.T) {
	table := OpenAt("/proc", "/etc")
	c := start(t, "exec", nil)
	before := must.Get(table.Find(c.Process.Pid))(t)
	ended := watch(t, table, before.Identity)
	if _, err := c.input.Write([]byte{1}); err != nil {
		t.Fatal(err)
	}
	if said := c.line(t); said != "ready" {
		t.Fatalf("after the exec it says %q", said)
	}
	after, err := table.Find(c.Process.Pid)
	if err != nil || after.Identity != before.Identity {
		t.Errorf("identity %v became %v (%v)", before.Identity, after.Identity, err)
	}
	if args, err := table.Args(before.Identity); err != nil || strings.Join(args, "|") != "renamed|after exec" {
		t.Errorf("args %q, %v", args, err)
	}
	ended.never(t, 20*time.Millisecond)
	c.kill(t)
	ended.once(t)
}

func TestHostVariables(t *testing.T) {
	root := t.TempDir()
	writeTree(t, root, map[string]string{"7/stat": statLine(7, "it", 'S', 42), "stat": "btime 1000\n"})
	etc := t.TempDir()
	writeTree(t, etc, map[string]string{"machine-id": "0123456789abcdef\n"})
	must.Do(t, os.MkdirAll(root+"/self/ns", 0o755))
	must.Do(t, os.Symlink("pid:[4026531836]", root+"/self/ns/pid"))
	t.Setenv("HOST_PROC", root)
	t.Setenv("HOST_ETC", etc)
	table := Open()
	rows, err := table.List(t.Context())
	if err != nil || len(rows) != 1 {
		t.Fatalf("%v, %v", rows, err)
	}
	want := Process{Identity: Identity{PID: 7, Start: 42}, PPID: 1, SID: 3, Comm: "it", Started: time.Unix(1000, 420_000_000)}
	if rows[0] != want {
		t.Errorf("got %+v, want %+v", rows[0], want)
	}
	if got := table.Domain(); got != "linux:0123456789abcdef:pid:[4026531836]" {
		t.Errorf("domain %q", got)
	}
	if Self().PID != os.Getpid() {
		t.Error("Self follows HOST_PROC")
	}
}

func TestOwnDomain(t *testing.T) {
	namespace := must.Get(os.Readlink("/proc/self/ns/pid"))(t)
	machine, err := os.ReadFile("/etc/machine-id")
	want := "linux:" + strings.TrimSpace(string(machine)) + ":" + namespace
	if err != nil || strings.TrimSpace(string(machine)) == "" {
		want = "" // a container without machine id
	}
	if got := OpenAt("/proc", "/etc").Domain(); got != want {
		t.Errorf("domain is %q, want %q", got, want)
	}
}

func TestUnreadableTable(t *testing.T) {
	_, err := OpenAt(filepath.Join(t.TempDir(), "nowhere"), "/etc").List(t.Context())
	if !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "nowhere") {
		t.Errorf("got %v, want an error that names the folder", err)
	}
}
