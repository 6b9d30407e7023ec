package agents

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"rollcall/internal/pressure"
)

// The oracle: what is true of each session, from what was done to it, from its
// terminal, its processes and what it asked the model. Nothing of it comes from
// Rollcall or from an agent's files.

// turn says how the last turn of a session stands.
type turn string

const (
	noTurn          turn = ""                   // no prompt yet
	inTurn          turn = "open"               // the model, or a command, has yet to answer
	waitsPermission turn = "waiting/permission" // it asks the user
	waitsQuestion   turn = "waiting/question"
	completed       turn = "completed"
	failed          turn = "failed"
	interrupted     turn = "interrupted"
	takenBack       turn = "taken back" // interrupted before anything was answered: the prompt is a draft again
	refused         turn = "refused"    // the user said no; agents differ in what that makes of the turn
	killedOpen      turn = "killed"     // its process was killed in the middle, and the session is open again or over
	cutOpen         turn = "cut"        // its process was ended in the middle, in a way that it could notice
)

// stormSession is one conversation with an agent, and what was done to it.
type stormSession struct {
	mark    string // in every prompt, and the title: "s17"
	kind    *stormKind
	release Release
	folder  string
	home    string // of its own; empty: the default
	plot    string
	began   time.Time
	id      string // its agent's, where known

	alone, ephemeral bool // Codex: without the daemon; stores nothing

	// Guarded by the storm's mu.
	turn      turn
	running   bool // a process has it open
	remote    bool // a gateway has it
	suspended bool
	pid       int           // of the agent's process
	terminal  int           // of the program in the terminal, where the agent is another one: Codex's daemon
	daemon    bool          // the process serves several terminals
	left      bool          // Codex's daemon goes on without a terminal, or unloads the session
	hidden    bool          // its process can't be told from one with a new session
	replaced  bool          // its process has begun another session, of which nothing is written
	before    *stormSession // that its process had before, and left for this one
	prompts   int
	known     time.Time // since when Rollcall can see that it is open; zero: not
	since     time.Time // since when the truth is settled; zero: it is not
	until     time.Time // until when, when it ends by itself; zero: for good
	due       time.Time // when the model answers the open turn; zero: not soon
	lost      bool      // the driver does not know what became of it
	steps     []stormStep
	version   int // counts what happened
	checked   int // version that was compared last
}

// stormStep is one thing that was done, or was seen, with a session.
type stormStep struct {
	at   time.Time
	what string
}

// happens notes that something is being done to a session: nothing of it is
// compared until holds.
func (st *storm) happens(x *stormSession, format string, args ...any) time.Time {
	st.mu.Lock()
	defer st.mu.Unlock()
	now := time.Now()
	x.since, x.until = time.Time{}, time.Time{}
	x.version++
	x.steps = append(x.steps, stormStep{now, fmt.Sprintf(format, args...)})
	st.counts()
	return now
}

// holds changes what is true of a session; it is compared once it had time to
// settle.
func (st *storm) holds(x *stormSession, change func()) {
	st.mu.Lock()
	defer st.mu.Unlock()
	change()
	x.version++
	x.since = time.Now()
	if x.known.IsZero() && x.running && (x.prompts > 0 && !x.silentNow() || x.kind.choosesID) && !x.hidden {
		x.known = x.since
	}
	if !x.running {
		x.known = time.Time{}
	}
	if old := x.before; old != nil && x.prompts > 0 && !x.silentNow() {
		x.before = nil
		old.replaced, old.since = false, x.since
		old.version++
	}
	x.steps = append(x.steps, stormStep{x.since, "is " + x.describe()})
}

// silentNow reports whether the agent has written nothing of its only turn.
func (x *stormSession) silentNow() bool {
	return x.kind.silent && x.prompts == 1 && x.turn == inTurn
}

func (x *stormSession) describe() string {
	text := strings.Join(x.states(), " or ")
	if x.suspended {
		text += ", suspended"
	}
	if x.mayBeAbsent() {
		text += ", or not listed"
	}
	return text
}

// states are those that Rollcall may show.
func (x *stormSession) states() []string {
	states := x.stoppedStates()
	if x.running || x.remote {
		states = x.runningStates()
	}
	if x.running && x.left { // the daemon unloads an idle thread after a minute
		states = append(states, x.stoppedStates()...)
	}
	if x.running && x.hidden || x.replaced {
		states = append(x.runningStates(), x.stoppedStates()...)
	}
	if x.silentNow() && x.running {
		states = append(states, "idle")
	}
	for _, more := range x.kind.vague[x.turn] {
		if x.suspended && more == "working" {
			more = "idle" // as every open turn that stands still
		}
		if strings.HasPrefix(more, "stopped") != x.running {
			states = append(states, more)
		}
	}
	return states
}

func (x *stormSession) runningStates() []string {
	switch x.turn {
	case noTurn:
		return []string{"idle"}
	case inTurn:
		if x.suspended {
			return []string{"idle"}
		}
		return []string{"working"}
	case waitsPermission, waitsQuestion:
		return []string{string(x.turn)}
	case completed:
		return []string{"idle/completed", "idle"}
	case failed:
		return []string{"idle/failed"}
	case interrupted:
		return []string{"idle/interrupted"}
	case takenBack:
		return []string{"idle/interrupted", "idle"}
	case refused:
		return []string{"idle", "idle/interrupted", "idle/completed", "idle/failed"}
	case killedOpen:
		return []string{"idle/died", "idle"}
	case cutOpen:
		return []string{"idle/died", "idle/interrupted", "idle"}
	}
	return nil
}

func (x *stormSession) stoppedStates() []string {
	switch x.turn {
	case noTurn:
		return []string{"stopped"}
	case completed, failed, interrupted:
		return []string{"stopped/" + string(x.turn)}
	case takenBack:
		return []string{"stopped/interrupted", "stopped"}
	case refused:
		return []string{"stopped", "stopped/interrupted", "stopped/completed", "stopped/failed"}
	case killedOpen:
		return []string{"stopped/died"}
	case cutOpen:
		return []string{"stopped/died", "stopped/interrupted", "stopped"}
	}
	return nil
}

// mayBeAbsent reports whether nothing on the machine names the session: it was
// never written down, or in a folder that no process names any more.
func (x *stormSession) mayBeAbsent() bool {
	switch {
	case x.running:
		return x.silentNow() || x.hidden && x.prompts == 0
	case x.home != "", x.ephemeral, x.turn == noTurn:
		return true
	}
	return x.kind.silent && x.prompts == 1 && (x.turn == killedOpen || x.turn == cutOpen)
}

var markPattern = regexp.MustCompile(`\bs\d+\b`)

// is reports whether a session of a roll is this one.
func (x *stormSession) is(s *Session) bool {
	if s.Agent != x.release.Agent || s.Parent != "" {
		return false
	}
	if x.id != "" && s.ID == x.id {
		return true
	}
	if x.remote && x.id != "" {
		return strings.Contains(s.ID, x.id)
	}
	if mark := markOf(s); mark != "" {
		return mark == x.mark
	}
	return s.PID != 0 && x.running && (s.PID == x.pid && !x.daemon || s.PID == x.terminal)
}

// markOf is the mark in the texts of a listed session.
func markOf(s *Session) string {
	for _, text := range []string{s.FirstPrompt, s.LastPrompt, s.Title} {
		if mark := markPattern.FindString(text); mark != "" {
			return mark
		}
	}
	return ""
}

// comparable reports whether the truth about a session was settled before a
// list was begun, and stayed so until it was there.
func (x *stormSession) comparable(begun, done time.Time) bool {
	if x.lost || x.since.IsZero() || !x.until.IsZero() && done.After(x.until) {
		return false
	}
	age := begun.Sub(x.since)
	return age > settle+settleMore || age > settle && age > settle+pressure.StalledSince(x.since)
}

// verdict of one check.
type verdict struct {
	wrong   string // what is said instead of the truth
	unknown string // the reason that Rollcall gives
}

// judge compares what is listed of a session with the truth.
func (x *stormSession) judge(roll Roll) verdict {
	var found []Session
	for i := range roll.Sessions {
		if x.is(&roll.Sessions[i]) {
			found = append(found, roll.Sessions[i])
		}
	}
	found = x.withoutProcessRows(found)
	switch {
	case len(found) == 0 && x.mayBeAbsent():
		return verdict{}
	case len(found) == 0:
		if h := roll.health(x.release.Agent); h.State == "failed" {
			return verdict{unknown: h.Error}
		}
		return verdict{wrong: "not listed" + roll.near(x)}
	case len(found) > 1:
		return verdict{wrong: fmt.Sprintf("listed %d times: %v", len(found), found)}
	}
	got := found[0]
	said := got.state()
	if got.Suspended {
		said += ", suspended"
	}
	switch {
	case got.Stale != nil:
		return verdict{unknown: "stale: " + got.Stale.Reason}
	case got.Status == "unknown":
		return verdict{unknown: got.Evidence}
	case !slices.Contains(x.states(), got.state()), got.Suspended != x.suspended && got.Status != "stopped":
		return verdict{wrong: fmt.Sprintf("%s (%s)", said, got.Evidence)}
	case x.running && !x.left && !x.hidden && !x.remote && got.Status != "stopped" && got.PID != x.pid && got.PID != x.terminal:
		return verdict{wrong: fmt.Sprintf("process %d, not %d (%s)", got.PID, x.pid, got.Evidence)}
	}
	return verdict{}
}

// near is what a roll has of the folder of x, of its process and of live sessions of its agent, in words.
func (r Roll) near(x *stormSession) string {
	var b strings.Builder
	for _, s := range r.Sessions {
		if s.Agent == x.release.Agent && (s.CWD == x.folder || s.Status != "stopped") || s.PID != 0 && s.PID == x.pid {
			fmt.Fprintf(&b, "\n      beside it: %v in %s", s, s.CWD)
		}
	}
	fmt.Fprintf(&b, "\n      its agent: %+v", r.health(x.release.Agent))
	return b.String()
}

// withoutProcessRows leaves out the rows of processes, where there is another row
// of the same session: a process that shows a session may be listed beside it
// only while nothing tells whose it is.
func (x *stormSession) withoutProcessRows(found []Session) []Session {
	if !x.hidden && !x.replaced && !x.silentNow() {
		return found
	}
	own := slices.DeleteFunc(slices.Clone(found), func(s Session) bool { return strings.HasPrefix(s.ID, "process-") })
	if len(own) > 0 {
		return own
	}
	return found
}
