package openclaw

import (
	"encoding/json"
	"slices"
	"strings"

	"rollcall/adapters"
	"rollcall/adapters/internal/agentfile"
	"rollcall/adapters/internal/schema"
)

const chat = "the chat from which the turn came"

// approvalMembers are those of an entry of exec.approval.list: ExecApprovalRequest of OpenClaw 2026.9.6, in its plugin SDK's types.
var approvalMembers = schema.Table{
	"id":           schema.Named,
	"approvalKind": schema.Named,
	"status":       schema.Named,
	"createdAtMs":  schema.Named,
	"expiresAtMs":  schema.Named,
	"sessionKey":   schema.Named,
	"request":      schema.Object(execMembers),
}

// execMembers are those of ExecApprovalRequestPayload.
var execMembers = schema.Table{
	"command":              schema.Shown,
	"commandPreview":       schema.Ignored("a shorter form of the command"),
	"commandArgv":          schema.Shown, // see argvDetail
	"envKeys":              schema.Beside("Sets variables"),
	"systemRunBinding":     schema.Beside("Bound to"),
	"systemRunPlan":        schema.Beside("Plan of the node"),
	"cwd":                  schema.Shown,
	"nodeId":               schema.Beside("Node"),
	"host":                 schema.Shown,
	"security":             schema.Ignored("the rule by which OpenClaw asks"),
	"ask":                  schema.Ignored("the rule by which OpenClaw asks"),
	"warningText":          schema.Beside("Warning of OpenClaw"),
	"scope":                schema.Beside("Applies to"),
	"commandAnalysis":      schema.Ignored("OpenClaw's own reading of the command"),
	"commandSpans":         schema.Ignored("colours"),
	"unavailableDecisions": schema.Ignored(`is about "always", which is never answered`),
	"allowedDecisions":     schema.Shown,
	"agentId":              schema.Named,
	"resolvedPath":         schema.Beside("Program"),
	"sessionKey":           schema.Named,
	"sessionId":            schema.Named,
	"runId":                schema.Named,
	"toolCallId":           schema.Named,
	"turnSourceChannel":    schema.Ignored(chat),
	"turnSourceTo":         schema.Ignored(chat),
	"turnSourceAccountId":  schema.Ignored(chat),
	"turnSourceThreadId":   schema.Ignored(chat),
	"cronExecutionSource":  schema.Beside("Scheduled job"),
	"cronOperationBinding": schema.Ignored("is about a standing grant, which is never given"),
}

// questionMembers are those of QuestionRecordSchema of OpenClaw 2026.9.6.
var questionMembers = schema.Table{
	"id":          schema.Named,
	"status":      schema.Named,
	"agentId":     schema.Named,
	"sessionKey":  schema.Named,
	"runId":       schema.Named,
	"createdAtMs": schema.Named,
	"expiresAtMs": schema.Named,
	"questions": schema.Object(schema.Table{
		"questionId":          schema.Named,
		"header":              schema.Shown,
		"question":            schema.Shown,
		"url":                 schema.Beside("Address"),
		"multiSelect":         schema.Flag,
		"isOther":             schema.Ignored("a text of the user's own is always accepted"),
		"isSecret":            schema.Flag,
		"secretStore":         schema.Ignored("a question with one is answered in OpenClaw"),
		"secretStoreExisting": schema.Ignored("a question with a secret is answered in OpenClaw"),
		"options":             schema.Object(schema.Table{"label": schema.Shown, "description": schema.Shown}),
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
