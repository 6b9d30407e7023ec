//go:build !headless

package window

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/godbus/dbus/v5"
)

const (
	portalName  = "org.freedesktop.portal.Desktop"
	portalPath  = "/org/freedesktop/portal/desktop"
	portalIface = "org.freedesktop.portal.Settings"
	appearance  = "org.freedesktop.appearance"
	colorScheme = "color-scheme"
	portalLimit = 3 * time.Second
)

// The values of color-scheme.
const (
	preferDark  = 1
	preferLight = 2
)

// watchScheme returns a channel that receives whether the desktop is dark: now, and each time that the desktop's portal announces a change, until ctx is done. FYNE_THEME in the
// environment (dark or light) has priority over the desktop. If there is no portal, or the portal has no preference, the settings of KDE and GTK apply, and then the theme in
// XSETTINGS. A desktop without any of these is light.
func watchScheme(ctx context.Context) <-chan bool {
	dark := make(chan bool, 1)
	if v := os.Getenv("FYNE_THEME"); v == "dark" || v == "light" {
		dark <- v == "dark"
		return dark
	}
	go func() {
		put := func(value uint32, ok bool) {
			isDark := value == preferDark
			if !ok || value != preferDark && value != preferLight {
				isDark = isDarkBySettings()
			}
			select {
			case <-dark: // drop a value that was not received yet
			default:
			}
			dark <- isDark
		}
		conn, err := dbus.SessionBusPrivateNoAutoStartup()
		if err == nil {
			defer func() { _ = conn.Close() }()
			limit := time.AfterFunc(portalLimit, func() { _ = conn.Close() })
			err = conn.Auth(nil)
			if err == nil {
				err = conn.Hello()
			}
			limit.Stop()
		}
		if err != nil {
			put(0, false)
			return
		}
		followPortal(ctx, conn, put)
	}()
	return dark
}

// schemeWait is how long the first frame waits for the preference of the desktop, which is known within milliseconds unless its portal hangs.
const schemeWait = 300 * time.Millisecond

// firstScheme returns whether the desktop is dark, for the first frame: a window that changes its colours right after it opens blinks. desktop is the result
// of watchScheme. If the portal does not answer in time, the other settings of the desktop apply, as they do when it fails later.
func firstScheme(desktop <-chan bool) (isDark, known bool) {
	select {
	case isDark = <-desktop:
	case <-time.After(schemeWait):
		isDark = isDarkBySettings()
	}
	return isDark, true
}

// followPortal calls put with the preference of the desktop's portal, now and when it changes.
func followPortal(ctx context.Context, conn *dbus.Conn, put func(value uint32, ok bool)) {
	signals := make(chan *dbus.Signal, 8)
	conn.Signal(signals)
	_ = conn.AddMatchSignalContext(ctx, dbus.WithMatchSender(portalName), dbus.WithMatchInterface(portalIface), dbus.WithMatchMember("SettingChanged"))
	asked, cancel := context.WithTimeout(ctx, portalLimit)
	defer cancel()
	var v dbus.Variant
	err := conn.Object(portalName, portalPath).CallWithContext(asked, portalIface+".Read", 0, appearance, colorScheme).Store(&v)
	value, ok := inner(v)
	put(value, err == nil && ok)
	for {
		select {
		case <-ctx.Done():
			return
		case s, open := <-signals:
			if !open {
				return
			}
			var space, key string
			if dbus.Store(s.Body, &space, &key, &v) == nil && space == appearance && key == colorScheme {
				value, ok := inner(v)
				put(value, ok)
			}
		}
	}
}

// inner returns the number in a variant. The portal's older method returns a variant in a variant.
func inner(v dbus.Variant) (uint32, bool) {
	if deeper, ok := v.Value().(dbus.Variant); ok {
		v = deeper
	}
	n, ok := v.Value().(uint32)
	return n, ok
}

// isDarkBySettings reports whether the desktop is dark. It reads the settings of KDE, then those of GTK, then the theme in XSETTINGS, and uses the
// first that is set.
func isDarkBySettings() bool {
	if dir, err := os.UserConfigDir(); err == nil {
		if dark, known := isDarkByFiles(dir); known {
			return dark
		}
	}
	return isDarkTheme(readXDesktop().theme)
}

// isDarkTheme reports whether the name of a theme or of a set of colours is that of a dark one, such as BreezeDark,
// Mint-Y-Dark-Aqua or BlackMATE.
func isDarkTheme(name string) bool {
	name = strings.ToLower(name)
	return strings.Contains(name, "dark") || strings.Contains(name, "black")
}

// isDarkByFiles reports whether the settings of KDE in dir are dark, or those of GTK if KDE has none. known is false if neither has a setting.
func isDarkByFiles(dir string) (dark, known bool) {
	kde := filepath.Join(dir, "kdeglobals")
	if color := iniValue(kde, "Colors:Window", "BackgroundNormal"); color != "" {
		return isDarkColor(color), true
	}
	if colors := iniValue(kde, "General", "ColorScheme"); colors != "" {
		return isDarkTheme(colors), true
	}
	for _, version := range []string{"gtk-4.0", "gtk-3.0"} {
		file := filepath.Join(dir, version, "settings.ini")
		switch prefer := iniValue(file, "Settings", "gtk-application-prefer-dark-theme"); {
		case prefer == "1" || strings.EqualFold(prefer, "true"):
			return true, true
		case isDarkTheme(iniValue(file, "Settings", "gtk-theme-name")):
			return true, true
		case prefer != "":
			return false, true
		}
	}
	return false, false
}

// isDarkColor reports whether a colour such as "35,38,41" is dark.
func isDarkColor(text string) bool {
	sum, parts := 0, strings.Split(text, ",")
	for _, part := range parts {
		n, err := strconv.Atoi(strings.TrimSpace(part))
		if err != nil {
			return false
		}
		sum += n
	}
	return len(parts) == 3 && sum < 3*128
}

// iniValue returns a value of a file with groups, or an empty string.
func iniValue(path, group, key string) string {
	data, _ := os.ReadFile(path)
	in := false
	for l := range strings.Lines(string(data)) {
		l = strings.TrimSpace(l)
		if strings.HasPrefix(l, "[") {
			in = l == "["+group+"]"
			continue
		}
		if name, value, ok := strings.Cut(l, "="); in && ok && strings.TrimSpace(name) == key {
			return strings.TrimSpace(value)
		}
	}
	return ""
}
