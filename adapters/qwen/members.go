package qwen

import (
	"rollcall/adapters"
	"rollcall/adapters/internal/agentfile"
	"rollcall/adapters/internal/kit"
	"rollcall/adapters/internal/schema"
)

// questionMembers are those of a question of ask_user_question (Qwen Code 0.24.4: the tool's schema, and what `qwen serve` adds to it).
var questionMembers = schema.Table{
	"question":    schema.Shown,
	"header":      schema.Shown,
	"multiSelect": schema.Flag,
	"answerKey":   schema.Named,
	"options":     schema.Object(schema.Table{"label": schema.Shown, "description": schema.Shown}),
}

// checkQuestions checks the members of questions.
func checkQuestions(r *adapters.Request, list []byte) {
	kit.Each(list, func(one []byte) { questionMembers.Check(r, "questions[]", one) })
}

// servedMembers are those of an entry of pendingInteractions in the status of `qwen serve` (0.24.4: pendingInteractionFromRequest in its source).
var servedMembers = schema.Table{
	"requestId": schema.Named,
	"kind":      schema.Named,
	"createdAt": schema.Named,
	"title":     schema.Ignored("a title above the questions"),
	"questions": schema.Object(questionMembers),
	"options":   schema.Object(schema.Table{"optionId": schema.Named, "label": schema.Shown, "kind": schema.Named}),
	"action": schema.Object(schema.Table{
		"type":      schema.Shown,
		"title":     schema.Shown,
		"content":   schema.Whole,
		"locations": schema.Beside("Files"),
		"input":     schema.Whole,
	}),
}

// eventMembers are those of a request in the file of events of a terminal (0.24.4: emitPermissionRequest in its source).
var eventMembers = schema.Table{
	"subtype":                schema.Named,
	"tool_name":              schema.Shown,
	"tool_use_id":            schema.Named,
	"input":                  schema.Whole,
	"permission_suggestions": schema.Ignored("rules for later calls, which are never accepted"),
	"blocked_path":           schema.Beside("Path outside of the folder"),
}

// checkCall checks the questions of a call over the Agent Client Protocol.
func checkCall(call []byte, r *adapters.Request) {
	checkQuestions(r, agentfile.Get(call, "_meta", "qwenQuestions"))
}
