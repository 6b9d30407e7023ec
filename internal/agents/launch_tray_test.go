//go:build agents && linux

package agents

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"rollcall/internal/desktoptest"
	"rollcall/internal/must"
)

// hook returns an on-complete hook that leaves a line in a file.
func (l *Launcher) hook() (command string, lines func() []string) {
	l.terminals++
	file := filepath.Join(l.dir, fmt.Sprintf("hook%d", l.terminals))
	return `echo "$ROLLCALL_SESSION_ID" >>` + file, func() []string {
		text, _ := os.ReadFile(file)
		return strings.Fields(string(text))
	}
}

// over checks what is left of a launch whose agent has ended: one run of its
// hook, and no lock, whoever looks.
func (l *Launcher) over(r LaunchRecord, session string, hooked func() []string) {
	l.t.Helper()
	l.Recorded(r.ID, "ended with its hook run", func(r LaunchRecord) bool {
		return r.Ended() && len(r.Hooks) == 1 && r.Hooks[0].Result == "exit 0"
	})
	if err := poll(5*time.Second, func() bool { return len(l.LockFiles()) == 0 }); err != nil {
		l.t.Errorf("the folder is still locked: %v: %v", err, l.LockFiles())
	}
	if got := hooked(); len(got) != 1 || got[0] != session {
		l.t.Errorf("the hook ran for %q, want once for %s", got, session)
	}
}

// An agent outlives the rollcall that launched it and the tray, killed in the
// midst of things; the next tray knows all about it.
func TestLaunchOutlivesRollcall(t *testing.T) {
	nightly(t)
	desktop := newDesktop(t)
	launched(t, func(t *testing.T, l *Launcher) {
		first := l.tray(desktop)
		before := len(desktop.Shown())
		command, hooked := l.hook()
		cmd := l.rollcall("launch", l.Release.Agent, "-p", "outlive us [[delay 12]]", "--on-complete", command)
		out := must.Get(cmd.StdoutPipe())(t)
		must.Do(t, cmd.Start())
		id := ""
		for lines := bufio.NewScanner(out); id == "" && lines.Scan(); {
			if m := startedPattern.FindStringSubmatch(lines.Text()); m != nil {
				id = m[1]
			}
		}
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // killed, or done just before
		if ws := cmd.ProcessState.Sys().(syscall.WaitStatus); !ws.Signaled() {
			t.Logf("rollcall was done before it was killed: %v", cmd.ProcessState)
		}
		session, agent := l.Own(id)
		r := l.Recorded(id, "of the session", func(r LaunchRecord) bool { return r.Session == session.ID })
		first.Shows("proj")

		first.kill()
		if s, again := l.Own(id); s.ID != session.ID || again.PID != agent.PID {
			t.Errorf("after the kill of the tray: %v in %v, was %v in %v", s, again, session, agent)
		}
		second := l.tray(desktop)
		second.Shows("proj")
		second.quiet(before, "after a restart")
		if r := l.Record(id); r.Ended() || len(l.LockFiles()) != 1 {
			t.Errorf("before the end: %+v, locks %q", r, l.LockFiles())
		}
		running := time.Now()
		l.Gone(agent)
		second.notified(before, running, time.Now())
		l.over(r, session.ID, hooked)
		l.Becomes(byID(session.ID), time.Now(), soon, "stopped/completed")
		second.stop()
		third := l.tray(desktop)
		third.quiet(before+1, "by a tray that has nothing to tell")
		l.over(r, session.ID, hooked)
		third.stop()
	})
}

// tray starts the tray of the user who launches: unlike startTray's it keeps what
// it keeps in that user's home.
func (l *Launcher) tray(desktop *desktoptest.Desktop) *tray {
	l.t.Helper()
	l.terminals++
	log := must.Get(os.Create(fmt.Sprintf("%s/tray%d", l.dir, l.terminals)))(l.t)
	defer log.Close()
	tellEach(l.Sandbox, l.Home)
	cmd := exec.Command(desktopBinary)
	cmd.Dir = l.Home
	cmd.Env = append(desktop.Env(), "HOME="+l.Home, "ROLLCALL_SANDBOX="+l.dir, "XDG_STATE_HOME=", "XDG_DATA_HOME=", "XDG_CONFIG_HOME=")
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		l.t.Fatal(err)
	}
	go func() { _ = cmd.Wait() }() // ended by the test or with it
	l.t.Cleanup(func() {
		if text, err := os.ReadFile(log.Name()); err == nil && l.t.Failed() {
			l.t.Logf("tray:\n%.4000s", text)
		}
	})
	t := &tray{Process: Process{PID: cmd.Process.Pid, Comm: "rollcall", Args: cmd.Args}, s: l.Sandbox, desktop: desktop}
	t.icons(1)
	return t
}

// icons waits until the panel has that many icons.
func (t *tray) icons(n int) {
	t.s.t.Helper()
	err := poll(20*time.Second, func() bool {
		items, err := t.desktop.TrayItems()
		return err == nil && len(items) == n
	})
	if err != nil {
		t.s.t.Fatalf("not %d icons in the tray: %v", n, err)
	}
}

// kill ends the tray as a crash does.
func (t *tray) kill() {
	t.s.t.Helper()
	t.s.Kill(t.Process)
	t.icons(0)
}

// Without a tray the keeper records the end, unlocks the folder and runs the hook; the
// next tray tells of the end once.
func TestLaunchEndsWithoutTray(t *testing.T) {
	desktop := newDesktop(t)
	launched(t, func(t *testing.T, l *Launcher) {
		command, hooked := l.hook()
		const prompt = "alone [[delay 60]]"
		r := l.Launch(prompt, "--on-complete", command)
		l.Asked(prompt)
		session, agent := l.Own(r.ID)
		first := l.tray(desktop)
		before := len(desktop.Shown())
		first.Shows("proj")
		l.Recorded(r.ID, "of the session", func(r LaunchRecord) bool { return r.Session == session.ID })
		first.kill()
		l.Signal(agent, unix.SIGKILL)
		l.vanished(agent)
		l.over(r, session.ID, hooked) // the keeper needs no tray
		second := l.tray(desktop)
		second.missed(before)
		second.kill()
		third := l.tray(desktop)
		third.quiet(before+1, "of an end that the tray before told")
		third.stop()
	})
}

// missed checks the one notification of a launch that ended while no tray ran.
func (t *tray) missed(before int) {
	t.s.t.Helper()
	err := poll(20*time.Second, func() bool { return len(t.desktop.Shown()) > before })
	list := t.desktop.Shown()
	if err != nil {
		t.s.t.Fatalf("nothing was told of a launch that ended meanwhile: %v", err)
	}
	if n := list[before]; n.Summary != "1 launch ended while Rollcall was off" || !strings.HasSuffix(n.Body, " in proj: died in mid-turn") {
		t.s.t.Errorf("told %q, %q", n.Summary, n.Body)
	}
	t.quiet(before+1, "after the one of a launch that ended meanwhile")
}

// vanished waits until not even a zombie is left of a process: one with many
// threads is there for a moment after its end.
func (l *Launcher) vanished(p Process) {
	l.t.Helper()
	err := poll(10*time.Second, func() bool {
		_, err := os.Stat(fmt.Sprintf("/proc/%d", p.PID))
		return os.IsNotExist(err)
	})
	if err != nil {
		l.t.Fatalf("%v is still there %v", p, err)
	}
}

// wrappers are shell scripts that stand before an agent, as installers and users
// put them there.
var wrappers = map[string]string{
	"sh -c":  `/bin/sh -c '"$0" "$@"; exit $?' "$REAL" "$@"; exit $?`,
	"nohup":  `exec 3<&0; nohup "$REAL" "$@" <&3 & wait`,
	"setsid": `exec 3<&0; setsid "$REAL" "$@" <&3 & wait`,
}

// The end of whatever the agent was started through is not its own, and its own
// is told once.
func TestLaunchWrapperKilled(t *testing.T) {
	nightly(t)
	desktop := newDesktop(t)
	launched(t, func(t *testing.T, l *Launcher) {
		tray := l.tray(desktop)
		for name, script := range wrappers {
			signals := []unix.Signal{unix.SIGKILL}
			if name == "sh -c" { // a shell may pass on what it can catch
				signals = append(signals, unix.SIGTERM)
			}
			for _, signal := range signals {
				t.Run(fmt.Sprintf("%s, %v", name, signal), func(t *testing.T) {
					l.t = t
					l.Install(l.Release, script)
					l.wrapped(tray, signal)
				})
			}
		}
		l.t = t
		tray.stop()
	})
}

// wrapped launches through the wrapper that is installed, and ends first that and
// then the agent.
func (l *Launcher) wrapped(tray *tray, signal unix.Signal) {
	l.t.Helper()
	before := len(tray.desktop.Shown())
	command, hooked := l.hook()
	prompt := fmt.Sprintf("wrapped %d [[delay 90]]", l.terminals)
	r := l.Launch(prompt, "--on-complete", command)
	asked := l.Asked(prompt)
	session, agent := l.Own(r.ID)
	if session.PID == r.started() {
		l.t.Fatalf("%v was started directly", agent)
	}
	for _, p := range l.Processes() {
		if p.PID == r.started() || below(l.Processes(), p.PID, r.started()) && !below(l.Processes(), p.PID, agent.PID) {
			l.t.Logf("%v to %v", signal, p)
			_ = unix.Kill(p.PID, signal) // it may have gone with its parent
			l.Gone(p)
		}
	}
	tray.quiet(before, "for a wrapper")
	l.Stays(byID(session.ID), time.Second, "working")
	l.Recorded(r.ID, "of the agent's own process", func(r LaunchRecord) bool { return r.Process.PID == agent.PID && !r.Ended() })
	if locks := l.Locks(); len(locks) != 1 || locks[0].PID != agent.PID || locks[0].Session != session.ID {
		l.t.Errorf("locks %+v, want that of process %d", locks, agent.PID)
	}
	tray.ended(before, agent)
	l.over(r, session.ID, hooked)
	l.Becomes(byID(session.ID), asked, time.Minute, "stopped/died")
}

// started returns the process that rollcall started.
func (r *LaunchRecord) started() int {
	if len(r.Former) > 0 {
		return r.Former[0].PID
	}
	return r.Process.PID
}
