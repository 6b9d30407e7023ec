package store

import (
	"errors"
	"fmt"
	"path/filepath"
	"syscall"
)

// ErrNotWritten is wrapped by the errors of methods that change a folder. The change was not made and may be tried
// again.
var ErrNotWritten = errors.New("not written")

// ErrNoFolder is the error for a Rollcall without a folder in which it can store launches, locks and timers.
var ErrNoFolder = errors.New("there is no folder for Rollcall's own files; check that your home folder is set, and start Rollcall again")

type notWritten struct{ err error }

func (e *notWritten) Error() string { return e.err.Error() }

func (e *notWritten) Unwrap() []error { return []error{e.err, ErrNotWritten} }

// DamagedError reports a file that could not be understood, and its new place.
type DamagedError struct {
	Path  string
	Aside string // new path; empty: the file could not be moved
	Err   error
}

func (e *DamagedError) Error() string {
	if e.Aside == "" {
		return fmt.Sprintf("%s is damaged: %v (remove the file)", e.Path, e.Err)
	}
	return fmt.Sprintf("%s was damaged: %v (set aside as %s)", e.Path, e.Err, filepath.Base(e.Aside))
}

func (e *DamagedError) Unwrap() error { return e.Err }

// ErrNewer is returned for a file of a newer version of Rollcall. This version leaves the file alone, since rewriting it
// would lose the fields that it does not know.
var ErrNewer = errors.New("written by a newer Rollcall; update this one")

// cause returns the error of the system within err, without paths.
func cause(err error) error {
	if errno, ok := errors.AsType[syscall.Errno](err); ok {
		return errno
	}
	return err
}

// errReplaced is returned for a damaged file that another file has replaced.
var errReplaced = errors.New("replaced")

// errForeign is returned for a file that Rollcall cannot have written.
var errForeign = errors.New("not a file that Rollcall writes")
