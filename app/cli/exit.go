package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"rollcall/app"
	"rollcall/app/owned/launch"
	"rollcall/app/store/lock"
)

// The exit codes. Codes will be added; an unknown one is a failure.
const (
	Done        = 0
	Failure     = 1
	Usage       = 2 // wrong usage; also an id that fits several sessions
	Incomplete  = 3 // the answer lacks something that could not be read; of agents only with --strict
	NoSession   = 4
	NotFound    = 5  // search: everything was searched, and nothing was found
	Locked      = 10 // the folder is locked, or in use
	AgentFailed = 11 // launch --wait or --follow: the agent ended with another exit code than 0, or by a signal
	AgentUnseen = 12 // launch --wait or --follow: the agent ended, and its exit code is not known
	// Unanswered: the request has changed, was answered elsewhere or has expired; or it may not be answered, or only in its terminal.
	Unanswered  = 13
	Unconfirmed = 14 // an answer was sent, and the session did not continue within 2 s
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

// incomplete writes what a command has printed, and returns the error for an answer that lacks something. why may be nil, where it was printed before.
func (e *env) incomplete(why error) error {
	return cmp.Or(e.flush(), error(&exitError{Incomplete, why}))
}

// someFailed returns an error with the number of things for which an action failed; nil: for none.
func someFailed(failed, all int, thing, what string) error {
	if failed == 0 {
		return nil
	}
	return fmt.Errorf("%d of %s %s", failed, plural(all, thing), what)
}

// folderError adds the exit code Locked to the error of a folder that is locked or in
// use. It returns other errors as they are.
func folderError(err error) error {
	_, locked := errors.AsType[*lock.HeldError](err)
	if _, occupied := errors.AsType[*launch.OccupiedError](err); locked || occupied {
		return &exitError{Locked, err}
	}
	return err
}

// sessionError adds a session's id and an exit code to err, the error of an action on the session. It returns the context's error if
// the command was interrupted.
func (e *env) sessionError(code int, s *app.Session, err error) error {
	if e.ctx.Err() != nil {
		return e.ctx.Err()
	}
	if errors.Is(err, app.ErrNoSession) {
		code = NoSession
	}
	return &exitError{code, fmt.Errorf("%s: %w", s.ID, err)}
}

// exitCode returns the exit code of a run that ended with err, and prints err.
func (e *env) exitCode(err error) int {
	known, ok := errors.AsType[*exitError](err)
	switch {
	case err == nil:
		return Done
	case errors.Is(err, context.Canceled) && e.ctx.Err() != nil:
		return Interrupted
	case ok:
		if known.err != nil {
			e.warn(known.Error())
		}
		return known.code
	}
	e.warn(err.Error())
	return Failure
}

const (
	// endGrace is the time that an interrupted command has to end by itself: a read from a file system that does not
	// answer never returns.
	endGrace = 300 * time.Millisecond
	// undoGrace is the same time for a command that undoes unfinished changes.
	undoGrace = 90 * time.Second
)

// undoing lists the commands that undo unfinished changes, or end their parts in a certain order.
var undoing = []string{"rollcall", "rollcall window", "rollcall keep", "rollcall launch", "rollcall resume", "rollcall worktree clean", "rollcall prune"}

// leaveWhenInterrupted ends the program when the command does not end soon after
// its context. The caller calls stop once the command has returned.
func (e *env) leaveWhenInterrupted() (stop func()) {
	returned := make(chan struct{})
	go func() {
		select {
		case <-returned:
			return
		case <-e.ctx.Done():
		}
		grace := endGrace
		if e.undoes.Load() {
			grace = undoGrace
		}
		select {
		case <-returned:
		case <-time.After(grace):
			e.deps.Leave(Interrupted)
		}
	}()
	return func() { close(returned) }
}
