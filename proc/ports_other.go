//go:build !linux

package proc

// Ports returns ErrUnsupported: see the documentation on Linux.
func (t *Table) Ports(Identity) ([]uint16, error) { return nil, ErrUnsupported }
