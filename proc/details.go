package proc

import "errors"

// Alive implements Lister. If the table can't be read, for any reason but that the process has
// ended, Alive returns true: a process that may be alive is never reported as dead. An identity
// without Boot, such as one from an agent's own record of pid and start time, is taken to be of
// this boot.
func (t *Table) Alive(id Identity) bool { return !errors.Is(t.check(id), ErrGone) }

// detail returns what read returns, or ErrGone if the process is not alive afterwards.
// A process that is alive then has had its pid since it began, so the values that were
// read belong to that process.
func detail[T any](t *Table, id Identity, read func() (T, error)) (T, error) {
	var none T
	if id.IsZero() {
		return none, ErrGone
	}
	value, err := read()
	if errors.Is(t.check(id), ErrGone) {
		return none, ErrGone
	}
	if err != nil {
		return none, err
	}
	return value, nil
}
