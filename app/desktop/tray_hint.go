//go:build !headless

package desktop

import (
	"context"
	"os"
	"strings"

	"rollcall/tray"
)

// trayHint returns how the tray's icon becomes visible on this desktop; empty: a panel shows it.
func trayHint(ctx context.Context) string {
	there, err := tray.HasHost(ctx)
	if there {
		return ""
	}
	return missingPanel(os.Getenv, err)
}

// missingPanel returns what the user can do where no panel shows icons.
func missingPanel(getenv func(string) string, err error) string {
	switch {
	case err != nil:
		return "There is no tray here: " + err.Error() + ". Rollcall shows this window in its place."
	case strings.Contains(strings.ToUpper(getenv("XDG_CURRENT_DESKTOP")), "GNOME"):
		return "GNOME shows tray icons only with the AppIndicator extension. Install it from extensions.gnome.org/extension/615/appindicator-support, or the package " +
			"gnome-shell-extension-appindicator (Debian, Ubuntu, Fedora), log in again and turn it on in the application Extensions. Notifications and this window work without it."
	}
	return "No panel here shows tray icons. Rollcall's icon appears as soon as one does; notifications and this window work without it."
}
