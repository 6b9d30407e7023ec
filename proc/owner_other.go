//go:build !linux && !darwin

package proc

// UID returns ErrUnsupported: users have no numbers on Windows.
func (t *Table) UID(Identity) (int, error) { return 0, ErrUnsupported }
