package claudecode

import (
	"cmp"
	"slices"
	"time"

	"rollcall/adapters/internal/kit"
)

// maxPending is the number of unanswered tool calls that are remembered.
const maxPending = 64

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

// over reports whether the last record closes the turn.
func (s turnState) over() bool { return s == endedWell || s == endedByUser || s == endedInError }

// isOpen reports whether the last record leaves the turn open.
func (s turnState) isOpen() bool {
	return s == awaitsModel || s == callsTools || s == inAnswer || s == brokenOff
}

// turn is the last turn of a transcript.
type turn struct {
	state     turnState
	at        time.Time // time of the record that determines state
	stop      string    // stop_reason
	apiStatus int64
	resets    int64     // see record
	prompt    bool      // the last record of the turn was a prompt
	message   uint64    // id of the last answer
	pending   []toolUse // its unanswered calls
	said      string    // the beginning of its text
	command   uint64    // the slash command that was the last record, if any
	closedBy  time.Time // start of a process that ended in an orderly way after that record
	next      string    // id of the session that goes on after that record; see continued.go
	nextAt    time.Time // when it was to begin
	noted     noted
}

// facts holds what the records of a transcript contain, taken in the order of the file.
type facts struct {
	records                     int
	cwd, branch, model, version string
	firstCWD                    string
	entrypoint, team, mate      string
	customTitle, aiTitle        string
	leaf, spoken                uint64 // the last record, and the last one of the conversation
	firstPrompt, lastPrompt     string
	namedPrompt                 string // of the last-prompt record
	gapped                      bool   // records after the first ones were left out
	context                     int64  // tokens in the context at the last answer
	cost                        float64
	started, active             time.Time
	promptAt                    time.Time // of lastPrompt
	turn                        turn
	command                     string // the text of turn.command
	skipped                     map[string]int
	longLine                    string // description of the line that makes the turn unreadable
}

// hosted reports whether another program than a terminal ran the session.
func (f *facts) hosted() bool { return f.entrypoint != "" && f.entrypoint != "cli" }

// gap records that the records between those added so far and the next ones are left
// out. It forgets the facts that the missing records may have changed. A first prompt that was not found yet stays unknown.
func (f *facts) gap() {
	f.turn = turn{}
	f.gapped = true
	f.command = ""
	f.lastPrompt = ""
	f.namedPrompt = ""
	f.promptAt = time.Time{}
}

// skip counts a line that can't be read.
func (f *facts) skip(reason string) {
	f.skipped = kit.CountSkipped(f.skipped, reason)
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
	if r.id != 0 {
		f.leaf = r.id
		if r.kind != irrelevant && r.kind != turnMeasured {
			f.spoken = r.id
		}
	}
	f.firstCWD = cmp.Or(f.firstCWD, r.cwd)
	set(&f.cwd, r.cwd)
	set(&f.entrypoint, r.entrypoint)
	set(&f.team, r.team)
	set(&f.mate, r.mate)
	set(&f.branch, r.branch)
	set(&f.version, r.version)
	set(&f.model, r.model)
	set(&f.customTitle, r.customTitle)
	set(&f.aiTitle, r.aiTitle)
	set(&f.namedPrompt, r.lastPrompt)
	f.cost = max(f.cost, r.cost)
	f.prompts(r)
	if r.hasUsage && !r.synthetic {
		f.context = r.usage.Input + r.usage.CacheRead + r.usage.CacheWrite
	}
	f.turn.add(r)
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
	if !f.gapped {
		f.firstPrompt = cmp.Or(f.firstPrompt, said)
	}
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
			if t.state == inAnswer { // it was typed at the prompt
				t.state = endedWell
			}
		case t.follows(r):
			*t = turn{state: awaitsModel, at: r.at, prompt: true}
		}
	case toolResult:
		t.wakeUps(r)
		t.pending = slices.DeleteFunc(t.pending, func(u toolUse) bool { return slices.Contains(r.results, u.id) })
		*t = turn{state: awaitsModel, at: r.at, message: t.message, pending: t.pending, said: t.said, noted: t.noted}
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
	case continued:
		if kit.Is(r.next) {
			t.next, t.nextAt = r.next, r.at
		}
	case processEnded:
		if t.closedBy.IsZero() { // the first one ended the turn
			t.closedBy = r.began
		}
	}
}

// doing returns what the turn does now: the last call without a result, or the beginning of the last answer.
func (t *turn) doing() (text string, since time.Time) {
	if n := len(t.pending); n > 0 && t.state == callsTools {
		return t.pending[n-1].does, t.pending[n-1].at
	}
	if t.said == "" {
		return "", time.Time{}
	}
	return t.said, t.at
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
	said := t.said
	if r.message != t.message { // a call of an earlier answer has no result, and won't get one
		pending, said = nil, ""
	}
	*t = turn{at: r.at, stop: r.stop, apiStatus: r.apiStatus, resets: r.resets, message: r.message, said: cmp.Or(said, r.said), noted: t.noted}
	for i := range r.uses {
		t.noted.add(&r.uses[i])
	}
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
