package keep

import (
	"errors"
	"fmt"
	"io/fs"

	"golang.org/x/sys/windows/registry"
)

// The value in the registry that starts the keeper when the user logs in.
const (
	runKey   = `Software\Microsoft\Windows\CurrentVersion\Run`
	runValue = "Rollcall keeper"
)

// Install makes the system start the keeper when the user logs in, with a value of the user's Run key.
func Install() (i Installation, err error) {
	program, err := programPath()
	if err != nil {
		return i, err
	}
	key, _, err := registry.CreateKey(registry.CURRENT_USER, runKey, registry.SET_VALUE)
	if err != nil {
		return i, fmt.Errorf("start the keeper at login: %w", err)
	}
	defer func() { _ = key.Close() }()
	if err := key.SetStringValue(runValue, `"`+program+`" keep --start`); err != nil {
		return i, fmt.Errorf("start the keeper at login: %w", err)
	}
	i.Paths = []string{`HKEY_CURRENT_USER\` + runKey + `\` + runValue}
	return i, nil
}

// Installed reports whether the keeper is started at login.
func Installed() bool {
	key, err := registry.OpenKey(registry.CURRENT_USER, runKey, registry.QUERY_VALUE)
	if err != nil {
		return false
	}
	defer func() { _ = key.Close() }()
	_, _, err = key.GetStringValue(runValue)
	return err == nil
}

// Uninstall undoes Install.
func Uninstall() (i Installation, err error) {
	key, err := registry.OpenKey(registry.CURRENT_USER, runKey, registry.SET_VALUE)
	if errors.Is(err, fs.ErrNotExist) {
		return i, nil
	}
	if err != nil {
		return i, fmt.Errorf("stop starting the keeper at login: %w", err)
	}
	defer func() { _ = key.Close() }()
	switch err := key.DeleteValue(runValue); {
	case errors.Is(err, fs.ErrNotExist):
		return i, nil
	case err != nil:
		return i, fmt.Errorf("stop starting the keeper at login: %w", err)
	}
	i.Paths = []string{`HKEY_CURRENT_USER\` + runKey + `\` + runValue}
	return i, nil
}
