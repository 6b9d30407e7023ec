package agents

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"time"
)

// answer lets the agent do what it asked for, or answers its question.
func (l *lane) answer() error {
	x, d := l.x, l.waitingDialog()
	if d == nil {
		return errors.New("it does not wait")
	}
	done := strings.Count(l.terminal.Screen(), "Done.")
	began := l.st.happens(x, "answers the user's way: %s", d.answer)
	err := l.insist(d.answer, "answered", func() bool {
		if d.turn == waitsPermission {
			_, err := os.Stat(l.askedFile())
			return err == nil
		}
		return strings.Count(l.terminal.Screen(), "Done.") > done
	})
	if err != nil {
		return err
	}
	// The answer to the tool's result follows at once.
	_ = until(10*time.Second, "done", func() bool { return strings.Count(l.terminal.Screen(), "Done.") > done })
	l.draft = len(d.answer) == 1 // a key too many is in the input now
	l.st.waitOver(x, began)
	l.st.holds(x, func() { x.turn = completed })
	return nil
}

// refuse presses Escape in what the agent asks.
func (l *lane) refuse() error {
	x, d := l.x, l.waitingDialog()
	if d == nil {
		return errors.New("it does not wait")
	}
	began := l.st.happens(x, "refuses with Escape")
	if err := l.insist("Escape", "refused", func() bool { return !strings.Contains(l.terminal.Screen(), d.gone) }); err != nil {
		return err
	}
	l.st.waitOver(x, began)
	l.st.holds(x, func() { x.turn = refused })
	return nil
}

func (l *lane) waitingDialog() *stormDialog {
	switch l.x.turn {
	case waitsPermission:
		return l.kind.permission
	case waitsQuestion:
		return l.kind.question
	}
	return nil
}

// insist presses a key until ok: what has just come up ignores keys for a moment.
func (l *lane) insist(key, what string, ok func() bool) error {
	var pressed time.Time
	err := until(stepLimit, what, func() bool {
		if ok() {
			return true
		}
		if time.Since(pressed) > 2*time.Second {
			l.press(key)
			pressed = time.Now()
		}
		return false
	})
	if err != nil {
		return fmt.Errorf("%w; the terminal shows:\n%s", err, l.terminal.Screen())
	}
	return nil
}

// escape interrupts the turn.
func (l *lane) escape() error {
	x := l.x
	command := l.sleeper()
	l.st.happens(x, "interrupts with Escape")
	err := l.insist("Escape", "interrupted", func() bool {
		if command.PID != 0 {
			return !alive(command.PID)
		}
		if _, _, left := l.request(x.prompts, x.began); left {
			return true
		}
		for range l.kind.escapes - 1 {
			l.press("Escape")
			time.Sleep(300 * time.Millisecond)
		}
		return false
	})
	if err != nil {
		return err
	}
	l.st.holds(x, func() {
		x.turn = interrupted
		if l.kind.takesBack && command.PID == 0 {
			x.turn, l.draft = takenBack, true
		}
	})
	return nil
}

// dialog opens and closes a dialog of the user's own; the session stays what it is.
func (l *lane) dialog() error {
	x := l.x
	l.st.happens(x, "opens %s", l.kind.dialog)
	if err := l.types(l.kind.dialog); err != nil {
		return err
	}
	open := func() bool { return strings.Contains(l.terminal.Screen(), l.kind.dialogText) }
	if err := l.insist("Enter", l.kind.dialog+" opened", open); err != nil {
		return err
	}
	l.st.holds(x, func() {})
	pause(l.ctx, 15*time.Second)
	l.st.happens(x, "closes %s", l.kind.dialog)
	if err := l.insist("Escape", l.kind.dialog+" closed", func() bool { return !open() }); err != nil {
		return err
	}
	l.st.holds(x, func() {})
	return nil
}

// types types a line into the empty input, again where the agent drops the
// beginning of it, as some do while they start.
func (l *lane) types(line string) error {
	var typed time.Time
	beginning := line[:min(len(line), 20)] // the rest may be on the next line
	err := until(stepLimit, "typed "+line, func() bool {
		if !typed.IsZero() && strings.Contains(l.terminal.Screen(), beginning) {
			return true
		}
		if time.Since(typed) > 3*time.Second {
			if l.draft || !typed.IsZero() {
				l.press("C-u")
				l.draft = false
			}
			typed = time.Now()
			_, _ = l.st.s.tryTmux("send-keys", "-t", l.terminal.pane(), "-l", line) // shown, or typed again
		}
		return false
	})
	if err != nil {
		return fmt.Errorf("%w; the terminal shows:\n%s", err, l.terminal.Screen())
	}
	return nil
}
