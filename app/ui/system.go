package ui

import (
	"context"
	"errors"
	"os"

	"rollcall/app/control/opener"
	"rollcall/app/settings"
	"rollcall/bounded"
)

// system is the machine that the window runs on. Its methods may take seconds, so they must not be called on Fyne's
// goroutine. They do not wait for a file system that does not answer.
type system interface {
	placeNote(path string) string // see machine.placeNote
	// openTerminal opens a terminal that runs a program with its arguments in folder, and returns the terminal's name.
	openTerminal(folder string, program []string) (string, error)
}

// machine is this machine.
type machine struct {
	live *settings.Live // nil: there are no settings
}

func (m *machine) openTerminal(folder string, program []string) (string, error) {
	var set settings.Settings
	if m.live != nil {
		set, _ = m.live.Get()
	}
	return opener.New(&set).Terminal(folder, program)
}

// placeNote returns a note about a place where an agent's files are read, if something is wrong with it; "" if the place exists.
func (m *machine) placeNote(path string) string {
	_, err := bounded.In(path, bounded.ReadLimit, func(context.Context) (os.FileInfo, error) { return os.Stat(path) })
	switch {
	case errors.Is(err, bounded.ErrNoAnswer):
		return "does not respond"
	case err != nil:
		return "does not exist"
	}
	return ""
}
