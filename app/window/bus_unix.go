//go:build !headless && unix && !darwin

package window

import (
	"fmt"
	"os"
	"path/filepath"
)

// startNoBus keeps Fyne from starting a session bus when Fyne reads whether the desktop is light or dark. Without a
// bus, godbus runs dbus-launch, which starts a daemon that outlives every process that could use it. startNoBus sets
// the address at which a bus would be, so that reading fails instead.
func startNoBus() {
	if a := os.Getenv("DBUS_SESSION_BUS_ADDRESS"); a != "" && a != "autolaunch:" {
		return
	}
	dir := fmt.Sprintf("/run/user/%d", os.Getuid())
	for _, name := range []string{"bus", "dbus-session"} { // a bus that godbus finds without the variable
		if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
			return
		}
	}
	_ = os.Setenv("DBUS_SESSION_BUS_ADDRESS", "unix:path="+filepath.Join(dir, "bus"))
}
