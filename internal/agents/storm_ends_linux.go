package agents

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"rollcall/internal/pressure"
)

// newInProcess begins another session in the same process.
func (l *lane) newInProcess() error {
	st, old := l.st, l.x
	next := st.newSession(&stormSession{kind: old.kind, release: old.release, folder: old.folder, home: old.home, plot: old.plot, alone: old.alone})
	st.happens(old, "%s", l.kind.newCommand)
	st.happens(next, "%s in the process of %s", l.kind.newCommand, old.mark)
	if err := l.types(l.kind.newCommand); err != nil {
		return err
	}
	if err := l.insist("Enter", "a new session", func() bool { return strings.Contains(l.terminal.Screen(), "New session started") }); err != nil {
		return err
	}
	st.holds(old, func() { old.running, old.replaced = false, true })
	// Before its first prompt nothing tells it from the one before.
	st.holds(next, func() {
		next.running, next.pid, next.terminal, next.daemon, next.hidden = true, old.pid, old.terminal, old.daemon, true
		next.before = old
	})
	l.x = next
	return nil
}

// suspend stops the agent's process as Ctrl-Z does. tmux lets the first process
// of a pane run on at once.
func (l *lane) suspend() error {
	x := l.x
	l.st.happens(x, "SIGSTOP to process %d", l.victim())
	if err := unix.Kill(l.victim(), unix.SIGSTOP); err != nil {
		return err
	}
	pane := 0
	if l.terminal != nil {
		pane, _ = l.pane()
	}
	if pane != l.victim() {
		l.st.holds(x, func() { x.suspended = !x.daemon })
		return nil
	}
	err := poll(10*time.Second, func() bool {
		p, ok := readProcess(fmt.Sprintf("/proc/%d", l.victim()))
		return ok && p.State != "T"
	})
	if err != nil {
		return fmt.Errorf("tmux leaves process %d stopped: %w", l.victim(), err)
	}
	l.st.holds(x, func() {})
	return nil
}

func (l *lane) resumeProcess() error {
	x := l.x
	l.st.happens(x, "SIGCONT to process %d", l.victim())
	if err := unix.Kill(l.victim(), unix.SIGCONT); err != nil {
		return err
	}
	l.st.holds(x, func() { x.suspended = false })
	return nil
}

// victim is the process that signals go to: never the shared daemon.
func (l *lane) victim() int {
	if l.x.terminal != 0 {
		return l.x.terminal
	}
	return l.x.pid
}

// end sends a signal to the agent's process and waits for its end.
func (l *lane) end(signal unix.Signal) error {
	if l.victim() == 0 {
		return errors.New("no process")
	}
	l.remember()
	l.awaitStored()
	began := l.st.happens(l.x, "%s to process %d", unix.SignalName(signal), l.victim())
	if err := unix.Kill(l.victim(), signal); err != nil {
		return err
	}
	if err := l.isGone(); err != nil {
		return err
	}
	l.over(began, signal == unix.SIGKILL)
	return nil
}

// awaitStored waits until the agent has stored the end of its last turn: OpenCode 1.18.33
// stores it up to 1.3 s after it shows it, which is lost when it is killed
// before.
func (l *lane) awaitStored() {
	l.st.mu.Lock()
	since, open := l.x.since, l.x.turn == inTurn
	l.st.mu.Unlock()
	if open || since.IsZero() {
		return
	}
	time.Sleep(time.Until(since.Add(settle)))
	time.Sleep(time.Until(since.Add(settle + min(pressure.StalledSince(since), settleMore))))
}

// hangUp closes the terminal.
func (l *lane) hangUp() error {
	if l.terminal == nil {
		return errors.New("no terminal")
	}
	l.remember()
	began := l.st.happens(l.x, "closes the terminal")
	l.close()
	if err := l.isGone(); err != nil {
		return err
	}
	l.over(began, false)
	return nil
}

// exits ends the agent as its user does, with a command or keys.
func (l *lane) exits(how string) error {
	if l.terminal == nil {
		return errors.New("no terminal")
	}
	l.remember()
	began := l.st.happens(l.x, "ends it with %s", how)
	key := how
	if strings.HasPrefix(how, "/") {
		if err := l.types(how); err != nil {
			return err
		}
		key = "Enter"
	} else if l.draft && how == "C-d" { // it does nothing in a line with text
		l.press("C-u")
	}
	var pressed time.Time
	err := until(stepLimit, "gone", func() bool {
		if !alive(l.victim()) {
			return true
		}
		if time.Since(pressed) > 500*time.Millisecond && key != "Enter" || time.Since(pressed) > 4*time.Second {
			l.press(key)
			pressed = time.Now()
		}
		return false
	})
	if err != nil {
		return fmt.Errorf("%w; the terminal shows:\n%s", err, l.terminal.Screen())
	}
	l.over(began, false)
	return nil
}

// gone waits until a process is gone. It looks often: what is told of the end is
// measured from then on.
func gone(pid int) error {
	deadline := time.Now().Add(stepLimit)
	for alive(pid) {
		if time.Now().After(deadline) {
			return fmt.Errorf("process %d does not end", pid)
		}
		time.Sleep(5 * time.Millisecond)
	}
	return nil
}

func (l *lane) isGone() error {
	pid := l.victim()
	return gone(pid)
}

// over is what it means for the session that its process, or its terminal, is gone.
func (l *lane) over(began time.Time, killed bool) {
	st, x := l.st, l.x
	gone := time.Now()
	if x.daemon && x.prompts > 0 { // the daemon goes on
		st.holds(x, func() {
			if x.left, x.terminal = true, 0; x.turn == inTurn {
				x.until = x.due
			}
		})
		if x.turn != inTurn {
			st.mayEnd(x, began)
		}
		return
	}
	after := x.turn
	switch x.turn {
	case inTurn, waitsPermission, waitsQuestion:
		after = cutOpen
		if killed {
			after = killedOpen
		}
	case takenBack:
		if killed { // what its files leave is what a death leaves
			after = cutOpen
		}
	}
	st.waitOver(x, began)
	st.owes(x, endedKind, began, gone, after)
	// Until the prompt is written nothing tells it from the one before, whose end is told then.
	for old := x.before; old != nil; old = old.before {
		st.owes(old, endedKind, began, gone, old.turn)
	}
	st.holds(x, func() { x.turn, x.running, x.suspended, x.terminal, x.pid = after, false, false, 0, 0 })
}

// await waits until the daemon has finished the turn of a terminal that is gone.
func (l *lane) await() error {
	x := l.x
	l.st.mu.Lock()
	left := x.since
	l.st.mu.Unlock()
	err := until(stepLimit, "answered", func() bool {
		_, status, _ := l.request(x.prompts, x.began)
		return status == 200
	})
	if err != nil {
		return err
	}
	l.st.happens(x, "the model answered, without a terminal")
	l.st.owes(x, endedKind, left, time.Now(), completed)
	l.st.holds(x, func() { x.turn = completed })
	return nil
}

// killDaemon ends the daemon of a home that only this session uses.
func (l *lane) killDaemon() error {
	x := l.x
	if x.home == "" {
		return errors.New("the daemon has other sessions")
	}
	p, err := l.st.daemonOf(x)
	if err != nil {
		return err
	}
	began := l.st.happens(x, "SIGKILL to the daemon %d", p.PID)
	p.kill()
	if err := gone(p.PID); err != nil {
		return err
	}
	l.close() // its terminal would start another
	l.st.mu.Lock()
	x.daemon, x.left = false, false
	l.st.mu.Unlock()
	l.over(began, true)
	return nil
}
