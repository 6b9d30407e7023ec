//go:build !headless && !x11 && unix && !darwin

package window

import "os"

// checkDisplay returns ErrNoDisplay if there is no display: Fyne would panic.
func checkDisplay() error {
	if os.Getenv("DISPLAY") == "" && os.Getenv("WAYLAND_DISPLAY") == "" {
		return ErrNoDisplay
	}
	return nil
}
