package claudecode

import (
	"strings"

	"rollcall/adapters"
	"rollcall/adapters/internal/kit"
	"rollcall/proc"
)

// hosts has the programs that Claude Code runs in, by the entrypoint that it records.
var hosts = map[string]string{"": "", "cli": "", typeScript: "SDK (TypeScript)", "sdk-py": "SDK (Python)", scripted: "a script",
	"claude-vscode": "VS Code", "claude-desktop": "Claude Desktop", "claude-desktop-3p": "Claude Desktop", githubAction: "GitHub Actions"}

const (
	typeScript   = "sdk-ts"  // also of an editor or any other client of claude-agent-acp, which uses the SDK
	scripted     = "sdk-cli" // claude -p, and a script that writes to its input
	githubAction = "claude-code-github-action"
)

func hostOf(entrypoint string) string {
	if host, known := hosts[entrypoint]; known {
		return host
	}
	return shorten(entrypoint)
}

// isHeadless reports whether an SDK, claude -p or GitHub's action started the session.
func isHeadless(entrypoint string) bool {
	return strings.HasPrefix(entrypoint, "sdk-") || entrypoint == githubAction
}

// entrypointOf returns the entrypoint that a process records, by its environment and command line, from its start on; "" if they do not show
// it. A command of a session has the entrypoint of that session in its environment, also where it is claude -p.
func (c *claude) entrypointOf(env []string) string {
	scripts := c.printing || c.hosted
	switch named := kit.Get(env, "CLAUDE_CODE_ENTRYPOINT"); {
	case named != "" && (named != "cli" || !scripts):
		return named
	case kit.Get(env, "CLAUDE_CODE_ACTION") != "":
		return githubAction
	case scripts:
		return scripted
	}
	return ""
}

// entrypointNow returns the entrypoint of the session in a live process, of which its records and its registry entry say recorded. Records of a session can be
// those of an earlier process.
func (d *discovery) entrypointNow(id proc.Identity, recorded string) string {
	for i := range d.table.claudes {
		c := &d.table.claudes[i]
		if c.Identity == id && c.entrypoint != "" && (recorded == "" || recorded == "cli" && c.entrypoint == scripted) {
			return c.entrypoint
		}
	}
	return recorded
}

// setEntrypoint sets what the entrypoint of a session shows.
func setEntrypoint(out *adapters.Session, entrypoint string) {
	out.Host, out.Headless = hostOf(entrypoint), isHeadless(entrypoint)
}
