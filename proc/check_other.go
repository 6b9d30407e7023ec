//go:build !linux && !windows

package proc

// check returns nil when the process identified by id is alive, ErrGone when it is not,
// and another error when that can't be known.
func (t *Table) check(id Identity) error {
	if id.IsZero() {
		return ErrGone
	}
	p, err := t.Find(id.PID)
	if err != nil {
		return err
	}
	if p.Start != id.Start {
		return ErrGone
	}
	return nil
}
