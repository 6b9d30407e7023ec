package kimi

import (
	"slices"
	"strings"
	"time"

	"rollcall/adapters/internal/agentfile"
	"rollcall/adapters/internal/kit"
)

// record has the members of one line of a wire.jsonl, as written, or of a state.json.
type record struct {
	typ, time, created, protocol, input, origin, turn, reason, failure, mode, model      []byte
	id, kind, request, call, usage, event, tokens, subagent, background, disclosure, raw []byte
	status, attempt, attempts                                                            []byte
	// of a state.json
	agents, cwd, version, createdAt, updatedAt, prompt, title, archived []byte
}

func parse(line []byte) (r record, err error) {
	r.raw = line
	err = agentfile.Members(line,
		agentfile.Into("type", &r.typ), agentfile.Into("time", &r.time), agentfile.Into("created_at", &r.created), agentfile.Into("protocol_version", &r.protocol),
		agentfile.Into("input", &r.input), agentfile.Into("origin", &r.origin), agentfile.Into("turnId", &r.turn), agentfile.Into("reason", &r.reason),
		agentfile.Into("error", &r.failure), agentfile.Into("mode", &r.mode), agentfile.Into("model", &r.model), agentfile.Into("id", &r.id),
		agentfile.Into("kind", &r.kind), agentfile.Into("request", &r.request), agentfile.Into("toolCallId", &r.call), agentfile.Into("usage", &r.usage),
		agentfile.Into("event", &r.event), agentfile.Into("tokens", &r.tokens), agentfile.Into("subagentId", &r.subagent),
		agentfile.Into("runInBackground", &r.background), agentfile.Into("environmentDisclosure", &r.disclosure), agentfile.Into("statusCode", &r.status),
		agentfile.Into("failedAttempt", &r.attempt), agentfile.Into("maxAttempts", &r.attempts), agentfile.Into("agents", &r.agents),
		agentfile.Into("cwd", &r.cwd), agentfile.Into("version", &r.version), agentfile.Into("createdAt", &r.createdAt),
		agentfile.Into("updatedAt", &r.updatedAt), agentfile.Into("lastPrompt", &r.prompt), agentfile.Into("title", &r.title),
		agentfile.Into("archived", &r.archived))
	return r, err
}

// isKnown reports whether a record is of a form that sessions have.
func (r *record) isKnown() bool { return r.typ != nil || r.isState() }

// isState reports whether a record is a state.json.
func (r *record) isState() bool { return r.typ == nil && r.agents != nil }

// records calls do with the records on a line, usually one.
func records(line []byte, do func(*record)) (n int, err error) {
	return agentfile.RecordsOf(line, parse, (*record).isKnown, do)
}

// at returns the time of a record.
func (r *record) at() time.Time {
	if r.time == nil {
		return millis(r.created)
	}
	return millis(r.time)
}

// isUsers reports whether the user wrote a prompt, and not Kimi Code or a tool.
func (r *record) isUsers() bool {
	kind := kit.Short(agentfile.Get(r.origin, "kind"))
	return kind == "user" || kind == ""
}

// text returns the text of a prompt.
func (r *record) text(limit int) string {
	return strings.TrimSpace(kit.PartsText(r.input, limit, func(_ []byte, text string) bool { return true }))
}

// millis returns a time that is written in milliseconds.
func millis(raw []byte) time.Time {
	n := kit.Number(raw)
	if n == 0 {
		return time.Time{}
	}
	return time.UnixMilli(n).UTC()
}

// argument returns the most descriptive argument of a call.
func argument(args []byte) string {
	if text := kit.Argument(args, []string{"command", "path", "file_path", "pattern", "query", "url", "prompt", "description"}, kit.Shown.Text); text != "" {
		return text
	}
	return kit.AnyArgument(args)
}

// first returns the first element of a list.
func first(list []byte) (one []byte) {
	_ = agentfile.Each(list, func(element []byte) bool {
		one = element
		return false
	})
	return one
}

// others lists the types of records that say nothing of a session's state (the types that 2.1.0 writes).
var others = strings.Fields(`runtime.set_binding context.append_message context.clear context.undo context.apply_compaction config.update agent.message.appended
	agent.turn.ended agent.switched cron.add cron.cursor cron.delete file_history.checkpoint file_history.tracked goal.clear goal.create goal.update
	interruptionReminder.recorded llm.tools_snapshot mcp.tools_discovered micro_compaction.apply permission.record_approval_result permission.rules.add plan.revision
	plan_mode.cancel plan_mode.enter plan_mode.exit plugin.session_start prompt.aborted prompt.accepted prompt.completed prompt.steered staleGuard.cleared
	staleGuard.recorded subagent.started subagent.suspended swarm_mode.enter swarm_mode.exit task.notified task.started task.terminated task.waitDelivered
	token_counting.rebased token_counting.truncated tools.register_user_tool tools.reset_active_tools tools.set_active_tools tools.unregister_user_tool
	tools.update_store tower_mode.enter tower_mode.exit turn.cancel turn.step.interrupted skill.activated hook.result error warning`)

func isOther(typ string) bool { return slices.Contains(others, typ) }
