//go:build !linux

package proc

// Appended implements Details: not known here.
func (t *Table) Appended(Identity, string) ([]int64, error) { return nil, ErrUnsupported }

// Watched implements Details: not known here.
func (t *Table) Watched(Identity) ([]FileID, error) { return nil, ErrUnsupported }
