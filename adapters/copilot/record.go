package copilot

import (
	"errors"
	"slices"
	"strings"

	"rollcall/adapters/internal/agentfile"
	"rollcall/adapters/internal/kit"
)

// textLimit bounds prompts, titles, errors and requests, in bytes.
const textLimit = kit.ShortText

// record is one line of a session's file.
type record struct {
	typ, data, agent, at, id []byte // as written
}

var errNotRecord = errors.New("not a record")

// parse reads a line that is one record.
func parse(line []byte) (r record, err error) {
	err = agentfile.Members(line, agentfile.Into("type", &r.typ), agentfile.Into("data", &r.data), agentfile.Into("agentId", &r.agent),
		agentfile.Into("timestamp", &r.at), agentfile.Into("id", &r.id))
	if err == nil && agentfile.Text(r.typ) == nil {
		err = errNotRecord
	}
	return r, err
}

// get returns the value of a member of the record's data.
func (r *record) get(path ...string) []byte { return agentfile.Get(r.data, path...) }

// text returns a member of the record's data that is a text, cut.
func (r *record) text(path ...string) string { return kit.Short(r.get(path...)) }

// sub reports whether the record is of a sub-agent.
func (r *record) sub() bool { return !agentfile.Null(r.agent) }

// isPrompt reports whether a user.message is the user's own: others are of skills, of other agents and of the autopilot.
func (r *record) isPrompt() bool {
	source := r.text("source")
	return !r.sub() && (source == "" || source == "user") && !agentfile.True(r.get("isAutopilotContinuation"))
}

// ignored lists the types of records that are known and say nothing that is needed: all that 1.0.102 stores, by its schema, and
// what it stores of a compaction's request (model.…). Those after the line break are only in files of 1.0.34.
var ignored = strings.Fields(`assistant.fusion_phase_completed assistant.fusion_phase_failed assistant.reasoning external_tool.requested hook.end
	hook.start human_response.recorded mcp.oauth_recovery_completed model.message model.messages_snapshot model.model_call_started
	model.model_call_success model.response model.turn_ended model.turn_started permission.assentDetected permission.carriedForward
	permission.contextualAuthorization permission.messageAuthorization permission.messageAuthorizationDegraded permission.messageAuthorizationRead
	session.auto_mode_resolved session.autopilot_objective_changed session.binary_asset session.canvas.recorded session.canvas.removed
	session.compaction_start session.completion_receipt session.context_cleared session.fusion_change_checkpoint
	session.fusion_commit_started session.fusion_completed session.fusion_handoff session.fusion_resolved session.fusion_route_failed
	session.handoff session.mode_changed session.mode_notice_delivered session.model_deselected session.permission_recovery
	session.permissions_changed session.plan_changed session.remote_steerable_changed session.request_body_compression_disabled
	session.schedule_cancelled session.schedule_created session.schedule_rearmed session.session_limits_changed session.task_complete
	session.truncation session.usage_checkpoint session.warning session.workspace_file_changed skill.context_delivered
	skill.context_delivered_ref skill.invoked skill.invoked_ref subagent.completed subagent.configured subagent.deselected subagent.failed
	subagent.selected subagent.started system.message system.notification tool.user_requested tool_search.activated`)

// arguments lists the members of a call's input that say most of it.
var arguments = []string{"command", "path", "file_path", "pattern", "query", "url", "message", "question", "description", "prompt", "intent"}

// shells lists the tools that run commands.
var shells = []string{"bash", "powershell", "shell"}

// calling returns what a call does, in a few words.
func calling(tool string, input []byte) (text string, runs bool) {
	return kit.Argument(input, arguments, kit.Short), slices.Contains(shells, tool)
}
