//go:build !linux

package proc

// Surroundings returns nil: only Linux gives processes a network or mounts of their own.
func Surroundings() map[string]string { return nil }
