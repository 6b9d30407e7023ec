package cli

import (
	"bytes"
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rollcall/app/settings"
)

// said runs a command in a home folder of the test's own, and returns its exit code and what it printed.
func said(t *testing.T, deps Deps, args ...string) (int, string) {
	t.Helper()
	var out bytes.Buffer
	deps.Getenv = os.Getenv
	code := Execute(t.Context(), args, Streams{Out: &out, Err: &out}, complete(deps))
	return code, out.String()
}

func ownHome(t *testing.T) string {
	home := t.TempDir()
	for name, sub := range map[string]string{"HOME": "", "XDG_CONFIG_HOME": ".config", "XDG_STATE_HOME": ".local/state", "XDG_CACHE_HOME": ".cache", "XDG_RUNTIME_DIR": "run"} {
		t.Setenv(name, filepath.Join(home, sub))
	}
	return home
}

// The tray's start at login is turned on and off, shown with its path, and removed by uninstall --purge, which asks first.
func TestAutostartAndPurge(t *testing.T) {
	home := ownHome(t)
	deps := Deps{Tray: func(context.Context) error { return nil }}
	file := filepath.Join(home, ".config/autostart/io.github.rollcall.Rollcall.desktop")
	for _, step := range []struct {
		args  string
		code  int
		text  string
		exist bool
	}{
		{"autostart status", Done, "off\n", false},
		{"autostart on", Done, "wrote ~/.config/autostart/io.github.rollcall.Rollcall.desktop\n", true},
		{"autostart status --json", Done, `"on":true`, true},
		{"uninstall", Usage, "needs --purge", true},
		{"uninstall --purge --dry-run", Done, "starts the tray at login", true},
		{"uninstall --purge", Usage, "use --yes to confirm", true},
		{"uninstall --purge --json", Done, `"path":"` + file + `"`, true},
		{"uninstall --purge --yes", Done, "removed ~/.config/autostart", false},
		{"uninstall --purge --yes", Done, "nothing to remove\n", false},
		{"autostart off", Done, "was not started at login", false},
	} {
		code, text := said(t, deps, strings.Fields(step.args)...)
		_, err := os.Stat(file)
		if code != step.code || !strings.Contains(text, step.text) || (err == nil) != step.exist {
			t.Errorf("%s: exit code %d, file %v: %s", step.args, code, err, text)
		}
	}
	if code, text := said(t, Deps{}, "autostart", "on"); code != Usage || !strings.Contains(text, "rollcall keep --install") {
		t.Errorf("a build without a tray: %d: %s", code, text)
	}
}

// version asks a feed only with --check, and only the one of the settings.
func TestVersionCheck(t *testing.T) {
	asked := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked++
		_, _ = w.Write([]byte(`{"tag_name":"v0.3.0","html_url":"https://example.org/v0.3.0"}`))
	}))
	defer server.Close()
	deps := Deps{Version: Version{Version: "0.2.0"}, Settings: func() (settings.Settings, error) {
		return settings.Settings{Updates: settings.Updates{Feed: server.URL}}, nil
	}}
	if code, text := said(t, deps, "version"); code != Done || asked != 0 || strings.Contains(text, "newest") {
		t.Errorf("%d, asked %d times: %s", code, asked, text)
	}
	if code, text := said(t, deps, "version", "--check"); code != Done || asked != 1 || !strings.Contains(text, "newest: 0.3.0; update with") || !strings.Contains(text, "https://example.org/v0.3.0") {
		t.Errorf("%d, asked %d times: %s", code, asked, text)
	}
	if code, text := said(t, deps, "version", "--check", "--json"); code != Done || !strings.Contains(text, `"newest":"0.3.0","page":"https://example.org/v0.3.0","update":true`) {
		t.Errorf("%d: %s", code, text)
	}
	if code, text := said(t, Deps{}, "version", "--check"); code != Usage || !strings.Contains(text, "no feed is set") {
		t.Errorf("%d: %s", code, text)
	}
}
