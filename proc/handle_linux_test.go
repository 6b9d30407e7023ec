package proc

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"syscall"
	"testing"
	"time"

	"rollcall/internal/eventually"
	"rollcall/internal/must"
)

func init() {
	roles["ignore terminate"] = func() error {
		signal.Ignore(syscall.SIGTERM)
		return ready("ready")
	}
	roles["have a family"] = func() error {
		child := exec.Command("sh", "-c", "sleep 60 & echo $!; wait")
		out, err := child.StdoutPipe()
		if err != nil {
			return err
		}
		if err := child.Start(); err != nil {
			return err
		}
		line := make([]byte, 32)
		n, err := out.Read(line)
		if err != nil {
			return err
		}
		defer func() {
			_ = child.Process.Kill()
			if pid, err := strconv.Atoi(string(line[:n-1])); err == nil {
				_ = syscall.Kill(pid, syscall.SIGKILL)
			}
			_ = child.Wait()
		}()
		return ready(strconv.Itoa(child.Process.Pid) + " " + string(line[:n-1]))
	}
}

func ownTable(t *testing.T) *Table {
	t.Helper()
	return OpenAt("/proc", "/etc")
}

func hold1(t *testing.T, table *Table, id Identity) *Handle {
	t.Helper()
	h := must.Get(table.Hold(id))(t)
	t.Cleanup(h.Close)
	return h
}

func waitFor(h *Handle, d time.Duration) error {
	ctx, cancel := context.WithTimeout(context.Background(), d)
	defer cancel()
	return h.Wait(ctx)
}

func TestHandle(t *testing.T) {
	table := ownTable(t)
	c := start(t, "ignore terminate", nil)
	h := hold1(t, table, c.identity(t, table))
	must.Do(t, h.Send(Terminate))
	if err := waitFor(h, 200*time.Millisecond); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("it ignores terminate, and yet Wait says %v", err)
	}
	must.Do(t, h.Send(Kill))
	// Nobody has reaped it: a zombie has ended.
	if err := waitFor(h, eventually.Limit); err != nil {
		t.Fatalf("killed, and Wait says %v", err)
	}
	c.reap()
	if err := h.Send(Kill); !errors.Is(err, ErrGone) {
		t.Errorf("a signal to nobody: %v", err)
	}
	if _, err := table.Hold(h.Identity()); !errors.Is(err, ErrGone) {
		t.Errorf("hold of nobody: %v", err)
	}
}

func TestHandleOfWrongStart(t *testing.T) {
	table := ownTable(t)
	c := start(t, "wait", nil)
	id := c.identity(t, table)
	id.Start++
	if h, err := table.Hold(id); !errors.Is(err, ErrGone) {
		t.Errorf("hold of another start time: %v, %v", h, err)
	}
	if h, err := table.Hold(Identity{}); !errors.Is(err, ErrGone) {
		t.Errorf("hold of no process: %v, %v", h, err)
	}
}

// A pid of another machine's tree must never be signalled here.
func TestHandleOfForeignTable(t *testing.T) {
	foreign := OpenAt(t.TempDir(), t.TempDir())
	if _, err := foreign.Hold(Identity{PID: os.Getpid(), Start: 1}); !errors.Is(err, ErrUnsupported) {
		t.Errorf("hold in another tree: %v", err)
	}
}

func TestDescendants(t *testing.T) {
	table := ownTable(t)
	c := start(t, "have a family", nil)
	list := must.Get(table.List(t.Context()))(t)
	var got string
	for _, p := range Descendants(list, c.identity(t, table)) {
		if got != "" {
			got += " "
		}
		got += strconv.Itoa(p.PID)
	}
	if got != c.said {
		t.Errorf("descendants %q, want %q", got, c.said)
	}
}

func TestDescendantsOfReusedPIDs(t *testing.T) {
	row := func(pid, ppid int, start uint64) Process {
		return Process{Identity: Identity{PID: pid, Start: start}, PPID: ppid}
	}
	list := []Process{
		row(10, 1, 100), row(11, 10, 110), row(12, 11, 120),
		row(13, 10, 90),              // older than its parent: another had its pid
		row(20, 21, 200),             // a loop, as rows read while pids change can form
		row(21, 20, 200),             //
		row(30, 10, 100),             // as old as its parent, in ticks
		{Identity: Identity{PID: 1}}, //
	}
	var got []int
	for _, p := range Descendants(list, list[0].Identity) {
		got = append(got, p.PID)
	}
	if len(got) != 3 || got[0] != 30 || got[1] != 11 || got[2] != 12 {
		t.Errorf("below 10: %v, want [30 11 12]", got)
	}
	if d := Descendants(list, list[4].Identity); len(d) != 1 || d[0].PID != 21 {
		t.Errorf("below 20: %v, want 21 alone", d)
	}
	if d := Descendants(list, Identity{PID: 10, Start: 99}); d != nil {
		t.Errorf("below nobody: %v", d)
	}
}

// TestSignalToSuspended: a suspended process acts on terminate at once.
func TestSignalToSuspended(t *testing.T) {
	table := ownTable(t)
	c := start(t, "wait", nil)
	id := c.identity(t, table)
	h := hold1(t, table, id)
	must.Do(t, syscall.Kill(id.PID, syscall.SIGSTOP))
	eventually.True(t, "the suspension", func() bool {
		p, err := table.Find(id.PID)
		return err == nil && p.Suspended
	})
	must.Do(t, h.Send(Terminate))
	if err := waitFor(h, 10*time.Second); err != nil {
		t.Errorf("it was asked to end: %v", err)
	}
}
