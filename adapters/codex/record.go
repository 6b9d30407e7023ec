package codex

import (
	"bytes"
	"cmp"
	"errors"
	"iter"
	"strings"
	"time"

	"rollcall/adapters"
	"rollcall/adapters/internal/agentfile"
	"rollcall/adapters/internal/kit"
)

// textLimit is the number of bytes of a prompt, a title or an error that are kept.
const textLimit = 4096

// unreadLine is the reason for skipping a line that is not a record.
const unreadLine = "line that is not a record"

// errRecord is returned for a line that is not a rollout record.
var errRecord = errors.New("not a rollout record")

// kind is the meaning of a record for a session. Most records only show activity.
type kind uint8

const (
	activity   kind = iota // activity within the turn: reasoning, a tool's event, …
	other                  // nothing about the turn
	meta                   // session_meta; see parseMeta
	started                // task_started
	completed              // task_complete
	aborted                // turn_aborted
	failure                // an error that ends the turn
	rolledBack             // thread_rolled_back: the turn is undone
	prompt                 // a text that the user typed
	answer                 // a text of the model
	call                   // a tool was called
	output                 // a tool's result
	settings               // turn_context, thread_settings_applied
	usage                  // token_count, token_usage_record
	planned                // a plan was proposed, in plan mode
	reviewed               // a review is over; its turn's end follows
	unread                 // a line that is not a record
	hidden                 // a line that is too long to be read, described by text
)

// record holds the parts of one line of a rollout that Rollcall needs.
type record struct {
	kind    kind
	at      time.Time
	ordinal int64 // -1 in versions without (before 0.169)
	turn    string
	thread  string // of a usage record that names one; meta: the thread
	end     int64  // where its line ends in the rollout
	text    string // prompt, error, reason of an abort
	limited bool   // failure: a limit of the provider's was reached
	silent  bool   // completed: without a last message; reviewed: without a result

	callID    string
	tool      string
	escalated bool // the call asks to leave the sandbox
	asks      bool // the call is a question to the user
	does      string
	said      string // completed: the beginning of the last message; planned: of the plan

	model, cwd, approval, reviewer string
	totals                         *tokens // of the thread so far, with what it inherited
	used                           *tokens // of the answer alone
	answer                         string  // usage: the id of the answer, since 0.169
	context, window                int64
	limits, full                   bool // of a usage record: it has the limits of the user's plan, and one of them is reached

	unknown string // why the record or a part of it is skipped
}

// tokens holds the counts as Codex writes them: input includes cached and written
// tokens.
type tokens struct{ input, cached, written, output, reasoning, total int64 }

// rolloutLine holds the members that every line of a rollout has.
type rolloutLine struct {
	at            time.Time
	ordinal       int64 // -1 in versions without (before 0.169)
	name, payload []byte
}

// splitLine returns the members of a line. With an error, as for a line that is cut off, it returns
// the members before the error.
func splitLine(line []byte) (l rolloutLine, err error) {
	var at, ordinal []byte
	into := agentfile.Into
	err = agentfile.Members(agentfile.WithoutMark(line), into("timestamp", &at), into("ordinal", &ordinal), into("type", &l.name), into("payload", &l.payload))
	l.at = agentfile.Time(at)
	l.name = agentfile.Text(l.name)
	l.ordinal = -1
	if n, ok := agentfile.Int(ordinal); ok {
		l.ordinal = n
	}
	return l, err
}

// recordStart is how every record begins. Within a text its quotes are escaped.
var recordStart = []byte(`{"timestamp":`)

// split returns the complete records on a line that is not one record: a writer that was killed leaves a record without a
// line feed, or a part of one, and the next one continues on that line.
func split(line []byte) (parts [][]byte) {
	for {
		at := bytes.Index(line, recordStart)
		if at < 0 {
			return parts
		}
		line = line[at:]
		part := agentfile.First(line)
		if _, err := splitLine(part); err != nil {
			line = line[1:]
			continue
		}
		parts, line = append(parts, part), line[len(part):]
	}
}

// records returns the records on a line, usually one.
func records(line []byte) iter.Seq[record] {
	return func(yield func(record) bool) {
		r, err := parse(line)
		if err == nil {
			yield(r)
			return
		}
		read := 0
		for _, part := range split(line) {
			r, err := parse(part)
			if err != nil {
				continue
			}
			read++
			if !yield(r) {
				return
			}
		}
		if read == 0 {
			yield(record{kind: unread, ordinal: -1, unknown: unreadLine})
		}
	}
}

// isInherited reports whether a sub-agent's record with that ordinal is a copy of its parent's
// record: these are the records before first.
func isInherited(ordinal, first int64) bool { return first > 0 && ordinal >= 0 && ordinal < first }

// parse reads one record of a rollout, as Codex 0.137 to 0.171 write it.
func parse(line []byte) (record, error) {
	l, err := splitLine(line)
	if err != nil {
		return record{}, err
	}
	payload := l.payload
	if len(l.name) == 0 || len(payload) == 0 || payload[0] != '{' {
		return record{}, errRecord
	}
	r := record{kind: activity, at: l.at, ordinal: l.ordinal}
	switch string(l.name) {
	case "session_meta":
		r.kind, r.thread = meta, agentfile.String(agentfile.Get(payload, "id"))
	case "event_msg":
		r.event(payload)
	case "response_item":
		r.item(payload)
	case "turn_context":
		r.settings(payload)
	case "token_usage_record":
		r.usageRecord(payload)
	case "compacted", "inter_agent_communication", "inter_agent_communication_metadata":
	case "world_state", "ghost_snapshot", "retained_context":
		r.kind = other
	default:
		r.kind, r.unknown = other, "unknown record type "+kit.PlainWord(string(l.name))
	}
	return r, nil
}

// event reads an event_msg, the most frequent types first.
func (r *record) event(payload []byte) {
	switch string(agentfile.Text(agentfile.Get(payload, "type"))) {
	case "token_count":
		r.tokenCount(payload)
	case "item_completed":
		r.itemCompleted(payload)
	case "agent_message":
		r.kind = answer
	case "user_message":
		r.kind = prompt
		text, _ := agentfile.Head(agentfile.Get(payload, "message"), textLimit)
		r.text = userText(text)
	case "task_started", "turn_started":
		r.kind = started
		r.turn = agentfile.String(agentfile.Get(payload, "turn_id"))
		r.window, _ = agentfile.Int(agentfile.Get(payload, "model_context_window"))
	case "task_complete", "turn_complete":
		r.complete(payload)
	case "turn_aborted":
		r.kind = aborted
		r.turn = agentfile.String(agentfile.Get(payload, "turn_id"))
		r.text = agentfile.String(agentfile.Get(payload, "reason"))
	case "error":
		if failsTurn(payload) {
			r.kind, r.limited = failure, reachedLimit(payload)
			r.text, _ = agentfile.Head(agentfile.Get(payload, "message"), textLimit)
		}
	case "thread_rolled_back":
		r.kind = rolledBack
	case "exited_review_mode":
		r.kind, r.silent = reviewed, agentfile.Null(agentfile.Get(payload, "review_output"))
	case "thread_settings_applied":
		r.settings(agentfile.Get(payload, "thread_settings"))
	case "thread_name_updated", "thread_goal_updated", "warning":
		r.kind = other
	}
}

// complete reads a task_complete. Since some version after 0.142.5 this record says why the
// turn failed; in earlier versions a failed turn is recognised only by its missing last
// message.
func (r *record) complete(payload []byte) {
	r.kind = completed
	r.turn = agentfile.String(agentfile.Get(payload, "turn_id"))
	said := agentfile.Get(payload, "last_agent_message")
	r.silent = agentfile.Null(said)
	r.said, _ = agentfile.Head(said, adapters.MaxDoing)
	failed := agentfile.Get(payload, "error")
	if agentfile.Null(failed) || !failsTurn(failed) {
		return
	}
	r.kind, r.limited = failure, reachedLimit(failed)
	r.text, _ = agentfile.Head(agentfile.Get(failed, "message"), textLimit)
	r.text = cmp.Or(r.text, "error without a message")
}

// failsTurn reports whether an error means that the turn failed. Two kinds of errors
// don't (CodexErrorInfo::affects_turn_status).
func failsTurn(raw []byte) bool {
	info := agentfile.Get(raw, "codex_error_info")
	return string(agentfile.Text(info)) != "thread_rollback_failed" &&
		agentfile.Get(info, "active_turn_not_steerable") == nil
}

// reachedLimit reports whether an error says that the limit of the user's plan is reached (0.169.0).
func reachedLimit(raw []byte) bool {
	return string(agentfile.Text(agentfile.Get(raw, "codex_error_info"))) == "usage_limit_exceeded"
}

// reachedAny reports whether a record of limits says that one is reached: by its name (0.142), or by a window that is used up.
func reachedAny(limits []byte) bool {
	if !agentfile.Null(agentfile.Get(limits, "rate_limit_reached_type")) {
		return true
	}
	for _, window := range []string{"primary", "secondary"} {
		if used, _ := agentfile.Float(agentfile.Get(limits, window, "used_percent")); used >= 100 {
			return true
		}
	}
	return false
}

// itemCompleted reads the record that replaces user_message and agent_message in
// "paginated" rollouts (0.169).
func (r *record) itemCompleted(payload []byte) {
	item := agentfile.Get(payload, "item")
	switch string(agentfile.Text(agentfile.Get(item, "type"))) {
	case "UserMessage":
		r.kind = prompt
		r.text = userText(contentText(item, textLimit, false))
	case "AgentMessage":
		r.kind = answer
	case "CommandExecution", "FileChange": // written before the output, which is written only after the outputs of earlier calls
		r.kind, r.callID = output, agentfile.String(agentfile.Get(item, "id"))
	case "Plan":
		text, _ := agentfile.Head(agentfile.Get(item, "text"), adapters.MaxDoing)
		r.kind, r.said = planned, cmp.Or(adapters.Plain(text), "a plan")
	case "ExitedReviewMode":
		r.kind, r.silent = reviewed, agentfile.Null(agentfile.Get(item, "review_output"))
		r.turn = agentfile.String(agentfile.Get(payload, "turn_id"))
	}
}

// item reads a response_item: a message to the model or from it.
func (r *record) item(payload []byte) {
	switch string(agentfile.Text(agentfile.Get(payload, "type"))) {
	case "message":
		switch string(agentfile.Text(agentfile.Get(payload, "role"))) {
		case "assistant":
			r.kind = answer
		case "user", "developer", "system": // a prompt comes as an event as well
			r.kind = other
		}
	case "function_call", "custom_tool_call", "local_shell_call", "tool_search_call":
		r.toolCall(payload)
	case "function_call_output", "custom_tool_call_output", "tool_search_output":
		r.kind = output
		r.callID = agentfile.String(agentfile.Get(payload, "call_id"))
	}
}

func (r *record) settings(raw []byte) {
	r.kind = settings
	r.turn = agentfile.String(agentfile.Get(raw, "turn_id"))
	r.model = agentfile.String(agentfile.Get(raw, "model"))
	r.cwd = agentfile.String(agentfile.Get(raw, "cwd"))
	r.approval = agentfile.String(agentfile.Get(raw, "approval_policy"))
	r.reviewer = agentfile.String(agentfile.Get(raw, "approvals_reviewer"))
}

// tokenCount reads the counts that are cumulative over the thread, including its
// resumes. info is null when only rate limits changed.
func (r *record) tokenCount(payload []byte) {
	r.kind = usage
	if limits := agentfile.Get(payload, "rate_limits"); limits != nil {
		r.limits = true
		r.full = reachedAny(limits)
	}
	info := agentfile.Get(payload, "info")
	if agentfile.Null(info) {
		return
	}
	r.totals = counts(agentfile.Get(info, "total_token_usage"))
	r.used = counts(agentfile.Get(info, "last_token_usage"))
	if r.used != nil {
		r.context = r.used.total
	}
	r.window, _ = agentfile.Int(agentfile.Get(info, "model_context_window"))
}

// usageRecord reads the token_usage_record of 0.169, which comes earlier in a
// turn than the token_count.
func (r *record) usageRecord(payload []byte) {
	r.kind = usage
	r.thread = agentfile.String(agentfile.Get(payload, "thread_id"))
	r.turn, r.answer = agentfile.String(agentfile.Get(payload, "turn_id")), agentfile.String(agentfile.Get(payload, "response_id"))
	r.totals = counts(agentfile.Get(payload, "thread_token_usage"))
	r.used = counts(agentfile.Get(payload, "usage"))
	if r.used != nil {
		r.context = r.used.total
	}
}

func counts(raw []byte) *tokens {
	if agentfile.Null(raw) {
		return nil
	}
	var input, cached, written, output, reasoning, total []byte
	into := agentfile.Into
	err := agentfile.Members(raw, into("input_tokens", &input), into("cached_input_tokens", &cached), into("cache_write_input_tokens", &written),
		into("output_tokens", &output), into("reasoning_output_tokens", &reasoning), into("total_tokens", &total))
	if err != nil {
		return nil
	}
	return &tokens{input: kit.Number(input), cached: kit.Number(cached), written: kit.Number(written),
		output: kit.Number(output), reasoning: kit.Number(reasoning), total: kit.Number(total)}
}

// contentText joins the texts of a message's content, up to room bytes of them, and with images set also names the images in it.
func contentText(message []byte, room int, images bool) string {
	var parts []string
	_ = agentfile.Each(agentfile.Get(message, "content"), func(part []byte) bool {
		if text, _ := agentfile.Head(agentfile.Get(part, "text"), room); text != "" {
			parts = append(parts, text)
			room -= len(text)
		} else if images && bytes.Contains(agentfile.Text(agentfile.Get(part, "type")), []byte("image")) {
			parts = append(parts, "[image]")
		}
		return room > 0
	})
	return strings.TrimSpace(strings.Join(parts, "\n"))
}

// wrappers lists the beginnings of messages that the program, not the user, added to
// the history.
var wrappers = []string{
	"<environment_context>", "<user_instructions>", "# AGENTS.md instructions", "<turn_aborted>",
	"<INSTRUCTIONS>", "<user_shell_command>", "<subagent_notification>", "<skill>",
	"<permissions instructions>", "<collaboration_mode>",
}

// userText returns the text that the user typed: an empty text for the program's own
// messages, and for a message of an editor's extension only the part after its context.
func userText(text string) string {
	const request = "## My request for Codex:"
	if strings.HasPrefix(text, "# Context from my IDE setup:") {
		if _, after, ok := strings.Cut(text, request); ok {
			text = after
		}
	}
	text = strings.TrimSpace(text)
	for _, w := range wrappers {
		if strings.HasPrefix(text, w) {
			return ""
		}
	}
	return text
}
