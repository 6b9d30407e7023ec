//go:build darwin || windows

package proc

// checkRow returns nil when the process identified by id is alive, ErrGone when it is not, and
// another error when that can't be known. It reads the row of its pid.
func (t *Table) checkRow(id Identity) error {
	if id.IsZero() {
		return ErrGone
	}
	p, err := t.Find(id.PID)
	if err == nil && p.Start != id.Start {
		return ErrGone
	}
	return err
}
