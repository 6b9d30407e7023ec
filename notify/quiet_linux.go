package notify

import (
	"context"
	"os"
	"os/exec"
	"strings"

	"github.com/godbus/dbus/v5"
)

// DesktopQuiet reads whether the desktop shows no notifications at the moment. It is safe for concurrent use.
type DesktopQuiet struct {
	bus     string
	desktop []string // the parts of XDG_CURRENT_DESKTOP
}

// NewDesktopQuiet returns a DesktopQuiet that uses the bus at address, or the session bus if address is empty.
func NewDesktopQuiet(address string) *DesktopQuiet {
	return &DesktopQuiet{bus: address, desktop: strings.Split(os.Getenv("XDG_CURRENT_DESKTOP"), ":")}
}

// Is reports whether the desktop's notification service withholds notifications. It returns false if that cannot be read
// before ctx is done. It connects to the bus for each call, since calls are rare.
func (q *DesktopQuiet) Is(ctx context.Context) bool {
	if q.setting(ctx) {
		return true
	}
	conn, err := dial(q.bus)
	if err != nil {
		return false
	}
	defer func() { _ = conn.Close() }()
	return property(ctx, conn, serviceName, "Inhibited") || property(ctx, conn, "org.dunstproject.cmd0", "paused") || xfceIsQuiet(ctx, conn)
}

// property reports whether a property of the notification service is true. No service is started.
func property(ctx context.Context, conn *dbus.Conn, iface, name string) bool {
	return isTrue(conn.Object(serviceName, servicePath).
		CallWithContext(ctx, "org.freedesktop.DBus.Properties.Get", dbus.FlagNoAutoStart, iface, name))
}

// isTrue reports whether a call returned a variant that is true.
func isTrue(call *dbus.Call) bool {
	var v dbus.Variant
	if call.Store(&v) != nil {
		return false
	}
	on, _ := v.Value().(bool)
	return on
}

// xfceIsQuiet reports whether Xfce's notification service withholds notifications.
func xfceIsQuiet(ctx context.Context, conn *dbus.Conn) bool {
	return isTrue(conn.Object("org.xfce.Xfconf", "/org/xfce/Xfconf").
		CallWithContext(ctx, "org.xfce.Xfconf.GetProperty", dbus.FlagNoAutoStart, "xfce4-notifyd", "/do-not-disturb"))
}

// desktopSettings are the keys in which desktops store that they show no notifications.
var desktopSettings = map[string]struct{ schema, key, quiet string }{
	"GNOME":      {"org.gnome.desktop.notifications", "show-banners", "false"},
	"X-Cinnamon": {"org.cinnamon.desktop.notifications", "display-notifications", "false"},
	"MATE":       {"org.mate.NotificationDaemon", "do-not-disturb", "true"},
}

// setting reports whether the settings of the desktop turn notifications off.
func (q *DesktopQuiet) setting(ctx context.Context) bool {
	for _, name := range q.desktop {
		s, ok := desktopSettings[name]
		if !ok {
			continue
		}
		out, err := exec.CommandContext(ctx, "gsettings", "get", s.schema, s.key).Output()
		return err == nil && strings.TrimSpace(string(out)) == s.quiet
	}
	return false
}
