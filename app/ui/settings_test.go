package ui

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fyne.io/fyne/v2"

	"rollcall/app/settings"
	"rollcall/app/ui/widgets"
)

// settingsWindow opens a window with settings.
func settingsWindow(t *testing.T, text string) (*window, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "rollcall", "config.toml")
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	w := openWith(t, &fakeCore{snapshot: full()}, Options{Agents: usualAgents(), Live: settings.NewLive(path, nil)})
	return w, path
}

// onPage returns the texts of the page, with what is chosen and written in its fields.
func onPage(w *window) string {
	texts := shownTexts(w.ui.settings.content)
	for _, o := range visible(w.ui.settings.content) {
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
	page := w.ui.settings
	w.until("the settings", func() bool {
		return strings.Contains(onPage(w), "7m")
	})
	all := onPage(w)
	for _, want := range []string{"A turn is over", "off", "7m", "/work/x", "30 seconds", "this version has no setting"} {
		if !strings.Contains(all, want) {
			t.Errorf("the page lacks %q:\n%s", want, all)
		}
	}
	read := func() string {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	page.change(settings.Edit{Table: "notifications", Key: "reply", Value: "sound"})
	w.until("the file", func() bool { return strings.Contains(read(), "reply = \"sound\" # never") })
	w.until("the page", func() bool { return strings.Contains(onPage(w), "Saved at") })
	if text := read(); !strings.Contains(text, "# mine") || !strings.Contains(text, "unknown = 1") {
		t.Errorf("the file is now %q", text)
	}
	page.reset()
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
		for _, o := range visible(w.ui.settings.content) {
			if s, ok := o.(*widgets.Select); ok && s.Selected == "as the desktop" {
				s.SetSelected("dark")
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

func TestSettingsCannotBeChanged(t *testing.T) {
	const text = "notifications = {reply = \"on\"}\n"
	w, path := settingsWindow(t, text)
	w.ui.open(pageSettings)
	w.ui.settings.change(settings.Edit{Table: "notifications", Key: "reply", Value: "off"})
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
	w.ui.settings.scroll.ScrollToBottom()
	w.shoot("settings-end")
}
