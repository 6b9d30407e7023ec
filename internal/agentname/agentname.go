// Package agentname has names of agents for tests of parts that don't depend on an agent's package. A new agent
// need not be added.
package agentname

import "rollcall/adapters"

// The names, as the agents' packages register them.
const (
	ClaudeCode adapters.Name = "claude-code"
	Codex      adapters.Name = "codex"
	OpenCode   adapters.Name = "opencode"
	Kilo       adapters.Name = "kilo"
	OpenClaw   adapters.Name = "openclaw"
	Pi         adapters.Name = "pi"
	PiRust     adapters.Name = "pi-rust"
	Copilot    adapters.Name = "copilot"
	Qwen       adapters.Name = "qwen"
	Gemini     adapters.Name = "gemini"
	Cline      adapters.Name = "cline"
	Grok       adapters.Name = "grok"
	Kimi       adapters.Name = "kimi"
)
