package proc

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
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
	roles["reuse a pid"] = func() error {
		switch err := reusePID(); {
		case err == nil:
			return ready("reused")
		case strings.HasSuffix(err.Error(), neverGiven):
			return ready(err.Error())
		default:
			return err
		}
	}
}

// TestPIDReallyReused lets the kernel give one pid to two processes, in a pid
// namespace where the next pid can be chosen.
func TestPIDReallyReused(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can open a pid namespace without a user namespace")
	}
	probe := exec.Command("true")
	probe.SysProcAttr = &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWPID | unix.CLONE_NEWNS}
	if err := probe.Run(); errors.Is(err, syscall.EPERM) {
		t.Skipf("pid namespaces are not permitted here: %v", err)
	}
	said := neverGiven
	for i := 0; i < 10 && strings.HasSuffix(said, neverGiven); i++ {
		said = start(t, "reuse a pid", func(c *exec.Cmd) {
			c.SysProcAttr = &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWPID | unix.CLONE_NEWNS}
		}).said
	}
	if said != "reused" {
		t.Error(said)
	}
}

// neverGiven ends the error about a pid that went to a thread of process 1, which
// keeps it: only another namespace helps.
const neverGiven = "was never given"

// reusePID runs as process 1 of a pid namespace.
func reusePID() error {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("mount: %w", err)
	}
	if err := unix.Mount("proc", "/proc", "proc", 0, ""); err != nil {
		return fmt.Errorf("mount: %w", err)
	}
	table := OpenAt("/proc", "/etc")
	watcher, err := NewWatcher(table)
	if err != nil {
		return err
	}
	defer watcher.Close()
	first, err := startAs(0)
	if err != nil {
		return err
	}
	former, err := table.Find(first.Process.Pid)
	if err != nil {
		return err
	}
	ended := make(chan time.Time, 2)
	if _, err := watcher.Watch(former.Identity, func() { ended <- time.Now() }); err != nil {
		return err
	}
	handle, err := table.Hold(former.Identity)
	if err != nil {
		return err
	}
	defer handle.Close()
	scanner := NewScanner(table)
	if _, err := scanner.Scan(context.Background()); err != nil {
		return err
	}
	for _, k := range scanner.known { // as if all were old: only the inodes tell them apart
		k.rereadUntil, k.reportAgain = time.Time{}, false
	}
	_ = first.Process.Kill()
	_ = first.Wait()
	time.Sleep(20 * time.Millisecond) // start times are as fine as the clock tick
	second, err := startAs(former.PID)
	if err != nil {
		return err
	}
	defer func() { _ = second.Process.Kill(); _ = second.Wait() }()
	_, errHold := table.Hold(former.Identity)
	for _, s := range []Signal{Interrupt, Terminate, Kill} {
		if err := handle.Send(s); !errors.Is(err, ErrGone) {
			return fmt.Errorf("%s to the former: %w", s, err)
		}
	}
	if !errors.Is(errHold, ErrGone) {
		return fmt.Errorf("hold of the former: %w", errHold)
	}
	c, err := scanner.Scan(context.Background())
	if err != nil || !slices.Contains(c.Gone, former.Identity) ||
		!slices.ContainsFunc(c.New, func(p Process) bool { return p.PID == former.PID && p.Start > former.Start }) {
		return fmt.Errorf("the scanner noticed %+v (%w) of the other process with pid %d", c, err, former.PID)
	}
	return compareReused(table, watcher, former.Identity, ended)
}

// compareReused checks that nothing of the present process is taken for the former's.
func compareReused(table *Table, watcher *Watcher, former Identity, ended chan time.Time) error {
	present, err := table.Find(former.PID)
	if err != nil {
		return err
	}
	_, errArgs := table.Args(former)
	_, errWatch := watcher.Watch(former, func() {})
	switch {
	case present.Identity == former:
		return errors.New("two processes have one identity")
	case !table.Alive(present.Identity) || table.Alive(former):
		return errors.New("the wrong one of the two is alive")
	case !errors.Is(errArgs, ErrGone):
		return fmt.Errorf("the former's arguments: %w", errArgs)
	case !errors.Is(errWatch, ErrGone):
		return fmt.Errorf("watch of the former: %w", errWatch)
	}
	select {
	case <-ended:
	case <-time.After(eventually.Limit):
		return errors.New("the former's end was not reported")
	}
	endPresent := make(chan time.Time, 1)
	if _, err := watcher.Watch(present.Identity, func() { endPresent <- time.Now() }); err != nil {
		return err
	}
	select {
	case <-endPresent:
		return errors.New("the present one's end was reported")
	case <-time.After(50 * time.Millisecond):
		return nil
	}
}

// startAs starts a process with that pid; 0: with any.
func startAs(pid int) (*exec.Cmd, error) {
	for range 100 {
		if pid != 0 {
			if err := os.WriteFile("/proc/sys/kernel/ns_last_pid", []byte(strconv.Itoa(pid-1)), 0); err != nil {
				return nil, err
			}
		}
		c := exec.Command("sleep", "60")
		if err := c.Start(); err != nil {
			return nil, err
		}
		if pid == 0 || c.Process.Pid == pid {
			return c, nil
		}
		_ = c.Process.Kill()
		_ = c.Wait()
	}
	return nil, fmt.Errorf("pid %d %s", pid, neverGiven)
}

// TestNoDescriptorLeft lets pidfd_open fail: the watch goes on as a poll.
func TestNoDescriptorLeft(t *testing.T) {
	table := OpenAt("/proc", "/etc")
	w := must.Get(NewWatcher(table))(t)
	defer w.Close()
	w.interval = 5 * time.Millisecond
	c := start(t, "wait", nil)
	id := c.identity(t, table)

	var limit unix.Rlimit
	must.Do(t, unix.Getrlimit(unix.RLIMIT_NOFILE, &limit))
	must.Do(t, unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: 3, Max: limit.Max}))
	_, errList := table.List(t.Context())
	alive := table.Alive(id)
	e := watchWith(t, w, id)
	time.Sleep(20 * time.Millisecond)
	must.Do(t, unix.Setrlimit(unix.RLIMIT_NOFILE, &limit))
	if errList == nil || !strings.Contains(errList.Error(), "too many open files") {
		t.Errorf("List without descriptors: %v", errList)
	}
	if !alive {
		t.Error("called dead for want of a descriptor")
	}
	w.mu.Lock()
	if !w.watched[id].polled {
		t.Error("isn't polled")
	}
	w.mu.Unlock()
	e.never(t, 20*time.Millisecond)
	c.kill(t)
	e.once(t)
}
