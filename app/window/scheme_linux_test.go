//go:build !headless

package window

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/theme"
	"github.com/godbus/dbus/v5"

	"rollcall/app/settings"
	"rollcall/internal/desktoptest"
	"rollcall/internal/must"
)

func TestThemeOf(t *testing.T) {
	for _, tt := range []struct {
		set         settings.Theme
		dark, known bool
		want        string
	}{
		{"", true, true, "dark"}, {"", false, true, "light"}, {"", false, false, "Fyne's"}, {settings.DesktopTheme, true, true, "dark"},
		{settings.LightTheme, true, true, "light"}, {settings.DarkTheme, false, true, "dark"}, {settings.DarkTheme, false, false, "dark"},
	} {
		got := "Fyne's"
		if v := themeOf(tt.set, tt.dark, tt.known).Variant; v != nil {
			got = map[fyne.ThemeVariant]string{theme.VariantLight: "light", theme.VariantDark: "dark"}[*v]
		}
		if got != tt.want {
			t.Errorf("%+v: %s", tt, got)
		}
	}
}

func TestDarkByFiles(t *testing.T) {
	t.Setenv("DISPLAY", "")
	for text, want := range map[string]bool{
		"": false,
		"kdeglobals\n[Colors:View]\nBackgroundNormal=1,1,1\n[Colors:Window]\nBackgroundNormal=239,240,241\n": false,
		"kdeglobals\n[Colors:Window]\nBackgroundNormal=42,46,50\n":                                           true,
		"kdeglobals\n[General]\nColorScheme=BreezeDark\n":                                                    true,
		"kdeglobals\n[General]\nColorScheme=BreezeLight\n":                                                   false,
		"gtk-3.0/settings.ini\n[Settings]\ngtk-application-prefer-dark-theme=1\n":                            true,
		"gtk-3.0/settings.ini\n[Settings]\ngtk-theme-name=Adwaita-dark\n":                                    true,
		"gtk-3.0/settings.ini\n[Settings]\ngtk-theme-name=Adwaita\n":                                         false,
	} {
		dir := t.TempDir()
		t.Setenv("XDG_CONFIG_HOME", dir)
		if name, content, ok := cutLine(text); ok {
			path := filepath.Join(dir, name)
			must.Do(t, os.MkdirAll(filepath.Dir(path), 0o700))
			must.Do(t, os.WriteFile(path, []byte(content), 0o600))
		}
		if got := isDarkBySettings(); got != want {
			t.Errorf("%q is dark: %v", text, got)
		}
	}
}

func cutLine(text string) (first, rest string, ok bool) {
	for i := range text {
		if text[i] == '\n' {
			return text[:i], text[i+1:], true
		}
	}
	return "", "", false
}

// portal is a portal that prefers a colour scheme.
type portal struct{ scheme uint32 }

func (p *portal) Read(_, _ string) (dbus.Variant, *dbus.Error) {
	return dbus.MakeVariant(dbus.MakeVariant(p.scheme)), nil
}

// TestPortal: the portal counts, and its changes too.
func TestPortal(t *testing.T) {
	d := desktoptest.For(t, desktoptest.Options{})
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", d.BusAddress())
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	conn := must.Get(dbus.Connect(d.BusAddress()))(t)
	t.Cleanup(func() { conn.Close() })
	must.Do(t, conn.Export(&portal{preferDark}, portalPath, portalIface))
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	wants := func(c <-chan bool, dark bool) {
		t.Helper()
		select {
		case got := <-c:
			if got != dark {
				t.Errorf("dark: %v", got)
			}
		case <-ctx.Done():
			t.Fatal("no answer")
		}
	}
	wants(watchScheme(ctx), false) // there is no portal
	if _, err := conn.RequestName(portalName, dbus.NameFlagDoNotQueue); err != nil {
		t.Fatal(err)
	}
	c := watchScheme(ctx)
	wants(c, true)
	must.Do(t, conn.Emit(portalPath, portalIface+".SettingChanged", appearance, colorScheme, dbus.MakeVariant(uint32(preferLight))))
	wants(c, false)
}

// TestFirstScheme: the first frame has what the portal says, and what the other settings say where the portal says nothing in time.
func TestFirstScheme(t *testing.T) {
	t.Setenv("DISPLAY", "")
	answered := make(chan bool, 1)
	for name, tt := range map[string]struct {
		portal       chan bool
		answer, file bool
		want         bool
	}{
		"dark": {portal: answered, answer: true, want: true}, "light": {portal: answered, file: true}, "silent": {}, "silent, dark settings": {file: true, want: true},
	} {
		t.Setenv("XDG_CONFIG_HOME", configOf(t, tt.file))
		if tt.portal != nil {
			tt.portal <- tt.answer
		}
		if isDark, known := firstScheme(tt.portal); isDark != tt.want || !known {
			t.Errorf("%s: dark %v, known %v", name, isDark, known)
		}
	}
}

// configOf returns a folder with the settings of a desktop, whose GTK prefers dark windows if dark is set.
func configOf(t *testing.T, dark bool) string {
	t.Helper()
	config := t.TempDir()
	if dark {
		file := filepath.Join(config, "gtk-3.0", "settings.ini")
		must.Do(t, os.MkdirAll(filepath.Dir(file), 0o700))
		must.Do(t, os.WriteFile(file, []byte("[Settings]\ngtk-application-prefer-dark-theme=1\n"), 0o600))
	}
	return config
}
