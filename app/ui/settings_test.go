package ui

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/test"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"rollcall/adapters"
	"rollcall/app/present"
	"rollcall/app/settings"
	"rollcall/app/ui/widgets"
	"rollcall/internal/agentname"
	"rollcall/internal/must"
	"rollcall/internal/uitest"
)

// settingsWindow opens a window with settings.
func settingsWindow(t *testing.T, text string) (*window, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "rollcall", "config.toml")
	must.Do(t, os.MkdirAll(filepath.Dir(path), 0o700))
	must.Do(t, os.WriteFile(path, []byte(text), 0o600))
	w := openWith(t, &fakeCore{snapshot: full()}, Options{Agents: usualAgents(), Live: settings.NewLive(path, nil)})
	return w, path
}

// onPage returns the texts of the page, with what is chosen and written in its fields.
func onPage(w *window) string {
	texts := shownTexts(w.ui.settings.Content)
	for _, o := range visible(w.ui.settings.Content) {
		switch o := o.(type) {
		case *widgets.Select:
			texts = append(texts, o.Selected)
		case *widgets.Entry:
			texts = append(texts, o.Text)
		}
	}
	return strings.Join(texts, "\n")
}

func TestSettingsPage(t *testing.T) {
	w, path := settingsWindow(t, "# mine\n[notifications]\nreply = \"off\" # never\nremind_after = \"7m\"\nmute = [\"/work/x\"]\nunknown = 1\n")
	w.ui.open(pageSettings)
	page := w.ui.settings.Content
	w.until("the settings", func() bool {
		return strings.Contains(onPage(w), "7m")
	})
	all := onPage(w)
	for _, want := range []string{"A turn is over", "Off", "7m", "/work/x", "30 seconds", "this version has no setting"} {
		if !strings.Contains(all, want) {
			t.Errorf("the page lacks %q:\n%s", want, all)
		}
	}
	read := func() string {
		text, err := os.ReadFile(path)
		must.Do(t, err)
		return string(text)
	}
	uitest.After[*widgets.Select](t, page, "A turn is over").SetSelected("On, with a sound")
	w.until("the file", func() bool { return strings.Contains(read(), "reply = \"sound\" # never") })
	w.until("the page", func() bool { return strings.Contains(onPage(w), "Saved at") })
	if text := read(); !strings.Contains(text, "# mine") || !strings.Contains(text, "unknown = 1") {
		t.Errorf("the file is now %q", text)
	}
	tap(t, page, "Reset to the defaults")
	w.until("the defaults", func() bool { return !strings.Contains(read(), "remind_after") })
	if text := read(); text != "# mine\n[notifications]\nunknown = 1\n" {
		t.Errorf("after reset: %q", text)
	}
}

// TestSettingsChosen: what is chosen on the page is written; showing a file writes nothing.
func TestSettingsChosen(t *testing.T) {
	w, path := settingsWindow(t, "")
	w.ui.open(pageSettings)
	w.until("the fields", func() bool {
		for _, o := range visible(w.ui.settings.Content) {
			if s, ok := o.(*widgets.Select); ok && s.Selected == "Same as the desktop" {
				s.SetSelected("Dark")
				return true
			}
		}
		return false
	})
	w.until("the file", func() bool {
		text, _ := os.ReadFile(path)
		return string(text) == "theme = \"dark\"\n"
	})
}

// TestSettingsLook: a choice is as wide as its values, not as the page, begins with a capital letter, and the banner is as wide as the fields.
func TestSettingsLook(t *testing.T) {
	w, _ := settingsWindow(t, "unknown = 1\n")
	w.ui.open(pageSettings)
	page := w.ui.settings.Content
	w.until("the banner", func() bool { return strings.Contains(onPage(w), "this version has no setting") })
	w.win.Resize(fyne.NewSize(1280, 800))
	for _, o := range visible(page) {
		if s, ok := o.(*widgets.Select); ok && (s.Size().Width > 220 || s.Selected != present.Sentence(s.Selected)) {
			t.Errorf("%q is %.0f wide", s.Selected, s.Size().Width)
		}
		if h, ok := o.(*widget.Label); ok && h.Text == "Settings" {
			left := fyne.CurrentApp().Driver().AbsolutePositionForObject(h).X + theme.InnerPadding()
			if got := fyne.CurrentApp().Driver().AbsolutePositionForObject(uitest.Part[*widgets.Background](t, page, nil)).X; got != left {
				t.Errorf("the banner begins at %.0f, the title at %.0f", got, left)
			}
		}
	}
}

func TestSettingsCannotBeChanged(t *testing.T) {
	const text = "notifications = {reply = \"on\"}\n"
	w, path := settingsWindow(t, text)
	w.openSettingsPage()
	uitest.After[*widgets.Select](t, w.ui.settings.Content, "A turn is over").SetSelected("Off")
	w.until("the reason", func() bool {
		return strings.Contains(onPage(w), "cannot be changed here")
	})
	if now, _ := os.ReadFile(path); string(now) != text {
		t.Errorf("the file is now %q", now)
	}
}

func TestMuteProject(t *testing.T) {
	w, path := settingsWindow(t, "")
	muted := func() *fyne.MenuItem { return w.ui.muteItem(w.ui.sessions.detail.session) }
	item := muted()
	if item == nil || !strings.HasPrefix(item.Label, "Mute project ") {
		t.Fatalf("item %+v", item)
	}
	item.Action()
	w.until("the file", func() bool {
		text, _ := os.ReadFile(path)
		return strings.Contains(string(text), "mute = [\"/home/dev/")
	})
	w.until("the item", func() bool { return strings.HasPrefix(muted().Label, "Unmute project ") })
}

func TestShotSettings(t *testing.T) {
	w, _ := settingsWindow(t, "theme = \"light\"\n[notifications]\nreply = \"off\"\nmute = [\"~/scratch\", \"/work/*/tmp\"]\n")
	w.ui.open(pageSettings)
	w.until("the settings", func() bool {
		return strings.Contains(onPage(w), "~/scratch")
	})
	w.shoot("settings")
	uitest.Part[*container.Scroll](t, w.ui.settings.Content, nil).ScrollToBottom()
	w.shoot("settings-end")
}

// TestAgentsShown: a check box that is turned off leaves its agent out, and the button shows all agents again.
func TestAgentsShown(t *testing.T) {
	w, path := settingsWindow(t, "# mine\nleave_out_agents = [\"pi\"]\n")
	w.ui.open(pageSettings)
	box := func(name string) *widgets.CheckBox {
		for _, o := range visible(w.ui.settings.Content) {
			if b, ok := o.(*widgets.CheckBox); ok && b.Text == name {
				return b
			}
		}
		t.Fatalf("no check box %q", name)
		return nil
	}
	w.until("the settings", func() bool { return box("Codex").Checked && !box("Pi").Checked })
	read := func() string {
		text, _ := os.ReadFile(path)
		return string(text)
	}
	test.Tap(box("Codex"))
	w.until("the file", func() bool { return read() == "# mine\nleave_out_agents = [\"pi\", \"codex\"]\n" })
	w.until("the page", func() bool { return !box("Codex").Checked })
	w.shoot("settings-agents-shown")
	test.Tap(buttonNamed(t, w, "Show all agents"))
	w.until("all agents", func() bool { return read() == "# mine\n" && box("Pi").Checked && box("Codex").Checked })
}

// TestLeftOutIsNotEmpty: with no session that is shown the page says which agents are left out.
func TestLeftOutIsNotEmpty(t *testing.T) {
	snap := *snapshotOf()
	snap.LeftOut.Agents = []adapters.Name{agentname.Codex, agentname.Pi}
	w := openWith(t, &fakeCore{snapshot: &snap}, Options{Agents: usualAgents()})
	text := strings.Join(shownTexts(w.ui.sessions.content), "\n")
	if !strings.Contains(text, "Left out by the settings: Codex, Pi") {
		t.Errorf("the page shows %q", text)
	}
	w.shoot("sessions-left-out")
}

// TestFurtherHomes: the page lists the homes of the file, and removes one.
func TestFurtherHomes(t *testing.T) {
	w, path := settingsWindow(t, "[homes]\ncodex = [\"/work/codex\"] # mine\n")
	w.ui.open(pageSettings)
	w.until("the home", func() bool { return strings.Contains(onPage(w), "/work/codex") })
	uitest.Part[*container.Scroll](t, w.ui.settings.Content, nil).ScrollToOffset(fyne.NewPos(0, 700))
	w.shoot("settings-homes")
	test.Tap(buttonNamed(t, w, "Remove"))
	w.until("the file", func() bool {
		text, _ := os.ReadFile(path)
		return string(text) == "[homes]\n"
	})
	w.until("the page", func() bool { return !strings.Contains(onPage(w), "/work/codex") })
}

// TestSettingsTexts: a text counts when its field is left or Enter is pressed, as every other change does; what was not changed is not written.
func TestSettingsTexts(t *testing.T) {
	w, path := settingsWindow(t, "")
	w.openSettingsPage()
	read := func() string {
		text, _ := os.ReadFile(path)
		return string(text)
	}
	editor, mute := entryWith(t, w, "code {folder}"), entryWith(t, w, "~/scratch (one folder per line)")
	w.ui.host.Focus(editor)
	editor.SetText("zed {folder}")
	w.ui.host.Focus(mute)
	w.until("the editor", func() bool { return read() == "editor = \"zed {folder}\"\n" })
	mute.SetText("~/scratch\n\n/work/tmp")
	w.ui.open(pageSessions)
	w.until("the folders", func() bool { return strings.Contains(read(), `mute = ["~/scratch", "/work/tmp"]`) })
	w.ui.open(pageSettings)
	w.ui.host.Focus(editor)
	before := read()
	w.press(editor, fyne.KeyReturn)
	editor.SetText("")
	w.press(editor, fyne.KeyReturn)
	w.until("the default", func() bool { return read() == strings.Replace(before, "editor = \"zed {folder}\"\n", "", 1) })
	for _, o := range visible(w.ui.settings.Content) {
		if b, ok := o.(*widgets.Button); ok && strings.HasPrefix(b.Text, "Save") {
			t.Errorf("there is a second way of saving: %q", b.Text)
		}
	}
}

func (w *window) openSettingsPage() {
	w.t.Helper()
	w.ui.open(pageSettings)
	w.until("the settings", func() bool { return strings.Contains(onPage(w), "30 seconds") })
}

func buttonNamed(t *testing.T, w *window, name string) *widgets.Button {
	t.Helper()
	for _, o := range visible(w.ui.settings.Content) {
		if b, ok := o.(*widgets.Button); ok && b.Text == name {
			return b
		}
	}
	t.Fatalf("no button %q", name)
	return nil
}

func entryWith(t *testing.T, w *window, placeholder string) *widgets.Entry {
	t.Helper()
	for _, o := range visible(w.ui.settings.Content) {
		if e, ok := o.(*widgets.Entry); ok && e.PlaceHolder == placeholder {
			return e
		}
	}
	t.Fatalf("no field %q", placeholder)
	return nil
}

// TestNamedAgents: an agent of the user's is added, changed and removed on the page; what is wrong with it is said in the form.
func TestNamedAgents(t *testing.T) {
	w, path := settingsWindow(t, "theme = \"dark\" # mine\n")
	w.ui.open(pageSettings)
	page := w.ui.settings.Content
	w.until("the list", func() bool { return strings.Contains(onPage(w), "Other agents") && strings.Contains(onPage(w), "Dark") })
	file := func() string {
		text, err := os.ReadFile(path)
		must.Do(t, err)
		return string(text)
	}
	tap(t, page, "Add an agent…")
	form := w.ui.host.Sheet
	typeInto(t, form.Popup, "aider", "Bad Name")
	tap(t, form.Popup, "Add")
	w.until("the mistake", func() bool { return strings.Contains(strings.Join(shownTexts(form.Popup), " "), "lower-case letters") })
	typeInto(t, form.Popup, "aider", "mine")
	typeInto(t, form.Popup, "--message\n{prompt}", "--message\n{prompt}")
	w.shoot("named-agent-form")
	tap(t, form.Popup, "Add")
	w.until("the entry", func() bool { return w.ui.host.Sheet == nil && strings.Contains(onPage(w), "mine · can be launched") })
	if text := file(); text != "theme = \"dark\" # mine\n\n[[agent]]\nname = \"mine\"\nlaunch = [\"--message\", \"{prompt}\"]\n" {
		t.Errorf("%q", text)
	}
	uitest.Part[*container.Scroll](t, w.ui.settings.Content, nil).ScrollToBottom()
	w.shoot("named-agents")
	tap(t, page, "Edit…")
	typeInto(t, w.ui.host.Sheet.Popup, "^Working", "busy")
	tap(t, w.ui.host.Sheet.Popup, "Save")
	w.until("the change", func() bool { return w.ui.host.Sheet == nil && strings.Contains(file(), "title_working = \"busy\"") })
	if text := file(); !strings.Contains(text, "launch = [\"--message\", \"{prompt}\"]") {
		t.Errorf("%q", text)
	}
	w.until("the button", func() bool { return strings.Contains(onPage(w), "mine · can be launched") })
	tap(t, page, "Remove")
	w.until("the end", func() bool { return !strings.Contains(file(), "[[agent]]") })
}

// TestSettingsSounds: the sounds of the file are shown, a change is written to the file, and a line that can't be one is named.
func TestSettingsSounds(t *testing.T) {
	w, path := settingsWindow(t, "[notifications]\nsounds = { permission = \"bell\" }\n")
	w.openSettingsPage()
	area := entryWith(t, w, "permission = bell\ncodex = ~/sounds/codex.oga")
	w.until("the sound", func() bool { return area.Text == "permission = bell" })
	says := func(text string) func() bool {
		return func() bool {
			now, _ := os.ReadFile(path)
			return string(now) == text
		}
	}
	w.ui.host.Focus(area)
	area.SetText("ended = message\n permission=bell \n")
	w.ui.host.Focus(nil)
	w.until("the file", says("[notifications]\nsounds = { ended = \"message\", permission = \"bell\" }\n"))
	w.ui.host.Focus(area)
	area.SetText("loud")
	w.ui.host.Focus(nil)
	w.until("the mistake", func() bool { return strings.Contains(onPage(w), "notifications.sounds.loud is ignored") })
	w.ui.host.Focus(area)
	area.SetText("")
	w.ui.host.Focus(nil)
	w.until("the default", says("[notifications]\n"))
}
