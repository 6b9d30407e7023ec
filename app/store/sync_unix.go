//go:build !windows

package store

// retryBusy calls do once: on Unix an open file can be renamed and removed.
func retryBusy(do func() error) error { return do() }
