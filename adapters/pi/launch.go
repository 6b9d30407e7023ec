package pi

import (
	"rollcall/adapters"
	"rollcall/adapters/internal/pistore"
)

// Program implements adapters.Launcher. The installer of pi_agent_rust may have
// renamed Pi to legacy-pi.
func (a *Adapter) Program(look func(string) (string, error)) (string, error) {
	path, err := pistore.Program(false, look, "legacy-pi", "pi")
	if err != nil {
		return "", description.NotInstalled()
	}
	return path, nil
}

// Modes implements adapters.Launcher: Pi never asks for permission.
func (a *Adapter) Modes() []adapters.Mode { return nil }

var _ adapters.Piped = (*Adapter)(nil)

// Talk implements adapters.Piped (1.5.2).
func (a *Adapter) Talk() adapters.Talk { return pistore.NewTalk() }

// Command implements adapters.Launcher (0.73.1 and 1.5.2).
func (a *Adapter) Command(program string, t adapters.Task) (adapters.Command, error) {
	return pistore.Launch(program, t)
}
