//go:build !headless && x11 && unix && !darwin

package window

import "os"

// checkDisplay is asked first because Fyne panics without a display. This build
// speaks X11 alone; under Wayland that is Xwayland, which sets DISPLAY.
func checkDisplay() error {
	if os.Getenv("DISPLAY") == "" {
		return ErrNoDisplay
	}
	return nil
}
