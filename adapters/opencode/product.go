package opencode

import (
	"strings"

	"rollcall/adapters"
	"rollcall/adapters/internal/agentproc"
)

// Product is an agent that keeps its sessions as OpenCode does, under names of its own. Its HomeFolder also begins the names of its databases.
type Product struct {
	adapters.Description
	// Programs lists the names of its program, and of links to it.
	Programs []string
	// Variable begins the names of its variables.
	Variable string
	// PasswordSince is the oldest version known to have a server that asks for a password and a
	// terminal interface that sends it, as "v1.2.3"; "": none is known.
	PasswordSince string
}

// Name is the agent's name, on the command line and in JSON.
const Name adapters.Name = "opencode"

var programs = []string{"opencode", "lildax"}

// openCode is OpenCode itself. npm's wrapper of versions up to 1.14 is a Node.js process with its
// name, and never a host. The program beside that wrapper is called ".opencode" (1.2 to 1.14), that of Nix .opencode-wrapped, and
// the preview of OpenCode 2 "lildax".
var openCode = &Product{
	Description: adapters.Register(adapters.Description{
		Name: Name, Title: "OpenCode", Short: "oc", Folders: []string{".opencode", ".config/opencode", ".local/share/opencode", ".local/state/opencode"},
		HomeFolder: "opencode", Program: "opencode", Install: "npm install -g opencode-ai", Processes: agentproc.NamesOf("opencode", "opencode"),
		Children: adapters.ChildVariables{Process: "OPENCODE_PID"}, Runs: (&agentproc.Program{Names: programs}).Runs,
		ReasoningApart: true, // 1.18.33
	}, (*Adapter)(nil)),
	Programs: programs, Variable: "OPENCODE_",
	PasswordSince: "v1.18.33",
}

// program returns how the processes of the agent look. Its program is native; a script of Node.js only starts it.
func (p *Product) program() *agentproc.Program {
	return &agentproc.Program{Names: p.Programs, Commands: notHosts, Flags: []string{"--version", "-v", "--help"}, Valued: valued}
}

// runs reports whether a process can be the agent by its name.
func (p *Product) runs(comm string) bool { return p.program().MayBe(comm) }

// isDatabase reports whether a file is named like the database of a channel: opencode.db,
// opencode-dev.db.
func (p *Product) isDatabase(name string) bool {
	return strings.HasPrefix(name, p.HomeFolder) && strings.HasSuffix(name, ".db")
}

// password returns the name of the variable with the password that a server asks for.
func (p *Product) password() string { return p.Variable + "SERVER_PASSWORD" }

// user returns the name of the variable with the name that a server expects with the password.
func (p *Product) user() string { return p.Variable + "SERVER_USERNAME" }

// server returns the name of a server for the user.
func (p *Product) server() string { return p.Title + "'s server" }
