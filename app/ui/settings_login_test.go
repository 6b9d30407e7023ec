//go:build unix && !darwin

package ui

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/test"

	"rollcall/app/self/autostart"
	"rollcall/app/settings"
	"rollcall/app/ui/widgets"
	"rollcall/internal/must"
	"rollcall/internal/uitest"
)

// loginWindow opens the settings of a user with a home folder of the test, and returns the path of the autostart file.
func loginWindow(t *testing.T) (w *window, path string) {
	t.Helper()
	config := filepath.Join(t.TempDir(), ".config")
	t.Setenv("XDG_CONFIG_HOME", config)
	live := settings.NewLive(filepath.Join(config, "rollcall", "config.toml"), nil)
	w = openWith(t, &fakeCore{snapshot: full()}, Options{Agents: usualAgents(), Live: live, Autostart: &autostart.Tray, Version: "0.1.0"})
	return w, filepath.Join(config, "autostart", "io.github.rollcall.Rollcall.desktop")
}

// openSettings opens the page of settings and waits until it shows what starts at login.
func (w *window) openSettings() {
	w.t.Helper()
	w.ui.open(pageSettings)
	w.until("what starts at login", func() bool { return !strings.Contains(onPage(w), "Reading what starts") })
}

// shows waits until the page shows text.
func (w *window) shows(text string) {
	w.t.Helper()
	w.until(text, func() bool { return strings.Contains(onPage(w), text) })
}

func TestStartAtLogin(t *testing.T) {
	w, path := loginWindow(t)
	w.openSettings()
	w.shows("does not start by itself")
	box := uitest.Part(t, w.ui.settings.Content, func(b *widgets.CheckBox) bool { return b.Text == "Start Rollcall when I log in" })
	if box.Checked {
		t.Fatal("it is on before it was turned on")
	}
	uitest.Part[*container.Scroll](t, w.ui.settings.Content, nil).ScrollToBottom()
	w.shoot("settings-login-off")
	test.Tap(box)
	w.shows("Entry: " + path)
	if s, err := autostart.Tray.State(); err != nil || !s.On || !box.Checked {
		t.Errorf("%+v, %v", s, err)
	}
	w.shoot("settings-login-on")
	test.Tap(box)
	w.shows("does not start by itself")
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		t.Errorf("the file is left: %v", err)
	}
}

// TestStartAtLoginFails: a folder that cannot be written to is named, and the switch goes back.
func TestStartAtLoginFails(t *testing.T) {
	w, path := loginWindow(t)
	folder := filepath.Dir(path)
	must.Do(t, os.MkdirAll(filepath.Dir(folder), 0o700))
	must.Do(t, os.WriteFile(folder, []byte("no folder"), 0o600))
	w.openSettings()
	box := uitest.Part(t, w.ui.settings.Content, func(b *widgets.CheckBox) bool { return b.Text == "Start Rollcall when I log in" })
	test.Tap(box)
	w.until("the reason", func() bool { return !box.Checked && strings.Contains(onPage(w), folder) })
	uitest.Part[*container.Scroll](t, w.ui.settings.Content, nil).ScrollToBottom()
	w.shoot("settings-login-failed")
}

// TestStartAtLoginEdited: a file that was edited by hand is named, and stays as it is.
func TestStartAtLoginEdited(t *testing.T) {
	w, path := loginWindow(t)
	if _, err := autostart.Tray.On(); err != nil {
		t.Fatal(err)
	}
	own, err := os.ReadFile(path)
	must.Do(t, err)
	edited := strings.Replace(string(own), "Exec=\"", "Exec=nice \"", 1)
	must.Do(t, os.WriteFile(path, []byte(edited), 0o600))
	w.openSettings()
	w.shows("was changed by hand")
	box := uitest.Part(t, w.ui.settings.Content, func(b *widgets.CheckBox) bool { return b.Text == "Start Rollcall when I log in" })
	if !box.Checked {
		t.Error("the switch is off, although the file starts something")
	}
	uitest.Part[*container.Scroll](t, w.ui.settings.Content, nil).ScrollToBottom()
	w.shoot("settings-login-edited")
	test.Tap(box)
	w.until("the refusal", func() bool { return box.Checked && strings.Contains(onPage(w), "stop starting the tray at login") })
	if now, _ := os.ReadFile(path); string(now) != edited {
		t.Errorf("the file is now %q", now)
	}
	// What the user moved away is out of the way when the page is opened again.
	must.Do(t, os.Remove(path))
	w.ui.open(pageSessions)
	w.ui.open(pageSettings)
	w.shows("does not start by itself")
	if strings.Contains(onPage(w), "by hand") {
		t.Error("the old problem is still shown")
	}
}

// TestCheckForUpdates: the feed is asked when the button is pressed, and its answer or its failure is shown.
func TestCheckForUpdates(t *testing.T) {
	asked := make(chan struct{}, 10)
	answer := `{"tag_name":"v0.2.0","html_url":"https://example.org/rollcall/v0.2.0"}`
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked <- struct{}{}
		_, _ = w.Write([]byte(answer))
	}))
	t.Cleanup(server.Close)
	w, _ := loginWindow(t)
	w.openSettings()
	check := buttonNamed(t, w, "Check for updates")
	test.Tap(check)
	w.shows("No address is set")
	uitest.Part[*container.Scroll](t, w.ui.settings.Content, nil).ScrollToBottom()
	w.shoot("settings-updates-none")
	address := entryWith(t, w, "https://example.org/releases/latest")
	address.SetText("http://example.org/")
	address.FocusLost()
	w.shows("The address was not saved: feed must begin with https://")
	address.SetText(server.URL)
	w.press(address, fyne.KeyReturn)
	w.until("the address in force", func() bool { set, _ := w.ui.options.Live.Get(); return set.Updates.Feed == server.URL })
	if len(asked) > 0 {
		t.Fatal("the feed was asked before the button was pressed")
	}
	test.Tap(check)
	w.shows("newest: 0.2.0; update with the package manager")
	w.shows("https://example.org/rollcall/v0.2.0")
	w.shoot("settings-updates-newer")
	answer = `{"tag_name":"v0.1.0"}`
	test.Tap(check)
	w.shows("this program is up to date")
	if strings.Contains(onPage(w), "example.org/rollcall") {
		t.Error("the page of an older answer is still shown")
	}
	answer = "<html>"
	test.Tap(check)
	w.shows("did not report the newest version")
	w.shoot("settings-updates-failed")
	if len(asked) != 3 || check.Disabled() {
		t.Errorf("asked %d times, disabled: %v", len(asked), check.Disabled())
	}
}
