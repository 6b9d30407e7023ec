//go:build !headless && !(unix && !darwin)

package window

// startNoBus does nothing: Fyne starts no session bus here.
func startNoBus() {}
