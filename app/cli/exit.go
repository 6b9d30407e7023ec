package cli

import (
	"context"
	"errors"
	"fmt"

	"rollcall/app/launch"
	"rollcall/app/lock"
)

// The exit codes. Codes will be added; an unknown one is a failure.
const (
	Done        = 0
	Failure     = 1
	Usage       = 2 // wrong usage; also an id that fits several sessions
	Incomplete  = 3 // some adapter failed, and --strict was given
	NoSession   = 4
	NotFound    = 5  // search: everything was searched, and nothing was found
	Locked      = 10 // the folder is locked, or in use
	AgentFailed = 11 // launch --wait or --follow: the agent ended with another exit code than 0, or by a signal
	AgentUnseen = 12 // launch --wait or --follow: the agent ended, and its exit code is not known
	// Unanswered: the request changed, was answered elsewhere or has expired, may not be answered, or only in its terminal.
	Unanswered  = 13
	Unconfirmed = 14 // an answer was sent, and the session did not go on within 2 s
	Interrupted = 130
)

// exitError is an error with an exit code. Without err nothing is printed.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string { return e.err.Error() }
func (e *exitError) Unwrap() error { return e.err }

// usageError returns an error for wrong usage.
func usageError(format string, args ...any) error {
	return &exitError{Usage, fmt.Errorf(format, args...)}
}

// folderError adds the exit code Locked to the error of a folder that is locked or in
// use. It returns other errors as they are.
func folderError(err error) error {
	var locked *lock.HeldError
	var occupied *launch.OccupiedError
	if errors.As(err, &locked) || errors.As(err, &occupied) {
		return &exitError{Locked, err}
	}
	return err
}

// exitCode returns the exit code of a run that ended with err, and prints err.
func (e *env) exitCode(err error) int {
	var known *exitError
	switch {
	case err == nil:
		return Done
	case errors.Is(err, context.Canceled) && e.ctx.Err() != nil:
		return Interrupted
	case errors.As(err, &known):
		if known.err != nil {
			e.warn(known.Error())
		}
		return known.code
	}
	e.warn(err.Error())
	return Failure
}
