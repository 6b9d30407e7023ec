package grok

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/cespare/xxhash/v2"

	"rollcall/adapters"
	"rollcall/adapters/internal/agentfile"
	"rollcall/adapters/internal/kit"
)

// updates holds what updates.jsonl says of a session: notifications of the Agent Client Protocol, and Grok Build's own beside them.
type updates struct {
	firstPrompt, lastPrompt string
	prompt                  string // the number of the last one: several records can be one prompt
	prompted                time.Time
	calls                   []call // without a result, in the open turn
	reply                   string
	replied                 time.Time
	retry                   string // why the last request to the model failed
	context                 int64
	agents                  []string // sessions of sub-agents
	last                    time.Time

	ledger   kit.Ledger
	counted  bool // what a turn used is recorded
	skipped  map[string]int
	longLine string // description of a line that was too long to be read: the ledger may lack its tokens
}

type call struct {
	id, text string
	at       time.Time
}

// The tools that wait for the user, and those that run commands and sub-agents (1.0.41).
const (
	questionTool = "ask_user_question"
	exitPlan     = "exit_plan_mode"
	shellTool    = "run_terminal_command"
)

// update is one line of updates.jsonl, as written.
type update struct {
	method, session, typ, body, meta []byte
}

func parseUpdate(line []byte) (u update, err error) {
	var params []byte
	err = agentfile.Members(line, agentfile.Into("method", &u.method), agentfile.Into("params", &params))
	if err == nil && agentfile.Text(u.method) == nil {
		err = errNotRecord
	}
	u.session, u.body, u.meta = agentfile.Get(params, "sessionId"), agentfile.Get(params, "update"), agentfile.Get(params, "_meta")
	u.typ = agentfile.Get(u.body, "sessionUpdate")
	return u, err
}

// get returns a member of the update.
func (u *update) get(path ...string) []byte { return agentfile.Get(u.body, path...) }

// id returns what names the record: the same in a copy of it.
func (u *update) id() string { return kit.Short(agentfile.Get(u.meta, "eventId")) }

// at returns the time of a record: in a copy it is that of the first one.
func (u *update) at() time.Time {
	if ms := kit.Count(u.meta, "agentTimestampMs"); ms > 0 {
		return time.UnixMilli(ms)
	}
	return time.Time{}
}

// isCopy reports whether a record was written in another session: a fork begins with those of the session that it continues.
func (u *update) isCopy() bool {
	id := u.id()
	return id != "" && !strings.HasPrefix(id, kit.Short(u.session)+"-")
}

// tool returns the name of the tool of a call.
func (u *update) tool() string {
	return kit.PlainWord(cmp.Or(kit.Short(u.get("_meta", "x.ai/tool", "name")), kit.Short(u.get("title"))))
}

// argument returns what a call does, in a few words.
func (u *update) argument(text func(raw []byte) string) string {
	input := u.get("rawInput")
	asks := ""
	_ = agentfile.Each(agentfile.Get(input, "questions"), func(question []byte) bool {
		asks = text(agentfile.Get(question, "question"))
		return false
	})
	return cmp.Or(asks, kit.Argument(input, []string{"command", "file_path", "path", "target_file", "pattern", "query", "url", "plan", "description", "prompt"}, text))
}

// Line implements kit.Gatherer.
func (f *updates) Line(line []byte) error {
	if _, err := agentfile.Records(line, parseUpdate, f.apply); err != nil {
		f.skip("line that is not a record")
	}
	return nil
}

// Long implements kit.Gatherer.
func (f *updates) Long(words string) {
	f.skip(kit.LongLine)
	f.longLine = words
}

// Partial implements kit.Gatherer.
func (f *updates) Partial() {}

// Clone implements kit.Gatherer.
func (f *updates) Clone() updates {
	c := *f
	c.ledger = f.ledger.Clone()
	c.calls, c.agents = slices.Clone(f.calls), slices.Clone(f.agents)
	return c
}

func (f *updates) skip(reason string) { f.skipped = kit.CountSkipped(f.skipped, reason) }

// apply adds one record. Types that say nothing of the session are many.
func (f *updates) apply(u *update) {
	if method := string(agentfile.Text(u.method)); method != "session/update" && method != "_x.ai/session/update" {
		f.skip("unknown method " + kit.PlainWord(method))
		return
	}
	at := u.at()
	if at.After(f.last) {
		f.last = at
	}
	if total := kit.Count(u.meta, "totalTokens"); total > 0 {
		f.context = total
	}
	switch string(agentfile.Text(u.typ)) {
	case "user_message_chunk":
		f.message(u, at)
	case "agent_message_chunk":
		f.retry = ""
		if text := kit.Short(u.get("content", "text")); text != "" {
			f.reply, f.replied = adapters.CutTo(text, adapters.MaxDoing), at
		}
	case "tool_call":
		f.retry = ""
		tool := u.tool()
		c := call{kit.Short(u.get("toolCallId")), adapters.Calling(tool, u.argument(kit.Short), tool == shellTool), at}
		if len(f.calls) < maxOpen {
			f.calls = append(f.calls, c)
		}
	case "tool_call_update":
		f.result(u)
	case "retry_state":
		f.retry = cmp.Or(kit.Short(u.get("reason")), kit.Short(u.get("message")))
	case "turn_completed":
		f.calls = nil
		f.spend(u, at)
	}
}

// message takes a part of a prompt.
func (f *updates) message(u *update, at time.Time) {
	number := string(u.get("_meta", "promptIndex"))
	text := kit.Short(u.get("content", "text"))
	if number != "" && number == f.prompt && f.lastPrompt != "" && text != "" {
		text = adapters.CutTo(f.lastPrompt+"\n"+text, textLimit)
	} else {
		f.ledger.Prompt()
		f.prompted = at
	}
	if f.firstPrompt == "" || f.firstPrompt == f.lastPrompt && number == f.prompt {
		f.firstPrompt = text
	}
	f.lastPrompt, f.prompt = text, number
	f.calls, f.reply, f.retry = nil, "", ""
}

// result takes the state of a call.
func (f *updates) result(u *update) {
	switch string(agentfile.Text(u.get("status"))) {
	case "completed", "failed":
		id := kit.Short(u.get("toolCallId"))
		f.calls = without(f.calls, func(c call) bool { return c.id == id })
	}
	if id := kit.Short(u.get("rawOutput", "subagent_id")); kit.Is(id) {
		f.agents = kit.AppendNew(f.agents, id)
	}
}

// spend adds what a turn used, as Grok Build sums it up at its end, by model. Its input includes what was read from a cache.
func (f *updates) spend(u *update, at time.Time) {
	add := f.ledger.Answer
	f.counted = f.counted || !agentfile.Null(u.get("usage"))
	_ = agentfile.Top(u.get("usage", "modelUsage"), func(model, used []byte) bool {
		cached := kit.Count(used, "cachedReadTokens")
		id := append(append([]byte(nil), u.get("prompt_id")...), model...)
		add(kit.Entry{ID: xxhash.Sum64(id) | 1, Copied: u.isCopy(), At: at, Model: adapters.CutTo(string(model), textLimit), Tokens: adapters.Tokens{
			Input: max(kit.Count(used, "inputTokens")-cached, 0), Output: kit.Count(used, "outputTokens"), CacheRead: cached,
			CacheWrite: kit.Count(used, "cacheCreationTokens"), Reasoning: kit.Count(used, "reasoningTokens")}})
		add = f.ledger.Add
		return true
	})
}

// doing returns what the session does now, see adapters.Session.Doing.
func (f *updates) doing() (string, time.Time) {
	if n := len(f.calls); n > 0 {
		return f.calls[n-1].text, f.calls[n-1].at
	}
	return f.reply, f.replied
}
