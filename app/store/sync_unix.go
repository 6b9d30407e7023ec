//go:build !windows

package store

import "os"

// syncFolder makes a rename durable. Some file systems can't; the file is whole
// all the same.
func syncFolder(path string) {
	if d, err := os.Open(path); err == nil {
		_ = d.Sync()
		_ = d.Close()
	}
}

// patiently does it: here no file is in another's way.
func patiently(do func() error) error { return do() }
