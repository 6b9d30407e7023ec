//go:build !linux && !darwin

package proc

// Terminal returns ErrUnsupported: processes have no controlling terminal here, or it is not known.
func (t *Table) Terminal(Identity) (string, error) { return "", ErrUnsupported }
