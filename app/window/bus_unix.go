//go:build !headless && unix && !darwin

package window

import (
	"fmt"
	"os"
	"path/filepath"
)

// startNoBus keeps Fyne from starting a session bus when it reads whether the desktop is light or dark. Without a bus,
// godbus runs dbus-launch, and that daemon outlives every process that could use it. startNoBus sets the address where
// a bus would be, so that reading fails instead.
func startNoBus() {
	if a := os.Getenv("DBUS_SESSION_BUS_ADDRESS"); a != "" && a != "autolaunch:" {
		return
	}
	dir := fmt.Sprintf("/run/user/%d", os.Getuid())
	for _, name := range []string{"bus", "dbus-session"} { // where godbus finds one itself
		if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
			return
		}
	}
	_ = os.Setenv("DBUS_SESSION_BUS_ADDRESS", "unix:path="+filepath.Join(dir, "bus"))
}
