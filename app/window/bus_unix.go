//go:build !headless && unix && !darwin

package window

import (
	"fmt"
	"os"
	"path/filepath"
)

// keepBusAsItIs stops Fyne's look for light or dark from starting a session bus
// where there is none: godbus then runs dbus-launch, and the daemon outlives
// every process that could use it. Naming the place where a bus would be makes
// the look fail instead.
func keepBusAsItIs() {
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
