package claudecode

import "rollcall/adapters"

// Modes implements adapters.Launcher: the values of --permission-mode (2.1.332). Versions before 2.1.329 call the first one "default", which later ones accept as well.
func (a *Adapter) Modes() []adapters.Mode {
	return []adapters.Mode{
		{Name: "manual", Says: "asks before each action"},
		{Name: "default", Says: "asks before each action"},
		{Name: "acceptEdits", Says: "edits files without asking"},
		{Name: "plan", Says: "makes a plan and changes nothing"},
		{Name: "auto", Says: "a model decides what needs your permission"},
		{Name: "dontAsk", Says: "refuses everything that needs permission"},
		{Name: "bypassPermissions", Says: "does everything without asking", Unsafe: true},
	}
}
