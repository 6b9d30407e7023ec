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

// pythia is Python under another name: an interactive program that Rollcall knows by the settings alone. Its prompt is what it runs.
const pythia = "[[agent]]\nname = \"pythia\"\nlaunch = [\"-c\", \"{prompt}\"]\n"

// untilGo waits for a file in its folder, and fails.
const untilGo = "import os, time\nwhile not os.path.exists('go'): time.sleep(0.1)\nraise SystemExit(3)"

// idPattern matches the id of a launch.
var idPattern = regexp.MustCompile(`l-[0-9a-f]{6,}`)

// newPythia prepares a user who has entered pythia.
func newPythia(t *testing.T) *Launcher {
	t.Helper()
	s := NewSandbox(t)
	l := &Launcher{Sandbox: s, Release: Release{Agent: "pythia"}, bin: filepath.Join(s.dir, "bin")}
	must.Do(t, os.Mkdir(l.bin, 0o755))
	l.link("pythia", "/usr/bin/python3")
	s.Wants = pythia
	t.Cleanup(l.logOutput)
	return l
}

// picture keeps a picture of the menu.
func (t *tray) picture(name string) {
	t.s.t.Helper()
	ctx := t.s.t.Context()
	at, err := t.desktop.TrayIcon(ctx)
	must.Do(t.s.t, err)
	must.Do(t.s.t, t.desktop.Click(at.X, at.Y, 3))
	must.Do(t.s.t, t.desktop.WaitStill(ctx))
	must.Do(t.s.t, t.desktop.Screenshot(filepath.Join("..", "..", "build", "shots", name+".png")))
	must.Do(t.s.t, t.desktop.Key(ctx, "Escape"))
}

// A program that is no agent of ours is, by an entry of the settings, seen in a terminal, launched in a worktree, told about once at its end with what is known of
// it, and stopped.
func TestNamedByConfiguration(t *testing.T) {
	must.Have(t, "/usr/bin/python3")
	for theme, dark := range map[string]bool{"light": false, "dark": true} {
		t.Run(theme, func(t *testing.T) { namedByConfiguration(t, theme, newDesktopWith(t, dark)) })
	}
}

func namedByConfiguration(t *testing.T, theme string, desktop *desktoptest.Desktop) {
	l := newPythia(t)
	s := l.Sandbox
	tray := l.tray(desktop)
	defer tray.stop()

	terminal := s.OpenInTmux(filepath.Join(l.bin, "pythia"))
	terminal.Shows(">>>")
	appeared := time.Now()
	opened := s.Becomes(byPID(terminal.PID()), time.Now(), soon, "unknown")
	if opened.Agent != "pythia" || opened.CWD != s.Project || !strings.Contains(opened.Evidence, "Rollcall does not read pythia's files") {
		t.Errorf("%v in %s", opened, opened.CWD)
	}
	tray.Shows("proj", "pythia")

	before := len(desktop.Shown())
	said := l.Rollcall("launch", "pythia", "-p", untilGo, "--worktree", "--branch", "oracle")
	id := idPattern.FindString(said.Out)
	list := l.Launched(id)
	if len(list) != 1 || list[0].CWD == s.Project || list[0].Branch != "oracle" || list[0].Status != "unknown" {
		t.Fatalf("launched: %+v", list)
	}
	tray.Shows("proj-try", "pythia")
	tray.picture("named-menu-" + theme)
	w := l.window(desktop)
	must.Do(t, desktop.WaitStill(t.Context()))
	w.shoot("named-window-" + theme)
	w.close()
	began := time.Now()
	must.Do(t, os.WriteFile(filepath.Join(list[0].CWD, "go"), nil, 0o600))
	l.Recorded(id, "ended", func(r LaunchRecord) bool { return r.Ended() })
	told(t, tray.notified(before, began, time.Now()), "Exit code 3")
	if said = l.Rollcall("list", "--all", "--json"); !strings.Contains(said.Out, `"exit_code":3`) {
		t.Errorf("no exit code: %v", said)
	}

	must.Do(t, poll(time.Minute, func() bool { return time.Since(appeared) > 12*time.Second })) // a shorter run is not told
	left, agent := time.Now(), s.Agent("pythia")
	terminal.Enter("exit()")
	s.Gone(agent)
	told(t, tray.notified(before+1, left, time.Now()), "ended")

	last := l.Launch("import time; time.sleep(300)")
	working := s.Agent("pythia", "-c")
	if said = l.Rollcall("stop", "--yes", l.Launched(last.ID)[0].ID); said.Code != 0 {
		t.Errorf("stop: %v", said)
	}
	s.Gone(working)
	l.Recorded(last.ID, "ended", func(r LaunchRecord) bool { return r.Ended() })
}

// told fails the test unless a notification names pythia and says this.
func told(t *testing.T, n desktoptest.Notification, words string) {
	t.Helper()
	if text := n.Summary + "\n" + n.Body; !strings.Contains(text, "pythia") || !strings.Contains(text, words) {
		t.Errorf("told %q, want %q of pythia", text, words)
	}
}
