//go:build unix

package cli

// attachConsole does nothing: the program writes to the terminal that started it.
func attachConsole() {}

// enableColor reports whether a terminal can show colours.
func enableColor(int) bool { return true }
