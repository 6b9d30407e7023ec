package cli

import (
	"github.com/spf13/cobra"

	"rollcall/app/present"
	"rollcall/app/self/autostart"
)

// autostartJSON is the JSON document of autostart status. Empty fields are left out.
type autostartJSON struct {
	Schema  int      `json:"schema"`
	On      bool     `json:"on"`
	Paths   []string `json:"paths,omitempty"`
	Program string   `json:"program,omitempty"`
	Problem string   `json:"problem,omitempty"`
}

func newAutostart(e *env) *cobra.Command {
	on := &cobra.Command{
		Use: "on", Short: "Start the tray at login", Args: noArgs,
		RunE: func(*cobra.Command, []string) error {
			if e.deps.Tray == nil {
				return usageError("this build has no tray; rollcall keep --install starts the keeper at login")
			}
			return e.autostartChanged("wrote", autostart.Tray.On)
		},
	}
	off := &cobra.Command{
		Use: "off", Short: "Don't start the tray at login any more", Args: noArgs,
		RunE: func(*cobra.Command, []string) error { return e.autostartChanged("removed", autostart.Tray.Off) },
	}
	var asJSON bool
	status := &cobra.Command{
		Use: "status", Short: "Show whether the tray starts at login", Args: noArgs,
		RunE: func(*cobra.Command, []string) error { return e.autostartStatus(asJSON) },
	}
	jsonFlag(status, &asJSON)
	return newGroup("autostart", "Choose whether the tray starts when you log in", `Start the tray when you log in. It starts only if you ask for it here. The file or
registry value for it is shown, survives updates of the program, and is
removed by off. A file or value that was changed by hand stays as it is.

rollcall keep --install does the same for the keeper, on servers.`, on, off, status)
}

// autostartChanged calls change, which changes what starts at login, and prints the paths that it changed.
func (e *env) autostartChanged(verb string, change func() (autostart.Change, error)) error {
	c, err := change()
	e.printPaths(verb, c.Paths)
	if err == nil && len(c.Paths) == 0 {
		e.printf("the tray was not started at login\n")
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
		return e.json(autostartJSON{Schema: schema, On: s.On, Paths: s.Paths, Program: s.Program, Problem: s.Problem})
	}
	e.printf("%s\n", ifelse(s.On, "on", "off"))
	for _, p := range s.Paths {
		e.printf("file: %s\n", e.path(p))
	}
	if s.Program != "" {
		e.printf("program: %s\n", e.path(s.Program))
	}
	if s.Problem != "" {
		e.printf("problem: %s\n", present.Line(s.Problem))
	}
	return nil
}
