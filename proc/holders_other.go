//go:build !windows

package proc

// Holders implements Lister.
func (t *Table) Holders(string) ([]Identity, error) { return nil, ErrUnsupported }
