package agentproc

import (
	"slices"

	"rollcall/adapters"
)

// Installed is how the processes of an agent look after one way of installing it.
type Installed struct {
	Agent  adapters.Name
	Way    string // of installing
	System string // linux, darwin, windows
	Comm   string // the name of the process, before the system cuts it; without ".exe" on Windows
	Exe    string
	Line   []string
	Env    []string // that the process has to have
	Seen   string   // the version that was seen; empty: it was read in documentation, in a package or in source
}

// Ways lists the ways of installing the agents. Rows, doctor and the warnings about other users' agents know the processes of each of them: a test asks all
// adapters about each entry, and docs/platforms.md shows this table.
var Ways = slices.Concat(
	native("claude-code", []Installed{
		{Way: "npm -g", System: "linux", Comm: "claude.exe", Exe: "/usr/lib/node_modules/@anthropic-ai/claude-code/bin/claude.exe", Seen: "2.1.332"},
		{Way: "local npm", System: "linux", Comm: "claude.exe", Exe: "/home/dev/p/node_modules/@anthropic-ai/claude-code/bin/claude.exe", Seen: "2.1.332"},
		{Way: "native installer", System: "linux", Comm: "claude", Exe: "/home/dev/.local/share/claude/versions/2.1.332", Seen: "2.1.332"},
		{Way: "native installer, by its real path", System: "linux", Comm: "2.1.332", Exe: "/home/dev/.local/share/claude/versions/2.1.332", Seen: "2.1.332"},
		{Way: "Claude Desktop", System: "linux", Comm: "2.1.332", Exe: "/home/dev/.claude/remote/ccd-cli/2.1.332", Seen: "2.1.332"},
		{Way: "Nix", System: "linux", Comm: ".claude-wrapped", Exe: "/nix/store/x-claude-code-2.1.332/bin/.claude-wrapped", Line: []string{"/run/current-system/sw/bin/claude"}, Seen: "2.1.332"},
		{Way: "npm -g", System: "darwin", Comm: "claude.exe", Exe: "/opt/homebrew/lib/node_modules/@anthropic-ai/claude-code/bin/claude.exe"},
		{Way: "native installer", System: "darwin", Comm: "2.1.332", Exe: "/Users/dev/.local/share/claude/versions/2.1.332"},
		{Way: "Homebrew", System: "darwin", Comm: "claude", Exe: "/opt/homebrew/Caskroom/claude-code/2.1.332/claude"},
		{Way: "npm -g", System: "windows", Comm: "claude", Exe: `C:\Users\dev\AppData\Roaming\npm\node_modules\@anthropic-ai\claude-code\bin\claude.exe`},
		{Way: "native installer", System: "windows", Comm: "claude", Exe: `C:\Users\dev\.local\bin\claude.exe`},
	}, "claude"),
	native("codex", []Installed{
		{Way: "npm -g", System: "linux", Comm: "codex", Exe: "/usr/lib/node_modules/@openai/codex-linux-x64/vendor/x86_64-unknown-linux-musl/codex/codex", Seen: "0.171.0"},
		{Way: "local npm", System: "linux", Comm: "codex", Exe: "/home/dev/p/node_modules/@openai/codex-linux-x64/vendor/x86_64-unknown-linux-musl/codex/codex", Seen: "0.171.0"},
		{Way: "downloaded program", System: "linux", Comm: "codex-x86_64-unknown-linux-musl", Exe: "/opt/codex-x86_64-unknown-linux-musl"},
		{Way: "Nix", System: "linux", Comm: ".codex-wrapped", Exe: "/nix/store/x-codex-0.171.0/bin/.codex-wrapped", Seen: "0.171.0"},
		{Way: "codex-acp of an editor", System: "linux", Comm: "codex-acp", Exe: "/home/dev/.cache/codex-acp", Line: []string{"codex-acp"}, Seen: "0.16.0"},
		{Way: "npm -g", System: "darwin", Comm: "codex", Exe: "/opt/homebrew/lib/node_modules/@openai/codex-darwin-arm64/vendor/aarch64-apple-darwin/codex/codex"},
		{Way: "Homebrew", System: "darwin", Comm: "codex-aarch64-apple-darwin", Exe: "/opt/homebrew/Caskroom/codex/0.171.0/codex-aarch64-apple-darwin"},
		{Way: "npm -g", System: "windows", Comm: "codex", Exe: `C:\Users\dev\AppData\Roaming\npm\node_modules\@openai\codex-win32-x64\vendor\x86_64-pc-windows-msvc\codex\codex.exe`},
	}, "codex"),
	native("opencode", []Installed{
		{Way: "npm -g", System: "linux", Comm: "opencode", Exe: "/usr/lib/node_modules/opencode-ai/bin/opencode.exe", Seen: "1.18.33"},
		{Way: "native installer", System: "linux", Comm: "opencode", Exe: "/home/dev/.opencode/bin/opencode"},
		{Way: "Nix", System: "linux", Comm: ".opencode-wrapped", Exe: "/nix/store/x-opencode-1.18.33/bin/.opencode-wrapped", Seen: "1.18.33"},
		{Way: "Homebrew", System: "darwin", Comm: "opencode", Exe: "/opt/homebrew/Cellar/opencode/1.18.33/bin/opencode"},
		{Way: "npm -g", System: "windows", Comm: "opencode", Exe: `C:\Users\dev\AppData\Roaming\npm\node_modules\opencode-ai\bin\opencode.exe`},
	}, "opencode"),
	native("kilo", []Installed{
		{Way: "npm -g", System: "linux", Comm: "kilo", Exe: "/usr/lib/node_modules/@kilocode/cli-linux-x64/bin/kilo", Seen: "7.7.9"},
		{Way: "npm -g", System: "darwin", Comm: "kilo", Exe: "/opt/homebrew/lib/node_modules/@kilocode/cli-darwin-arm64/bin/kilo"},
		{Way: "npm -g", System: "windows", Comm: "kilo", Exe: `C:\Users\dev\AppData\Roaming\npm\node_modules\@kilocode\cli-windows-x64\bin\kilo.exe`},
	}, "kilo"),
	native("copilot", []Installed{
		{Way: "npm -g", System: "linux", Comm: "MainThread", Exe: "/usr/lib/node_modules/@github/copilot/node_modules/@github/copilot-linux-x64/copilot", Seen: "1.0.102"},
		{Way: "Nix", System: "linux", Comm: "MainThread", Exe: "/nix/store/x-github-copilot-cli-1.0.102/bin/.copilot-wrapped"},
		{Way: "npm -g", System: "darwin", Comm: "copilot", Exe: "/opt/homebrew/lib/node_modules/@github/copilot/node_modules/@github/copilot-darwin-arm64/copilot"},
		{Way: "Homebrew", System: "darwin", Comm: "copilot", Exe: "/opt/homebrew/Caskroom/copilot-cli/1.0.102/copilot"},
		{Way: "npm -g", System: "windows", Comm: "copilot", Exe: `C:\Users\dev\AppData\Roaming\npm\node_modules\@github\copilot\node_modules\@github\copilot-win32-x64\copilot.exe`},
	}, "copilot"),
	native("cline", []Installed{
		{Way: "npm -g", System: "linux", Comm: ".cline", Exe: "/usr/lib/node_modules/cline/bin/.cline", Seen: "3.0.65"},
		{Way: "local npm", System: "linux", Comm: "cline", Exe: "/home/dev/p/node_modules/@cline/cli-linux-x64/bin/cline", Seen: "3.0.65"},
		{Way: "npm -g", System: "darwin", Comm: ".cline", Exe: "/opt/homebrew/lib/node_modules/cline/bin/.cline"},
		{Way: "npm -g", System: "windows", Comm: "cline", Exe: `C:\Users\dev\AppData\Roaming\npm\node_modules\@cline\cli-windows-x64\bin\cline.exe`},
	}, "cline"),
	script("gemini", "@google/gemini-cli/bundle/gemini.js", "GEMINI_CLI_NO_RELAUNCH=true", "0.61.0"),
	script("qwen", "@qwen-code/qwen-code/cli.js", "QWEN_CODE_NO_RELAUNCH=true", "0.24.4"),
	[]Installed{
		{"pi", "npm -g", "linux", "pi", "/usr/bin/node", []string{"pi"}, nil, "1.6.0"},
		{"pi", "npm -g", "darwin", "node", "/opt/homebrew/bin/node", []string{"pi"}, nil, ""},
		{"pi", "npm -g", "windows", "node", `C:\Program Files\nodejs\node.exe`,
			[]string{`C:\Program Files\nodejs\node.exe`, `C:\Users\dev\AppData\Roaming\npm\node_modules\@earendil-works\pi-coding-agent\dist\cli.js`}, nil, ""},
		{"openclaw", "npm -g", "linux", "openclaw-gateway", "/usr/bin/node", []string{"openclaw-gateway"}, nil, "2026.9.6"},
		{"openclaw", "npm -g", "darwin", "node", "/opt/homebrew/bin/node", []string{"openclaw-gateway"}, nil, ""},
		{"openclaw", "npm -g", "windows", "node", `C:\Program Files\nodejs\node.exe`,
			[]string{`C:\Program Files\nodejs\node.exe`, `C:\Users\dev\AppData\Roaming\npm\node_modules\openclaw\dist\index.js`, "gateway"}, nil, ""},
	},
)

// native returns ways of installing a native program, whose command line begins with its name unless an entry has another.
func native(agent adapters.Name, ways []Installed, name string) []Installed {
	for i := range ways {
		ways[i].Agent = agent
		if ways[i].Line == nil {
			ways[i].Line = []string{name}
		}
	}
	return ways
}

// script returns the ways of installing an agent that is a script of Node.js.
func script(agent adapters.Name, file, variable, seen string) []Installed {
	line := func(folder string) []string { return []string{"node", folder + file} }
	env := []string{variable}
	windows := `C:\Users\dev\AppData\Roaming\npm\node_modules\`
	return []Installed{
		{agent, "npm -g", "linux", "MainThread", "/usr/bin/node", line("/usr/lib/node_modules/"), env, seen},
		{agent, "local npm", "linux", "MainThread", "/usr/bin/node", line("/home/dev/p/node_modules/"), env, seen},
		{agent, "Nix", "linux", string(agent), "/nix/store/x-nodejs/bin/node", line("/nix/store/x-" + string(agent) + "/lib/node_modules/"), env, ""},
		{agent, "npm -g", "darwin", "node", "/opt/homebrew/bin/node", line("/opt/homebrew/lib/node_modules/"), env, ""},
		{agent, "Homebrew", "darwin", "node", "/opt/homebrew/bin/node", line("/opt/homebrew/Cellar/x/libexec/lib/node_modules/"), env, ""},
		{agent, "npm -g", "windows", "node", `C:\Program Files\nodejs\node.exe`, line(windows), env, ""},
	}
}

// NamesOf returns the names by which processes of an agent are known before anything else of them is read: that of its program, and those of Ways
// that no other program has.
func NamesOf(agent adapters.Name, program string) []string {
	names := []string{program}
	for _, w := range Ways {
		known := slices.ContainsFunc(names, func(name string) bool { return adapters.IsNamed(w.Comm, name) })
		if w.Agent == agent && !known && !IsInterpreter(w.Comm) && !versionName.MatchString(w.Comm) {
			names = append(names, w.Comm)
		}
	}
	return names
}
