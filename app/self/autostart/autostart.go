// Package autostart makes the system start Rollcall's tray or its keeper when the user logs in, and undoes that: with a
// file of the XDG autostart specification or a systemd user unit, with a LaunchAgent on macOS, with a value of the user's
// Run key on Windows. It never changes an entry that was edited by hand.
package autostart

import (
	"errors"
	"fmt"
	"os"

	"rollcall/app/self/executable"
)

// Entry is what the system can start at login.
type Entry int

// The entries. Tray starts the tray, Keeper the keeper, also where there is no desktop.
var (
	Tray   Entry = 0
	Keeper Entry = 1
)

// String returns the entry's name in a sentence.
func (e Entry) String() string {
	if e == Keeper {
		return "the keeper"
	}
	return "the tray"
}

// Change is what On wrote, or Off removed.
type Change struct {
	Paths []string // files, or a value of the Windows registry
	Hint  string   // what the user may want to do now, as a sentence
}

// State is what the system does at login.
type State struct {
	On      bool     `json:"on"`                // the entry exists, and is not turned off
	Paths   []string `json:"paths,omitempty"`   // that exist
	Program string   `json:"program,omitempty"` // that is started; empty: not known
	// Problem describes why the entry starts nothing useful although it exists, as a sentence without a full stop.
	Problem string `json:"problem,omitempty"`
}

// EditedError reports an entry that was changed by hand, which Rollcall does not replace or remove.
type EditedError struct{ Path string }

func (e *EditedError) Error() string {
	return fmt.Sprintf("%s was changed by hand, or is not Rollcall's: it is left as it is. Move it away, then try again", e.Path)
}

// On makes the system start the entry at login. It returns the paths that now exist. The program's path is one that
// survives an update. An entry that another copy of Rollcall wrote is replaced; one that was edited by hand is an *EditedError.
func (e Entry) On() (Change, error) {
	program, err := executable.StablePath()
	if err == nil {
		err = executable.CheckPermanent(program)
	}
	if err == nil {
		var c Change
		c, err = e.on(program)
		if err == nil {
			return c, nil
		}
	}
	return Change{}, fmt.Errorf("start %s at login: %w", e, plain(err))
}

// Off undoes On. Nothing to undo is no error. An entry that was edited by hand is an *EditedError.
func (e Entry) Off() (Change, error) {
	c, err := e.off()
	if err != nil {
		err = fmt.Errorf("stop starting %s at login: %w", e, plain(err))
	}
	return c, err
}

// State returns what the system does at login.
func (e Entry) State() (State, error) {
	s, err := e.state()
	if err != nil {
		return s, fmt.Errorf("check whether %s starts at login: %w", e, plain(err))
	}
	if s.On && s.Problem == "" && s.Program != "" {
		if _, err := os.Stat(s.Program); err != nil {
			s.Problem = fmt.Sprintf("the program that it starts, %s, cannot be found; run rollcall autostart on to start this program instead", s.Program)
		}
	}
	return s, nil
}

// plain removes the name of the system call from an error.
func plain(err error) error {
	if path, ok := errors.AsType[*os.PathError](err); ok {
		return fmt.Errorf("%s: %w", path.Path, path.Err)
	}
	if link, ok := errors.AsType[*os.LinkError](err); ok {
		return fmt.Errorf("%s: %w", link.New, link.Err)
	}
	return err
}
