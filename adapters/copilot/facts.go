package copilot

import (
	"cmp"
	"slices"
	"time"

	"github.com/cespare/xxhash/v2"

	"rollcall/adapters"
	"rollcall/adapters/internal/agentfile"
	"rollcall/adapters/internal/kit"
)

// facts holds what was read from a session's file. A copy to which records are added must be a clone.
type facts struct {
	id, version, cwd, branch, model string
	firstPrompt, lastPrompt         string
	reply                           string // the last one
	started, last, prompted         time.Time
	replied                         time.Time
	turn                            turn

	forks  []fork // the copies that were made of it
	unused bool   // it is a copy, and nothing was done with it yet

	ledger kit.Ledger
	// metered reports that there are records of usage. uncounted is the number of answers without one: their tokens are known only
	// from the sum at the end of the process, if there was one.
	metered   bool
	uncounted int
	sums      int

	lines, known int // read, and recognised
	kit.Skips
}

// turn is the state of the last turn.
type turn struct {
	open    bool
	outcome adapters.Outcome // of a turn that is over
	why     string           // error message, or what makes the turn unreadable
	lost    bool             // a line of the open turn can't be read
	between bool             // the turn has ended after calls: it is followed by another one, in the same millisecond
	shut    bool             // its process recorded its own end
	at      time.Time        // of the record that shows the state
	kind    string           // type of that record
	calls   []call           // without a result
	asked   []request        // without a decision
	called  bool             // the turn had calls
	spoke   bool             // the model answered since the turn, or its last call of the model, began
	silent  bool             // the turn is over without an answer
}

type call struct {
	id, tool, text string
	runs           bool
	at             time.Time
}

type request struct{ id, call, text string }

const maxOpen = 64 // calls and requests that are kept

// Clone implements kit.Gatherer.
func (f *facts) Clone() facts {
	c := *f
	c.ledger = f.ledger.Clone()
	c.forks = slices.Clone(f.forks)
	c.turn.calls, c.turn.asked = slices.Clone(f.turn.calls), slices.Clone(f.turn.asked)
	return c
}

// Long implements kit.Gatherer.
func (f *facts) Long(words string) {
	f.Skip(kit.LongLine)
	f.lines++
	f.known++ // it is not a form that is not known
	f.loseLine(words)
}

// loseLine notes a line that can't be read. In a turn it can be what ends the turn, answers a call or decides on a request: the state is not known until
// a record shows it again. The outcome of a turn that is over stays: what begins another one is followed by a record of its beginning.
func (f *facts) loseLine(why string) {
	if f.turn.open {
		f.turn.lost = true
		f.turn.why = why
		f.turn.at = f.last
	}
}

// Partial implements kit.Gatherer. The record that is being written comes with the next look.
func (f *facts) Partial() {}

// Line implements kit.Gatherer.
func (f *facts) Line(line []byte) error {
	switch n, err := agentfile.Records(line, parse, f.record); {
	case n == 0:
		f.lines++
		f.loseLine("a line that is not a record")
		fallthrough
	case err != nil:
		f.Skip("line that is not a record")
	}
	return nil
}

// record adds one record.
func (f *facts) record(r *record) {
	f.lines++
	typ := string(agentfile.Text(r.typ))
	at := agentfile.Time(r.at)
	if !f.apply(typ, r, at) && !slices.Contains(ignored, typ) {
		f.Skip("unknown record type " + kit.PlainWord(typ))
		return
	}
	f.known++
	if at.After(f.last) {
		f.last = at
	}
}

// apply takes a record. It returns false for one of a type that says nothing of the session.
func (f *facts) apply(typ string, r *record, at time.Time) bool {
	switch typ {
	case "session.info":
		f.fork(r, at)
	case "session.start", "session.resume", "session.context_changed":
		f.place(typ, r, at)
	case "session.model_change":
		if !r.sub() {
			f.model = cmp.Or(r.text("newModel"), f.model)
		}
	case "session.usage_record":
		f.enter(r, at)
	case "session.compaction_complete":
		f.compacted(r, at)
	case "session.shutdown":
		f.unused = false
		f.turn.shut = true
		f.sum(r, at)
	case "user.message":
		f.message(r, at)
	case "assistant.message":
		f.answer(r, at)
	default:
		return f.turn.apply(typ, r, at)
	}
	return true
}

// place takes what a record says of the session and its folder. A process that resumes a session does not continue its turn.
func (f *facts) place(typ string, r *record, at time.Time) {
	context := r.data
	if typ != "session.context_changed" {
		context = r.get("context")
	}
	f.unused = f.unused && typ == "session.context_changed"
	if typ == "session.start" {
		f.id, f.started = r.text("sessionId"), agentfile.Time(r.get("startTime"))
		if f.started.IsZero() {
			f.started = at
		}
	}
	if typ == "session.resume" && !agentfile.True(r.get("alreadyInUse")) && !agentfile.True(r.get("sessionWasActive")) && f.turn.open {
		f.turn = turn{at: at, kind: typ}
	}
	f.version = cmp.Or(r.text("copilotVersion"), f.version)
	f.model = cmp.Or(r.text("selectedModel"), f.model)
	if cwd := kit.Short(agentfile.Get(context, "cwd")); cwd != "" {
		f.cwd, f.branch = cwd, kit.Short(agentfile.Get(context, "branch"))
	}
}

// message takes a message for the model. One that steers is taken during the turn.
func (f *facts) message(r *record, at time.Time) {
	if r.sub() {
		return
	}
	f.unused = false
	if !f.turn.open || r.text("delivery") != "steering" {
		f.turn = turn{open: true, at: at, kind: "user.message"}
	}
	if !r.isPrompt() {
		return
	}
	f.ledger.Prompt()
	f.lastPrompt, f.prompted = r.text("content"), at
	f.firstPrompt = cmp.Or(f.firstPrompt, f.lastPrompt)
}

// answer takes a message of the model.
func (f *facts) answer(r *record, at time.Time) {
	if !agentfile.Null(r.get("outputTokens")) {
		f.uncounted++
	}
	if r.sub() {
		return
	}
	f.model = cmp.Or(r.text("model"), f.model)
	if text := r.text("content"); text != "" {
		f.reply, f.replied = adapters.CutTo(text, adapters.MaxDoing), at
	}
	f.turn.at = at
	f.turn.kind = "assistant.message"
	f.turn.spoke = true
}

// enter adds what an answer used to the ledger, also that of a sub-agent, which is no session. The number of premium requests that the record states is
// not a cost in dollars.
func (f *facts) enter(r *record, at time.Time) {
	f.metered = true
	f.uncounted = max(0, f.uncounted-1) // a version that states both
	usage := r.get("usage")
	source := kit.Short(agentfile.Get(usage, "accounting", "sourceSessionId"))
	e := f.entry(r, at, usage)
	e.Copied = source != "" && source != f.id
	if r.sub() {
		f.ledger.Add(e)
	} else {
		f.ledger.Answer(e)
	}
}

// compacted adds what the summary of a compaction used to the ledger: no record of usage states it (1.0.102).
func (f *facts) compacted(r *record, at time.Time) {
	if used := r.get("compactionTokensUsed"); !agentfile.Null(used) {
		f.ledger.Add(f.entry(r, at, used))
	}
}

// entry returns what a record states that one answer used. Copies of a file and of a session have the record with its id (/fork of 1.0.102). Its number in the
// session is no id: two processes that continue the session give the same ones.
func (f *facts) entry(r *record, at time.Time, used []byte) kit.Entry {
	e := kit.Entry{At: at, Model: kit.Short(agentfile.Get(used, "model")), CWD: f.cwd, Branch: f.branch, Tokens: tokensOf(used, detailsIn(used))}
	if id := kit.Short(r.id); id != "" {
		e.ID = xxhash.Sum64String(id) | 1
	}
	return e
}

// tokensOf returns the tokens of a record of usage. Its input includes what was read from a cache and written to it, as 1.0.59 to 1.0.102 state it of Claude's
// models; details, if there are any, name the parts.
func tokensOf(usage, details []byte) (t adapters.Tokens) {
	count := func(name string) int64 { return kit.Count(usage, name) }
	t = adapters.Tokens{Output: count("outputTokens"), CacheRead: count("cacheReadTokens"), CacheWrite: count("cacheWriteTokens"), Reasoning: count("reasoningTokens")}
	if n, ok := detail(details, "input"); ok {
		t.Input = n
		return t
	}
	t.Input = count("inputTokens")
	for _, cached := range []int64{t.CacheRead, t.CacheWrite} {
		if cached <= t.Input {
			t.Input -= cached
		}
	}
	return t
}

// detailsIn returns the parts of a record's tokens; nil if it does not state them.
func detailsIn(record []byte) []byte {
	if details := agentfile.Get(record, "tokenDetails"); details != nil {
		return details
	}
	return agentfile.Get(record, "copilotUsage", "tokenDetails")
}

// detail returns the number of tokens of a kind. A record of the price lists the kinds, others have a member for each.
func detail(details []byte, kind string) (n int64, ok bool) {
	n, ok = agentfile.Int(agentfile.Get(details, kind, "tokenCount"))
	kit.Each(details, func(one []byte) {
		if string(agentfile.Text(agentfile.Get(one, "tokenType"))) == kind {
			n, ok = agentfile.Int(agentfile.Get(one, "tokenCount"))
		}
	})
	return n, ok
}

// sum adds what a process of a version without records of usage used, as it states it at its end. It is not known whether the sums of a second process
// include those of the first.
func (f *facts) sum(r *record, at time.Time) {
	f.sums++
	if f.metered || f.sums > 1 || f.uncounted == 0 {
		return
	}
	_ = agentfile.Top(r.get("modelMetrics"), func(model, metrics []byte) bool {
		f.ledger.Answer(kit.Entry{At: at, Model: adapters.CutTo(string(model), textLimit), Tokens: tokensOf(agentfile.Get(metrics, "usage"), detailsIn(metrics))})
		f.uncounted = 0
		return true
	})
}

// tokens returns the session's totals, and nil when they are not known.
func (f *facts) tokens() *adapters.Tokens {
	if f.uncounted > 0 {
		return nil
	}
	t := f.ledger.Tokens()
	return &t
}

// apply takes a record of a turn. Of sub-agents only what waits for the user counts. It returns false for other types.
func (t *turn) apply(typ string, r *record, at time.Time) bool {
	switch typ {
	case "permission.requested":
		if t.open && len(t.asked) < maxOpen {
			t.asked = append(t.asked, request{r.text("requestId"), r.text("permissionRequest", "toolCallId"), requested(r.get("permissionRequest"))})
		}
		return true
	case "permission.completed":
		id := r.text("requestId")
		t.asked = slices.DeleteFunc(t.asked, func(q request) bool { return q.id == id })
		return true
	case "tool.execution_start":
		if r.sub() && r.text("toolName") != askUser {
			return true
		}
		c := call{id: r.text("toolCallId"), tool: r.text("toolName"), at: at}
		c.text, c.runs = calling(c.tool, r.get("arguments"))
		if t.open && len(t.calls) < maxOpen {
			t.calls = append(t.calls, c)
		}
	case "tool.execution_complete":
		id := r.text("toolCallId")
		t.calls = slices.DeleteFunc(t.calls, func(c call) bool { return c.id == id })
		t.asked = slices.DeleteFunc(t.asked, func(q request) bool { return q.call == id && id != "" })
	case "assistant.turn_start", "assistant.turn_end", "abort", "session.error":
	default:
		return false
	}
	if !r.sub() {
		t.step(typ, r, at)
	}
	return true
}

// step takes a record that begins, continues or ends a turn of the main agent.
func (t *turn) step(typ string, r *record, at time.Time) {
	switch typ {
	case "assistant.turn_start":
		*t = turn{open: true}
	case "tool.execution_start":
		t.called = true
	case "assistant.turn_end":
		if t.open {
			*t = turn{outcome: adapters.Completed, between: t.called, silent: !t.spoke}
		}
	case "abort":
		*t = turn{outcome: adapters.Interrupted}
	case "session.error":
		if !t.isEndedBy(r) {
			return
		}
		*t = turn{outcome: adapters.Failed, why: r.text("message")}
	}
	t.at, t.kind = at, typ
}

// isEndedBy reports whether the turn failed with an error: one of the open turn, or of one that has just ended without an answer, which 1.0.34 stores in
// this order. Errors are stored outside of turns too, when servers are started, models are listed or the user signs in; those of servers and lists
// can come during a turn (1.0.59, 1.0.102).
func (t *turn) isEndedBy(failure *record) bool {
	kind := failure.text("errorType")
	return (t.open || t.silent) && kind != "mcp" && kind != "model"
}

// requested returns what a request asks for: the whole command, or the most descriptive member.
func requested(raw []byte) string {
	if text := kit.Short(agentfile.Get(raw, "fullCommandText")); text != "" {
		return text
	}
	what := kit.Argument(raw, []string{"fileName", "path", "url", "toolName", "intention"}, kit.Short)
	return adapters.CutTo(kit.Short(agentfile.Get(raw, "kind"))+" "+what, textLimit)
}

// doing returns what the session does now, see adapters.Session.Doing.
func (f *facts) doing() (string, time.Time) {
	if n := len(f.turn.calls); n > 0 && f.turn.open {
		c := f.turn.calls[n-1]
		return adapters.Calling(c.tool, c.text, c.runs), c.at
	}
	return f.reply, f.replied
}
