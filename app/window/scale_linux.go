//go:build !headless

package window

import (
	"os"
	"strconv"
)

const (
	normalDPI = 96
	// leastScale is the smallest scale of a desktop that the window uses. A smaller scale means that the desktop has its
	// normal size, or that no scale is set; Fyne's own calculation from the size of the screen then applies.
	leastScale = 1.25
	scaleKey   = "FYNE_SCALE"
	detectKey  = "FYNE_DISABLE_DPI_DETECTION"
)

// followScale sets Fyne's scale to the scale of the desktop: Fyne 2.8.1 looks only at the size of the screen in millimetres. The
// user's own FYNE_SCALE has priority. followScale must be called before Fyne's application is created.
func followScale() {
	scale := readXDesktop().dpi / normalDPI
	if os.Getenv(scaleKey) != "" || os.Getenv(detectKey) != "" || scale < leastScale {
		return
	}
	_ = os.Setenv(scaleKey, strconv.FormatFloat(min(scale, 4), 'f', 2, 64))
	_ = os.Setenv(detectKey, "true")
}
