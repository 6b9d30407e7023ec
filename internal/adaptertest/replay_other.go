//go:build !linux

package adaptertest

import "testing"

// Replay skips the test: recordings are of Linux, and so is their /proc.
func Replay(t testing.TB, _ string) *Recording {
	t.Helper()
	t.Skip("recordings replay on Linux only")
	return nil
}
