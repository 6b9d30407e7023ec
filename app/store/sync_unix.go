//go:build !windows

package store

// retryBusy calls do once, since on Unix a file can be renamed and removed while it is
// open.
func retryBusy(do func() error) error { return do() }
