//go:build !headless && x11 && unix && !darwin

package window

import "os"

// checkDisplay returns ErrNoDisplay if there is no display: Fyne would panic. This build supports only X11; under
// Wayland that is Xwayland, which sets DISPLAY.
func checkDisplay() error {
	if os.Getenv("DISPLAY") == "" {
		return ErrNoDisplay
	}
	return nil
}
