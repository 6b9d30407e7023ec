package omp

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/cespare/xxhash/v2"

	"rollcall/adapters"
	"rollcall/adapters/internal/agentfile"
	"rollcall/adapters/internal/kit"
	"rollcall/adapters/internal/pistore"
)

// record is one line of a session's file, as written.
type record struct {
	typ, id, at, cwd, version, parent, title         []byte
	message, model, provider, usage, custom, stopped []byte
}

// parse reads one line.
func parse(line []byte) (r record, err error) {
	into := agentfile.Into
	err = agentfile.Members(line, into("type", &r.typ), into("id", &r.id), into("timestamp", &r.at), into("cwd", &r.cwd), into("version", &r.version),
		into("parentSession", &r.parent), into("title", &r.title), into("message", &r.message), into("model", &r.model),
		into("provider", &r.provider), into("usage", &r.usage), into("customType", &r.custom), into("stopReason", &r.stopped))
	return r, err
}

// facts holds what the file of a session says. It has no pointer to the file's bytes.
type facts struct {
	known bool // a header was read
	slot  bool // the line with the title, before the header, was read
	id    string
	fork  bool      // it repeats entries of another session, which are older than it
	newer bool      // its form is newer than what is known
	at    time.Time // of the header
	last  time.Time // of the newest record

	adapters.Topic
	cwd, model string
	prompted   time.Time // when the last turn began
	turn       turn
	calls      []call // that are open
	context    int64
	cost       float64

	ledger kit.Ledger
	kit.Skips
	longLine string // description of a line that was too long to be read: the ledger lacks its answer
}

// turn is the state of the last turn.
type turn struct {
	state   state
	outcome adapters.Outcome // with ended
	why     string
	at      time.Time
	status  int64 // of the answer of HTTP to a request that failed
}

type state int

const (
	noTurn   state = iota
	prompted       // the model has the prompt, or the results of tools
	called         // calls are open
	failing        // a request failed, and may be tried again
	injected       // a message of a job in the background or of an extension, which may have begun a turn
	ended
	lost // the last records could not be read
)

// call is a call of a tool without a result.
type call struct{ id, tool string }

const (
	textLimit = kit.ShortText // of the texts that are kept of a session, in bytes
	maxCalls  = 64            // open calls that are kept
	newest    = 3             // the newest form of the files that is known
)

// isOpen reports whether the turn goes on, as far as the records say.
func (t *turn) isOpen() bool { return t.state == prompted || t.state == called || t.state == failing }

// left returns the outcome of a turn with which no process goes on.
func (t *turn) left() adapters.Outcome {
	switch t.state {
	case prompted, called:
		return adapters.Died
	case failing:
		return adapters.Failed
	}
	return t.outcome
}

// apply adds one record after the header.
func (f *facts) apply(r *record) {
	at := agentfile.Time(r.at)
	typ := string(agentfile.Text(r.typ))
	switch {
	case typ == "title" && !f.known:
		f.slot, f.Title = true, kit.Short(r.title)
		return
	case !f.known:
		f.header(r, at)
		return
	}
	if at.After(f.last) {
		f.last = at
	}
	switch typ {
	case "message":
		f.message(r, at)
	case "title_change":
		f.Title = kit.Short(r.title)
	case "model_change":
		_, name, is := strings.Cut(kit.Short(r.model), "/")
		if is {
			f.model = name
		}
	case "model_usage":
		f.enter(r, r.usage, kit.Short(r.model), at, false)
	case "custom_message":
		f.inject(at)
	case "reset_boundary", "branch_summary":
		f.calls, f.turn = nil, turn{at: at}
	case "title", "custom", "thinking_level_change", "service_tier_change", "compaction", "label", "ttsr_injection", "session_init", "mode_change", "credential_pin":
	default:
		f.Skip("unknown record type " + kit.PlainWord(typ))
	}
}

// header takes the line that begins a session.
func (f *facts) header(r *record, at time.Time) {
	f.id = kit.Short(r.id)
	if string(agentfile.Text(r.typ)) != "session" || f.id == "" {
		return
	}
	f.known = true
	f.at = at
	f.last = at
	f.cwd = kit.Short(r.cwd)
	f.Title = cmp.Or(kit.Short(r.title), f.Title)
	f.fork = kit.Short(r.parent) != ""
	f.newer = kit.Number(r.version) > newest
	if f.newer {
		f.Skip("session of a newer form")
	}
}

// inject notes a message that is neither the user's nor the model's: it may have begun a turn, as the end of a job in the background does.
func (f *facts) inject(at time.Time) {
	if f.turn.state == ended || f.turn.state == noTurn {
		f.turn = turn{state: injected, outcome: f.turn.outcome, at: at}
	}
}

// message adds a message of the user, the model or a tool.
func (f *facts) message(r *record, at time.Time) {
	content := agentfile.Get(r.message, "content")
	switch role := string(agentfile.Text(agentfile.Get(r.message, "role"))); role {
	case "user":
		f.calls, f.turn = nil, turn{state: prompted, why: "the model has the prompt", at: at}
		f.prompted = at
		if string(agentfile.Text(agentfile.Get(r.message, "attribution"))) == "agent" {
			return
		}
		f.Prompt(pistore.ContentText(content, textLimit))
		f.ledger.Prompt()
	case "assistant":
		f.answer(r, content, at)
	case "toolResult":
		id := kit.Short(agentfile.Get(r.message, "toolCallId"))
		f.calls = slices.DeleteFunc(slices.Clone(f.calls), func(c call) bool { return c.id == id })
		if f.turn.state == called && len(f.calls) == 0 {
			f.turn = turn{state: prompted, why: "the model has the results of its tools", at: at}
		}
	case "developer", "custom", "hookMessage":
		f.inject(at)
	}
}

// answer adds an answer of the model.
func (f *facts) answer(r *record, content []byte, at time.Time) {
	f.model = cmp.Or(kit.Short(agentfile.Get(r.message, "model")), f.model)
	stop := string(agentfile.Text(agentfile.Get(r.message, "stopReason")))
	usage := agentfile.Get(r.message, "usage")
	f.enter(r, usage, f.model, at, stop != "error")
	if total := kit.Count(usage, "totalTokens"); total > 0 {
		f.context = total
	}
	if text := pistore.ContentText(content, adapters.MaxDoing); text != "" {
		f.Doing, f.DoingSince = text, at
	}
	f.calls = nil
	kit.Each(content, func(block []byte) {
		if string(agentfile.Text(agentfile.Get(block, "type"))) != "toolCall" || len(f.calls) == maxCalls {
			return
		}
		c := call{id: kit.Short(agentfile.Get(block, "id")), tool: kit.Short(agentfile.Get(block, "name"))}
		f.calls = append(f.calls, c)
		f.Doing, f.DoingSince = adapters.CutTo(c.tool+" "+pistore.Argument(agentfile.Get(block, "arguments")), adapters.MaxDoing), at
	})
	why := kit.Short(agentfile.Get(r.message, "errorMessage"))
	switch {
	case stop == "error":
		f.turn = turn{state: failing, why: why, at: at, status: kit.Count(r.message, "errorStatus")}
		if f.turn.isFinal() {
			f.turn.state, f.turn.outcome = ended, adapters.Failed
		}
	case stop == "aborted":
		f.turn = turn{state: ended, outcome: adapters.Interrupted, why: why, at: at}
	case len(f.calls) > 0:
		f.turn = turn{state: called, at: at}
	case stop == "stop", stop == "length":
		f.turn = turn{state: ended, outcome: adapters.Completed, at: at}
	default: // an unknown reason ends the turn, with an unknown outcome
		f.turn = turn{state: ended, why: "stop reason " + kit.PlainWord(stop), at: at}
	}
	if f.turn.state != called {
		f.calls = nil
	}
}

// isFinal reports whether a failed request is not tried again: the server refused what it asks for (18.2.3).
func (t *turn) isFinal() bool {
	return t.status >= 400 && t.status < 500 && !slices.Contains([]int64{408, 409, 425, 429}, t.status)
}

// enter adds what a request to the model used. A fork repeats entries of its parent, with their ids and times.
func (f *facts) enter(r *record, usage []byte, model string, at time.Time, answered bool) {
	tokens, cost := pistore.UsageOf(usage)
	e := kit.Entry{ID: xxhash.Sum64String(kit.Short(r.id)+at.String()) | 1, At: at, Model: model, CWD: f.cwd, Tokens: tokens, CostUSD: cost,
		Copied: f.fork && at.Before(f.at)}
	if !e.Copied {
		f.cost += cost
	}
	if answered {
		f.ledger.Answer(e)
	} else {
		f.ledger.Add(e)
	}
}

// Line implements kit.Gatherer.
func (f *facts) Line(line []byte) error {
	if _, err := agentfile.Records(line, parse, f.apply); err != nil {
		f.Skip("line that is not JSON")
	}
	if !f.known && !f.slot {
		return kit.ErrOther
	}
	return nil
}

// Long implements kit.Gatherer.
func (f *facts) Long(line string) {
	f.Skip(kit.LongLine)
	f.longLine, f.turn = line, turn{state: lost, why: "format not recognised: " + line}
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
