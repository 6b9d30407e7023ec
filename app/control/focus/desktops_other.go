//go:build !linux && !windows

package focus

// Here returns nil: which window has the focus is not known on this platform.
func Here() Desktop { return nil }

// Desktops returns nil: windows are not listed on this platform.
func Desktops() []Desktop { return nil }
