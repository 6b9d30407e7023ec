package openclaw

import (
	"encoding/json"
	"slices"
	"strings"

	"rollcall/adapters"
	"rollcall/adapters/internal/agentfile"
	"rollcall/adapters/internal/members"
)

const chat = "the chat from which the turn came"

// approvalMembers are those of an entry of exec.approval.list: ExecApprovalRequest of OpenClaw 2026.9.6, in its plugin SDK's types.
var approvalMembers = members.Table{
	"id":           members.Named,
	"approvalKind": members.Named,
	"status":       members.Named,
	"createdAtMs":  members.Named,
	"expiresAtMs":  members.Named,
	"sessionKey":   members.Named,
	"request":      members.Object(execMembers),
}

// execMembers are those of ExecApprovalRequestPayload.
var execMembers = members.Table{
	"command":              members.Shown,
	"commandPreview":       members.Ignored("a shorter form of the command"),
	"commandArgv":          members.Shown, // see argvDetail
	"envKeys":              members.Beside("Sets variables"),
	"systemRunBinding":     members.Beside("Bound to"),
	"systemRunPlan":        members.Beside("Plan of the node"),
	"cwd":                  members.Shown,
	"nodeId":               members.Beside("Node"),
	"host":                 members.Shown,
	"security":             members.Ignored("the rule by which OpenClaw asks"),
	"ask":                  members.Ignored("the rule by which OpenClaw asks"),
	"warningText":          members.Beside("Warning of OpenClaw"),
	"scope":                members.Beside("Applies to"),
	"commandAnalysis":      members.Ignored("OpenClaw's own reading of the command"),
	"commandSpans":         members.Ignored("colours"),
	"unavailableDecisions": members.Ignored(`is about "always", which is never answered`),
	"allowedDecisions":     members.Shown,
	"agentId":              members.Named,
	"resolvedPath":         members.Beside("Program"),
	"sessionKey":           members.Named,
	"sessionId":            members.Named,
	"runId":                members.Named,
	"toolCallId":           members.Named,
	"turnSourceChannel":    members.Ignored(chat),
	"turnSourceTo":         members.Ignored(chat),
	"turnSourceAccountId":  members.Ignored(chat),
	"turnSourceThreadId":   members.Ignored(chat),
	"cronExecutionSource":  members.Beside("Scheduled job"),
	"cronOperationBinding": members.Ignored("is about a standing grant, which is never given"),
}

// questionMembers are those of QuestionRecordSchema of OpenClaw 2026.9.6.
var questionMembers = members.Table{
	"id":          members.Named,
	"status":      members.Named,
	"agentId":     members.Named,
	"sessionKey":  members.Named,
	"runId":       members.Named,
	"createdAtMs": members.Named,
	"expiresAtMs": members.Named,
	"questions": members.Object(members.Table{
		"questionId":          members.Named,
		"header":              members.Shown,
		"question":            members.Shown,
		"url":                 members.Beside("Address"),
		"multiSelect":         members.Flag,
		"isOther":             members.Ignored("a text of the user's own is always accepted"),
		"isSecret":            members.Flag,
		"secretStore":         members.Ignored("a question with one is answered in OpenClaw"),
		"secretStoreExisting": members.Ignored("a question with a secret is answered in OpenClaw"),
		"options":             members.Object(members.Table{"label": members.Shown, "description": members.Shown}),
	}),
}

// standing is the decision that would hold for more than one command. It is not shown where OpenClaw would make a standing grant of it.
const standing = "allow-always"

// checkMembers adds what an approval has beside its command.
func (p *asked) checkMembers(r *adapters.Request, raw json.RawMessage) {
	approvalMembers.Check(r, "", raw)
	request := agentfile.Get(raw, "request")
	if argv := p.Request.Argv; len(argv) > 0 && !slices.Equal(argv, strings.Fields(p.Request.Command)) {
		text, _ := json.Marshal(argv) // texts can always be marshalled
		r.Details = append(r.Details, adapters.Detail{Title: "Arguments", Text: string(text)})
	}
	if !agentfile.Null(agentfile.Get(request, "scope")) {
		r.Options = slices.DeleteFunc(slices.Clone(r.Options), func(d string) bool { return d == standing })
	}
}
