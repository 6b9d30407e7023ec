//go:build !linux && !windows

package proc

import "errors"

// Alive implements Lister. Where the table can't be read for a reason other than
// the process's absence, the answer is true: nothing is called dead that may live.
func (t *Table) Alive(id Identity) bool { return !errors.Is(t.check(id), ErrGone) }

// check returns nil when that very process lives, ErrGone when it doesn't, and
// another error when that can't be told.
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
