package agentproc

import (
	"fmt"
	"path/filepath"

	"rollcall/adapters"
)

// UseHome sets the variable that makes a command use a home of its agent. It sets nothing for an empty home, nor for own, the home that the environment of
// this process names. folder is empty where the variable names the home itself, and otherwise the name that every home has in the folder that the variable names.
func UseHome(c *adapters.Command, home, own, variable, folder string) error {
	if home == "" || RealPath(home) == RealPath(own) {
		return nil
	}
	if folder != "" {
		if filepath.Base(home) != folder {
			return fmt.Errorf("%s is no home of this agent: its homes are folders with the name %q", home, folder)
		}
		home = filepath.Dir(home)
	}
	c.Set = append(c.Set, variable+"="+home)
	return nil
}
