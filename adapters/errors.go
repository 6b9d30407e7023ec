package adapters

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"

	"rollcall/adapters/internal/agentfile"
)

// The ways in which an adapter can fail to answer. Callers distinguish them with
// errors.Is. None of them is the same as an empty list.
var (
	// ErrAbsent reports that the agent isn't installed here: neither its folder nor a
	// process of it exists.
	ErrAbsent = errors.New("not installed")
	// ErrUnreadable reports that something exists and could not be read.
	ErrUnreadable = errors.New("unreadable")
	// ErrFormat reports that something was read and has a form that this version of
	// Rollcall does not know.
	ErrFormat = errors.New("format not recognised")
	// ErrTimeout reports that there was no answer within the time limit.
	ErrTimeout = errors.New("no answer")
)

// Problem is one thing that kept an adapter from a full answer.
type Problem struct {
	Kind error  // ErrUnreadable, ErrFormat or ErrTimeout
	Path string // the file, folder or socket
	Err  error  // the cause; may be nil
	Fix  string // what the user can do about it; may be empty
}

// Error returns the file, the cause and what to do, in one line.
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

// Unwrap returns the kind and the cause, so that errors.Is finds both.
func (p *Problem) Unwrap() []error {
	if p.Err == nil {
		return []error{p.Kind}
	}
	return []error{p.Kind, p.Err}
}

// Unreadable returns the Problem for a failed read of path. If err names a file next to
// or below path, such as the log of a database, or what is in the place of a folder, the Problem names that file.
func Unreadable(path string, err error) *Problem {
	if errors.Is(err, syscall.ENOTDIR) {
		err = cmp.Or(agentfile.CheckFolder(path), err)
	}
	var pe *fs.PathError
	if errors.As(err, &pe) && (strings.HasPrefix(pe.Path, path) || errors.Is(err, agentfile.ErrNotFolder)) {
		path = pe.Path
	}
	p := &Problem{Kind: ErrUnreadable, Path: path, Err: err}
	switch {
	case errors.Is(err, fs.ErrPermission):
		p.Fix = "give your user read permission on it"
	case errors.Is(err, agentfile.ErrNotRegular):
		p.Fix = "move it away: the agent has a file of this name"
	case errors.Is(err, agentfile.ErrNotFolder):
		p.Fix = "move it away: the agent has a folder of this name"
	case errors.Is(err, syscall.ELOOP):
		p.Fix = "remove the symbolic link, which leads to itself"
	}
	return p
}

// AsProblem returns the Problem for a failed read of path, or err itself if err is a Problem
// already. A read that was cut short by the end of a context is a timeout.
func AsProblem(path string, err error) *Problem {
	var p *Problem
	switch {
	case errors.As(err, &p):
		return p
	case IsOutOfTime(err):
		return &Problem{Kind: ErrTimeout, Path: path, Err: err}
	}
	return Unreadable(path, err)
}

// IsOutOfTime reports whether a read ended because its context did.
func IsOutOfTime(err error) bool {
	return errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled)
}

// Unresponsive returns the Problem for a folder on a file system that does not answer.
func Unresponsive(path string) *Problem {
	return &Problem{Kind: ErrTimeout, Path: path, Fix: "is a network folder or an external disk disconnected?"}
}

// Unrecognised returns the Problem for a file whose form is not known.
func Unrecognised(path, format string, args ...any) *Problem {
	return &Problem{Kind: ErrFormat, Path: path, Err: fmt.Errorf(format, args...),
		Fix: "a newer version of Rollcall may recognise it"}
}

// cause drops the path that fs errors repeat.
func cause(err error) string {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err.Error()
	}
	return err.Error()
}

// Problems returns the single problems in an error of Discover. Errors that are no
// *Problem are returned as they are.
func Problems(err error) []error {
	_, single := err.(*Problem) //nolint:errorlint // the tree itself is walked here
	several, ok := err.(interface{ Unwrap() []error })
	switch {
	case err == nil:
		return nil
	case single || !ok:
		return []error{err}
	}
	var out []error
	for _, e := range several.Unwrap() {
		out = append(out, Problems(e)...)
	}
	return out
}
