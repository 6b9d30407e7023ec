//go:build !headless && !linux

package window

// followScale does nothing: Fyne follows the scale of these systems by itself.
func followScale() {}
