package cline

import "rollcall/adapters/internal/schema"

// approvalMembers are those of the payload of approval.requested (Cline 3.0.65: the hub's source in its program).
var approvalMembers = schema.Table{
	"approvalId":     schema.Named,
	"sessionId":      schema.Named,
	"agentId":        schema.Named,
	"conversationId": schema.Named,
	"iteration":      schema.Named,
	"toolCallId":     schema.Named,
	"toolName":       schema.Shown,
	"inputJson":      schema.Shown,
	"policy":         schema.Ignored("the rule by which Cline asks"),
	"agendaTaskId":   schema.Beside("Scheduled task"),
}
