package codex

import (
	"cmp"
	"slices"
	"time"

	"rollcall/adapters"
	"rollcall/adapters/internal/kit"
)

// turn is the state of a thread's last turn, from its records.
type turn struct {
	state    turnState
	id       string    // empty where its beginning and its end were not recorded, as before 0.106
	since    time.Time // of its beginning or end; zero when that wasn't read
	last     time.Time // of its newest record, while it is open
	began    int64     // where the record of its beginning ends in the rollout
	begun    time.Time // of that record; zero when that wasn't read
	outcome  adapters.Outcome
	why      string // of a failed or aborted one
	limited  bool   // it failed because a limit of the provider was reached
	prompted bool   // a user's prompt belongs to it
	worked   bool   // the model was active in it
	spoke    bool   // the model said something in it
	full     bool   // the last record of limits in it says that one is reached
	said     string // the beginning of its last answer, once it has ended
	plan     string // the beginning of the plan that it proposed last
	review   review // the state of a review in it
}

type turnState uint8

const (
	noTurn turnState = iota
	open
	ended
	lost // its records could not be found
)

// review is the state of a turn that is a review: whether it has ended, and with or
// without a result.
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
	does      string // what it does, in a few words
}

// facts holds what the records of a rollout contain. It is a value: callers change a copy,
// never a shared one.
type facts struct {
	head
	known bool // the first line was understood
	// numbered reports that the newest record has an ordinal: it was written by 0.169 or later, whatever version began the
	// thread.
	numbered bool
	// copied is where the records that the thread has from another one end in the rollout, with the counts base; copying is set while no record of its own
	// follows. See copies.
	copied  int64
	copying bool
	base    *tokens

	firstPrompt, lastPrompt string
	prompted                time.Time // when lastPrompt was given
	promptEnd               int64     // where its record ends in the rollout
	model                   string
	approval, reviewer      string // when calls need an approval, and who gives it
	turn                    turn
	calls                   []toolCall
	totals                  *tokens
	context, window         int64
	last                    time.Time // of the newest record

	skipped map[string]int // since the last turn began
	// longLine describes the line that hides the turn.
	longLine string
}

// applyHead reads the first line, and the records that follow the first one on it.
func (f *facts) applyHead(line []byte) {
	h, err := parseHead(line)
	f.head, f.known = h, err == nil
	if err == nil {
		return
	}
	for i, part := range split(line) {
		if i == 0 {
			h, err = parseHead(part)
			f.head, f.known = h, err == nil
		} else if rec, err := parse(part); err == nil {
			f.apply(rec)
		}
	}
}

// apply adds one record; records come in the file's order.
func (f *facts) apply(r record) {
	if r.at.After(f.last) {
		f.last = r.at
	}
	if r.unknown != "" {
		f.skip(r.unknown)
	}
	switch {
	case r.kind == hidden:
		f.hide(r.text)
		return
	case r.kind == unread || isInherited(r.ordinal, f.inherited):
		return
	}
	f.numbered = r.ordinal >= 0
	switch r.kind {
	case settings:
		f.model = cmp.Or(r.model, f.model)
		f.cwd = cmp.Or(r.cwd, f.cwd)
		f.approval = cmp.Or(r.approval, f.approval)
		f.reviewer = cmp.Or(r.reviewer, f.reviewer)
	case usage:
		f.applyUsage(r)
	case prompt:
		f.applyPrompt(r)
	case started:
		f.calls, f.skipped = nil, nil
		f.turn = turn{state: open, id: r.turn, since: r.at, last: r.at, began: r.end, begun: r.at}
		f.window = cmp.Or(max(r.window, 0), f.window)
	case completed, failure, aborted:
		f.applyEnd(r)
	case rolledBack:
		f.calls = nil
		f.turn = turn{state: ended, since: r.at}
	case reviewed:
		f.applyReview(r)
	case answer, call, output, planned, activity:
		f.applyWork(r)
	}
}

// hide records that a line, with its description, can't be read: it may have begun or ended a turn.
func (f *facts) hide(line string) {
	f.calls, f.turn = nil, turn{state: lost}
	f.longLine = line
}

// doing returns what the thread does now: the last call without an output, or the beginning of the last answer of a turn that has ended.
func (f *facts) doing() (text string, since time.Time) {
	switch n := len(f.calls); {
	case n > 0:
		return f.calls[n-1].does, f.calls[n-1].at
	case f.turn.said != "":
		return f.turn.said, f.turn.since
	}
	return "", time.Time{}
}

// forget drops the texts and times of records that end before an offset: a reader that begins now does not get there.
func (f *facts) forget(before int64) {
	if f.promptEnd <= before {
		f.lastPrompt = ""
		f.prompted = time.Time{}
		f.turn.prompted = false
	}
	if f.turn.began > before {
		return
	}
	f.turn.begun = time.Time{}
	if f.turn.state == open {
		f.turn.id, f.turn.since = "", time.Time{}
	}
}

// turnStart returns when the turn of the last prompt began: Codex takes messages while a turn runs, and may compact the thread before it records a
// prompt. Where the beginning is not recorded, as before 0.106, it is that prompt's time.
func (f *facts) turnStart() time.Time {
	if f.turn.prompted && !f.turn.begun.IsZero() {
		return f.turn.begun
	}
	return f.prompted
}

func (f *facts) applyUsage(r record) {
	if r.thread != "" && f.id != "" && r.thread != f.id {
		return
	}
	// Two kinds of records have the same cumulative count, one kind later than the
	// other. The larger count is the newer one, except where the count began again.
	if r.totals != nil && (f.totals == nil || r.totals.total >= f.totals.total || r.totals.isFull()) {
		f.totals = r.totals
	}
	f.context = cmp.Or(max(r.context, 0), f.context)
	f.window = cmp.Or(max(r.window, 0), f.window)
	if r.limits {
		f.turn.full = r.full
	}
}

func (f *facts) applyPrompt(r record) {
	if r.text != "" {
		f.lastPrompt = r.text
		f.prompted = r.at
		f.promptEnd = r.end
	}
	if f.turn.state != open { // its beginning wasn't read, or is not recorded
		f.calls, f.turn = nil, turn{state: open}
	}
	f.turn.prompted, f.turn.last = true, r.at
}

func (f *facts) applyEnd(r record) {
	t := &f.turn
	if t.state == open && r.turn != "" && t.id != "" && r.turn != t.id {
		return // a late record of an earlier turn
	}
	f.calls = nil
	was := *t
	*t = turn{state: ended, id: r.turn, since: r.at, why: r.text, limited: r.limited, said: r.said, began: was.began, begun: was.begun, prompted: was.prompted}
	switch r.kind {
	case failure:
		t.outcome = adapters.Failed
	case aborted:
		t.outcome = abortOutcome(r.text)
	case completed:
		t.outcome = adapters.Completed
		switch {
		case was.plan != "":
			t.plan, t.said = was.plan, cmp.Or(t.said, was.plan)
		case r.silent && was.state == ended && was.outcome == adapters.Failed: // the error record before this one had already failed the turn (0.125.0)
			t.outcome = was.outcome
			t.why = was.why
			t.limited = was.limited
		case r.silent && was.prompted:
			t.outcome, t.why = silentOutcome(was)
			t.limited = t.outcome == adapters.Failed && was.full
		}
	}
}

// silentOutcome returns the outcome of a prompted turn that ended without a last message and
// without a reason. A review always ends in this way, and records its result before its end. In
// other turns 0.142.5 records a failure in this way: the turn failed if the model did nothing
// in it, or spoke of what it was doing and gave no answer (0.140 to 0.142, at a limit in mid-turn). If it only called tools,
// the outcome is not known.
func silentOutcome(was turn) (outcome adapters.Outcome, why string) {
	switch {
	case was.review == withResult:
		return adapters.Completed, ""
	case was.review == withoutResult:
		return adapters.Failed, "the review ended without a result"
	case was.spoke && was.full:
		return adapters.Failed, "ended without an answer, and a usage limit is reached"
	case was.worked && !was.spoke:
		return "", "ended without an answer"
	}
	return adapters.Failed, "ended without an answer"
}

// abortOutcome returns the outcome for a reason of Codex's TurnAbortReason.
func abortOutcome(reason string) adapters.Outcome {
	switch reason {
	case "budget_limited":
		return adapters.Failed
	case "review_ended":
		return adapters.Completed
	}
	return adapters.Interrupted
}

// applyReview records that a review is over. The task_started before it belongs to the reviewing
// sub-thread and names its turn; the end that follows names the turn around it (0.142.5, 0.169.0).
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
}

// applyWork applies a record of activity within a turn.
func (f *facts) applyWork(r record) {
	t := &f.turn
	switch t.state {
	case ended:
		return // a record after the end begins no turn
	case noTurn, lost: // its beginning wasn't read
		*t = turn{state: open}
	}
	t.last = r.at
	switch r.kind {
	case call:
		f.calls = append(f.calls[:len(f.calls):len(f.calls)], toolCall{r.callID, r.tool, r.at, r.escalated, r.asks, r.does})
	case output:
		f.answerCall(r.callID)
	case answer:
		t.spoke = true
	case planned:
		t.plan = r.said
	}
	if r.kind != output {
		t.worked = true
	}
}

func (f *facts) answerCall(id string) {
	f.calls = slices.DeleteFunc(slices.Clone(f.calls), func(c toolCall) bool { return c.id == id })
}

func (f *facts) skip(reason string) { f.skipped = kit.CountSkipped(f.skipped, reason) }

// tokenTotals returns the thread's tokens as all adapters count them. Codex counts
// cached and written tokens into its input. It returns nil where the last record does
// not state them: see tokens.beganAgain.
func (f *facts) tokenTotals() *adapters.Tokens {
	if f.totals == nil || f.totals.beganAgain() {
		return nil
	}
	t := f.totals.own(f.base).counts()
	return &t
}

// isFull reports whether a count is not of tokens that were used: when a request exceeds the context window, Codex puts the size of the window in place
// of the total, and begins to count again from there.
func (t *tokens) isFull() bool { return t.total > 0 && t.input == 0 && t.output == 0 }

// beganAgain reports whether cumulative counts lack what was used before the context window was exceeded. Reasoning is part of the output, but some
// providers add it to the total.
func (t *tokens) beganAgain() bool { return t.total > t.input+t.output+t.reasoning }

func (t *tokens) counts() adapters.Tokens {
	return adapters.Tokens{
		Input:     max(0, t.input-t.cached-t.written),
		Output:    t.output,
		CacheRead: t.cached, CacheWrite: t.written,
		Reasoning: t.reasoning,
	}
}
