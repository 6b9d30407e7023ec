//go:build !faults

// Package fault marks points at which tests kill the process. Points do nothing in the normal build. In a build with the
// tag "faults" the process kills itself, as if by kill -9, at the point that the variable ROLLCALL_FAULT names.
package fault

// Point does nothing in this build.
func Point(string) {}
