package pirust

import (
	"rollcall/adapters"
	"rollcall/adapters/internal/pistore"
)

// Program implements adapters.Launcher.
func (a *Adapter) Program(look func(string) (string, error)) (string, error) {
	path, err := pistore.Program(true, look, "pi")
	if err != nil {
		return "", &adapters.NotInstalledError{Program: "pi (pi_agent_rust)", Install: description.Install}
	}
	return path, nil
}

// Modes implements adapters.Launcher: pi_agent_rust has none.
func (a *Adapter) Modes() []adapters.Mode { return nil }

// Command implements adapters.Launcher, according to the documentation of
// pi_agent_rust.
func (a *Adapter) Command(program string, t adapters.Task) (adapters.Command, error) {
	return pistore.Launch(program, t)
}
