//go:build !headless && !x11 && unix && !darwin

package window

import "os"

// checkDisplay is asked first because Fyne panics without a display.
func checkDisplay() error {
	if os.Getenv("DISPLAY") == "" && os.Getenv("WAYLAND_DISPLAY") == "" {
		return ErrNoDisplay
	}
	return nil
}
