// Package quiet stores the state of do not disturb: whether it is on, and until when. The state is in a file, so that it
// survives the tray's end and every process of Rollcall sees it.
package quiet

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"rollcall/app/store"
)

// name is the name of the value.
const name = "do-not-disturb"

// State is the state of do not disturb. The zero value is off.
type State struct {
	On    bool      `json:"on"`
	Since time.Time `json:"since"`
	Until time.Time `json:"until,omitzero"` // zero: until it is turned off
}

// Active reports whether the user must not be disturbed at the time now.
func (s State) Active(now time.Time) bool {
	return s.On && (s.Until.IsZero() || now.Before(s.Until))
}

// Quiet is the state on disk. Its methods are safe for concurrent use by any process.
type Quiet struct{ folder store.Folder }

// In returns the state in Rollcall's state folder.
func In(state string) *Quiet { return &Quiet{store.Below(state, store.Quiet)} }

// Get returns the state. With an error, it returns the state off.
func (q *Quiet) Get() (State, error) {
	var s State
	err := q.folder.Read(name, &s)
	if errors.Is(err, fs.ErrNotExist) {
		return State{}, nil
	}
	if err != nil {
		return State{}, fmt.Errorf("do not disturb: %w", err)
	}
	return s, nil
}

// On turns do not disturb on, until a time or, if the time is zero, until it is turned off.
func (q *Quiet) On(now, until time.Time) (State, error) {
	s := State{On: true, Since: now, Until: until}
	if !until.IsZero() && !until.After(now) {
		return State{}, fmt.Errorf("do not disturb: %s has already passed: choose a later time", until.Format(time.DateTime))
	}
	if err := q.folder.Write(name, s); err != nil {
		return State{}, fmt.Errorf("do not disturb: %w", err)
	}
	return s, nil
}

// Off turns do not disturb off.
func (q *Quiet) Off() error {
	if err := q.folder.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("do not disturb: %w", err)
	}
	return nil
}

// Changes returns a channel that receives when a process has changed the state, until ctx is done. See store.Folder.
func (q *Quiet) Changes(ctx context.Context) (<-chan struct{}, error) { return q.folder.Changes(ctx) }

// tomorrow is the hour at which do not disturb "until tomorrow" ends.
const tomorrow = 8

// Tomorrow returns the morning of the day after now.
func Tomorrow(now time.Time) time.Time {
	return time.Date(now.Year(), now.Month(), now.Day()+1, tomorrow, 0, 0, 0, now.Location())
}

// ParseUntil returns the next moment at which the clock shows text, such as "18:00", or the moment of a date and time,
// such as "2026-11-24 09:00".
func ParseUntil(text string, now time.Time) (time.Time, error) {
	if t, err := time.ParseInLocation("2006-01-02 15:04", text, now.Location()); err == nil {
		return t, nil
	}
	clock, err := time.Parse("15:04", text)
	if err != nil {
		return time.Time{}, fmt.Errorf("%q is not a time: use for example 18:00, or \"2026-11-24 09:00\"", text)
	}
	at := time.Date(now.Year(), now.Month(), now.Day(), clock.Hour(), clock.Minute(), 0, 0, now.Location())
	if !at.After(now) {
		at = time.Date(now.Year(), now.Month(), now.Day()+1, clock.Hour(), clock.Minute(), 0, 0, now.Location())
	}
	return at, nil
}
