//go:build !race && !headless

package window

// checksCalls: Fyne reports calls that are not made on its goroutine.
const checksCalls = false
