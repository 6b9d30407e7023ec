package claudecode

import "rollcall/adapters/internal/schema"

const policy = "the rule by which Claude Code asks"

// toolMembers are those of a request of the subtype can_use_tool (Claude Code 2.1.332: the schema in its program).
var toolMembers = schema.Table{
	"subtype":                        schema.Named,
	"tool_name":                      schema.Shown,
	"mcp_server":                     schema.Ignored("the server of the tool, whose name is a part of the tool's"),
	"input":                          schema.Whole, // see questionMembers
	"permission_suggestions":         schema.Ignored("rules for later calls, which are never accepted"),
	"blocked_path":                   schema.Beside("Path that needs the permission"),
	"decision_reason":                schema.Shown,
	"decision_reason_type":           schema.Ignored(policy),
	"decision_reason_code":           schema.Ignored(policy),
	"auto_modes_check_raised":        schema.Ignored(policy),
	"decision_reason_rule_source":    schema.Ignored(policy),
	"decision_reason_hook_event":     schema.Ignored(policy),
	"decision_reason_hook_source":    schema.Ignored(policy),
	"decision_reason_hook_plugin_id": schema.Ignored(policy),
	"server_policy_ask_only":         schema.Ignored(policy),
	"classifier_approvable":          schema.Ignored(policy),
	"suppress_always_allow_rule":     schema.Ignored(`is about "always", which is never answered`),
	"rule_usually_offered":           schema.Ignored(`is about "always", which is never answered`),
	"default_to_no":                  schema.Ignored("what its own dialog selects first"),
	"matched_ask_rule":               schema.Ignored(policy),
	"title":                          schema.Ignored("a title for the call, which is shown"),
	"display_name":                   schema.Ignored("another name of the tool"),
	"tool_use_id":                    schema.Named,
	"agent_id":                       schema.Named,
	"plugin":                         schema.Ignored("the plugin that has the tool"),
	"description":                    schema.Ignored("what the model says that the call does"),
	"requires_user_interaction":      schema.Ignored("that a user must answer"),
	"server_prompt":                  schema.Beside("Shown by the server"),
	"computer_folder":                schema.Beside("Folder of the computer"),
	"provenance_prompt_line":         schema.Ignored("how its own dialog shows several"),
	"tool_kind":                      schema.Ignored("how its own dialog shows the tool"),
	"mcp_skill":                      schema.Beside("Skill of the server"),
}

// requestMembers are those of the message that has such a request.
var requestMembers = schema.Table{"type": schema.Named, "request_id": schema.Named, "session_id": schema.Named, "uuid": schema.Named,
	"parent_tool_use_id": schema.Named, "request": schema.Object(toolMembers)}

// questionMembers are those of the input of questionTool (2.1.332: sdk-tools.d.ts of its package).
var questionMembers = schema.Table{
	"questions": schema.Object(schema.Table{
		"question":    schema.Shown,
		"header":      schema.Shown,
		"multiSelect": schema.Flag,
		"options": schema.Object(schema.Table{"label": schema.Shown, "description": schema.Shown,
			"preview": schema.Ignored("an example beside the option in its own dialog")}),
	}),
	"metadata":    schema.Ignored("for Anthropic's statistics"),
	"answers":     schema.Ignored("filled in by the answer"),
	"annotations": schema.Beside("Notes that go back with the answer"),
}

// callMembers are those of a call in a transcript (2.0.50 to 2.1.332).
var callMembers = schema.Table{"type": schema.Named, "id": schema.Named, "name": schema.Shown, "input": schema.Whole,
	"caller": schema.Ignored("whether the model or a program of its own made the call"), "cache_control": schema.Ignored("what the model's server keeps")}
