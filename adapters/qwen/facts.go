package qwen

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

// facts holds what the file of a session says. It has no pointer to the file's bytes.
type facts struct {
	known   bool // a record was recognised
	version string
	at      time.Time // of the first record
	last    time.Time // of the newest record

	adapters.Topic
	cwd, branch, model string
	prompted           time.Time // when the last turn began
	promptID           string    // of a session of a server
	turn               turn
	calls              []call // that are open
	context            int64

	ledger   kit.Ledger
	answered kit.Entry // what the model answered last, if no record of the conversation has it yet
	kit.Skips
	longLine string // description of a line that was too long to be read: the ledger lacks its answer
}

// turn is the state of the last turn.
type turn struct {
	state   state
	outcome adapters.Outcome // with ended
	why     string
	at      time.Time
	failure string // of the last request to the model, which is tried again while the process lives
	replied bool   // the model's answer came to its end: what is recorded without its usage is whole
}

type state int

const (
	noTurn   state = iota
	prompted       // the model has the prompt, or the results of tools
	called         // calls are open
	ended
	lost // the last records could not be read
)

// call is a call of a tool without a result.
type call struct{ id, tool string }

const (
	textLimit = kit.ShortText // of the texts that are kept of a session, in bytes
	maxCalls  = 64            // open calls that are kept
)

// left returns the outcome of a turn with which no process goes on.
func (t *turn) left() adapters.Outcome {
	switch {
	case t.failure != "":
		return adapters.Failed
	case t.state == prompted || t.state == called:
		return adapters.Died
	}
	return t.outcome
}

// apply adds one record.
func (f *facts) apply(r *record) {
	if !f.known {
		f.known, f.at = kit.Is(kit.Short(r.session)), r.time()
		if !f.known {
			f.Skip("record without a session")
			return
		}
	}
	if at := r.time(); at.After(f.last) {
		f.last = at
	}
	f.cwd = cmp.Or(kit.Short(r.cwd), f.cwd)
	f.version = cmp.Or(kit.Short(r.version), f.version)
	f.branch = cmp.Or(kit.Short(r.branch), f.branch)
	switch typ := string(agentfile.Text(r.typ)); typ {
	case "user":
		f.user(r)
	case "assistant":
		f.answer(r)
	case "tool_result":
		f.result(r)
	case "system":
		f.system(r)
	default:
		f.Skip("unknown record type " + kit.PlainWord(typ))
	}
}

func (f *facts) user(r *record) {
	f.ownAnswer()
	f.calls, f.promptID = nil, kit.Short(r.prompt)
	f.turn = turn{state: prompted, why: "the model has the prompt", at: r.time()}
	f.prompted = f.turn.at
	if r.isNotification() {
		return
	}
	f.Prompt(r.text(textLimit))
	f.ledger.Prompt()
}

func (f *facts) answer(r *record) {
	at := r.time()
	f.model = cmp.Or(kit.Short(r.model), f.model)
	tokens, total := r.tokens()
	if tokens != nil {
		f.answered = kit.Entry{}
		f.ledger.Answer(kit.Entry{ID: xxhash.Sum64(r.uuid) | 1, At: at, Model: f.model, CWD: f.cwd, Branch: f.branch, Tokens: *tokens,
			Copied: !agentfile.Null(r.forked)}) // --fork-session (0.24.4) copies the records with their ids
		f.context = total
	}
	if text := r.text(adapters.MaxDoing); text != "" {
		f.Doing, f.DoingSince = text, at
	}
	open := false
	r.parts(func(part []byte) {
		c := agentfile.Get(part, "functionCall")
		if agentfile.Null(c) {
			return
		}
		open = true
		one := call{id: kit.Short(agentfile.Get(c, "id")), tool: kit.Short(agentfile.Get(c, "name"))}
		f.calls = append(f.calls[:len(f.calls):len(f.calls)], one)
		if len(f.calls) > maxCalls {
			f.calls = f.calls[1:]
		}
		f.Doing, f.DoingSince = adapters.CutTo(one.tool+" "+argument(agentfile.Get(c, "args")), adapters.MaxDoing), at
	})
	switch {
	case open:
		f.turn = turn{state: called, at: at}
	case tokens == nil && !f.turn.replied: // the half of an answer that the user interrupted (0.24.4)
		f.turn = turn{state: ended, outcome: adapters.Interrupted, at: at}
	default:
		f.calls, f.turn = nil, turn{state: ended, outcome: adapters.Completed, at: at}
	}
}

func (f *facts) result(r *record) {
	r.parts(func(part []byte) {
		if response := agentfile.Get(part, "functionResponse"); !agentfile.Null(response) {
			id := kit.Short(agentfile.Get(response, "id"))
			f.calls = slices.DeleteFunc(slices.Clone(f.calls), func(c call) bool { return c.id == id })
		}
	})
	switch {
	case r.isCancelled():
		f.turn = turn{state: ended, outcome: adapters.Interrupted, at: r.time()}
	case len(f.calls) == 0 && f.turn.outcome != adapters.Interrupted:
		f.turn = turn{state: prompted, why: "the model has the results of its tools", at: r.time()}
	}
}

// system applies a record of the program's own. Only these say something of the session.
func (f *facts) system(r *record) {
	switch string(agentfile.Text(r.subtype)) {
	case "custom_title":
		f.Title = cmp.Or(kit.Short(agentfile.Get(r.system, "customTitle")), f.Title)
	case "turn_result": // of a session of `qwen serve` (0.24.4)
		if f.promptID != "" && f.promptID == kit.Short(agentfile.Get(r.system, "promptId")) && (f.turn.state == prompted || f.turn.state == called) {
			outcome := map[string]adapters.Outcome{"cancelled": adapters.Interrupted, "error": adapters.Failed, "completed": adapters.Completed}
			f.turn = turn{state: ended, outcome: outcome[kit.Short(agentfile.Get(r.system, "state"))], why: kit.Short(agentfile.Get(r.system, "error", "message")), at: r.time()}
		}
	case "chat_compression":
		f.ownAnswer()
	case "ui_telemetry":
		event := agentfile.Get(r.system, "uiEvent")
		name := string(agentfile.Text(agentfile.Get(event, "event.name")))
		if name == "qwen-code.api_response" && f.response(r, event) {
			return
		}
		if f.turn.state != prompted || name != "qwen-code.api_error" {
			f.turn.replied = f.turn.replied || f.turn.state == prompted && name == "qwen-code.api_response"
			return
		}
		why := kit.Short(agentfile.Get(event, "error_message"))
		if code, _ := agentfile.Int(agentfile.Get(event, "status_code")); code >= 400 && code < 500 && code != 429 {
			f.turn = turn{state: ended, outcome: adapters.Failed, why: why, at: r.time()}
			return
		}
		f.turn.failure = why // other failures are tried again for minutes
	}
}

// response adds what the model answered. The record of an answer of the conversation follows at once; without one the
// program asked for itself, such as for a summary within a turn, and only the record of the request states what the
// answer used (0.24.4). It reports whether the answer is known not to be the turn's.
func (f *facts) response(r *record, event []byte) (isOwn bool) {
	id := kit.Short(agentfile.Get(event, "prompt_id"))
	isOwn = strings.HasPrefix(id, "compress-") || strings.Contains(id, "#managed-auto-memory-")
	if !isOwn && isSubAgent(id) {
		return false // its transcript has it
	}
	count := func(name string) int64 { return kit.Count(event, name) }
	cached := count("cached_content_token_count")
	tokens := adapters.Tokens{Input: max(count("input_token_count")-cached, 0), Output: count("output_token_count"),
		CacheRead: cached, Reasoning: count("thoughts_token_count")}
	answer := kit.Entry{ID: xxhash.Sum64(r.uuid) | 1, At: r.time(), Model: kit.Short(agentfile.Get(event, "model")),
		CWD: f.cwd, Branch: f.branch, Copied: !agentfile.Null(r.forked), Tokens: tokens}
	if isOwn {
		f.ledger.Add(answer)
		return true
	}
	f.ownAnswer()
	f.answered = answer
	return false
}

// ownAnswer adds an answer to the ledger that no record of the conversation has.
func (f *facts) ownAnswer() {
	if f.answered.Tokens != (adapters.Tokens{}) {
		f.ledger.Add(f.answered)
	}
	f.answered = kit.Entry{}
}

// isSubAgent reports whether the prompt of a request is a sub-agent's: SESSION#AGENT#NUMBER. Those of the session are
// SESSION########NUMBER (0.15.6, 0.24.4).
func isSubAgent(promptID string) bool {
	_, agent, found := strings.Cut(promptID, "#")
	return found && !strings.HasPrefix(agent, "#")
}

// Line implements kit.Gatherer.
func (f *facts) Line(line []byte) error {
	if _, err := agentfile.Records(line, parse, f.apply); err != nil {
		f.Skip("line that is not JSON")
	}
	if !f.known {
		return kit.ErrOther
	}
	return nil
}

// Long implements kit.Gatherer.
func (f *facts) Long(line string) {
	f.Skip(kit.LongLine)
	f.longLine, f.turn = line, turn{state: lost}
}

// Partial implements kit.Gatherer. What is listed has whole records.
func (f *facts) Partial() {
	if !f.known {
		f.Skip("last record is not complete")
	}
}

// Clone implements kit.Gatherer.
func (f *facts) Clone() facts {
	c := *f
	c.ledger = f.ledger.Clone()
	return c
}
