package machine

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"rollcall/internal/eventually"
	"rollcall/internal/must"
	"rollcall/internal/sshtest"
)

// sshTerminal is a terminal of tmux, of 80 by 24, in which ssh runs a shell on another machine.
type sshTerminal struct {
	t      *testing.T
	socket string
}

func (w *sshTerminal) tmux(args ...string) string {
	w.t.Helper()
	out, err := exec.Command("tmux", append([]string{"-u", "-S", w.socket, "-f", "/dev/null"}, args...)...).CombinedOutput()
	if err != nil {
		w.t.Fatalf("tmux %q: %v: %s", args, err, out)
	}
	return string(out)
}

// types presses keys, and waits until the terminal shows all texts.
func (w *sshTerminal) types(keys []string, texts ...string) (screen string) {
	w.t.Helper()
	if len(keys) > 0 {
		w.tmux(append([]string{"send-keys"}, keys...)...)
	}
	if !eventually.Happens(func() bool {
		screen = w.tmux("capture-pane", "-p")
		for _, text := range texts {
			if !strings.Contains(screen, text) {
				return false
			}
		}
		return true
	}) {
		w.t.Fatalf("after %q it does not show %q:\n%s", keys, texts, screen)
	}
	return screen
}

// TestTopOverSSH: `rollcall top` in a terminal of 80 by 24 over a real ssh, with its filter, its keys, and the shell before and after it.
func TestTopOverSSH(t *testing.T) {
	if !inside(t) {
		return
	}
	must.Have(t, "tmux")
	must.Have(t, "bash")
	c := sshtest.NewClient(t, t.Setenv)
	b := newBox(t, c, "devbox", "/tmp/bin")
	b.claude.Start("/src/shop", "Fix the login")
	b.claude.Start("/src/site", "Deploy it").Ask()
	w := &sshTerminal{t, filepath.Join("/tmp", "top.tmux")}
	t.Cleanup(func() { _ = exec.Command("tmux", "-S", w.socket, "kill-server").Run() })
	w.tmux("new-session", "-d", "-x", "80", "-y", "24", "ssh -t devbox env LC_ALL=C.UTF-8 PS1=code-\\\\\\$?: bash --norc --noprofile -i; echo left $?; exec cat")
	w.types(nil, "code-0:")
	screen := w.types([]string{"rollcall top", "Enter"}, "1 needs you", "PROJECT", "shop", "site", "? keys")
	for line := range strings.Lines(screen) {
		if n := len([]rune(strings.TrimRight(line, "\n"))); n > 80 {
			t.Errorf("%d columns: %q", n, line)
		}
	}
	w.types([]string{"?"}, "Ctrl-Z")
	w.types([]string{"Escape"}, "PROJECT")
	if screen := w.types([]string{"/", "login"}, "1 with “login”", "shop"); strings.Contains(screen, "site ") {
		t.Errorf("the filter shows others:\n%s", screen)
	}
	w.types([]string{"Escape"}, "site")
	w.types([]string{"C-z"}, "Stopped")
	if screen := w.types([]string{"stty -a | tr ';' ' '; echo is $((6*7))", "Enter"}, "is 42"); strings.Contains(screen, "-icanon") || strings.Contains(screen, "-echo ") {
		t.Errorf("the terminal is not as before:\n%s", screen)
	}
	w.types([]string{"fg", "Enter"}, "1 needs you", "PROJECT", "site")
	w.tmux("resize-window", "-x", "100", "-y", "30")
	w.types(nil, "PROJECT", "site")
	w.types([]string{"q"}, "is 42", "code-0:")
	w.types([]string{"rollcall top", "Enter"}, "1 needs you", "PROJECT")
	w.types([]string{"C-c"}, "code-130:")
	w.types([]string{"exit", "Enter"}, "left 130")
}
