//go:build agents && linux

package agents

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"rollcall/internal/desktoptest"
)

// kitty is a window of kitty with a program in it, whose remote control is on.
type kitty struct {
	s       *Sandbox
	address string
}

// openInKitty starts a program in kitty, in the sandbox's project.
func (s *Sandbox) openInKitty(argv ...string) *kitty {
	s.t.Helper()
	Need(s.t)
	if _, err := exec.LookPath("kitty"); err != nil {
		s.t.Fatal(err)
	}
	d := desktoptest.For(s.t, desktoptest.Options{})
	k := &kitty{s: s, address: "unix:" + filepath.Join(s.dir, "kitty")}
	cmd := s.Command("kitty", append([]string{"--config", "NONE", "-o", "allow_remote_control=yes", "-o", "remember_window_size=no", "-o", "initial_window_width=140c",
		"-o", "initial_window_height=40c", "--listen-on", k.address}, argv...)...)
	cmd.Env = append(cmd.Env, "DISPLAY="+d.Display(), "LIBGL_ALWAYS_SOFTWARE=1")
	if err := cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() {
		if s.t.Failed() {
			s.t.Logf("kitty:\n%s", k.Screen())
		}
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	return k
}

// remote runs one command of kitty's remote control.
func (k *kitty) remote(args ...string) (string, error) {
	out, err := k.s.Command("kitty", append([]string{"@", "--to", k.address}, args...)...).CombinedOutput()
	return string(out), err
}

// Screen returns what the window shows.
func (k *kitty) Screen() string {
	text, err := k.remote("get-text")
	if err != nil {
		return err.Error() + ": " + text
	}
	return text
}

// shows waits until the screen shows a text.
func (k *kitty) shows(text string) {
	k.s.t.Helper()
	if err := poll(60*time.Second, func() bool { return strings.Contains(k.Screen(), text) }); err != nil {
		k.s.t.Fatalf("kitty does not show %q: %v\n%s", text, err, k.Screen())
	}
}

// kittyKeys are keys by their tmux names, as send-text takes what kitty sends for them to Claude Code, which asks for unambiguous ones.
var kittyKeys = map[string]string{"Escape": `\x1b[27u`, "C-u": `\x1b[117;5u`, "Enter": `\r`}

// Press presses keys.
func (k *kitty) Press(keys ...string) {
	k.s.t.Helper()
	for _, key := range keys {
		if name, ok := kittyKeys[key]; ok {
			key = name
		}
		if out, err := k.remote("send-text", key); err != nil {
			k.s.t.Fatalf("%v: %s", err, out)
		}
	}
}

// Prompt types a prompt, and presses Enter until the agent has asked the model. It returns the time at which it did.
func (k *kitty) Prompt(prompt string) (asked time.Time) {
	k.s.t.Helper()
	k.Press(strings.ReplaceAll(prompt, `\`, `\\`))
	k.shows(prompt)
	var pressed time.Time
	err := poll(60*time.Second, func() bool {
		if time.Since(pressed) > 3*time.Second {
			k.Press("Enter")
			pressed = time.Now()
		}
		asked = k.s.asked(prompt)
		return !asked.IsZero()
	})
	if err != nil {
		k.s.t.Fatalf("the agent does not ask the model %q: %v\n%s", prompt, err, k.Screen())
	}
	return asked
}

// openClaudeInKitty opens Claude Code in kitty.
func openClaudeInKitty(s *Sandbox, r Release, id string) *kitty {
	s.t.Helper()
	terminal := s.openInKitty(s.Program(r), "--session-id", id, "--permission-mode", "default")
	terminal.shows("? for shortcuts")
	return terminal
}

func TestAnswerClaudeInKitty(t *testing.T) {
	nightly(t)
	each(t, []Release{ClaudeNewest}, func(t *testing.T, s *Sandbox, r Release) {
		id := uuid(t)
		terminal := openClaudeInKitty(s, r, id)
		terminal.Prompt("allow me [[bash touch 'a,b}#c[d]*.txt']]")
		terminal.shows("Do you want to proceed?")
		first := s.asks("touch 'a,b}#c[d]*.txt'")
		if first.Kind != "command" || !first.CanAllow || !first.CanDeny || first.Session.ID != id {
			t.Errorf("%+v", first)
		}
		s.answered(first, "--allow")
		s.made(filepath.Join(s.Project, "a,b}#c[d]*.txt"))
		s.stale(first)

		terminal.shows("Done.")
		terminal.Prompt("deny me [[bash touch denied.txt]]")
		second := s.asks("touch denied.txt")
		s.stale(first)
		s.answered(second, "--deny")
		s.notMade(filepath.Join(s.Project, "denied.txt"))

		terminal.Prompt("elsewhere [[bash touch elsewhere.txt]]")
		third := s.asks("touch elsewhere.txt")
		if err := poll(30*time.Second, func() bool {
			terminal.Press("1")
			time.Sleep(time.Second) // a dialog that has just come up takes no keys
			return !strings.Contains(terminal.Screen(), "Do you want to proceed?")
		}); err != nil {
			t.Fatal(err)
		}
		s.made(filepath.Join(s.Project, "elsewhere.txt"))
		s.stale(third)
	})
}
