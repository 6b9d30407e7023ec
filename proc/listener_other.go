//go:build !linux && !darwin && !windows

package proc

// listeners returns ErrUnsupported.
func listeners(uint16) ([]listener, error) { return nil, ErrUnsupported }
