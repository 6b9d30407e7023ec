package adapters

import (
	"errors"
	"fmt"
	"io/fs"
)

// The ways in which an adapter can fail to answer. They are told apart with
// errors.Is; none of them is an empty list.
var (
	// ErrAbsent: the agent isn't installed here, neither its folder nor a
	// process of it exists.
	ErrAbsent = errors.New("not installed")
	// ErrUnreadable: something is there, and could not be read.
	ErrUnreadable = errors.New("unreadable")
	// ErrFormat: it was read, and has a form that this version of Rollcall
	// does not know.
	ErrFormat = errors.New("format not recognised")
	// ErrTimeout: no answer in time.
	ErrTimeout = errors.New("no answer")
)

// Problem is one thing that kept an adapter from a full answer.
type Problem struct {
	Kind error  // ErrUnreadable, ErrFormat or ErrTimeout
	Path string // the file, folder or socket
	Err  error  // the cause; may be nil
	Fix  string // what the user can do about it; may be empty
}

// Error names the file, the cause and what to do, in one line.
func (p *Problem) Error() string {
	s := p.Path + ": " + p.Kind.Error()
	if p.Err != nil {
		s += ": " + cause(p.Err)
	}
	if p.Fix != "" {
		s += " (" + p.Fix + ")"
	}
	return s
}

// Unwrap lets errors.Is see the kind as well as the cause.
func (p *Problem) Unwrap() []error {
	if p.Err == nil {
		return []error{p.Kind}
	}
	return []error{p.Kind, p.Err}
}

// Unreadable makes the Problem for a failed read of path.
func Unreadable(path string, err error) *Problem {
	p := &Problem{Kind: ErrUnreadable, Path: path, Err: err}
	if errors.Is(err, fs.ErrPermission) {
		p.Fix = "give your user read permission on it"
	}
	return p
}

// Unrecognised makes the Problem for a file whose form is not known.
func Unrecognised(path, format string, args ...any) *Problem {
	return &Problem{Kind: ErrFormat, Path: path, Err: fmt.Errorf(format, args...),
		Fix: "a newer Rollcall may know it"}
}

// cause drops the path that fs errors repeat.
func cause(err error) string {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err.Error()
	}
	return err.Error()
}

// Problems flattens what Discover returned into its single problems. Errors
// that are no *Problem are returned as they are.
func Problems(err error) []error {
	if err == nil {
		return nil
	}
	if _, ok := err.(*Problem); ok { //nolint:errorlint // the tree itself is walked here
		return []error{err}
	}
	if j, ok := err.(interface{ Unwrap() []error }); ok {
		var out []error
		for _, e := range j.Unwrap() {
			out = append(out, Problems(e)...)
		}
		return out
	}
	return []error{err}
}
