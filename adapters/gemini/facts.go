package gemini

import (
	"cmp"
	"slices"
	"time"

	"github.com/cespare/xxhash/v2"

	"rollcall/adapters"
	"rollcall/adapters/internal/agentfile"
	"rollcall/adapters/internal/kit"
)

// facts holds what the file of a session says. It has no pointer to the file's bytes.
type facts struct {
	known     bool      // a header was read, or a message of a file that has lost its header
	id        string    // empty: the file has no header
	at        time.Time // when the session began
	last      time.Time // of the newest record
	opened    []opening
	isFresh   bool   // no message follows its last header
	resumed   bool   // the next list of messages is that of a process that resumed the session
	rewriting bool   // the history is being written again after an interruption (0.61.0)
	messages  bool   // a message was read
	kept      string // the id of the first message in the history that Gemini CLI resumes; empty: it refuses the session (0.61.0)

	adapters.Topic
	model    string
	prompted time.Time // when the last turn began
	promptID string
	turn     turn
	context  int64

	ledger kit.Ledger
	lost   string // description of a record that can't be read: its answers are missing in the ledger
	kit.Skips
}

// opening is a time at which a process opened the session. One that hosts sessions of other programs writes the header twice (0.61.0).
type opening struct {
	at     time.Time
	hosted bool
}

// openedAt returns the times at which processes opened the session.
func (f *facts) openedAt() (list []time.Time) {
	for _, o := range f.opened {
		list = append(list, o.at)
	}
	return list
}

// isHosted reports whether a process that hosts opened the session at a time, or later.
func (f *facts) isHosted(since time.Time) bool {
	return slices.ContainsFunc(f.opened, func(o opening) bool { return o.hosted && !o.at.Before(since.Add(-kit.StartSlack)) })
}

// turn is the state of the last turn.
type turn struct {
	state   state
	outcome adapters.Outcome // with ended
	why     string
	at      time.Time
}

func (t *turn) isOpen() bool { return t.state == prompted || t.state == called }

type state int

const (
	noTurn   state = iota
	prompted       // the model has the prompt, or the results of tools
	called         // the model called tools, of which nothing is recorded before they are over (0.61.0)
	ended
	lost // the last records could not be read
)

// cancelledCall is what the record of a command says that the user interrupted, also over the Agent Client Protocol, where nothing follows (0.61.0).
const cancelledCall = "Command cancelled by user."

const (
	textLimit = kit.ShortText // of the texts that are kept of a session, in bytes
	maxOpened = 16            // the last starts of processes that are kept
)

// Clone implements kit.Gatherer.
func (f *facts) Clone() facts {
	c := *f
	c.ledger = f.ledger.Clone()
	c.opened = slices.Clone(f.opened)
	return c
}

// Long implements kit.Gatherer.
func (f *facts) Long(words string) {
	f.Skip(kit.LongLine)
	f.lost, f.turn = words, turn{state: lost}
}

// Partial implements kit.Gatherer. A session without a message is not listed: this says why.
func (f *facts) Partial() {
	if !f.messages {
		f.Skip("last record is not complete")
	}
}

// Line implements kit.Gatherer: it adds the records of a line, or the whole of a file of 0.29.0.
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
		f.Skip("file without a session header")
		return kit.ErrOther
	case err != nil:
		f.Skip("line that is not JSON")
	}
	return nil
}

func (f *facts) record(r *record) {
	f.seen(agentfile.Time(r.updated))
	f.Title = cmp.Or(kit.Short(r.summary), f.Title)
	switch {
	case r.set != nil:
		f.change(r)
	case r.rewind != nil:
		if kit.Short(r.rewind) == f.kept {
			f.kept = ""
		}
		f.turn = turn{state: ended, why: "the user went back in the conversation", at: f.last}
	case r.typ != nil:
		f.isFresh = false
		f.known = true
		if f.at.IsZero() { // the file has lost its header
			f.at = agentfile.Time(r.at)
		}
		f.keep(r)
		f.message(r)
	case r.session != nil:
		f.known = true
		f.id = kit.Short(r.session)
		f.at = agentfile.Time(r.start)
		f.seen(f.at)
		f.open(opening{f.at, f.isFresh})
		f.isFresh = true
	default:
		f.Skip("record without a type")
	}
}

func (f *facts) seen(at time.Time) { f.last = kit.Latest(f.last, at) }

func (f *facts) open(o opening) {
	f.opened = append(f.opened[max(0, len(f.opened)-maxOpened+1):], o)
}

// change applies a record that changes the session as a whole.
func (f *facts) change(r *record) {
	f.id = cmp.Or(f.id, kit.Short(r.session))
	if r.session != nil {
		f.resumed = true
	}
	if r.messages == nil {
		return
	}
	f.rewriting = false
	if f.resumed {
		f.resumed = false
		f.open(opening{at: agentfile.Time(r.updated)})
	}
	list := listed(r.messages)
	f.kept = ""
	for i := range list {
		f.keep(&list[i])
	}
	isPrompt := func(m record) bool { return kit.Short(m.id) == f.promptID }
	if f.turn.state == prompted && f.promptID != "" && !slices.ContainsFunc(list, isPrompt) {
		f.turn = turn{state: ended, why: "the prompt was taken back, as after a failure", at: f.last}
	}
	if !f.messages { // a new file continues a session
		for i := range list {
			f.message(&list[i])
		}
	}
}

// keep notes a message of the history.
func (f *facts) keep(r *record) {
	if f.kept == "" && r.isResumed() {
		f.kept = cmp.Or(kit.Short(r.id), "without an id")
	}
}

// message applies a message. After an interruption 0.61.0 writes all messages again, under other ids.
func (f *facts) message(r *record) {
	at := agentfile.Time(r.at)
	kit.Each(r.calls, func(call []byte) {
		at = kit.Latest(at, agentfile.Time(agentfile.Get(call, "timestamp")))
	})
	if f.seen(at); f.rewriting {
		return
	}
	text, results := r.text(textLimit)
	switch typ := kit.Short(r.typ); typ {
	case "user":
		f.user(kit.Short(r.id), text, results, at)
	case "gemini":
		f.answer(r, text, at)
	case "info":
		if r.isCancelled() {
			f.turn = turn{state: ended, outcome: adapters.Interrupted, at: at}
			f.rewriting = !r.listed
		}
	case "error":
		f.turn = turn{state: ended, outcome: adapters.Failed, why: text, at: at}
	case "warning":
	default:
		f.Skip("unknown message type " + kit.PlainWord(typ))
	}
}

func (f *facts) user(id, text string, results bool, at time.Time) {
	switch {
	case results && f.turn.outcome == adapters.Interrupted: // the result of the call that was cancelled, or the history
		f.messages = true
	case results:
		f.messages, f.turn = true, turn{state: prompted, why: "the model has the results of its tools", at: at}
	case text != "" && id != f.promptID:
		f.messages = true
		f.Prompt(text)
		f.prompted = at
		f.promptID = id
		f.turn = turn{state: prompted, why: "the model has the prompt", at: at}
		f.ledger.Prompt()
	}
}

func (f *facts) answer(r *record, text string, at time.Time) {
	f.messages, f.model = true, cmp.Or(kit.Short(r.model), f.model)
	if used, total := r.used(); used != nil {
		f.ledger.Answer(kit.Entry{ID: xxhash.Sum64String(kit.Short(r.id)) | 1, At: at, Model: kit.Short(r.model), Tokens: *used})
		f.context = total
	}
	if text != "" {
		f.Doing, f.DoingSince = adapters.CutTo(text, adapters.MaxDoing), at
	}
	isOver, cancelled := false, false // its calls are
	kit.Each(r.calls, func(call []byte) {
		isOver, cancelled = true, cancelled || kit.Short(agentfile.Get(call, "resultDisplay")) == cancelledCall
	})
	switch {
	case f.turn.outcome == adapters.Interrupted && f.turn.why == "":
	case cancelled:
		f.turn = turn{state: ended, outcome: adapters.Interrupted, why: "a call was cancelled", at: at}
	case isOver:
		f.turn = turn{state: prompted, why: "the model has the results of its tools", at: at}
	case text == "":
		f.turn = turn{state: called, why: "a call is open", at: at}
	default:
		f.turn = turn{state: ended, outcome: adapters.Completed, at: at}
	}
}
