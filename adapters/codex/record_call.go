package codex

import (
	"slices"

	"rollcall/adapters"
	"rollcall/adapters/internal/agentfile"
)

// commandTools lists the names that the tool for running commands had in the versions of Codex.
var commandTools = []string{"exec_command", "shell_command", "shell", "local_shell", "container.exec"}

func (r *record) toolCall(payload []byte) {
	var arguments []byte
	r.kind, r.tool = call, "local_shell"
	_ = agentfile.Top(payload, func(key, raw []byte) bool {
		switch string(key) {
		case "call_id":
			r.callID = agentfile.String(raw)
		case "name":
			r.tool, _ = agentfile.Head(raw, 80)
		case "arguments":
			arguments = agentfile.Text(raw)
		}
		return true
	})
	r.does = adapters.Calling(r.tool, argument(payload), slices.Contains(commandTools, r.tool))
	r.asks = r.tool == "request_user_input"
	sandbox := string(agentfile.Text(agentfile.Get(arguments, "sandbox_permissions")))
	r.escalated = sandbox == "require_escalated" || sandbox == "with_additional_permissions"
}
