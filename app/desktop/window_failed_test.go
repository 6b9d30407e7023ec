//go:build !headless

package desktop

import (
	"errors"
	"strings"
	"testing"
)

func TestWindowFailure(t *testing.T) {
	for name, tt := range map[string]struct {
		goos string
		env  map[string]string
		code int
		want string
	}{
		"Wayland alone": {"linux", map[string]string{"WAYLAND_DISPLAY": "wayland-0"}, 1, "has no Xwayland"},
		"X11":           {"linux", map[string]string{"DISPLAY": ":0"}, 1, "libgl1-mesa-dri"},
		"Xwayland":      {"linux", map[string]string{"DISPLAY": ":0", "WAYLAND_DISPLAY": "wayland-0"}, 1, "libgl1-mesa-dri"},
		"no session":    {"linux", nil, 1, "DISPLAY is not set"},
		"Windows":       {"windows", nil, 1, "OpenGL 2.1"},
		"macOS":         {"darwin", nil, 1, "in a terminal"},
		"a panic":       {"linux", map[string]string{"DISPLAY": ":0"}, exitPanic, "report it"},
	} {
		text := windowFailure(tt.goos, func(name string) string { return tt.env[name] }, tt.code)
		if !strings.Contains(text.Body, tt.want) || !strings.Contains(text.Body, "rollcall list") || text.Title == "" {
			t.Errorf("%s: %+v", name, text)
		}
	}
}

// TestMissingPanel: what is missing for the tray's icon, by desktop.
func TestMissingPanel(t *testing.T) {
	for desktop, want := range map[string]string{"GNOME": "gnome-shell-extension-appindicator", "ubuntu:GNOME": "AppIndicator", "XFCE": "No panel here", "": "No panel here"} {
		if got := missingPanel(func(string) string { return desktop }, nil); !strings.Contains(got, want) {
			t.Errorf("%s: %q", desktop, got)
		}
	}
	if got := missingPanel(func(string) string { return "" }, errors.New("session bus: no address")); !strings.Contains(got, "session bus: no address") {
		t.Error(got)
	}
}
