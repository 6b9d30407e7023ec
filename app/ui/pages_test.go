package ui

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"fyne.io/fyne/v2"

	"rollcall/adapters"
	"rollcall/app"
)

func TestAgentsPage(t *testing.T) {
	w := open(t, broken(full()))
	w.system.missing = map[string]bool{"/home/dev/.codex/archived_sessions": true}
	w.ui.open(pageAgents)
	w.until("the places", func() bool { return len(w.ui.agents.exists) > 0 })
	shows(t, w.ui.agents.content,
		"Claude Code", "answers", "2.1.329 (7), 2.1.100 (2)", "4 s ago, within 3 ms",
		"Codex", "failed", "give your user read permission on it", "no answer in 5 s", "1 m ago", "took 5.0 s",
		"12 × unknown record type turn_hint, 1 × line longer than 16 MB",
		"/home/dev/.codex/archived_sessions  (doesn't exist)")
	if all := strings.Join(shownTexts(w.ui.agents.content), "\n"); strings.Contains(all, "/home/dev/.codex/sessions  (doesn't") {
		t.Error("a place that exists is said not to")
	}
	s := full()
	s.Adapters = append(s.Adapters, app.Health{Name: adapters.Pi, State: app.Absent}, app.Health{Name: adapters.OpenCode, State: app.Pending, Asking: true})
	w.publish(s)
	shows(t, w.ui.agents.content, "not installed", "asking…")
}

func TestAgentsPageIsBounded(t *testing.T) {
	s := full()
	for i := range 5000 {
		s.Adapters[0].Problems = append(s.Adapters[0].Problems, "\x1b[31mproblem\x1b[0m")
		s.Adapters[0].Versions[strings.Repeat("v", i%300)] = i
	}
	w := open(t, s)
	w.ui.open(pageAgents)
	all := strings.Join(shownTexts(w.ui.agents.content), "\n")
	if len(all) > 10_000 || strings.ContainsRune(all, '\x1b') {
		t.Errorf("%d bytes are shown", len(all))
	}
	shows(t, w.ui.agents.content, "and 4980 more", "and 290 more")
}

func TestLaunchPage(t *testing.T) {
	w := open(t, full())
	p := w.ui.launch
	w.ui.ShowLaunch()
	w.until("the agents", func() bool { return p.asked })
	if p.folder.Text != "/home/dev/projects/website" {
		t.Errorf("the folder is %q, want the one used last", p.folder.Text)
	}
	shows(t, p.content, "cd /home/dev/projects/website && claude")
	p.agent.SetSelected("Codex")
	p.folder.SetText("/tmp/it's here")
	shows(t, p.content, `cd '/tmp/it'\''s here' && codex`)
	w.press(p.copy, fyne.KeySpace)
	if got := fyne.CurrentApp().Clipboard().Content(); got != `cd '/tmp/it'\''s here' && codex` {
		t.Errorf("copied %q", got)
	}
	w.press(p.open, fyne.KeyReturn)
	w.until("the terminal", func() bool { return p.result.Text != "Opening…" })
	shows(t, p.content, "Opened in xfce4-terminal")
	if got := w.system.opened; len(got) != 1 || got[0] != "/tmp/it's here /usr/local/bin/codex" {
		t.Errorf("opened %q", got)
	}
	w.system.fails = errors.New("no terminal found")
	w.press(p.open, fyne.KeyReturn)
	w.until("the failure", func() bool { return strings.Contains(p.result.Text, "no terminal found") })
	// What the user typed stays when new sessions come.
	w.publish(snapshotOf(session("n", adapters.Working, func(s *adapters.Session) { s.CWD = "/new"; s.LastActivityAt = clock })))
	if p.folder.Text != "/tmp/it's here" {
		t.Errorf("the folder became %q", p.folder.Text)
	}
	t.Setenv("HOME", "/home/dev")
	p.folder.SetText("~/x")
	shows(t, p.content, "cd /home/dev/x && codex")
	p.folder.SetText("")
	if !p.open.Disabled() || !p.copy.Disabled() {
		t.Error("can be started without a folder")
	}
}

func TestLaunchPageSaysHowToInstall(t *testing.T) {
	w := open(t, full())
	w.system.programs = nil
	w.ui.ShowLaunch()
	w.until("the agents", func() bool { return w.ui.launch.asked })
	shows(t, w.ui.launch.content, "npm install -g @anthropic-ai/claude-code", "npm install -g @openai/codex", "No agent is installed.")
	if !w.ui.launch.open.Disabled() {
		t.Error("nothing can be started, and the button says it can")
	}
}

func TestRecentFolders(t *testing.T) {
	at := func(cwd string, age time.Duration) app.Session {
		return session(cwd, adapters.Idle, func(s *adapters.Session) { s.CWD, s.LastActivityAt = cwd, ago(age) })
	}
	remote, sub := at("/remote", 0), at("/sub", 0)
	remote.Remote, sub.Parent = "gateway", "x"
	got := recentFolders(snapshotOf(at("/old", time.Hour), at("/new", time.Minute), at("/old", time.Second), remote, sub, at("", 0)), 12)
	if strings.Join(got, " ") != "/old /new" {
		t.Errorf("got %q", got)
	}
}

// TestOpenTerminal starts real programs in place of terminals.
func TestOpenTerminal(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the stand-ins are shell scripts")
	}
	bin, folder := t.TempDir(), t.TempDir()
	said := filepath.Join(bin, "said")
	script := func(name, body string) {
		if err := os.WriteFile(filepath.Join(bin, name), []byte("#!/bin/sh\n"+body+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	m := &machine{goos: "linux", patience: 5 * time.Second,
		getenv: func(string) string { return "" },
		lookPath: func(name string) (string, error) {
			return exec.LookPath(filepath.Join(bin, filepath.Base(name)))
		}}

	if _, err := m.openTerminal(folder, "/bin/claude"); err == nil || !strings.Contains(err.Error(), "set TERMINAL") {
		t.Errorf("without a terminal: %v", err)
	}
	if _, err := m.openTerminal(filepath.Join(folder, "gone"), "/bin/claude"); err == nil || !strings.Contains(err.Error(), "not a folder") {
		t.Errorf("without the folder: %v", err)
	}

	script("xterm", "echo cannot open display >&2; exit 1")
	if _, err := m.openTerminal(folder, "/bin/claude"); err == nil || !strings.Contains(err.Error(), "xterm: exit status 1: cannot open display") {
		t.Errorf("the terminal's own words are lost: %v", err)
	}

	record := "pwd > '" + said + "'; echo \"$@\" >> '" + said + "'; ps -o sid= -p $$ >> '" + said + "'"
	for name, args := range map[string]string{
		"xfce4-terminal": "--working-directory=" + folder + " -x /bin/claude", "konsole": "--workdir " + folder + " -e /bin/claude",
		"gnome-terminal": "--working-directory=" + folder + " -- /bin/claude", "x-terminal-emulator": "-e /bin/claude", "own": "-e /bin/claude",
	} {
		script(name, record)
		if name == "own" {
			m.getenv = func(string) string { return "/usr/bin/own" }
		}
		got, err := m.openTerminal(folder, "/bin/claude")
		if err != nil || got != name {
			t.Errorf("opened %q (%v), want %q", got, err, name)
		}
		text, _ := os.ReadFile(said)
		lines := strings.Split(string(text), "\n")
		if lines[0] != folder || lines[1] != args {
			t.Errorf("%s ran in %q with %q, want %q with %q", name, lines[0], lines[1], folder, args)
		}
		m.getenv = func(string) string { return "" }
		_ = os.Remove(filepath.Join(bin, name))
	}
}
