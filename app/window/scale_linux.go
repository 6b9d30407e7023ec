//go:build !headless

package window

import (
	"os"
	"strconv"
)

const (
	normalDPI = 96
	// leastScale is the least scale of a desktop that the window follows. Below it the desktop has its normal size or none is
	// told, and Fyne's own look at the size of the screen counts.
	leastScale = 1.25
	scaleKey   = "FYNE_SCALE"
	detectKey  = "FYNE_DISABLE_DPI_DETECTION"
)

// followScale lets Fyne draw as large as the desktop does: Fyne 2.8.1 looks only at the size of the screen in millimetres. The user's
// own FYNE_SCALE goes before that. It must be called before Fyne's application is made.
func followScale() {
	scale := readXDesktop().dpi / normalDPI
	if os.Getenv(scaleKey) != "" || os.Getenv(detectKey) != "" || scale < leastScale {
		return
	}
	_ = os.Setenv(scaleKey, strconv.FormatFloat(min(scale, 4), 'f', 2, 64))
	_ = os.Setenv(detectKey, "true")
}
