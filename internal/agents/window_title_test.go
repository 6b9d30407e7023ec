//go:build agents && linux

package agents

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"rollcall/internal/desktoptest"
)

// xterm is a window of xterm with a program in it, on a display of its own, outside of tmux and kitty.
type xterm struct {
	s   *Sandbox
	env []string
	pid int
}

// openInXterm starts a program in xterm, in the sandbox's project.
func (s *Sandbox) openInXterm(argv ...string) *xterm {
	s.t.Helper()
	for _, program := range []string{"xterm", "xdotool"} {
		if _, err := exec.LookPath(program); err != nil {
			s.t.Fatal(err)
		}
	}
	d := desktoptest.For(s.t, desktoptest.Options{})
	cmd := s.Command("xterm", append([]string{"-geometry", "140x45", "-e"}, argv...)...)
	cmd.Env = append(cmd.Env, "DISPLAY="+d.Display())
	if err := cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	return &xterm{s: s, env: cmd.Env, pid: cmd.Process.Pid}
}

// xdotool runs a command of xdotool.
func (w *xterm) xdotool(args ...string) {
	w.s.t.Helper()
	cmd := w.s.Command("xdotool", args...)
	cmd.Env = w.env
	if out, err := cmd.CombinedOutput(); err != nil {
		w.s.t.Fatalf("xdotool %q: %v: %s", args, err, out)
	}
}

// name returns the window's title; empty: there is no window yet.
func (w *xterm) name() string {
	cmd := w.s.Command("xdotool", "search", "--onlyvisible", "--class", "xterm", "getwindowname")
	cmd.Env = w.env
	out, _ := cmd.Output()
	return strings.TrimSpace(string(out))
}

// Press presses a key. A window that takes events of other programs sets no title (xterm's allowSendEvents): the keyboard is the display's.
func (w *xterm) Press(key string) {
	w.s.t.Helper()
	w.xdotool("search", "--onlyvisible", "--class", "xterm", "windowfocus", "--sync")
	w.xdotool("key", key)
}

// Prompt types a prompt, and presses Enter until the agent has asked the model. It returns the time at which it did.
func (w *xterm) Prompt(prompt string) (asked time.Time) {
	w.s.t.Helper()
	w.xdotool("search", "--onlyvisible", "--class", "xterm", "windowfocus", "--sync")
	w.xdotool("type", "--delay", "120", prompt)
	pressed := time.Now() // Gemini CLI takes an Enter right behind a letter for a part of a pasted text
	err := poll(60*time.Second, func() bool {
		if time.Since(pressed) > 3*time.Second {
			w.Press("Return")
			pressed = time.Now()
		}
		asked = w.s.asked(prompt)
		return !asked.IsZero()
	})
	if err != nil {
		w.s.t.Fatalf("the agent does not ask the model %q: %v", prompt, err)
	}
	return asked
}

// The files of Gemini CLI do not tell a call that waits from one that runs: the title of its window does, outside of tmux and kitty.
func TestGeminiInWindow(t *testing.T) {
	Need(t)
	each(t, []Release{GeminiNewest}, func(t *testing.T, s *Sandbox, r Release) {
		w := s.openInXterm(s.Argv(r)...)
		agent := s.innerGemini(w.pid)
		s.Becomes(byPID(agent.PID), time.Now(), soon, "idle")
		name := ""
		if err := poll(60*time.Second, func() bool {
			name = w.name()
			return strings.Contains(name, "Ready")
		}); err != nil {
			t.Fatalf("the window's name is %q: %v", name, err)
		}
		w.Prompt("need it [[bash touch asked.txt]]")
		first := s.Becomes(byPrompt("need it"), time.Now(), soon, "waiting/permission")
		made := func() bool {
			_, err := os.Stat(filepath.Join(s.Project, "asked.txt"))
			return err == nil
		}
		if made() {
			t.Error("the command ran before it was allowed")
		}
		if err := poll(30*time.Second, func() bool {
			w.Press("Return")
			time.Sleep(time.Second) // a dialog that has just come up takes no keys
			return made()
		}); err != nil {
			t.Fatal(err)
		}
		s.Becomes(byID(first.ID), time.Now(), soon, "idle/completed")
	})
}
