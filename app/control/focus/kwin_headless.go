//go:build linux && headless

package focus

// fromKWin returns nil: this build does not speak D-Bus, over which KWin takes scripts.
func fromKWin() Desktop { return nil }
