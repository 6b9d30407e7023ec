package proc

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"rollcall/internal/eventually"
	"rollcall/internal/must"
)

// TestLifeOfChild follows one process on any system: listed, asked, watched,
// ended.
func TestLifeOfChild(t *testing.T) {
	folder := t.TempDir()
	c := start(t, "wait", func(c *exec.Cmd) {
		c.Dir = folder
		c.Args = append(c.Args, "two words", `quo"ted`)
		c.Env = append(c.Env, "ROLLCALL_VALUE=a b=c")
	})
	table := openOwn()
	rows := must.Get(table.List(t.Context()))(t)
	i := slices.IndexFunc(rows, func(p Process) bool { return p.PID == c.Process.Pid })
	if i < 0 {
		t.Fatalf("the child isn't among %d processes", len(rows))
	}
	p := rows[i]
	if found, err := table.Find(p.PID); err != nil || found != p {
		t.Errorf("Find says %+v, %v; List says %+v", found, err, p)
	}
	name := strings.TrimSuffix(filepath.Base(os.Args[0]), ".exe")
	if p.PPID != os.Getpid() || !strings.HasPrefix(name, p.Comm) || time.Since(p.Started).Abs() > time.Minute {
		t.Errorf("row %+v of a child of %d, %q", p, os.Getpid(), name)
	}
	assertDetails(t, table, c, p.Identity)
	assertEnds(t, table, c, p.Identity)
}

func assertDetails(t *testing.T, table *Table, c *child, id Identity) {
	t.Helper()
	if args, err := table.Args(id); err != nil || !slices.Equal(args, c.Args) {
		t.Errorf("args %q, %v; want %q", args, err, c.Args)
	}
	if env, err := table.Env(id); err != nil || !slices.Contains(env, "ROLLCALL_VALUE=a b=c") {
		t.Errorf("env %q, %v", env, err)
	}
	// macOS resolves /var.
	want, _ := filepath.EvalSymlinks(c.Dir)
	if cwd, err := table.CWD(id); err != nil || !strings.EqualFold(cwd, want) {
		t.Errorf("cwd %q, %v; want %q", cwd, err, want)
	}
	want, _ = filepath.EvalSymlinks(c.Path)
	if exe, err := table.Exe(id); err != nil || !strings.EqualFold(exe, want) {
		t.Errorf("exe %q, %v; want %q", exe, err, want)
	}
	if _, err := table.OpenFiles(id); err != nil && (runtime.GOOS == "linux" || !errors.Is(err, ErrUnsupported)) {
		t.Errorf("open files: %v", err)
	}
}

func assertEnds(t *testing.T, table *Table, c *child, id Identity) {
	t.Helper()
	w := must.Get(NewWatcher(table))(t)
	defer w.Close()
	if w.events == nil {
		t.Fatal("polls")
	}
	other := id
	other.Start++
	if _, err := w.Watch(other, func() {}); !errors.Is(err, ErrGone) {
		t.Errorf("watch of a former owner of the pid: %v", err)
	}
	canceled := must.Get(w.Watch(id, func() { t.Error("reported after cancel") }))(t)
	ended := make(chan time.Time, 2)
	if _, err := w.Watch(id, func() { ended <- time.Now() }); err != nil {
		t.Fatal(err)
	}
	canceled()
	killed := time.Now()
	c.kill(t)
	select {
	case at := <-ended:
		t.Logf("reported %v after the kill", at.Sub(killed))
	case <-time.After(eventually.Limit):
		t.Fatal("its end was not reported")
	}
	if table.Alive(id) || table.Alive(other) {
		t.Error("called alive after its end")
	}
	if _, err := w.Watch(id, func() {}); !errors.Is(err, ErrGone) {
		t.Errorf("watch after the end: %v", err)
	}
	if _, err := table.CWD(id); !errors.Is(err, ErrGone) {
		t.Errorf("folder after the end: %v", err)
	}
}

// TestManyExits ends more processes than one thread of Windows can wait for.
func TestManyExits(t *testing.T) {
	const count = 70
	table := openOwn()
	w := must.Get(NewWatcher(table))(t)
	defer w.Close()
	children, ended := make([]*child, count), make(chan int, 2*count)
	for i := range children {
		children[i] = start(t, "wait", nil)
		if _, err := w.Watch(children[i].identity(t, table), func() { ended <- i }); err != nil {
			t.Fatal(err)
		}
	}
	for i, c := range children {
		c.kill(t)
		select {
		case got := <-ended:
			if got != i {
				t.Fatalf("end of %d was reported as that of %d", i, got)
			}
		case <-time.After(eventually.Limit):
			t.Fatalf("end of %d was not reported", i)
		}
	}
}
