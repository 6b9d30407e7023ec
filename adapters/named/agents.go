// Package named shows agents of which only the names of their programs are known: those that the user entered in the settings, and some that are built in.
// No file of theirs is read. A row says what the process table and the title of the terminal say.
package named

import (
	"cmp"
	"slices"

	"rollcall/adapters"
)

// builtIn are the agents that are seen without an entry in the settings. The source of each name is a page of its project; none of them was run, but
// Droid 0.225.2.
var builtIn = []adapters.Unread{
	{Name: "aider", Title: "Aider", Source: "https://aider.chat/docs/install.html"},
	{Name: "goose", Title: "Goose", Source: "https://block.github.io/goose/docs/guides/goose-cli-commands"},
	{Name: "amp", Title: "Amp", Packages: []string{"@sourcegraph/amp"}, Source: "https://ampcode.com/manual"},
	{Name: "droid", Title: "Droid", Packages: []string{"@factory/cli"}, Source: "https://docs.factory.ai/reference/cli-reference"},
	// The script cursor-agent, to which the command agent leads too, starts Node.js with a script in a folder of its name.
	{Name: "cursor-agent", Title: "Cursor CLI", Packages: []string{"cursor-agent"}, Source: "https://cursor.com/docs/cli/installation"},
	{Name: "crush", Title: "Crush", Packages: []string{"@charmland/crush"}, Source: "https://github.com/charmbracelet/crush"},
	{Name: "kiro-cli", Title: "Kiro CLI", Source: "https://kiro.dev/docs/cli"},
	{Name: "agy", Title: "Antigravity CLI", Source: "https://antigravity.google/cli/install.sh"},
	{Name: "auggie", Title: "Auggie", Packages: []string{"@augmentcode/auggie"}, Source: "https://docs.augmentcode.com/cli/setup-auggie/install-auggie-cli"},
	{Name: "codebuff", Title: "Codebuff", Source: "https://www.codebuff.com/docs"},
	{Name: "cn", Title: "Continue CLI", Packages: []string{"@continuedev/cli"}, Source: "https://docs.continue.dev/cli/install"},
}

func init() { Register(nil) }

// Register makes the user's agents known to adapters.Describe, and after them those that are built in.
func Register(users []adapters.Unread) { adapters.SetUnread(all(users)) }

// all returns the user's agents with what is built in of them, and after them the others that are built in.
func all(users []adapters.Unread) []adapters.Unread {
	out := make([]adapters.Unread, 0, len(users)+len(builtIn))
	for _, u := range users {
		u.Configured = true
		for _, b := range builtIn {
			if b.Name == u.Name {
				u.Title = b.Title
				u.Packages = b.Packages
				u.Source = b.Source
			}
		}
		out = append(out, complete(u))
	}
	for _, b := range builtIn {
		if !slices.ContainsFunc(users, func(u adapters.Unread) bool { return u.Name == b.Name }) {
			out = append(out, complete(b))
		}
	}
	return out
}

// complete sets what an entry leaves out: the title and the program are the name.
func complete(u adapters.Unread) adapters.Unread {
	u.Title = cmp.Or(u.Title, string(u.Name))
	if len(u.Programs) == 0 {
		u.Programs = []string{string(u.Name)}
	}
	return u
}
