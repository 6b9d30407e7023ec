package pistore

import (
	"strings"
	"time"

	"github.com/cespare/xxhash/v2"

	"rollcall/adapters"
	"rollcall/adapters/internal/agentfile"
	"rollcall/adapters/internal/kit"
)

// turn is the state of a session's last turn, from its own entries.
type turn struct {
	state   state
	at      time.Time        // of the entry that shows the state
	outcome adapters.Outcome // of an ended turn
	why     string           // error message, or what an open one waits for
	calls   int              // tool calls without a result
	tool    string
	// errors is the number of failed answers, and so of attempts, since the prompt.
	errors int
}

type state uint8

const (
	noTurn   state = iota
	open           // the model or a tool is at work
	retrying       // an attempt failed, and was taken out of the context for another one
	failed         // the last attempt failed
	ended
	navigated // the user moved to another branch and has not prompted since
	maybe     // an extension wrote a message after the turn, which may have begun one
	lost      // its entries could not be found
)

// facts holds what was read from a session's file.
type facts struct {
	header
	known bool // the first record was a header

	adapters.Topic
	model    string
	context  int64
	turn     turn
	last     time.Time // of the newest own entry
	prompted time.Time // of the last own prompt
	stored   time.Time // the earliest time at which the file can have been created
	lastID   string    // id of the entry read last
	second   time.Time // of the first entry after the header
	system   bool      // there are system messages: a version from 0.9 on

	sums   usage // of the own entries
	ledger kit.Ledger
	kit.Skips
	// longLine describes the last line that can't be read: sums and ledger lack its entry.
	longLine string
	junk     int // bytes before the header
}

// own reports whether an entry belongs to this session: a fork's file begins with
// its parent's entries, which are older than the fork. Where nothing was forked, the clock was set back.
func (f *facts) own(r *record) bool {
	return f.parent == "" || f.at.IsZero() || r.at.IsZero() || !r.at.Before(f.at)
}

// apply adds one record; records come in the file's order.
func (f *facts) apply(r *record) {
	if r.kind == headerLine {
		if !f.known {
			f.header, f.known = r.head, r.head.id != ""
			if f.parent != "" { // a fork is written at once, others at the first prompt
				f.stored = f.at
			}
		}
		return
	}
	if r.kind == unknown {
		f.Skip("unknown record type " + r.typ)
	}
	jumped := f.lastID != "" && r.parent != f.lastID && r.id != ""
	if r.id != "" {
		f.lastID = r.id
	}
	if f.second.IsZero() {
		f.second = r.at
	}
	f.describe(r)
	f.enter(r)
	if !f.own(r) {
		return
	}
	if r.at.After(f.last) {
		f.last = r.at
	}
	if r.kind == prompted {
		f.prompted = r.at
	}
	if f.stored.IsZero() && (r.kind == prompted || r.kind == answered) {
		f.stored = r.at
	}
	f.sums.add(r.usage)
	f.turn.apply(r, jumped)
}

// enter adds what an entry used to the ledger. A fork's file repeats entries of its parent, with their ids.
func (f *facts) enter(r *record) {
	e := kit.Entry{At: r.at, Model: f.model, Tokens: r.usage.Tokens, CostUSD: r.usage.cost, Copied: !f.own(r)}
	if r.id != "" && !r.at.IsZero() {
		e.ID = xxhash.Sum64String(r.id+r.at.String()) | 1
	}
	switch {
	case r.kind == prompted:
		f.ledger.Prompt()
	case r.kind == answered && r.stop != "error":
		f.ledger.Answer(e)
	default:
		f.ledger.Add(e)
	}
}

// describe records the details that a fork has in common with its parent.
func (f *facts) describe(r *record) {
	f.system = f.system || r.system
	if r.model != "" {
		f.model = r.model
	}
	if r.named {
		f.Title = r.name
	}
	if r.total > 0 {
		f.context = r.total
	}
	if r.kind == prompted && r.text != "" {
		f.Prompt(r.text)
	}
}

// apply updates the turn with one entry. jumped reports that the entry continues another branch
// than the entry before it.
func (t *turn) apply(r *record, jumped bool) {
	switch r.kind {
	case prompted:
		*t = turn{state: open, at: r.at, why: "the prompt has no answer yet"}
	case answered:
		t.answer(r)
	case toolDone:
		calls := max(t.calls-1, 0)
		*t = turn{state: open, at: r.at, why: "a tool's result has no answer yet", calls: calls, tool: t.tool}
		if calls > 0 {
			t.why = t.tool + " has no result yet"
		}
	case omitted:
		if t.state == failed || t.state == ended && t.why == lengthLimit {
			t.state, t.at = retrying, r.at
		}
	case summarised:
		*t = turn{state: navigated, at: r.at}
	case injected:
		if t.state == ended || t.state == failed || t.state == noTurn || t.state == navigated {
			*t = turn{state: maybe, at: r.at, outcome: t.outcome}
		}
	default:
		if jumped && t.state != noTurn {
			*t = turn{state: navigated, at: r.at}
		}
	}
}

const lengthLimit = "cut off at the length limit"

// answer applies a message of the model.
func (t *turn) answer(r *record) {
	attempts := t.errors
	*t = turn{state: ended, at: r.at}
	switch {
	case r.stop == "error":
		t.state = failed
		t.outcome = adapters.Failed
		t.why = r.text
		t.errors = attempts + 1
	case r.stop == "aborted":
		t.outcome, t.why = adapters.Interrupted, r.text
	case r.calls > 0 || r.stop == "toolUse":
		t.state = open
		t.calls = max(r.calls, 1)
		t.tool = r.tool
		t.why = "a tool has no result yet"
		if r.tool != "" {
			t.why = r.tool + " has no result yet"
		}
	case r.stop == "deferred" || r.stop == "pending":
		t.state, t.why = open, "the answer is "+r.stop
	case r.stop == "length":
		t.outcome, t.why = adapters.Completed, lengthLimit
	case r.stop == "stop" || r.stop == "":
		t.outcome = adapters.Completed
	default: // an unknown reason ends the turn, with an unknown outcome
		t.why = "stop reason " + kit.PlainWord(r.stop)
	}
}

// isLimited reports whether the turn failed since a limit was reached: Pi stores the status of an HTTP answer at the beginning of its error.
func (t *turn) isLimited() bool {
	return t.state == failed && (strings.HasPrefix(t.why, "429: ") || strings.HasPrefix(t.why, "429 "))
}

// headerLimit is the number of bytes in which Pi itself searches for the header.
const headerLimit = 1 << 20

// Line implements kit.Gatherer. A file whose first record is not a header is not a session. Lines that are not JSON may precede the header, as in Pi.
func (f *facts) Line(line []byte) error {
	other := false
	r, err := parse(line)
	if err == nil { // as nearly always: this record needs no memory of its own
		other = !f.take(&r)
	} else {
		_, err = agentfile.Records(line, parse, func(r *record) { other = other || !f.take(r) })
	}
	if err != nil {
		f.Skip("line that is not JSON")
	}
	if !f.known {
		f.junk += len(line)
	}
	if other || f.junk > headerLimit {
		return kit.ErrOther
	}
	return nil
}

// take applies a record. It reports false for one in the place of the header of a session.
func (f *facts) take(r *record) bool {
	if !f.known && (r.kind != headerLine || r.head.id == "") {
		return false
	}
	f.apply(r)
	return true
}

// Long implements kit.Gatherer.
func (f *facts) Long(line string) {
	f.Skip(kit.LongLine)
	f.longLine = line
	f.lastID = ""
	f.turn = turn{state: lost}
}

// Partial implements kit.Gatherer. The record that is being written comes with the next look.
func (f *facts) Partial() {}

// Clone implements kit.Gatherer.
func (f *facts) Clone() facts {
	c := *f
	c.ledger = f.ledger.Clone()
	return c
}

// isExact reports whether all entries could be read.
func (f *facts) isExact() bool { return f.longLine == "" }

// tokens returns the session's totals, and nil when they are not known.
func (f *facts) tokens() *adapters.Tokens {
	if !f.isExact() {
		return nil
	}
	t := f.sums.Tokens
	return &t
}
