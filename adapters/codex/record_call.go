package codex

import (
	"slices"

	"rollcall/adapters"
	"rollcall/adapters/internal/agentfile"
)

// commandTools lists the names that the tool for running commands had in the versions of Codex.
var commandTools = []string{"exec_command", "shell_command", "shell", "local_shell", "container.exec"}

func (r *record) toolCall(payload []byte) {
	var id, name, arguments []byte
	_ = agentfile.Members(payload, agentfile.Into("call_id", &id), agentfile.Into("name", &name), agentfile.Into("arguments", &arguments))
	r.kind, r.callID = call, agentfile.String(id)
	r.tool, _ = agentfile.Head(name, 80)
	if name == nil {
		r.tool = "local_shell"
	}
	r.does = adapters.Calling(r.tool, argument(payload), slices.Contains(commandTools, r.tool))
	r.asks = r.tool == "request_user_input"
	sandbox := string(agentfile.Text(agentfile.Get(agentfile.Text(arguments), "sandbox_permissions")))
	r.escalated = sandbox == "require_escalated" || sandbox == "with_additional_permissions"
}
