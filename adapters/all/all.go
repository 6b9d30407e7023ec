// Package all is the one place that knows every agent's adapter.
package all

import (
	"os"
	"os/user"

	"rollcall/adapters"
	"rollcall/adapters/claudecode"
	"rollcall/adapters/codex"
	"rollcall/proc"
)

// New makes the adapters of every agent that Rollcall knows, in the order in
// which they are shown. They read table, and the agents' folders of the user
// whose home folder is home, or else of the user who runs this. Nothing is read
// yet.
func New(table proc.Lister, home ...string) []adapters.Adapter {
	dir := ""
	if len(home) > 0 {
		dir = home[0]
	}
	if dir == "" {
		dir = userHome()
	}
	return []adapters.Adapter{
		claudecode.New(claudecode.Config{Home: dir, Table: table}),
		codex.New(codex.Config{Home: dir, Table: table}),
	}
}

// userHome is the user's home folder, also where HOME isn't set, as in cron and
// in some services.
func userHome() string {
	if dir, err := os.UserHomeDir(); err == nil {
		return dir
	}
	if u, err := user.Current(); err == nil {
		return u.HomeDir
	}
	return ""
}
