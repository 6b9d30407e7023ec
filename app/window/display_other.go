//go:build !headless && !(unix && !darwin)

package window

// startNoBus does nothing: Fyne starts no session bus here.
func startNoBus() {}

// checkDisplay returns nil: macOS and Windows always have a display for the process of a logged-in user.
func checkDisplay() error { return nil }
