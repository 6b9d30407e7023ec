package ui

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"fyne.io/fyne/v2"

	"rollcall/adapters"
	"rollcall/app"
	"rollcall/app/owned/fuse"
	"rollcall/app/owned/launch"
	"rollcall/app/settings"
	"rollcall/app/store/lock"
	"rollcall/internal/agentname"
	"rollcall/internal/must"
)

// launchWindow is a window at its launch page, with a folder that exists.
func launchWindow(t *testing.T, snap *app.Snapshot) (*window, *launchFields, string) {
	t.Helper()
	w := open(t, snap)
	dir, err := filepath.EvalSymlinks(t.TempDir())
	must.Do(t, err)
	w.ui.ShowLaunch()
	p := w.launchPage()
	w.until("the agents", p.asked)
	return w, p, dir
}

// command waits until the page shows a command.
func (w *window) command(parts ...string) {
	w.t.Helper()
	p := w.launchPage()
	w.until("the command "+strings.Join(parts, " "), func() bool {
		for _, part := range parts {
			if !strings.Contains(p.command.Text+"\n"+p.notes.Text, part) {
				return false
			}
		}
		return true
	})
}

func TestLaunchPreview(t *testing.T) {
	t.Setenv("FAKE_API_KEY", "k")
	w, p, dir := launchWindow(t, full())
	if p.folder.Text != "/home/dev/projects/website" {
		t.Errorf("the folder is %q, want the one used last", p.folder.Text)
	}
	shows(t, p.content, "A background launch needs a prompt", "Not installed (1)")
	tap(t, p.content, "Not installed (1)")
	shows(t, p.content, "not installed: npm install -g opencode-ai")
	if !p.start.Disabled() {
		t.Error("can be launched without a prompt")
	}
	p.prompt.SetText("do it")
	w.command("does not exist") // /home/dev/projects/website
	sub := filepath.Join(dir, "it's here")
	must.Do(t, os.Mkdir(sub, 0o700))
	p.folder.SetText(sub)
	w.command("/usr/local/bin/claude -p", `it'\''s here'`, "The prompt (5 B) is sent to its standard input",
		"Removed from its environment: FAKE_API_KEY: with it the agent bills an API account")
	p.choices[0].model.SetText("opus")
	p.choices[0].mode.SetSelected("plan")
	w.command("claude --model opus --mode plan -p")
	shows(t, p.content, "plan: makes a plan and changes nothing.")
	p.advanced.OnTapped()
	p.keepEnv.SetChecked(true)
	w.until("nothing to be left out", func() bool { return !strings.Contains(p.notes.Text, "Removed from") })
	w.press(p.copy, fyne.KeySpace)
	if got := fyne.CurrentApp().Clipboard().Content(); !strings.HasSuffix(got, "&& /usr/local/bin/claude --model opus --mode plan -p") {
		t.Errorf("copied %q", got)
	}
	// What the user typed stays when new sessions come.
	w.publish(snapshotOf(session("n", adapters.Working, func(s *adapters.Session) { s.CWD = "/new"; s.LastActivityAt = clock })))
	if p.folder.Text != sub {
		t.Errorf("the folder became %q", p.folder.Text)
	}
	p.folder.SetText("")
	shows(t, p.content, "Choose a folder.")
	if !p.start.Disabled() || !p.copy.Disabled() {
		t.Error("can be launched without a folder")
	}
}

// The page tells before the launch what may go wrong in the folder, and extends its timers.
func TestLaunchWarnings(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	must.Do(t, err)
	busy := session("n", adapters.Working, func(s *adapters.Session) { s.CWD = dir; s.LastActivityAt = clock })
	w, p, _ := launchWindow(t, snapshotOf(busy))
	set, err := w.ui.options.Fuses.Set(t.Context(), fuse.Fuse{Path: dir, Note: "tidy up", Script: "true"}, time.Hour)
	must.Do(t, err)
	p.folder.SetText(dir)
	p.prompt.SetText("do it")
	w.until("the warnings", func() bool {
		text := p.warning.Text
		return !p.warning.Hidden && strings.Contains(text, "is in use: Claude Code session n (working) works here") && strings.Contains(text, "(tidy up) fires at") && p.shows("Extend the timer by 1 hour")
	})
	barFits(t, p)
	w.shoot("launch-warnings")
	w.press(p.extend, fyne.KeySpace)
	w.until("another hour", func() bool {
		list, err := w.ui.options.Fuses.List()
		return err == nil && len(list) == 1 && list[0].Expires.Equal(set.Expires.Add(time.Hour)) &&
			strings.Contains(p.warning.Text, list[0].Expires.Local().Format("15:04:05"))
	})
	p.prompt.SetText("")
	if !p.warning.Hidden || p.caution.Visible() {
		t.Error("warnings without a command")
	}
	barFits(t, p)
}

// barFits checks that the bar of the page has its height, and the form the rest.
func barFits(t *testing.T, p *launchFields) {
	t.Helper()
	for _, bar := range p.content.Objects {
		if bar != fyne.CanvasObject(p.scroll) && (bar.Size().Height != bar.MinSize().Height || p.scroll.Size().Height > bar.Position().Y) {
			t.Errorf("the bar is %v high, wants %v, and is at %v below a form of %v", bar.Size().Height, bar.MinSize().Height, bar.Position().Y, p.scroll.Size().Height)
		}
	}
}

func TestLaunchWithoutAgents(t *testing.T) {
	w := openWith(t, &fakeCore{snapshot: full()}, Options{Agents: []adapters.Adapter{
		&fakeAgent{As: agentname.ClaudeCode, Run: "claude", Install: "npm install -g @anthropic-ai/claude-code"}}})
	w.ui.ShowLaunch()
	w.until("the agents", w.launchPage().asked)
	p := w.launchPage()
	shows(t, p.content, "not installed: npm install -g @anthropic-ai/claude-code", "Choose an agent.")
	if !p.start.Disabled() || !p.choices[0].check.Disabled() {
		t.Error("nothing can be started, and the page says it can")
	}
	w.press(p.choices[0].copy, fyne.KeySpace)
	if got := fyne.CurrentApp().Clipboard().Content(); got != "npm install -g @anthropic-ai/claude-code" {
		t.Errorf("copied %q", got)
	}
}

// TestLaunchInTerminal: the terminal runs Rollcall itself, with the prompt in a
// file that only the user can read.
func TestLaunchInTerminal(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	w, p, dir := launchWindow(t, full())
	p.folder.SetText(dir)
	p.prompt.SetText("say 'hi'; $(rm -rf /)")
	p.terminal.SetChecked(true)
	p.choices[0].model.SetText("opus")
	p.choices[0].mode.SetSelected("acceptEdits")
	extra := filepath.Join(dir, "a b")
	must.Do(t, os.WriteFile(extra, []byte("more"), 0o600))
	p.files.SetText(extra + "\n\n")
	p.group.SetText("g-1")
	p.onComplete.SetText("echo done")
	p.retryHooks.SetChecked(true)
	p.choices[1].check.SetChecked(true)
	shows(t, p.content, "A terminal can run only one agent")
	p.choices[1].check.SetChecked(false)
	if p.start.Text != "Launch in a terminal" {
		t.Errorf("the button says %q", p.start.Text)
	}
	w.press(p.start, fyne.KeyReturn)
	w.until("the terminal", func() bool { return len(p.runs.Objects) == 1 })
	shows(t, p.runs, "Opened in xfce4-terminal")
	got := w.system.terminals()[0]
	at := slices.IndexFunc(got, func(a string) bool { return strings.HasPrefix(a, "--prompt-file=") })
	if at < 0 {
		t.Fatalf("no prompt in %q", got)
	}
	file := strings.TrimPrefix(got[at], "--prompt-file=")
	want := []string{dir, "/opt/rollcall", "launch", "claude-code", "--terminal", "--cwd=" + dir, "--prompt-file=" + file, "--model=opus",
		"--mode=acceptEdits", "--file=" + extra, "--group=g-1", "--on-complete=echo done", "--retry-hooks", "--yes"}
	if !slices.Equal(got, want) {
		t.Errorf("opened %q\nwant   %q", got, want)
	}
	text, err := os.ReadFile(file)
	if err != nil || string(text) != "say 'hi'; $(rm -rf /)" {
		t.Errorf("the prompt is %q, %v", text, err)
	}
	for _, path := range []string{file, filepath.Dir(file)} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s: %v, %v", path, info.Mode(), err)
		}
	}
	// What a window that was closed left behind goes with the next launch.
	launch.RemoveOldPrompts(time.Now().Add(launch.PromptWait / 2))
	if _, err := os.Stat(file); err != nil {
		t.Error("a prompt went before its terminal could read it")
	}
	launch.RemoveOldPrompts(time.Now().Add(2 * launch.PromptWait))
	if _, err := os.Stat(filepath.Dir(file)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the prompt is still there: %v", err)
	}

	w.system.fails = errors.New("no terminal found")
	w.press(p.start, fyne.KeyReturn)
	w.until("the failure", func() bool { return p.refused.Visible() })
	shows(t, p.refused, "Not launched: no terminal found")
	if left, _ := filepath.Glob(filepath.Join(os.TempDir(), launch.PromptFolder+"*")); len(left) > 0 {
		t.Errorf("prompts are left: %q", left)
	}
}

// TestLaunchRefused: a folder that is locked or occupied is refused, with who uses
// it, and can be used anyway.
func TestLaunchRefused(t *testing.T) {
	w, p, dir := launchWindow(t, full())
	locks := w.ui.options.Launches.Locks()
	if _, err := locks.Take(t.Context(), lock.Lock{Path: dir, Kind: lock.Manual, By: "mia", Reason: "a release"}, false, nil); err != nil {
		t.Fatal(err)
	}
	p.folder.SetText(dir)
	p.terminal.SetChecked(true)
	w.press(p.start, fyne.KeyReturn)
	w.until("the refusal", func() bool { return p.refused.Visible() && !p.busy() })
	shows(t, p.refused, "is locked by mia (a release)", "Launch anyway", "Show locks")
	barFits(t, p)
	tap(t, p.refused, "Show locks")
	if w.ui.page != pageLocks {
		t.Error("the locks are not shown")
	}
	must.Do(t, locks.Unlock(t.Context(), dir))
	w.publish(snapshotOf(session("there", adapters.Working, func(s *adapters.Session) { s.CWD = dir })))
	w.ui.ShowLaunch()
	w.press(p.start, fyne.KeyReturn)
	w.until("the refusal", func() bool { return p.refused.Visible() && !p.busy() })
	shows(t, p.refused, "is in use: Claude Code session there (working) works here", "Launch anyway", "Show session")
	w.ui.launch.Look() // as whenever the page opens; the answer can come after the refusal
	w.until("the agents", func() bool { return len(w.Queue) > 0 })
	shows(t, p.refused, "is in use: Claude Code session there (working) works here", "Launch anyway", "Show session")
	if len(w.system.terminals()) > 0 {
		t.Fatalf("opened %q", w.system.terminals())
	}
	tap(t, p.refused, "Launch anyway")
	w.until("the terminal", func() bool { return len(p.runs.Objects) == 1 && !p.busy() })
	if got := w.system.terminals()[0]; !slices.Contains(got, "--force") {
		t.Errorf("opened %q", got)
	}
}

// TestLaunchUnsafe: a mode that skips all questions is asked about first.
func TestLaunchUnsafe(t *testing.T) {
	w, p, dir := launchWindow(t, full())
	p.folder.SetText(dir)
	p.terminal.SetChecked(true)
	p.choices[0].mode.SetSelected("bypassPermissions")
	w.press(p.start, fyne.KeyReturn)
	if w.ui.host.Sheet == nil {
		t.Fatal("the user was not asked")
	}
	shows(t, w.ui.host.Sheet.Popup, "Claude Code in mode bypassPermissions does everything without asking.")
	w.ui.typedKey(&fyne.KeyEvent{Name: fyne.KeyEscape})
	if w.ui.host.Sheet != nil || p.busy() || len(w.system.terminals()) > 0 {
		t.Fatal("Escape launched it")
	}
	w.press(p.start, fyne.KeyReturn)
	tap(t, w.ui.host.Sheet.Popup, "Launch")
	w.until("the terminal", func() bool { return len(p.runs.Objects) == 1 && !p.busy() })
	if got := w.system.terminals()[0]; !slices.Contains(got, "--yes") || !slices.Contains(got, "--mode=bypassPermissions") {
		t.Errorf("opened %q", got)
	}
}

// The launch page begins with the agent, models and modes of the settings, and uses what the user makes of them.
func TestLaunchDefaults(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir()) // of the prompt for the terminal
	t.Setenv("SECRET_OF_MINE", "s")
	set := settings.Settings{DefaultAgent: agentname.Codex, LeaveOut: []string{"SECRET_OF_MINE"}, Agents: map[adapters.Name]settings.Agent{
		agentname.Codex: {Model: "gpt-6", Mode: "read-only"}, agentname.ClaudeCode: {Mode: "no such mode"}}}
	w := openWith(t, &fakeCore{snapshot: full()}, Options{Agents: usualAgents(), Defaults: launch.DefaultsOf(set)})
	w.ui.ShowLaunch()
	p := w.launchPage()
	w.until("the agents", p.asked)
	p.folder.SetText(t.TempDir())
	p.prompt.SetText("do it")
	w.command("codex --model gpt-6 --mode read-only -p", "Removed from its environment, as your settings say: SECRET_OF_MINE.")
	if p.choices[0].check.Checked || p.choices[0].mode.Selected != "default mode" {
		t.Errorf("claude-code is chosen, or has mode %q", p.choices[0].mode.Selected)
	}
	p.choices[1].model.SetText("")
	p.choices[1].mode.SetSelected("default mode")
	w.command("codex -p")
	p.terminal.SetChecked(true)
	p.launch()
	w.until("the terminal", func() bool { return len(w.system.terminals()) == 1 })
	if got := w.system.terminals()[0]; !slices.Contains(got, "--model=") || !slices.Contains(got, "--mode=") {
		t.Errorf("the terminal would use the defaults: %q", got)
	}
}
