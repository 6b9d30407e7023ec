package scene

// The programs that the agents' processes run. Real processes need them there.
const (
	ClaudeProgram   = "/opt/claude/bin/claude"
	CodexProgram    = "/opt/codex/codex"
	OpenCodeProgram = "/opt/node_modules/opencode-ai/bin/opencode.exe"
	KiloProgram     = "/opt/node_modules/@kilocode/cli-linux-x64/bin/kilo"
	NodeProgram     = "/opt/node/bin/node"
	PiProgram       = "/opt/pi/pi"
	CopilotProgram  = "/opt/node_modules/@github/copilot-linux-x64/copilot"
	GrokProgram     = "/opt/node_modules/@xai-official/grok/bin/grok-native"
	OmpProgram      = "/opt/omp/omp"
)
