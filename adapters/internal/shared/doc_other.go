//go:build !windows

// Package shared opens files of other programs on Windows. Elsewhere an open file
// is in nobody's way, and os.OpenFile does.
package shared
