package kimi

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/cespare/xxhash/v2"

	"rollcall/adapters"
	"rollcall/adapters/internal/agentfile"
	"rollcall/adapters/internal/kit"
)

// facts holds what a wire.jsonl or a state.json says. It has no pointer to the file's bytes.
type facts struct {
	known    bool
	protocol string    // the version of the records
	at       time.Time // when the session began
	last     time.Time // of the newest record
	used     time.Time // of the newest record that a process wrote here; a fork has a copy of its parent's records

	adapters.Topic
	cwd, model, mode string
	prompted         time.Time // when the last turn began
	turn             turn
	asks             []ask     // requests without an answer
	calls            []call    // that are open
	compacting       time.Time // since when the conversation is shortened outside of a turn
	background       []string  // sub-agents that go on after their turn
	context          int64
	archived         bool

	ledger kit.Ledger
	lost   string // description of a record that can't be read: its answers are missing in the ledger
	kit.Skips
}

// turn is the state of the last turn.
type turn struct {
	state   state
	number  int64
	outcome adapters.Outcome // with ended
	why     string
	at      time.Time // of its beginning or end
	limited bool
}

type state int

const (
	noTurn state = iota
	open
	ended
	lost // the last records could not be read, or are of another version
)

// ask is a request for the user, and call an open call of a tool.
type (
	ask struct {
		id, call, text string
		question, plan bool
		at             time.Time
	}
	call struct {
		id, text string
		command  string // that it runs
		at       time.Time
	}
)

const (
	textLimit = kit.ShortText // of the texts that are kept of a session, in bytes
	maxOpen   = 64            // open calls, requests and sub-agents that are kept
	protocol  = "1.5"         // of the records of 2.1.0; later ones of the same major version add to it
)

// Clone implements kit.Gatherer.
func (f *facts) Clone() facts {
	c := *f
	c.ledger = f.ledger.Clone()
	c.asks = slices.Clone(f.asks)
	c.calls = slices.Clone(f.calls)
	c.background = slices.Clone(f.background)
	return c
}

// Long implements kit.Gatherer.
func (f *facts) Long(words string) {
	f.Skip(kit.LongLine)
	f.lost, f.turn = words, turn{state: lost}
}

// Partial implements kit.Gatherer.
func (f *facts) Partial() {
	if !f.known {
		f.Skip("last record is not complete")
	}
}

// Line implements kit.Gatherer: it adds the records of a line, or the whole of a state.json.
func (f *facts) Line(line []byte) error {
	other := false
	_, err := records(line, func(r *record) {
		other = other || !f.known && !r.isKnown()
		if !other {
			f.record(r)
		}
	})
	switch {
	case other:
		f.Skip("file without a session's records")
		return kit.ErrOther
	case err != nil:
		f.Skip("line that is not JSON")
	}
	return nil
}

func (f *facts) record(r *record) {
	f.known = true
	if r.isState() {
		f.state(r)
		return
	}
	at := r.at()
	f.last, f.used = kit.Latest(f.last, at), kit.Latest(f.used, at)
	switch typ := kit.Short(r.typ); typ {
	case "metadata":
		f.at = at
		f.protocol = kit.Short(r.protocol)
	case "forked":
		f.ledger.MarkCopied()
		f.used, f.at = time.Time{}, at
		f.asks, f.calls = nil, nil
		if f.turn.state == open {
			f.turn = turn{state: ended, number: f.turn.number, why: "it was copied in a turn of the session that it continues", at: at}
		}
	case "profile.bind":
		f.cwd = cmp.Or(kit.Short(agentfile.Get(r.disclosure, "cwd")), f.cwd)
	case "permission.set_mode":
		f.mode = kit.Short(r.mode)
	case "usage.record", "llm.request", "token_counting.measured", "token_counting.turn_recorded":
		f.answered(r, typ, at)
	case "interaction.request", "interaction.resolved":
		f.asked(r, typ, at)
	case "context.append_loop_event":
		f.event(r, at)
	case "full_compaction.begin", "full_compaction.complete", "full_compaction.cancel":
		f.compacting = time.Time{}
		if typ == "full_compaction.begin" && f.turn.state != open {
			f.compacting = at
		}
	case "subagent.spawned", "subagent.completed", "subagent.failed", "subagent.cancelled":
		id := kit.Short(r.subagent)
		f.background = slices.DeleteFunc(f.background, func(known string) bool { return known == id })
		if agentfile.True(r.background) && len(f.background) < maxOpen {
			f.background = append(f.background, id)
		}
	default:
		f.turnRecord(r, typ, at)
	}
}

// state reads a state.json, which 2.1.0 writes again and again.
func (f *facts) state(r *record) {
	f.at, f.last = millis(r.createdAt), millis(r.updatedAt)
	f.cwd = kit.Short(r.cwd)
	f.Title = kit.Short(r.title)
	f.LastPrompt = kit.Short(r.prompt)
	f.archived = agentfile.True(r.archived)
	if n, is := agentfile.Int(r.version); is && n != 2 {
		f.lost = fmt.Sprintf("state.json of version %d", n)
	}
}

// turnRecord applies a record about a turn.
func (f *facts) turnRecord(r *record, typ string, at time.Time) {
	number := kit.Number(r.turn)
	switch typ {
	case "turn.prompt", "turn.steer":
		f.prompt(r)
		if typ == "turn.prompt" {
			f.begin(number, at, r.isUsers())
		}
	case "agent.turn.started": // it is written after the prompt
		if f.turn.state == noTurn || f.turn.state == ended && number > f.turn.number {
			f.begin(number, at, true)
		}
	case "turn.step.retrying":
		if f.turn.state == open {
			f.turn.why = fmt.Sprintf("attempt %d of %d failed with HTTP status %d, it tries again", kit.Number(r.attempt), kit.Number(r.attempts), kit.Number(r.status))
		}
	case "turn.ended":
		f.end(r, number, at)
	default:
		if !isOther(typ) {
			f.Skip("unknown record type " + kit.PlainWord(typ))
		}
	}
}

// begin notes the begin of a turn. The end of a task in the background begins one that is not the user's.
func (f *facts) begin(number int64, at time.Time, isUsers bool) {
	f.turn = turn{state: open, number: number, at: at, why: "the model has the prompt"}
	if isUsers || f.prompted.IsZero() {
		f.prompted = at
	}
	f.compacting = time.Time{}
	f.asks, f.calls = slices.DeleteFunc(f.asks, func(a ask) bool { return !a.question }), nil
}

// prompt takes a prompt of the user, or what a sub-agent was told.
func (f *facts) prompt(r *record) {
	text := r.text(textLimit)
	bySession := kit.Short(agentfile.Get(r.origin, "name")) == "subagent"
	if !r.isUsers() && !bySession || text == "" {
		return
	}
	f.Prompt(text)
	f.ledger.Prompt()
}

// end applies the end of a turn. A question that was asked in the background waits on after a turn that is complete.
func (f *facts) end(r *record, number int64, at time.Time) {
	t := turn{state: ended, number: number, at: at}
	reason := kit.Short(r.reason)
	f.calls = nil
	f.asks = slices.DeleteFunc(f.asks, func(a ask) bool { return !a.question || reason != "completed" })
	switch reason {
	case "completed":
		t.outcome = adapters.Completed
	case "cancelled":
		t.outcome = adapters.Interrupted
	case "failed", "blocked":
		t.outcome, t.why = adapters.Failed, cmp.Or(kit.Short(agentfile.Get(r.failure, "message")), reason)
		t.limited = kit.Number(agentfile.Get(r.failure, "details", "statusCode")) == 429
	default:
		f.Skip("unknown end of a turn " + kit.PlainWord(reason))
	}
	f.turn = t
}

// answered applies a record of what the model was asked, and used.
func (f *facts) answered(r *record, typ string, at time.Time) {
	switch typ {
	case "llm.request":
		f.model = cmp.Or(kit.Short(r.model), f.model)
		if f.turn.state == open {
			f.turn.why = "the model answers"
		}
	case "usage.record":
		used := adapters.Tokens{Input: kit.Count(r.usage, "inputOther"), Output: kit.Count(r.usage, "output"),
			CacheRead: kit.Count(r.usage, "inputCacheRead"), CacheWrite: kit.Count(r.usage, "inputCacheCreation")}
		if used != (adapters.Tokens{}) { // of an interrupted answer nothing is counted
			f.ledger.Answer(kit.Entry{ID: xxhash.Sum64(r.raw) | 1, At: at, Model: cmp.Or(f.model, kit.Short(r.model)), Tokens: used})
		}
	default:
		f.context = kit.Number(r.tokens)
	}
}

// asked applies a request for the user, or its answer.
func (f *facts) asked(r *record, typ string, at time.Time) {
	id := kit.Short(r.id)
	f.asks = slices.DeleteFunc(f.asks, func(a ask) bool { return a.id == id })
	kind := kit.Short(r.kind)
	if typ != "interaction.request" || kind == "user_tool" || len(f.asks) >= maxOpen { // a tool of another program answers by itself
		return
	}
	a := ask{id: id, call: kit.Short(r.call), at: at}
	tool := kit.Short(agentfile.Get(r.request, "toolName"))
	switch kind {
	case "approval":
		display := agentfile.Get(r.request, "display")
		a.plan = tool == "ExitPlanMode"
		a.text = adapters.Calling(tool, cmp.Or(argument(display), kit.Short(agentfile.Get(r.request, "action"))), tool == "Bash")
	case "question":
		a.question = true
		a.text = adapters.CutTo(kit.Short(agentfile.Get(first(agentfile.Get(r.request, "questions")), "question")), adapters.MaxDoing)
	default:
		f.Skip("unknown kind of request " + kit.PlainWord(kind))
	}
	f.asks = append(f.asks, a)
}

// event applies what happened in a step of a turn.
func (f *facts) event(r *record, at time.Time) {
	id := kit.Short(agentfile.Get(r.event, "toolCallId"))
	switch kit.Short(agentfile.Get(r.event, "type")) {
	case "tool.call":
		name, args := kit.Short(agentfile.Get(r.event, "name")), agentfile.Get(r.event, "args")
		c := call{id: id, at: at, text: adapters.Calling(name, argument(args), name == "Bash")}
		if name == "Bash" {
			c.command = kit.Short(agentfile.Get(args, "command"))
		}
		if len(f.calls) < maxOpen {
			f.calls = append(f.calls, c)
		}
	case "tool.result":
		f.calls = slices.DeleteFunc(f.calls, func(c call) bool { return c.id == id })
	case "content.part":
		if text := kit.Limit(adapters.MaxDoing).Text(agentfile.Get(r.event, "part", "text")); text != "" {
			f.Doing = adapters.CutTo(text, adapters.MaxDoing)
			f.DoingSince = at
		}
	}
}
