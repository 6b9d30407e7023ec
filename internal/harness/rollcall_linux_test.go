package harness

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"rollcall/internal/must"

	"golang.org/x/sys/unix"
)

// commandLimit is how long a command may take: one that hangs does so for ever.
const commandLimit = 2 * time.Minute

// rollcall is the program with its files.
type rollcall struct {
	t    testing.TB
	home string
	run  string // XDG_RUNTIME_DIR
	env  []string

	tray   *exec.Cmd
	ended  chan struct{} // closed when the tray has ended
	since  time.Time     // when the tray was started
	starts int
	log    *os.File
}

func newRollcall(t testing.TB, home, run string, d *desktop) *rollcall {
	t.Helper()
	r := &rollcall{t: t, home: home, run: run}
	must.Do(t, os.MkdirAll(r.run, 0o700))
	r.env = []string{"PATH=/opt/bin:" + os.Getenv("PATH"), "HOME=" + home, "LANG=C.UTF-8", "SHELL=/bin/sh",
		"XDG_RUNTIME_DIR=" + r.run, "DBUS_SESSION_BUS_ADDRESS=" + d.address()}
	r.configure(eachEvent)
	r.log = must.Get(os.Create(filepath.Join(filepath.Dir(home), "tray.log")))(t)
	return r
}

func (r *rollcall) state(parts ...string) string {
	return filepath.Join(append([]string{r.home, ".local", "state", "rollcall"}, parts...)...)
}

func (r *rollcall) startTray() {
	r.t.Helper()
	r.starts++
	r.tray = exec.Command(program)
	r.tray.Env = r.env
	r.tray.Dir = r.home
	r.tray.Stdout = r.log
	r.tray.Stderr = r.log
	must.Do(r.t, r.tray.Start())
	ended := make(chan struct{})
	r.ended, r.since = ended, time.Now()
	tray := r.tray
	go func() { _ = tray.Wait(); close(ended) }()
}

// killTray kills the tray as the kernel does when memory is short.
func (r *rollcall) killTray() {
	_ = r.tray.Process.Kill()
	<-r.ended
}

// trayEnds waits until the tray has ended by itself.
func (r *rollcall) trayEnds() {
	r.t.Helper()
	select {
	case <-r.ended:
	case <-time.After(time.Minute):
		r.t.Fatal("the tray does not end though its bus is gone")
	}
}

// said returns the end of what the tray printed.
func (r *rollcall) said() string {
	text, _ := os.ReadFile(r.log.Name())
	return string(text[max(0, len(text)-4000):])
}

// answer is what a command printed, and its exit code.
type answer struct {
	code     int
	out, err string
}

// command runs Rollcall.
func (r *rollcall) command(args ...string) answer {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), commandLimit)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, args...)
	var out, problems bytes.Buffer
	cmd.Env = r.env
	cmd.Dir = r.home
	cmd.Stdout = &out
	cmd.Stderr = &problems
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) || ctx.Err() != nil {
		r.t.Fatalf("rollcall %q: %v %v\n%s", args, err, ctx.Err(), problems.String())
	}
	return answer{cmd.ProcessState.ExitCode(), out.String(), problems.String()}
}

// listed is what list --json prints, as far as it is looked at.
type listed struct {
	Sessions []row
	Adapters []struct{ Name, State, Error string }
}

type row struct {
	ID, Agent, Status, Outcome, Evidence, CWD, Parent, Host string
	FirstPrompt                                             string `json:"first_prompt"`
	WaitingFor                                              string `json:"waiting_for"`
	Decision                                                string
	MayAsk                                                  bool `json:"may_ask"`
	Suspended                                               bool
	PID                                                     int
	Stale                                                   *struct{ Reason string }
	Launch                                                  *struct{ ID string }
	QuietSeconds                                            int `json:"quiet_seconds"`
	LeftBehind                                              int `json:"left_behind"`
	Background                                              []struct{ Kind, What string }
}

func (r *rollcall) list() listed {
	r.t.Helper()
	var l listed
	a := r.command("list", "--all", "--json")
	if err := json.Unmarshal([]byte(a.out), &l); err != nil || a.code != 0 && len(l.Adapters) == 0 {
		r.t.Fatalf("list: exit code %d, %v\n%s%s", a.code, err, a.out, a.err)
	}
	return l
}

// locked returns the folders that are locked, by path: "auto" or "manual".
func (r *rollcall) locked() map[string]string {
	r.t.Helper()
	var l struct{ Locks []struct{ Path, Kind string } }
	a := r.command("locks", "--json")
	if err := json.Unmarshal([]byte(a.out), &l); err != nil || a.code != 0 {
		r.t.Fatalf("locks: exit code %d, %v\n%s%s", a.code, err, a.out, a.err)
	}
	out := map[string]string{}
	for _, k := range l.Locks {
		out[k.Path] = k.Kind
	}
	return out
}

// record is a launch's record, read from its file.
type record struct {
	ID, Session, Dir string
	EndedAt          time.Time `json:"ended_at"`
}

func (r *rollcall) records() (map[string]record, error) {
	out := map[string]record{}
	files, err := filepath.Glob(r.state("launches", "*.json"))
	for _, path := range files {
		text, readErr := os.ReadFile(path)
		var one record
		if readErr == nil {
			readErr = json.Unmarshal(text, &one)
		}
		if readErr != nil {
			err = errors.Join(err, fmt.Errorf("%s: %w", path, readErr))
		}
		out[one.Dir] = one
	}
	return out, err
}

// counts are what the tray uses.
type counts struct {
	Goroutines, Heap uint64
	descriptors      int
	resident         int // KB
}

func (c counts) String() string {
	return fmt.Sprintf("%d goroutines, %d descriptors, heap %.1f MB, resident %d MB", c.Goroutines, c.descriptors, float64(c.Heap)/(1<<20), c.resident>>10)
}

// counts asks the tray, over its private socket, what a build for tests tells.
func (r *rollcall) counts() (counts, error) {
	var c counts
	text, err := r.ask("counts")
	if err == nil {
		err = json.Unmarshal([]byte(text), &c)
	}
	if err != nil {
		return c, fmt.Errorf("the tray does not count: %w", err)
	}
	open, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", r.tray.Process.Pid))
	c.descriptors = len(open)
	status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", r.tray.Process.Pid))
	if _, after, found := strings.Cut(string(status), "VmRSS:"); found {
		_, _ = fmt.Sscan(after, &c.resident)
	}
	return c, err
}

func (r *rollcall) ask(verb string) (string, error) {
	conn, err := net.Dial("unix", filepath.Join(r.run, "rollcall", "tray.sock"))
	if err != nil {
		return "", err
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(time.Minute))
	if _, err := fmt.Fprintln(conn, verb); err != nil {
		return "", err
	}
	text, err := io.ReadAll(bufio.NewReader(conn))
	return string(text), err
}

// small gives Rollcall's state a disk that can be filled.
func (r *rollcall) small() {
	r.t.Helper()
	must.Do(r.t, os.MkdirAll(r.state(), 0o700))
	must.Do(r.t, unix.Mount("tmpfs", r.state(), "tmpfs", 0, "size=8m,mode=0700"))
	r.t.Cleanup(func() { _ = unix.Unmount(r.state(), unix.MNT_DETACH) })
}

// fill leaves no room on that disk.
func (r *rollcall) fill() {
	r.t.Helper()
	f, err := os.Create(r.state("filler"))
	must.Do(r.t, err)
	defer f.Close()
	for block := make([]byte, 64<<10); err == nil; {
		_, err = f.Write(block)
	}
	if !errors.Is(err, unix.ENOSPC) {
		r.t.Fatal(err)
	}
}

func (r *rollcall) room() {
	r.t.Helper()
	must.Do(r.t, os.Remove(r.state("filler")))
}
