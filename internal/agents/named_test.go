//go:build agents && linux

package agents

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"rollcall/internal/desktoptest"
	"rollcall/internal/must"
)

// nanocoder is what its user enters in the settings: all that Rollcall knows of it.
const nanocoder = "[[agent]]\nname = \"nanocoder\"\nlaunch = [\"--trust-directory\", \"run\", \"{prompt}\"]\nresume = [\"--continue\"]\n"

// idPattern matches the id of a launch.
var idPattern = regexp.MustCompile(`l-[0-9a-f]{6,}`)

// newNanocoder prepares a user who has installed Nanocoder and entered it.
func newNanocoder(t *testing.T) *Launcher {
	t.Helper()
	s := NewSandbox(t)
	l := &Launcher{Sandbox: s, Release: Nanocoder, bin: filepath.Join(s.dir, "bin")}
	must.Do(t, os.Mkdir(l.bin, 0o755))
	must.Do(t, s.SeedNanocoder())
	l.link("node", Node.Program(l.cache))
	l.link("nanocoder", Nanocoder.Program(l.cache))
	s.Wants = nanocoder
	t.Cleanup(l.logOutput)
	return l
}

// picture keeps a picture of the menu.
func (t *tray) picture(name string) {
	t.s.t.Helper()
	ctx := t.s.t.Context()
	at := must.Get(t.desktop.TrayIcon(ctx))(t.s.t)
	must.Do(t.s.t, t.desktop.Click(at.X, at.Y, 3))
	must.Do(t.s.t, t.desktop.WaitStill(ctx))
	must.Do(t.s.t, t.desktop.Screenshot(filepath.Join("..", "..", "build", "shots", name+".png")))
	must.Do(t.s.t, t.desktop.Key(ctx, "Escape"))
}

// A coding agent that Rollcall does not know is, by an entry of the settings, seen in a terminal, launched in a worktree, told about once at its end with what
// is known of it, and stopped.
func TestNamedByConfiguration(t *testing.T) {
	for theme, dark := range map[string]bool{"light": false, "dark": true} {
		t.Run(theme, func(t *testing.T) { namedByConfiguration(t, theme, newDesktopWith(t, dark)) })
	}
}

func namedByConfiguration(t *testing.T, theme string, desktop *desktoptest.Desktop) {
	l := newNanocoder(t)
	s := l.Sandbox
	tray := l.tray(desktop)
	defer tray.stop()

	terminal := s.OpenInTmux(s.ByName(Nanocoder, "nanocoder")...)
	terminal.Shows("What would you like me to help with?")
	appeared := time.Now()
	opened := s.Becomes(byPID(terminal.PID()), time.Now(), soon, "unknown")
	if opened.Agent != "nanocoder" || opened.CWD != s.Project || !strings.Contains(opened.Evidence, "Rollcall does not read nanocoder's files") {
		t.Errorf("%v in %s", opened, opened.CWD)
	}
	terminal.Prompt("hello there")
	terminal.Shows("Mock answer to: hello there")
	s.Becomes(byPID(terminal.PID()), time.Now(), soon, "unknown")
	tray.Shows("proj", "nanocoder")

	before := len(desktop.Shown())
	said := l.Rollcall("launch", "nanocoder", "-p", "in a worktree [[hold end]]", "--worktree", "--branch", "oracle")
	id := idPattern.FindString(said.Out)
	s.Asked("in a worktree")
	list := l.Launched(id)
	if len(list) != 1 || list[0].CWD == s.Project || list[0].Branch != "oracle" || list[0].Status != "unknown" {
		t.Fatalf("launched: %+v", list)
	}
	tray.Shows("proj-try", "nanocoder")
	tray.picture("named-menu-" + theme)
	w := l.window(desktop, "--session", list[0].ID)
	must.Do(t, desktop.WaitStill(t.Context()))
	w.shoot("named-window-" + theme)
	w.close()
	began := time.Now()
	must.Do(t, s.Server.Release(t.Context(), "end", "[[fail 400]]"))
	l.Recorded(id, "ended", func(r LaunchRecord) bool { return r.Ended() })
	told(t, tray.notified(before, began, time.Now()), "Exit code 1")
	if said = l.Rollcall("list", "--all", "--json"); !strings.Contains(said.Out, `"exit_code":1`) {
		t.Errorf("no exit code: %v", said)
	}

	must.Do(t, poll(time.Minute, func() bool { return time.Since(appeared) > 12*time.Second })) // a shorter run is not told
	agent := s.Innermost(terminal.PID(), "nanocoder")
	left := time.Now()
	terminal.Leave("/exit", agent)
	told(t, tray.notified(before+1, left, time.Now()), "ended")

	last := l.Launch("never ends [[delay 300]]")
	working := Process{PID: last.Process.PID}
	s.Asked("never ends")
	if list = l.Launched(last.ID); len(list) != 1 {
		t.Fatalf("launched again: %+v; %v", list, l.Rollcall("list", "--all", "--json"))
	}
	if said = l.Rollcall("stop", "--yes", list[0].ID); said.Code != 0 {
		t.Errorf("stop: %v", said)
	}
	s.Gone(working)
	l.Recorded(last.ID, "ended", func(r LaunchRecord) bool { return r.Ended() })
}

// told fails the test unless a notification names Nanocoder and says this.
func told(t *testing.T, n desktoptest.Notification, words string) {
	t.Helper()
	if text := n.Summary + "\n" + n.Body; !strings.Contains(text, "nanocoder") || !strings.Contains(text, words) {
		t.Errorf("told %q, want %q of nanocoder", text, words)
	}
}
