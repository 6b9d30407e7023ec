//go:build !linux && !windows

package focus

import "rollcall/proc/desktop"

// Here returns nil: which window has the focus is not known on this platform.
func Here() desktop.Desktop { return nil }

// Desktops returns nil: windows are not listed on this platform.
func Desktops() []desktop.Desktop { return nil }
