//go:build !faults

// Package fault marks the places where a crash would hurt most. In the program
// they do nothing; in a build with the tag "faults" the variable ROLLCALL_FAULT
// names the one at which the process kills itself, as if by kill -9.
package fault

// Point is a place at which a test may let the process die.
func Point(string) {}
