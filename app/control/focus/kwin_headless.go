//go:build linux && headless

package focus

import "rollcall/proc/desktop"

// fromKWin returns nil: this build does not speak D-Bus, over which KWin takes scripts.
func fromKWin() desktop.Desktop { return nil }
