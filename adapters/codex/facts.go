package codex

import (
	"time"

	"rollcall/adapters"
)

// turn is where a thread's last turn stands, as its records say.
type turn struct {
	state   turnState
	id      string
	since   time.Time // of its beginning or end; zero when that wasn't read
	last    time.Time // of its newest record, while it is open
	outcome adapters.Outcome
	why     string // of a failed or aborted one
	// explicit: the version writes task_started and its like (after 0.98.0).
	// Without them an end can only be concluded from an answer.
	explicit bool
	answered time.Time // implicit: the model's last word, when nothing followed
	// implicit: the answer's tokens were counted, and it went into the history, so
	// it was complete. Up to 0.63.0 it goes there last, and after the calls that
	// came with it have run, with them.
	counted, recorded bool
	prompted          bool   // a user's prompt belongs to it
	worked            bool   // the model did something in it
	review            review // what a review in it came to
}

type turnState uint8

const (
	noTurn turnState = iota
	open
	ended
	lost // its records could not be found
)

// review is how far a turn is a review.
type review uint8

const (
	noReview review = iota
	withResult
	withoutResult
)

// toolCall is a call that has no result yet.
type toolCall struct {
	id, tool  string
	at        time.Time
	escalated bool
	asks      bool
}

// facts are what a rollout's records say. They are a value: a copy is changed,
// never a shared one.
type facts struct {
	head
	known    bool // the first line was understood
	explicit bool // the beginning of the rollout has a task_started

	firstPrompt, lastPrompt string
	title                   string
	model                   string
	approval, reviewer      string // when calls need an approval, and whose
	turn                    turn
	calls                   []toolCall
	totals                  *tokens
	context, window         int64
	last                    time.Time // of the newest record

	skipped map[string]int
}

// apply adds one record; records come in the file's order.
func (f *facts) apply(r record) {
	if r.at.After(f.last) {
		f.last = r.at
	}
	if r.unknown != "" {
		f.skip("unknown record type " + plainWord(r.unknown))
	}
	if f.inherited > 0 && r.ordinal >= 0 && r.ordinal < f.inherited {
		return // the parent's
	}
	switch r.kind {
	case settings:
		f.model = first(r.model, f.model)
		f.cwd = first(r.cwd, f.cwd)
		f.approval = first(r.approval, f.approval)
		f.reviewer = first(r.reviewer, f.reviewer)
	case usage:
		f.applyUsage(r)
	case named:
		f.title = r.text
	case prompt:
		f.applyPrompt(r)
	case started:
		f.calls, f.explicit = nil, true
		f.turn = turn{state: open, id: r.turn, since: r.at, last: r.at, explicit: true}
		if r.window > 0 {
			f.window = r.window
		}
	case completed, failure, aborted:
		f.applyEnd(r)
	case rolledBack:
		f.calls = nil
		f.turn = turn{state: ended, since: r.at, explicit: true}
	case reviewed:
		f.applyReview(r)
	case answer, call, output, activity:
		f.applyWork(r)
	}
}

func (f *facts) applyUsage(r record) {
	if r.thread != "" && f.id != "" && r.thread != f.id {
		return
	}
	// Two records count the same cumulatively, one of them later: the larger is
	// the newer.
	if r.totals != nil && (f.totals == nil || r.totals.total >= f.totals.total) {
		f.totals = r.totals
	}
	if r.context > 0 {
		f.context = r.context
	}
	if r.window > 0 {
		f.window = r.window
	}
	if r.totals != nil && r.thread == "" {
		f.turn.counted = true
	}
}

func (f *facts) applyPrompt(r record) {
	if r.text != "" {
		f.firstPrompt = first(f.firstPrompt, r.text)
		f.lastPrompt = r.text
	}
	if f.turn.state == open && f.turn.explicit {
		f.turn.prompted, f.turn.last = true, r.at
		return
	}
	f.calls = nil
	f.turn = turn{state: open, since: r.at, last: r.at, prompted: true}
}

func (f *facts) applyEnd(r record) {
	t := &f.turn
	if t.state == open && t.explicit && r.turn != "" && t.id != "" && r.turn != t.id {
		return // an earlier turn's, late
	}
	f.calls = nil
	f.explicit = f.explicit || r.kind == completed
	was := *t
	*t = turn{state: ended, id: r.turn, since: r.at, explicit: true, why: r.text}
	switch r.kind {
	case failure:
		t.outcome = adapters.Failed
	case aborted:
		t.outcome = abortOutcome(r.text)
	case completed:
		t.outcome = adapters.Completed
		switch {
		case r.silent && was.state == ended && was.outcome == adapters.Failed: // by the error before it (0.125.0)
			t.outcome, t.why = was.outcome, was.why
		case r.silent && was.prompted:
			t.outcome, t.why = silentOutcome(was)
		}
	}
}

// silentOutcome is that of a prompted turn that ended without a last message and
// without saying why. A review always does, and says before what it came to; in
// other turns 0.142.5 records a failure that way: with no work of the model at
// all it failed, otherwise it can't be known.
func silentOutcome(was turn) (outcome adapters.Outcome, why string) {
	switch {
	case was.review == withResult:
		return adapters.Completed, ""
	case was.review == withoutResult:
		return adapters.Failed, "the review ended without a result"
	case was.worked:
		return "", "ended without an answer"
	}
	return adapters.Failed, "ended without an answer"
}

// abortOutcome knows the reasons of Codex's TurnAbortReason.
func abortOutcome(reason string) adapters.Outcome {
	switch reason {
	case "budget_limited":
		return adapters.Failed
	case "review_ended":
		return adapters.Completed
	}
	return adapters.Interrupted
}

// applyReview notes that a review is over. Where turns are recorded, the
// task_started before it is that of the reviewing sub-thread and names its turn;
// the end to come names the turn around it (0.142.5, 0.169.0). Before (0.98.0)
// nothing more comes but what the review came to, or that it was aborted.
func (f *facts) applyReview(r record) {
	f.applyWork(record{kind: activity, at: r.at})
	t := &f.turn
	if t.state != open {
		return
	}
	t.id, t.review = r.turn, withResult
	if r.silent {
		t.review = withoutResult
	}
	if !t.explicit {
		outcome, why := silentOutcome(*t)
		f.calls, f.turn = nil, turn{state: ended, since: r.at, outcome: outcome, why: why}
	}
}

// applyWork adds what happens within a turn.
func (f *facts) applyWork(r record) {
	t := &f.turn
	switch t.state {
	case ended:
		return // what trails behind an end does not begin anything
	case noTurn, lost: // its beginning wasn't read
		*t = turn{state: open, since: r.at, explicit: f.explicit}
	}
	t.last = r.at
	if r.kind != answer || !r.history || t.answered.IsZero() {
		t.answered, t.counted, t.recorded = time.Time{}, false, false
	}
	switch r.kind {
	case answer:
		t.answered, t.recorded = r.at, r.history
	case call:
		f.calls = append(f.calls[:len(f.calls):len(f.calls)], toolCall{r.callID, r.tool, r.at, r.escalated, r.asks})
	case output:
		f.answerCall(r.callID)
	}
	if r.kind != output {
		t.worked = true
	}
}

func (f *facts) answerCall(id string) {
	kept := make([]toolCall, 0, len(f.calls))
	for _, c := range f.calls {
		if c.id != id {
			kept = append(kept, c)
		}
	}
	f.calls = kept
}

func (f *facts) skip(reason string) {
	m := make(map[string]int, len(f.skipped)+1)
	for k, n := range f.skipped {
		m[k] = n
	}
	if _, there := m[reason]; !there && len(m) >= 8 {
		reason = "further kinds"
	}
	m[reason]++
	f.skipped = m
}

// tokenTotals are the thread's tokens in the vocabulary of all adapters: Codex
// counts cached and written tokens into its input.
func (f *facts) tokenTotals() *adapters.Tokens {
	t := f.totals
	if t == nil {
		return nil
	}
	return &adapters.Tokens{
		Input:     max(0, t.input-t.cached-t.written),
		Output:    t.output,
		CacheRead: t.cached, CacheWrite: t.written,
		Reasoning: t.reasoning,
	}
}

// plainWord keeps of an untrusted name what a record type can be made of.
func plainWord(s string) string {
	b := make([]byte, 0, 40)
	for i := 0; i < len(s) && len(b) < 40; i++ {
		if c := s[i]; c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-' {
			b = append(b, c)
		}
	}
	return string(b)
}
