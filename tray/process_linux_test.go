package tray_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"rollcall/adapters"
	"rollcall/app"
	"rollcall/internal/agentname"
	"rollcall/internal/eventually"
	"rollcall/internal/must"
)

// trayProcess is a running tray: this binary, executed anew.
type trayProcess struct {
	t      *testing.T
	cmd    *exec.Cmd
	in     io.WriteCloser
	stderr *eventually.Output
	start  time.Time

	mu      sync.Mutex
	reports []report
	news    chan struct{}
	ended   chan struct{} // closed when it has exited
}

// startTray starts a tray that shows snapshot, with env added to a minimal
// environment. It ends with the test at the latest.
func startTray(t *testing.T, snapshot *app.Snapshot, grace time.Duration, env ...string) *trayProcess {
	t.Helper()
	self := must.Get(os.Executable())(t)
	p := &trayProcess{t: t, stderr: &eventually.Output{}, news: make(chan struct{}, 1), ended: make(chan struct{}), start: time.Now()}
	p.cmd = exec.Command(self)
	p.cmd.Env = append([]string{roleVariable + "=" + grace.String(), "HOME=" + t.TempDir(), "PATH=" + os.Getenv("PATH"), "TZ=UTC"}, env...)
	p.cmd.Env = append(p.cmd.Env, "GORACE=exitcode=0 atexit_sleep_ms=0") // races are looked for below
	p.cmd.Stderr = p.stderr
	p.in = must.Get(p.cmd.StdinPipe())(t)
	out := must.Get(p.cmd.StdoutPipe())(t)
	must.Do(t, p.cmd.Start())
	go p.read(out)
	t.Cleanup(func() {
		p.in.Close()
		select {
		case <-p.ended:
		case <-time.After(eventually.Limit):
			t.Error("the tray did not end with its input")
			_ = p.cmd.Process.Kill()
			<-p.ended
		}
		for block := range strings.SplitSeq(p.stderr.String(), "==================") {
			// systray's own start races now and then, and godbus (up to 5.2.4) writes a property into the slice that a reply may still be sending:
			// both are not ours to mend here.
			if strings.Contains(block, "DATA RACE") && !strings.Contains(block, "fyne.io/systray") && !strings.Contains(block, "dbus/v5/prop.(*Properties).set") {
				t.Error("the tray has a data race")
			}
		}
		if t.Failed() {
			t.Logf("the tray said:\n%s\n%v", p.stderr, p.all())
		}
	})
	p.tell(order{Snapshot: snapshot})
	return p
}

func (p *trayProcess) read(out io.Reader) {
	defer close(p.ended)
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		var r report
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			fmt.Fprintf(p.stderr, "stdout: %s\n", lines.Bytes())
			continue
		}
		p.mu.Lock()
		p.reports = append(p.reports, r)
		p.mu.Unlock()
		select {
		case p.news <- struct{}{}:
		default:
		}
	}
	_ = p.cmd.Wait()
}

// tell gives an order and returns when it was obeyed.
func (p *trayProcess) tell(o order) {
	p.t.Helper()
	before := p.count("obeyed")
	defer func() { p.wait("obeyed", before+1) }()
	line := must.Get(json.Marshal(o))(p.t)
	if _, err := p.in.Write(append(line, '\n')); err != nil {
		p.t.Fatalf("the tray does not listen: %v", err)
	}
}

func (p *trayProcess) all() []report {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.reports)
}

func (p *trayProcess) count(what string) int {
	n := 0
	for _, r := range p.all() {
		if r.What == what {
			n++
		}
	}
	return n
}

// wait returns the nth report of that kind, counted from 1.
func (p *trayProcess) wait(what string, nth int) report {
	p.t.Helper()
	deadline := time.After(eventually.Limit)
	for {
		left := nth
		for _, r := range p.all() {
			if r.What == what {
				if left--; left == 0 {
					return r
				}
			}
		}
		select {
		case <-p.news:
		case <-deadline:
			p.t.Fatalf("no %q number %d; reports %v\n%s", what, nth, p.all(), p.stderr)
		}
	}
}

// exit waits for the process's end and returns its exit code.
func (p *trayProcess) exit() int {
	p.t.Helper()
	select {
	case <-p.ended:
	case <-time.After(eventually.Limit):
		p.t.Fatalf("still running; reports %v\n%s", p.all(), p.stderr)
	}
	return p.cmd.ProcessState.ExitCode()
}

// snap returns a snapshot of sessions, active a while ago.
func snap(sessions ...app.Session) *app.Snapshot {
	app.Sort(sessions) // as snapshots have them
	return &app.Snapshot{At: time.Now(), Own: sessions, Adapters: []app.Health{
		{Name: agentname.ClaudeCode, State: app.OK, Answered: time.Now()},
		{Name: agentname.Codex, State: app.Absent},
	}}
}

func working(id, project, title string, active time.Duration) app.Session {
	return app.Session{Session: adapters.Session{
		ID: id, Agent: agentname.ClaudeCode,
		State: adapters.State{Status: adapters.Working},
		Place: adapters.Place{CWD: "/home/dev/" + project},
		Topic: adapters.Topic{Title: title},
		Times: adapters.Times{LastActivityAt: time.Now().Add(-active)},
	}}
}

func waiting(id, project, title string, active time.Duration) app.Session {
	s := working(id, project, title, active)
	s.Status, s.WaitingFor = adapters.Waiting, adapters.ForPermission
	return s
}

func idle(id, project, title string, active time.Duration) app.Session {
	s := working(id, project, title, active)
	s.Status = adapters.Idle
	return s
}
