package claudecode

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"rollcall/adapters/internal/report"
)

const (
	maxPending   = 64 // unanswered tool calls that are remembered
	maxLeaves    = 32
	maxSummaries = 64
	maxQueue     = 16
)

// turnState is the state of the last turn of a transcript.
type turnState uint8

const (
	noTurn      turnState = iota
	awaitsModel           // a prompt or tool results were the last thing
	callsTools            // the model called a tool, no result yet
	inAnswer              // a block of an answer that has no stop reason
	brokenOff             // the model stopped for another reason than its turn's end
	endedWell
	endedByUser
	endedInError
	unreadable // the record that would show the state is too long to read
)

func (s turnState) over() bool { return s == endedWell || s == endedByUser || s == endedInError }

// turn is the last turn of a transcript.
type turn struct {
	state     turnState
	at        time.Time // time of the record that determines state
	stop      string    // stop_reason
	apiStatus int64
	prompt    bool      // the last record of the turn was a prompt
	pending   []toolUse // unanswered
	command   uint64    // the slash command that was the last record, if any
	closedBy  time.Time // start of a process that ended in an orderly way after that record
}

// facts holds what the records of a transcript contain, taken in the order of the file.
type facts struct {
	records                     int
	cwd, branch, model, version string
	customTitle, aiTitle        string
	firstPrompt, lastPrompt     string
	namedPrompt                 string // of the last-prompt record
	context                     int64  // tokens in the context at the last answer
	cost                        float64
	started, active             time.Time
	promptAt                    time.Time // of lastPrompt
	turn                        turn
	command                     string // the text of turn.command
	queuedPrompt                string // the first prompt that left the queue: a forked session has older ones
	queue                       []queued
	queues                      bool      // additions to the queue are recorded, as far as known
	printed                     bool      // it begins with a prompt from the queue, as runs with -p do
	hasBegun                    bool      // a prompt, an answer or a command was there
	cleared                     time.Time // when it began with /clear; zero: it did not
	planned                     string    // it begins with a plan of that session, whose context was cleared
	dequeued                    time.Time // when an entry left the queue last
	leaves                      []uint64  // the newest records, for old versions' titles
	summaries                   []summary
	skipped                     map[string]int
	longLine                    string // description of the line that makes the turn unreadable
}

// queued is a prompt in the queue; its text is empty when it is no prompt for
// the model, or not known.
type queued struct {
	text  string
	human bool
}

// gap records that the records between those added so far and the next ones are left
// out. It forgets the facts that the missing records may have changed.
func (f *facts) gap() {
	f.turn = turn{}
	f.lastPrompt, f.namedPrompt = "", ""
	f.leaves, f.queue = nil, nil
	f.hasBegun, f.queues = true, true
}

// skip counts a line that can't be read.
func (f *facts) skip(reason string) {
	f.skipped = report.CountSkipped(f.skipped, reason)
}

// tooLong records a line over the length limit, with its description.
func (f *facts) tooLong(line string) {
	f.skip(longReason)
	f.turn, f.longLine = turn{state: unreadable}, line
}

func (f *facts) add(r *record) {
	if r.unknown != "" {
		f.skip(r.unknown)
	} else {
		f.records++
	}
	f.times(r.at)
	if r.sidechain { // a sub-agent's, in old versions in the same file
		return
	}
	set(&f.cwd, r.cwd)
	set(&f.branch, r.branch)
	set(&f.version, r.version)
	set(&f.model, r.model)
	set(&f.customTitle, r.customTitle)
	set(&f.aiTitle, r.aiTitle)
	set(&f.namedPrompt, r.lastPrompt)
	f.cost = max(f.cost, r.cost)
	if r.summary.leaf != 0 && len(f.summaries) < maxSummaries {
		f.summaries = append(f.summaries, r.summary)
	}
	if r.kind == dequeued {
		f.dequeued = r.at
		f.printed = f.printed || !f.hasBegun
	}
	if r = f.fromQueue(r); r == nil {
		return
	}
	f.beginning(r)
	f.prompts(r)
	if r.hasUsage && !r.synthetic {
		f.context = r.usage.Input + r.usage.CacheRead + r.usage.CacheWrite
	}
	if r.id != 0 && (r.kind == prompted || r.kind == answered || r.kind == toolResult) && titledElsewhere(f.version) {
		f.leaves = append(f.leaves[max(0, len(f.leaves)-maxLeaves+1):len(f.leaves):len(f.leaves)], r.id)
	}
	f.turn.add(r)
}

// fromQueue follows the queue. It returns the prompt that leaves it when no turn is
// open, nil for records that don't matter, and other records as they are.
func (f *facts) fromQueue(r *record) *record {
	switch r.kind {
	case enqueued:
		f.queues = true
		f.queue = append(f.queue[max(0, len(f.queue)-maxQueue+1):len(f.queue):len(f.queue)], queued{r.text, r.human})
		return nil
	case unqueued:
		f.queue = nil
		return nil
	case dequeued:
		open := f.turn.state != noTurn && !f.turn.state.over() && f.turn.state != inAnswer
		if !f.queues && !open { // 2.1.20 with -p: the prompt itself comes with the answer
			return &record{kind: prompted, at: r.at}
		}
		if len(f.queue) == 0 {
			return nil
		}
		first := f.queue[0]
		f.queue = f.queue[1:]
		if first.text == "" || open {
			return nil
		}
		if first.human {
			set(&f.lastPrompt, first.text)
			f.queuedPrompt = cmp.Or(f.queuedPrompt, first.text)
		}
		return &record{kind: prompted, at: r.at}
	}
	return r
}

// beginning records how a transcript begins.
func (f *facts) beginning(r *record) {
	if f.hasBegun || r.kind == irrelevant || r.kind == processEnded {
		return
	}
	f.hasBegun = true
	f.planned = r.planned
	if r.kind == commanded && !r.synthetic && clears(r.text) {
		f.cleared = r.at
	}
}

// clears reports whether a slash command begins a new session in the same process.
func clears(command string) bool {
	name, _, _ := strings.Cut(strings.TrimSpace(command), " ")
	return name == "/clear" || name == "/reset" || name == "/new"
}

// prompts records a prompt of the user: a text, or a slash command that is passed on to the
// model.
func (f *facts) prompts(r *record) {
	said := ""
	switch {
	case r.kind == prompted && r.human:
		said = r.text
	case r.kind == commanded && !r.synthetic:
		f.command = r.text
	case r.kind == commanded && f.turn.follows(r):
		said = f.command
	}
	if said == "" {
		return
	}
	f.firstPrompt = cmp.Or(f.firstPrompt, said)
	f.lastPrompt, f.promptAt = said, r.at
}

func (f *facts) times(at time.Time) {
	if at.IsZero() {
		return
	}
	if f.started.IsZero() {
		f.started = at
	}
	if at.After(f.active) {
		f.active = at
	}
}

// set replaces *known with said, unless said is empty.
func set(known *string, said string) {
	if said != "" {
		*known = said
	}
}

// clone returns a copy to which records can be added without changing f.
func (f *facts) clone() facts {
	c := *f
	c.turn.pending = slices.Clone(f.turn.pending)
	c.summaries = slices.Clip(f.summaries)
	return c
}

// add applies one record of the main conversation to the turn.
func (t *turn) add(r *record) {
	switch r.kind {
	case prompted:
		if r.first() && r.at.Before(t.at) {
			return // written after its answer, as happens in a new session
		}
		*t = turn{state: awaitsModel, at: r.at, prompt: true}
	case commanded:
		switch {
		case !r.synthetic:
			t.command = r.id
		case t.follows(r):
			*t = turn{state: awaitsModel, at: r.at, prompt: true}
		}
	case toolResult:
		t.pending = slices.DeleteFunc(t.pending, func(u toolUse) bool { return slices.Contains(r.results, u.id) })
		*t = turn{state: awaitsModel, at: r.at, pending: t.pending}
		if len(t.pending) > 0 {
			t.state = callsTools
		}
	case interrupted:
		*t = turn{state: endedByUser, at: r.at}
	case abandoned:
		*t = turn{state: brokenOff, at: r.at, stop: "the session ended"}
	case turnMeasured:
		if t.state == inAnswer {
			t.state = endedWell
		}
	case answered:
		t.answer(r)
	case processEnded:
		if t.closedBy.IsZero() { // the first one ended the turn
			t.closedBy = r.began
		}
	}
}

// first reports whether a conversation begins with the record.
func (r *record) first() bool { return r.id != 0 && r.parent == 0 }

// follows reports whether r is the text that the last slash command sends to the model.
func (t *turn) follows(r *record) bool { return t.command != 0 && r.parent == t.command }

func (t *turn) answer(r *record) {
	if r.synthetic && !r.failed { // written when a session is resumed: "No response requested."
		return
	}
	pending := t.pending
	*t = turn{at: r.at, stop: r.stop, apiStatus: r.apiStatus}
	switch {
	case r.failed:
		t.state = endedInError
	case len(r.uses) > 0 || len(pending) > 0 && r.stop == "tool_use":
		t.state = callsTools
		pending = append(pending, r.uses...)
		t.pending = pending[max(0, len(pending)-maxPending):]
	case r.stop == "end_turn" || r.stop == "stop_sequence":
		t.state = endedWell
	case r.stop == "" && r.endsInText:
		t.state = inAnswer
	case r.stop == "" || r.stop == "tool_use": // more blocks are to come
		t.state = awaitsModel
	default:
		t.state = brokenOff
	}
}
