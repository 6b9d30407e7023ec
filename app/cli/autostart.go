package cli

import (
	"github.com/spf13/cobra"

	"rollcall/app/present"
	"rollcall/app/self/autostart"
)

// autostartJSON is the JSON document of autostart status. Empty fields are left out.
type autostartJSON struct {
	Schema int `json:"schema"`
	autostart.State
}

func newAutostart(e *env) *cobra.Command {
	on := &cobra.Command{
		Use: "on", Short: "Start the tray at login", Args: noArgs,
		RunE: func(*cobra.Command, []string) error {
			if e.deps.Tray == nil {
				return usageError("this build has no tray; rollcall keep --install starts the keeper at login")
			}
			return e.changeAutostart(autostart.Tray, "wrote", autostart.Entry.On)
		},
	}
	off := &cobra.Command{
		Use: "off", Short: "Don't start the tray at login any more", Args: noArgs,
		RunE: func(*cobra.Command, []string) error {
			return e.changeAutostart(autostart.Tray, "removed", autostart.Entry.Off)
		},
	}
	var asJSON bool
	status := command(&cobra.Command{
		Use: "status", Short: "Show whether the tray starts at login", Args: noArgs,
		RunE: func(*cobra.Command, []string) error { return e.autostartStatus(asJSON) },
	}, jsonFlag(&asJSON))
	return newGroup("autostart", "Choose whether the tray starts when you log in", `Start the tray when you log in. It starts only if you ask for it here. The file or
registry value for it is shown, survives updates of the program, and is
removed by off. A file or value that was changed by hand stays as it is.

rollcall keep --install does the same for the keeper, on servers.`, on, off, status)
}

// changeAutostart calls change, which changes whether an entry starts at login, and prints what it changed.
func (e *env) changeAutostart(entry autostart.Entry, verb string, change func(autostart.Entry) (autostart.Change, error)) error {
	c, err := change(entry)
	e.printPaths(verb, c.Paths)
	switch {
	case err != nil:
	case len(c.Paths) == 0:
		e.printf("%s was not started at login\n", entry)
	case c.Hint != "":
		e.printf("%s\n", c.Hint)
	}
	return err
}

// printPaths prints what was done to each path.
func (e *env) printPaths(verb string, paths []string) {
	for _, p := range paths {
		e.printf("%s %s\n", verb, e.path(p))
	}
}

func (e *env) autostartStatus(asJSON bool) error {
	s, err := autostart.Tray.State()
	if err != nil {
		return err
	}
	if asJSON {
		return e.json(autostartJSON{schema, s})
	}
	e.printf("%s\n", ifelse(s.On, "on", "off"))
	for _, p := range s.Paths {
		e.printf("file: %s\n", e.path(p))
	}
	e.printIf(s.Program != "", "program: %s\n", e.path(s.Program))
	e.printIf(s.Problem != "", "problem: %s\n", present.Line(s.Problem))
	return nil
}
