//go:build unix

package main

// attachConsole has nothing to do: a program writes to where it was started.
func attachConsole() {}

// enableColor says whether a terminal understands colours.
func enableColor(int) bool { return true }
