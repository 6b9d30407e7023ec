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
	number                  string // of the last one
	prompted                time.Time
	byItself                bool                  // the last turn has no prompt of the user's
	tasks                   []adapters.Background // commands that run in the background
	call                    call                  // the last one, until it has a result
	reply                   call
	retry                   string // why the last request to the model failed
	context                 int64
	agents                  []string // sessions of sub-agents
	ended                   []string // those that ended in the turn
	included                []string // those whose tokens a turn states as its own
	last                    time.Time

	ledger  kit.Ledger
	counted bool // what a turn used is recorded
	kit.Skips
	longLine string // description of a line that was too long to be read: the ledger may lack its tokens
}

// call is the call of a tool in a few words, or the beginning of a reply, which has no id.
type call struct {
	id, text string
	at       time.Time
}

// The tools that wait for the user (1.0.41).
const (
	questionTool = "ask_user_question"
	exitPlan     = "exit_plan_mode"
)

// update is one line of updates.jsonl, as written.
type update struct {
	method, session, typ, body, meta []byte
}

func parseUpdate(line []byte) (u update, err error) {
	var params []byte
	err = agentfile.Members(line, agentfile.Into("method", &u.method), agentfile.Into("params", &params))
	if err == nil && agentfile.Text(u.method) == nil {
		err = kit.ErrForm
	}
	u.session = agentfile.Get(params, "sessionId")
	u.body = agentfile.Get(params, "update")
	u.meta = agentfile.Get(params, "_meta")
	u.typ = agentfile.Get(u.body, "sessionUpdate")
	return u, err
}

// get returns a member of the update.
func (u *update) get(path ...string) []byte { return agentfile.Get(u.body, path...) }

// id returns what names the record: the same in a copy of it.
func (u *update) id() string { return kit.Short(agentfile.Get(u.meta, "eventId")) }

// at returns the time of a record: in a copy it is that of the first one.
func (u *update) at() time.Time {
	ms := kit.Count(u.meta, "agentTimestampMs")
	if ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms)
}

// isCopy reports whether a record was written in another session: a fork begins with those of the session that it continues.
func (u *update) isCopy() bool { return !strings.HasPrefix(u.id(), kit.Short(u.session)) }

// tool returns the name of the tool of a call.
func (u *update) tool() string {
	return cmp.Or(kit.PlainWord(kit.Short(u.get("_meta", "x.ai/tool", "name"))), kit.PlainWord(kit.Short(u.get("title"))), "tool")
}

// argument returns what a call does, in a few words.
func (u *update) argument(text func(raw []byte) string) string {
	input := u.get("rawInput")
	asks := ""
	kit.Each(agentfile.Get(input, "questions"), func(question []byte) { asks = cmp.Or(asks, text(agentfile.Get(question, "question"))) })
	return cmp.Or(asks, kit.Argument(input, []string{"command", "file_path", "path", "target_file", "pattern", "query", "url", "plan", "description", "prompt"}, text))
}

// Line implements kit.Gatherer.
func (f *updates) Line(line []byte) error {
	if _, err := agentfile.Records(line, parseUpdate, f.apply); err != nil {
		f.Skip("line that is not a record")
	}
	return nil
}

// Long implements kit.Gatherer.
func (f *updates) Long(words string) {
	f.Skip(kit.LongLine)
	f.longLine = words
}

// Partial implements kit.Gatherer.
func (f *updates) Partial() {}

// Clone implements kit.Gatherer.
func (f *updates) Clone() updates {
	c := *f
	c.ledger = f.ledger.Clone()
	c.agents = slices.Clone(f.agents)
	c.ended = slices.Clone(f.ended)
	c.included = slices.Clone(f.included)
	return c
}

// apply adds one record. Types that say nothing of the session are many.
func (f *updates) apply(u *update) {
	if method := string(agentfile.Text(u.method)); method != "session/update" && method != "_x.ai/session/update" {
		f.Skip("unknown method " + kit.PlainWord(method))
		return
	}
	at := u.at()
	if at.After(f.last) {
		f.last = at
	}
	f.context = cmp.Or(kit.Count(u.meta, "totalTokens"), f.context)
	switch string(agentfile.Text(u.typ)) {
	case "user_message_chunk":
		f.message(u, at)
	case "agent_message_chunk":
		f.retry = ""
		if text := kit.Short(u.get("content", "text")); text != "" {
			f.reply = call{text: adapters.CutTo(text, adapters.MaxDoing), at: at}
		}
	case "tool_call":
		f.retry = ""
		f.call = call{kit.Short(u.get("toolCallId")), adapters.Calling(u.tool(), u.argument(kit.Short), u.tool() == "run_terminal_command"), at}
	case "tool_call_update":
		if stateOf(u) != "" && kit.Short(u.get("toolCallId")) == f.call.id {
			f.call = call{}
		}
	case "retry_state":
		f.retry = cmp.Or(kit.Short(u.get("reason")), kit.Short(u.get("message")))
	case "subagent_spawned":
		f.agents = kit.AppendNew(f.agents, kit.Short(u.get("child_session_id")))
	case "subagent_finished":
		f.ended = kit.AppendNew(f.ended, kit.Short(u.get("child_session_id")))
	case "background_tasks":
		f.tasks = runningTasks(u.get("tasks"))
	case "turn_completed":
		f.call = call{}
		f.spend(u, at)
	}
}

// runningTasks returns the commands in a list of all tasks of a session, which Grok Build (1.0.41) records when one begins and when one ends. It begins a turn
// when one ends.
func runningTasks(list []byte) (running []adapters.Background) {
	_ = agentfile.Each(list, func(task []byte) bool {
		since, err := time.Parse(time.RFC3339Nano, kit.Short(agentfile.Get(task, "started_at")))
		if kit.Short(agentfile.Get(task, "status")) == "running" && kit.Short(agentfile.Get(task, "kind")) == "bash" && err == nil {
			running = append(running, adapters.Background{Kind: adapters.Running, What: adapters.CutTo(kit.Short(agentfile.Get(task, "command")), adapters.MaxDoing),
				Since: since, TurnFollows: true})
		}
		return true
	})
	return running
}

// message takes a prompt. Further parts of it have its number.
func (f *updates) message(u *update, at time.Time) {
	number := string(u.get("_meta", "promptIndex"))
	if number != "" && number == f.number {
		return
	}
	f.number = number
	text := kit.Short(u.get("content", "text"))
	f.byItself = strings.HasPrefix(text, "<system-reminder>")
	if !f.byItself {
		f.ledger.Prompt()
		f.prompted, f.lastPrompt = at, text
		f.firstPrompt = cmp.Or(f.firstPrompt, f.lastPrompt)
	}
	f.call = call{}
	f.reply = call{}
	f.retry = ""
}

// spend adds what a turn used, as Grok Build sums it up at its end, by model, with its sub-agents. Its input includes what was read from a cache.
func (f *updates) spend(u *update, at time.Time) {
	add := f.ledger.Answer
	if !agentfile.Null(u.get("usage")) {
		f.counted = true
		f.included = kit.AppendNew(f.included, f.ended...)
	}
	f.ended = nil
	_ = agentfile.Top(u.get("usage", "modelUsage"), func(model, used []byte) bool {
		cached := kit.Count(used, "cachedReadTokens")
		id := append(append([]byte(nil), u.get("prompt_id")...), model...)
		add(kit.Entry{ID: xxhash.Sum64(id) | 1, Copied: u.isCopy(), At: at, Model: adapters.CutTo(string(model), kit.ShortText), Tokens: adapters.Tokens{
			Input: max(kit.Count(used, "inputTokens")-cached, 0), Output: kit.Count(used, "outputTokens"), CacheRead: cached,
			CacheWrite: kit.Count(used, "cacheCreationTokens"), Reasoning: kit.Count(used, "reasoningTokens")}})
		add = f.ledger.Add
		return true
	})
}

// doing returns what the session does now, see adapters.Session.Doing.
func (f *updates) doing() (string, time.Time) {
	now := cmp.Or(f.call, f.reply)
	return now.text, now.at
}
