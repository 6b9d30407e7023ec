//go:build !linux

package proc

import "errors"

// detail runs read and then makes sure that it was that very process that was
// read: one that lives now has had its pid ever since it began.
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
