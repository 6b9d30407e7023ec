package skeleton

import (
	"slices"
	"strings"

	"rollcall/adapters/internal/agentproc"
	"rollcall/adapters/internal/kit"
	"rollcall/proc"
)

// Node is an agent of Node.js whose process starts itself again; the inner process works. So are Gemini CLI and what was made from it.
type Node struct {
	Inner    string   // the variable that the outer process sets for the inner one
	Serving  []string // sub-commands that host the sessions of other programs
	Continue []string // options that continue a session without its id, beside --resume
}

// Program returns how the processes of such an agent look. commands are the sub-commands that hold no conversation (gemini --help of 0.61.0, qwen --help of 0.24.4).
func (n *Node) Program(name, folder string, commands ...string) agentproc.Program {
	return agentproc.Program{Names: []string{name}, Packages: []string{folder}, Commands: commands,
		Flags: []string{"--version", "-v", "--help", "-h", "--list-sessions", "--list-extensions", "-l", "--delete-session"},
		Valued: []string{"-m", "--model", "-p", "--prompt", "-i", "--prompt-interactive", "-w", "--worktree", "--approval-mode", "-r", "--resume",
			"--session-file", "--session-id", "-o", "--output-format", "--input-format", "--system-prompt", "--append-system-prompt", "--output-style", "--proxy",
			"--sandbox-image", "--channel", "--mcp-config", "--openai-logging-dir", "--openai-api-key", "--openai-base-url", "--json-fd", "--json-file",
			"--json-schema", "--input-file", "--max-session-turns", "--max-wall-time", "--max-tool-calls", "--max-subagent-depth", "--auth-type"},
		Lists: []string{"--policy", "--admin-policy", "--allowed-mcp-server-names", "--allowed-tools", "-e", "--extensions", "--include-directories",
			"--add-dir", "--fallback-model", "--core-tools", "--exclude-tools", "--disabled-slash-commands"}}
}

// Inspect is the Inspect of a Finder.
func (n *Node) Inspect(_ proc.Details, p *Process) bool {
	if !p.HoldsConversation() || p.Seen.Script == "" || p.Get(n.Inner) == "" {
		return false
	}
	n.readArgs(p)
	return true
}

// readArgs reads the command line after the script.
func (n *Node) readArgs(p *Process) {
	args := p.Seen.Args
	p.Hosts = len(args) > 0 && slices.Contains(n.Serving, args[0])
	for i, arg := range args {
		name, value, joined := strings.Cut(arg, "=")
		if !joined && i+1 < len(args) && !strings.HasPrefix(args[i+1], "-") {
			value = args[i+1]
		}
		switch name {
		case "--":
			return
		case "--session-id":
			p.Named = value
		case "--resume", "-r":
			p.Resumes = !kit.Is(value)
			if !p.Resumes {
				p.Named = value
			}
		case "--approval-mode":
			p.Mode = value
		case "--yolo", "-y":
			p.Mode = "yolo"
		case "-p", "--prompt", "-o", "--output-format":
			p.Headless = true
		case "--acp", "--experimental-acp":
			p.Hosts = true
		}
		p.Resumes = p.Resumes || slices.Contains(n.Continue, name)
	}
}
