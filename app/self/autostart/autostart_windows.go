package autostart

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/windows/registry"
)

// The keys of the user's registry for what starts at login. The second has what the user turned off in the task manager.
const (
	runKey      = `Software\Microsoft\Windows\CurrentVersion\Run`
	approvedKey = `Software\Microsoft\Windows\CurrentVersion\Explorer\StartupApproved\Run`
)

// value returns the name of the entry's value in the Run key, and the arguments of its program.
func (e Entry) value() (name, arguments string) {
	if e == Keeper {
		return "Rollcall keeper", " keep --start"
	}
	return "Rollcall", ""
}

func (e Entry) path() string {
	name, _ := e.value()
	return `HKEY_CURRENT_USER\` + runKey + `\` + name
}

// read returns the program that the entry starts. edited reports that it is not as On writes it.
func (e Entry) read() (program string, exists, edited bool, err error) {
	key, err := registry.OpenKey(registry.CURRENT_USER, runKey, registry.QUERY_VALUE)
	if errors.Is(err, fs.ErrNotExist) {
		return "", false, false, nil
	}
	if err != nil {
		return "", false, false, err
	}
	defer func() { _ = key.Close() }()
	name, arguments := e.value()
	text, _, err := key.GetStringValue(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", false, false, nil
	case errors.Is(err, registry.ErrUnexpectedType):
		return "", true, true, nil
	case err != nil:
		return "", false, false, err
	}
	quoted, ok := strings.CutSuffix(text, arguments)
	program = strings.Trim(quoted, `"`)
	return program, true, !ok || quoted != `"`+program+`"` || strings.Contains(program, `"`), nil
}

// withoutConsole returns the desktop program beside the console program, if there is one: at login no console may appear.
func withoutConsole(program string) string {
	if ext := filepath.Ext(program); strings.EqualFold(ext, ".com") {
		desktop := strings.TrimSuffix(program, ext) + ".exe"
		if _, err := os.Stat(desktop); err == nil {
			return desktop
		}
	}
	return program
}

func (e Entry) on(program string) (c Change, err error) {
	program = withoutConsole(program)
	_, _, edited, err := e.read()
	if err != nil {
		return c, err
	}
	if edited {
		return c, &EditedError{e.path()}
	}
	key, _, err := registry.CreateKey(registry.CURRENT_USER, runKey, registry.SET_VALUE)
	if err != nil {
		return c, err
	}
	defer func() { _ = key.Close() }()
	name, arguments := e.value()
	if err := key.SetStringValue(name, `"`+program+`"`+arguments); err != nil {
		return c, err
	}
	if err := deleteValue(approvedKey, name); err != nil {
		return c, err
	}
	return Change{Paths: []string{e.path()}}, nil
}

func (e Entry) off() (c Change, err error) {
	_, exists, edited, err := e.read()
	switch {
	case err != nil || !exists:
		return c, err
	case edited:
		return c, &EditedError{e.path()}
	}
	name, _ := e.value()
	if err := errors.Join(deleteValue(runKey, name), deleteValue(approvedKey, name)); err != nil {
		return c, err
	}
	return Change{Paths: []string{e.path()}}, nil
}

// deleteValue deletes a value of the user's registry, if it exists.
func deleteValue(path, name string) error {
	key, err := registry.OpenKey(registry.CURRENT_USER, path, registry.SET_VALUE)
	if err == nil {
		defer func() { _ = key.Close() }()
		err = key.DeleteValue(name)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

func (e Entry) state() (s State, err error) {
	program, exists, edited, err := e.read()
	if err != nil || !exists {
		return s, err
	}
	s = State{On: true, Paths: []string{e.path()}, Program: program}
	if edited {
		s.Program, s.Problem = "", (&EditedError{e.path()}).Error()
	}
	if e.turnedOff() {
		s.On, s.Problem = false, "the task manager turned it off"
	}
	return s, nil
}

// turnedOff reports whether the user turned the entry off in the task manager: the first byte of the value is odd then.
func (e Entry) turnedOff() bool {
	key, err := registry.OpenKey(registry.CURRENT_USER, approvedKey, registry.QUERY_VALUE)
	if err != nil {
		return false
	}
	defer func() { _ = key.Close() }()
	name, _ := e.value()
	data, _, err := key.GetBinaryValue(name)
	return err == nil && len(data) > 0 && data[0]&1 == 1
}
