package proc

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"golang.org/x/sys/unix"

	"rollcall/internal/eventually"
	"rollcall/internal/must"
)

// about are the reports on one pid: its names as new, and how often it is gone.
func (c Changes) about(pid int) (names []string, gone int) {
	for _, p := range c.New {
		if p.PID == pid {
			names = append(names, p.Comm)
		}
	}
	for _, id := range c.Gone {
		if id.PID == pid {
			gone++
		}
	}
	return names, gone
}

func scan(t testing.TB, s *Scanner) Changes {
	t.Helper()
	c := must.Get(s.Scan(t.Context()))(t)
	return c
}

// TestScanRealProcess follows one process from its start over an exec to its end.
func TestScanRealProcess(t *testing.T) {
	s := NewScanner(Open())
	if s.fast == nil {
		t.Fatal("the table of this machine is compared by List")
	}
	first := scan(t, s)
	if names, _ := first.about(os.Getpid()); len(names) != 1 {
		t.Errorf("the first look reports this process as %q", names)
	}
	c := start(t, "exec", nil)
	if names, gone := scan(t, s).about(c.Process.Pid); len(names) != 1 || gone != 0 {
		t.Errorf("started: new %q, gone %d", names, gone)
	}
	// Once more, if the first look was in its first second.
	if names, gone := scan(t, s).about(c.Process.Pid); len(names) > 1 || gone != 0 {
		t.Errorf("the second look: new %q, gone %d", names, gone)
	}
	if names, gone := scan(t, s).about(c.Process.Pid); len(names) != 0 || gone != 0 {
		t.Errorf("nothing happened: new %q, gone %d", names, gone)
	}
	if _, err := c.input.Write([]byte("x")); err != nil {
		t.Fatal(err)
	}
	c.line(t) // "ready", after the exec
	if names, gone := scan(t, s).about(c.Process.Pid); len(names) != 1 || names[0] != "exe" || gone != 0 {
		t.Errorf("after the exec: new %q, gone %d", names, gone)
	}
	c.reap()
	if names, gone := scan(t, s).about(c.Process.Pid); len(names) != 0 || gone != 1 {
		t.Errorf("ended: new %q, gone %d", names, gone)
	}
	if names, gone := scan(t, s).about(c.Process.Pid); len(names) != 0 || gone != 0 {
		t.Errorf("after its end: new %q, gone %d", names, gone)
	}
}

// TestScanZombie: a young process that ended is gone, reaped or not, and is
// reported once.
func TestScanZombie(t *testing.T) {
	s := NewScanner(Open())
	c := start(t, "wait", nil)
	scan(t, s)
	exited := make(chan struct{})
	w := must.Get(NewWatcher(Open()))(t)
	defer w.Close()
	if _, err := w.Watch(c.identity(t, Open()), func() { close(exited) }); err != nil {
		t.Fatal(err)
	}
	c.kill(t)
	<-exited
	if _, gone := scan(t, s).about(c.Process.Pid); gone != 1 {
		t.Errorf("a zombie is gone %d times", gone)
	}
	c.reap()
	if names, gone := scan(t, s).about(c.Process.Pid); len(names)+gone != 0 {
		t.Errorf("reaped: new %q, gone %d", names, gone)
	}
}

// TestScanSuspended: a stopped process shows it at the next question.
func TestScanSuspended(t *testing.T) {
	table := Open()
	s := NewScanner(table)
	c := start(t, "wait", nil)
	id := c.identity(t, table)
	scan(t, s)
	for _, step := range []struct {
		signal unix.Signal
		want   bool
	}{{unix.SIGSTOP, true}, {unix.SIGCONT, false}, {unix.SIGSTOP, true}} {
		must.Do(t, unix.Kill(id.PID, step.signal))
		eventually.True(t, fmt.Sprint("the effect of ", step.signal), func() bool {
			p := must.Get(s.Find(id))(t)
			return p.Suspended == step.want
		})
		if got := FindAll(table, []Identity{id, Self()})[id]; got.Suspended != step.want || got.PID != id.PID {
			t.Errorf("after %v: found %+v", step.signal, got)
		}
	}
	other := id
	other.Start++
	if _, err := s.Find(other); err == nil {
		t.Error("another process with its pid was found")
	}
	c.reap()
	if p, err := s.Find(id); err == nil {
		t.Errorf("found after its end: %+v", p)
	}
}

// TestScanTree: in a tree that is not a procfs too, another folder with the
// pid is another process.
func TestScanTree(t *testing.T) {
	root := t.TempDir()
	writeTable(t, root, 3, 1000)
	s := NewScanner(OpenAt(root, root))
	if c := scan(t, s); len(c.New) != 3 {
		t.Fatalf("new: %+v", c.New)
	}
	if c := scan(t, s); len(c.New)+len(c.Gone) != 0 {
		t.Errorf("nothing changed: %+v", c)
	}
	must.Do(t, os.Rename(filepath.Join(root, "1001"), filepath.Join(root, "away")))
	writeProcess(t, root, 1001, 999)
	must.Do(t, os.RemoveAll(filepath.Join(root, "1002")))
	writeProcess(t, root, 1003, 7)
	c := scan(t, s)
	slices.SortFunc(c.New, func(a, b Process) int { return a.PID - b.PID })
	slices.SortFunc(c.Gone, func(a, b Identity) int { return a.PID - b.PID })
	if len(c.New) != 2 || c.New[0].PID != 1001 || c.New[0].Start != 999 || c.New[1].PID != 1003 ||
		len(c.Gone) != 2 || c.Gone[0] != (Identity{PID: 1001, Start: 1001}) || c.Gone[1].PID != 1002 {
		t.Errorf("%+v", c)
	}
}

// TestScanUnreadableTable: nothing is forgotten when the table cannot be read.
func TestScanUnreadableTable(t *testing.T) {
	root := filepath.Join(t.TempDir(), "proc")
	must.Do(t, os.Mkdir(root, 0o700))
	writeTable(t, root, 2, 1000)
	s := NewScanner(OpenAt(root, root))
	scan(t, s)
	must.Do(t, os.Rename(root, root+"-away"))
	if c, err := s.Scan(t.Context()); err == nil {
		t.Errorf("no error: %+v", c)
	}
	must.Do(t, os.Rename(root+"-away", root))
	if c := scan(t, s); len(c.New)+len(c.Gone) != 0 {
		t.Errorf("readable again: %+v", c)
	}
}

// writeTable writes a table of n processes of long ago.
func writeTable(t testing.TB, root string, n, first int) {
	t.Helper()
	must.Do(t, os.WriteFile(filepath.Join(root, "stat"), []byte("btime 1700000000\n"), 0o600))
	for i := range n {
		writeProcess(t, root, first+i, uint64(first+i))
	}
}

func writeProcess(t testing.TB, root string, pid int, start uint64) {
	t.Helper()
	dir := filepath.Join(root, strconv.Itoa(pid))
	text := fmt.Sprintf("%d (node) S 1 %d %d 0 -1 4194304 100 0 0 0 1 1 0 0 20 0 1 0 %d 1000000 100 18446744073709551615\n", pid, pid, pid, start)
	if err := os.Mkdir(dir, 0o700); err == nil || os.IsExist(err) {
		err = os.WriteFile(filepath.Join(dir, "stat"), []byte(text), 0o600)
		if err != nil {
			t.Fatal(err)
		}
	} else {
		t.Fatal(err)
	}
}

// BenchmarkScan is one look at which nothing is new: at a written tree of 300
// and 3,000 processes, and at this machine's own.
func BenchmarkScan(b *testing.B) {
	for _, n := range []int{300, 3000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			root := b.TempDir()
			writeTable(b, root, n, 1000)
			benchmarkScan(b, OpenAt(root, root))
		})
	}
	b.Run("real", func(b *testing.B) { benchmarkScan(b, Open()) })
	b.Run("List", func(b *testing.B) {
		table := Open()
		for b.Loop() {
			if _, err := table.List(b.Context()); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func benchmarkScan(b *testing.B, table *Table) {
	s := NewScanner(table)
	scan(b, s)
	scan(b, s)
	b.ReportAllocs()
	for b.Loop() {
		scan(b, s)
	}
	b.ReportMetric(float64(len(s.known)), "processes")
}
