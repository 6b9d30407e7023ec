package qwen

import (
	"cmp"
	"strconv"
	"strings"
	"time"

	"rollcall/adapters"
	"rollcall/adapters/internal/agentfile"
	"rollcall/adapters/internal/kit"
)

// record is one line of a session's file, as written.
type record struct {
	typ, subtype, uuid, session, at, cwd, branch, version, model, prompt []byte
	message, usage, system, end, forked                                  []byte
}

// parse reads one line.
func parse(line []byte) (r record, err error) {
	err = agentfile.Members(line,
		agentfile.Into("type", &r.typ), agentfile.Into("subtype", &r.subtype), agentfile.Into("uuid", &r.uuid),
		agentfile.Into("sessionId", &r.session), agentfile.Into("timestamp", &r.at), agentfile.Into("cwd", &r.cwd),
		agentfile.Into("gitBranch", &r.branch), agentfile.Into("version", &r.version), agentfile.Into("model", &r.model),
		agentfile.Into("message", &r.message), agentfile.Into("usageMetadata", &r.usage), agentfile.Into("systemPayload", &r.system),
		agentfile.Into("toolCallResult", &r.end), agentfile.Into("forkedFrom", &r.forked), agentfile.Into("daemonPromptId", &r.prompt))
	return r, err
}

func (r *record) time() time.Time { return agentfile.Time(r.at) }

// parts calls do for each part of the message.
func (r *record) parts(do func(part []byte)) {
	kit.Each(agentfile.Get(r.message, "parts"), do)
}

// text returns the text of the message, without the model's thoughts.
func (r *record) text(limit int) string {
	return kit.PartsText(agentfile.Get(r.message, "parts"), limit, func(part []byte, _ string) bool { return !agentfile.True(agentfile.Get(part, "thought")) })
}

// isNotification reports whether a record of the type user is not the user's: a message of another session, the end of an
// agent in the background (0.24.4).
func (r *record) isNotification() bool { return string(agentfile.Text(r.subtype)) == "notification" }

// isCancelled reports whether the user interrupted the call that a record ends, or denied it: the turn ends with it (0.15.6, 0.24.4).
func (r *record) isCancelled() bool {
	cancelled := string(agentfile.Text(agentfile.Get(r.end, "status"))) == "cancelled"
	r.parts(func(part []byte) {
		cancelled = cancelled || strings.HasPrefix(kit.Short(agentfile.Get(part, "functionResponse", "response", "error")), "[Operation Cancelled]")
	})
	return cancelled
}

// tokens returns what an answer used; nil where the record does not say it: the user interrupted the answer.
func (r *record) tokens() (*adapters.Tokens, int64) {
	if agentfile.Null(r.usage) {
		return nil, 0
	}
	count := func(name string) int64 { return kit.Count(r.usage, name) }
	cached := count("cachedContentTokenCount")
	return &adapters.Tokens{Input: max(count("promptTokenCount")-cached, 0), Output: count("candidatesTokenCount"), CacheRead: cached,
		Reasoning: count("thoughtsTokenCount")}, count("totalTokenCount")
}

// messages returns the text of a record, and then its calls or their results.
func (r *record) messages(limit kit.Limit) (list []kit.Item) {
	m := kit.Item{Message: adapters.Message{Key: kit.Short(r.uuid), At: r.time()}}
	text := r.text(limit.Bytes() + 4)
	switch string(agentfile.Text(r.typ)) {
	case "user":
		m.Ends, m.Role = true, adapters.FromUser
		if r.isNotification() {
			m.Role, text = adapters.FromNote, cmp.Or(agentfile.String(agentfile.Get(r.system, "displayText")), text) // without what it tells the model beside
		}
	case "assistant":
		m.Role = adapters.FromAgent
	case "system":
		m.Role, text = adapters.FromNote, kit.Short(agentfile.Get(r.system, "uiEvent", "error_message"))
	case "tool_result":
		text = ""
	default:
		return nil
	}
	m.Text = limit.Cut(strings.TrimSpace(text))
	if m.Text == "" {
		m.Role = ""
	}
	if m.Role != "" || m.Ends {
		list = append(list, m)
	}
	return append(list, r.calls(m.Key, m.At, limit)...)
}

// calls returns the calls in a record, or their results.
func (r *record) calls(key string, at time.Time, limit kit.Limit) (list []kit.Item) {
	r.parts(func(raw []byte) {
		call, result := agentfile.Get(raw, "functionCall"), agentfile.Get(raw, "functionResponse")
		if agentfile.Null(call) && agentfile.Null(result) {
			return
		}
		args, response := agentfile.Get(call, "args"), agentfile.Get(result, "response")
		one := kit.Item{IsResult: agentfile.Null(call)}
		one.Message = adapters.Message{Key: key + "/" + strconv.Itoa(len(list)), Role: adapters.FromTool, State: adapters.ToolRunning, At: at}
		switch {
		case !one.IsResult:
			one.Text = limit.Cut(argument(args))
		case agentfile.Null(agentfile.Get(response, "error")):
			call, one.State = result, adapters.ToolDone
		default:
			call, one.State = result, adapters.ToolFailed
		}
		one.Texts = func() string { return strings.TrimSpace(one.Text + "\n" + kit.Strings(args) + kit.Strings(response)) }
		one.Call, one.Tool = kit.Short(agentfile.Get(call, "id")), cmp.Or(kit.Short(agentfile.Get(call, "name")), "tool")
		one.Plan = one.Tool == exitPlan
		list = append(list, one)
	})
	return list
}

// argument returns the most descriptive argument of a call.
func argument(raw []byte) string {
	return cmp.Or(kit.Argument(raw, []string{"command", "file_path", "path", "pattern", "query", "url", "description", "prompt"}, kit.Shown.Text), kit.AnyArgument(raw))
}
