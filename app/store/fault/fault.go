//go:build !faults

// Package fault marks points at which tests kill the process. Points do nothing in the normal build. In a build with the
// tag "faults" the process kills itself, as if by kill -9, at the point that the variable ROLLCALL_FAULT names.
package fault

import "time"

// Point does nothing in this build.
func Point(string) {}

// Now returns the time.
func Now() time.Time { return time.Now() }

// Wait returns normal. In a build with the tag "faults" it returns the duration that the variable ROLLCALL_WAIT has.
func Wait(normal time.Duration) time.Duration { return normal }
