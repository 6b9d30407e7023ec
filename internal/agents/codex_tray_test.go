//go:build agents && linux

package agents

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"rollcall/internal/must"
)

// The end of a turn is told when its terminal was closed before, once: the daemon
// unloads the thread a minute later. While a terminal shows it, nothing is told.
func TestTrayCodexTerminalLeft(t *testing.T) {
	desktop := newDesktop(t)
	s := NewSandbox(t)
	tray := startTray(s, desktop)
	before := len(desktop.Shown())
	apart := filepath.Join(s.Project, "apart") // which of two interfaces in a folder, started together, has which thread can't be known
	must.Do(t, os.Mkdir(apart, 0o700))
	attended, left := openCodex(s, CodexNewest), openCodex(s, CodexNewest, "-C", apart)
	attended.PromptUntil("attended [[delay 2]]", "Mock answer to: attended")
	s.Becomes(byPrompt("attended"), time.Now(), soon, "idle", "idle/completed")
	tray.quiet(before, "for a turn that a terminal shows")

	asked := left.Prompt("left alone [[delay 6]]")
	s.Becomes(byPrompt("left alone"), asked, soon, "working")
	program := s.Descendant(left.PID(), "codex")
	s.Kill(program)
	closed := time.Now()
	n := tray.notified(before, closed, asked.Add(6*time.Second))
	if text := strings.ToLower(n.Summary + " " + n.Body); !strings.Contains(text, "codex finished in ") || !strings.Contains(text, "complete") {
		t.Errorf("the notification does not say that it finished: %q %q", n.Summary, n.Body)
	}
	s.shows(byPrompt("left alone"), closed, 2*time.Minute, "unloaded", func(x Session) bool { return x.state() == "stopped/completed" })
	tray.quiet(before+1, "for a thread that was unloaded")
	tray.stop()
}
