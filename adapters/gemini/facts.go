package gemini

import (
	"slices"
	"time"

	"github.com/cespare/xxhash/v2"

	"rollcall/adapters"
	"rollcall/adapters/internal/kit"
)

// facts holds what the file of a session says. It has no pointer to the file's bytes.
type facts struct {
	known     bool      // a header was read, or a message of a file that has lost its header
	id        string    // empty: the file has no header
	sub       bool      // a sub-agent's
	folder    string    // the folder that the header of a sub-agent names
	at        time.Time // when the session began
	last      time.Time // of the newest record
	opened    []time.Time
	resumed   bool // the next list of messages is that of a process that resumed the session
	rewriting bool // the history is being written again after an interruption (0.61.0)
	messages  bool // a message was read

	model, title, firstPrompt, lastPrompt string
	prompted                              time.Time // when the last turn began
	promptID                              string
	turn                                  turn
	doing                                 string
	doingAt                               time.Time
	context                               int64

	ledger   kit.Ledger
	exact    bool // ledger has all answers of the file
	skipped  map[string]int
	longLine string // description of a line that was too long to be read
}

// turn is the state of the last turn.
type turn struct {
	state   state
	outcome adapters.Outcome // with ended
	why     string
	at      time.Time
	results time.Time // of the last results of tools in this turn
}

type state int

const (
	noTurn   state = iota
	prompted       // the model has the prompt, or the results of tools
	called         // the model called tools, of which nothing is recorded before they are over (0.61.0)
	ended
	lost // the last records could not be read
)

const (
	// textLimit bounds the texts that are kept of a session, in bytes.
	textLimit = 4 << 10
	// maxOpened is how many of the last starts of processes are kept.
	maxOpened = 16
)

// apply adds one record.
func (f *facts) apply(r *record) {
	if r.at.After(f.last) {
		f.last = r.at
	}
	switch r.kind {
	case header:
		f.known, f.id, f.at, f.sub, f.folder = true, r.id, r.at, r.sub, r.folder
		f.open(r.at)
	case change:
		f.change(r)
	case message:
		if f.known = true; f.at.IsZero() { // the file has lost its header
			f.at = r.at
		}
		f.message(r)
	case rewound:
		f.turn = turn{state: ended, why: "the user went back in the conversation", at: f.last}
	case unknown:
		f.skip(r.why)
	}
}

func (f *facts) open(at time.Time) {
	f.opened = append(slices.Clone(f.opened[max(0, len(f.opened)-maxOpened+1):]), at)
}

// change applies a record that changes the session as a whole.
func (f *facts) change(r *record) {
	if r.title != "" {
		f.title = r.title
	}
	f.resumed = f.resumed || r.id != ""
	if !r.listed {
		return
	}
	f.rewriting = false
	if f.resumed {
		f.resumed = false
		f.open(r.at)
	}
	switch {
	case !f.messages: // a new file continues a session
		for i := range r.list {
			f.apply(&r.list[i])
		}
	case f.turn.state == prompted && f.promptID != "" && !slices.ContainsFunc(r.list, func(m record) bool { return m.id == f.promptID }):
		f.turn = turn{state: ended, why: "the prompt was taken back, as after a failure", at: f.last}
	}
}

// message applies a message. After an interruption 0.61.0 writes all messages again, under other ids.
func (f *facts) message(r *record) {
	if f.rewriting {
		return
	}
	switch r.typ {
	case "user":
		f.user(r)
	case "gemini":
		f.answer(r)
	case "info":
		if r.text == "Request cancelled." {
			f.turn = turn{state: ended, outcome: adapters.Interrupted, at: r.at}
			f.rewriting = r.line
		}
	case "error":
		f.turn = turn{state: ended, outcome: adapters.Failed, why: r.text, at: r.at}
	case "warning":
	default:
		f.skip("unknown message type " + kit.PlainWord(r.typ))
	}
}

func (f *facts) user(r *record) {
	switch {
	case r.results:
		f.messages = true
		if f.turn.outcome != adapters.Interrupted {
			f.turn = turn{state: prompted, why: "the model has the results of its tools", at: r.at, results: r.at}
		}
	case r.text != "" && r.id != f.promptID:
		f.messages = true
		if f.firstPrompt == "" {
			f.firstPrompt = r.text
		}
		f.lastPrompt, f.prompted, f.promptID = r.text, r.at, r.id
		f.doing, f.doingAt = "", time.Time{}
		f.turn = turn{state: prompted, why: "the model has the prompt", at: r.at}
		f.ledger.Prompt()
	}
}

func (f *facts) answer(r *record) {
	f.messages = true
	if r.model != "" {
		f.model = r.model
	}
	if r.tokens != nil {
		f.ledger.Answer(kit.Entry{ID: xxhash.Sum64String(r.id) | 1, At: r.at, Model: r.model, Tokens: *r.tokens})
		f.context = r.total
	}
	if r.text != "" {
		f.doing, f.doingAt = adapters.CutTo(r.text, adapters.MaxDoing), r.at
	}
	switch results := f.turn.results; {
	case f.turn.outcome == adapters.Interrupted:
	case r.calls > 0: // they are over
		f.turn = turn{state: prompted, why: "the model has the results of its tools", at: f.last, results: f.last}
	case r.text == "":
		f.turn = turn{state: called, at: r.at, results: results}
	default:
		f.turn = turn{state: ended, outcome: adapters.Completed, at: r.at, results: results}
	}
}

// tooLong records a line over the length limit, with its description.
func (f *facts) tooLong(line string) {
	f.skip("line over 64 MB")
	f.exact, f.longLine, f.turn = false, line, turn{state: lost}
}

func (f *facts) skip(reason string) { f.skipped = kit.CountSkipped(f.skipped, reason) }
