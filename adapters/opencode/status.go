package opencode

import (
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"rollcall/adapters"
	"rollcall/adapters/internal/kit"
)

// turnState is the state of the turn according to the messages alone.
type turnState int

const (
	noMessages turnState = iota
	inTurn
	over
	unclear // the last message has an unknown form
)

// open reports whether a session's messages leave its turn open.
func (f *facts) open() turnState {
	if f.next != nil {
		if state, ok := f.next.turn(f.last.Time.Created); ok {
			return state
		}
	}
	switch {
	case f.last.ID == "":
		return noMessages
	case f.copied() && !f.last.ended():
		return noMessages
	case f.last.Role == "":
		return unclear
	case f.last.Role == "user":
		return inTurn
	case f.last.Error != nil:
		return over
	case f.last.Time.Completed == 0 && f.next != nil && f.refused && len(f.calls) == 0:
		return over // the preview leaves the answer open in which a call was refused
	case f.last.Time.Completed == 0:
		return inTurn
	case f.betweenSteps() && !f.refused:
		return inTurn
	}
	return over
}

// copied reports whether the last message is older than the session: a fork begins with
// its parent's messages, and their turns are not its own.
func (f *facts) copied() bool { return f.last.Time.Created > 0 && f.last.Time.Created < f.created }

// betweenSteps reports whether the last message ended because it waits for a tool's
// result, so that another message follows. Some providers then give "stop" as the
// reason.
func (f *facts) betweenSteps() bool {
	return f.last.Finish == "tool-calls" || f.last.Finish == "unknown"
}

// observation holds everything that one call of Discover found out about a session.
type observation struct {
	facts   *facts
	claim   claim
	server  *serverAnswer     // by the process's server; nil: it has none, or did not answer
	child   *adapters.Session // a sub-agent that waits for the user
	runs    bool              // a process other than OpenCode runs below the host
	noTable bool              // the process table could not be read
	now     time.Time
	// pressure is that of the processors, see proc.Lister.
	pressure float64
}

const (
	// callDelay is the time that a tool's call may take to show that it has begun.
	callDelay = 3 * time.Second
	// firstMessageDelay is the time that a session may take until it has its first
	// message.
	firstMessageDelay = 10 * time.Second
	// stepDelay is the time that OpenCode may take from one step to the next.
	stepDelay = 30 * time.Second
)

// decide returns the status of a session, with the time from which it differs although nothing changes. It reads nothing.
func decide(s observation) adapters.State {
	v := s.verdict()
	times := s.limits()
	slices.SortFunc(times, time.Time.Compare)
	for _, at := range times {
		then := s
		then.now = at.Add(time.Millisecond)
		w := then.verdict()
		differs := w.Status != v.Status || w.WaitingFor != v.WaitingFor || w.Outcome != v.Outcome
		if then.now.After(s.now) && (differs || s.claim.doubt != "") { // a doubt is of the links, which may be without it then
			return v.Until(then.now)
		}
	}
	without := s
	without.runs = false
	if without.verdict().Status != v.Status { // that a process below the host ends is no change that is noticed
		return v.Until(s.now.Add(callDelay))
	}
	return v
}

// limits returns the times at which a status can differ although nothing changes.
func (s observation) limits() []time.Time {
	f, h := s.facts, s.claim.host
	if h == nil {
		times := []time.Time{f.activity.time().Add(logLag), f.activity.time().Add(startLimit)}
		for _, h := range s.claim.may {
			times = append(times, h.Started.Add(startLimit))
		}
		return times
	}
	times := []time.Time{f.created.time().Add(firstMessageDelay), f.activity.time().Add(firstMessageDelay), s.claim.over.Add(callDelay), h.Started.Add(startLimit)}
	for _, c := range f.calls {
		times = append(times, c.since.time().Add(kit.Delay(callDelay, s.pressure)), c.since.time().Add(stepDelay))
	}
	return times
}

// verdict returns the status of a session now.
func (s observation) verdict() adapters.State {
	switch {
	case s.noTable:
		return kit.Unknown("the process table can't be read; " + s.lastTurn())
	case s.claim.doubt != "":
		return kit.Unknown(s.claim.doubt + "; " + s.lastTurn())
	case s.claim.host == nil:
		return s.withoutHost()
	}
	if v, ok := s.byServer(); ok {
		return v
	}
	return s.byMessages()
}

// withoutHost returns the state of a session that no process has.
func (s observation) withoutHost() adapters.State {
	why := "no process has it"
	if s.claim.why != "" {
		why += ": " + s.claim.why
	}
	v := kit.Stopped(s.facts.outcome(), why+"; "+s.lastTurn())
	if s.facts.open() == inTurn {
		v.Outcome = adapters.Died
	}
	return v
}

// outcome returns the outcome of a turn that is over.
func (f *facts) outcome() adapters.Outcome {
	switch {
	case f.open() != over:
		return ""
	case f.next != nil && nextOutcomes[f.next.outcome] != "":
		return nextOutcomes[f.next.outcome]
	case f.last.Error != nil && f.last.Error.Name == abortedError:
		return adapters.Interrupted
	case f.last.Error != nil:
		return adapters.Failed
	case f.refused:
		return adapters.Interrupted
	case f.last.Finish == "" && !f.tools && !f.partsUnread:
		return adapters.Interrupted // cancelled while it waited to try again: 1.18.33 notes no error
	}
	return adapters.Completed
}

// byServer returns the state according to the process's own server. ok is false if the server
// adds nothing to the messages.
func (s observation) byServer() (adapters.State, bool) {
	if s.server == nil {
		return adapters.State{}, false
	}
	by := "the server of " + s.holder() + " says "
	state, busy := s.server.status[s.facts.id]
	switch {
	case busy && s.server.questions[s.facts.id] != "" && (s.server.forms[s.facts.id] || s.hasCall(func(c call) bool { return asksUser[c.tool] })):
		return kit.Waiting(adapters.ForQuestion, by+"that a question is open"), true
	case busy && s.server.permissions[s.facts.id] != "" && s.hasCall(func(c call) bool { return !c.metadata }):
		return kit.Waiting(adapters.ForPermission, by+"that it asks for the permission "+s.server.permissions[s.facts.id]), true
	case s.child != nil:
		return adapters.State{}, false
	case busy && state.Type != "idle":
		return s.busy(by, state), true
	case !s.serverDecides():
		return adapters.State{}, false
	}
	v := kit.Idle(s.facts.outcome(), by+"that it isn't busy; "+s.lastTurn())
	switch {
	case s.facts.open() == inTurn && s.loopOver():
		v.Outcome = adapters.Interrupted
	case s.facts.open() == inTurn && s.facts.next != nil && !s.isJustStored(): // it may have ended since it was read
		v.Outcome = adapters.Died
	}
	return v, true
}

// busy returns the state of a session that its server calls busy.
func (s observation) busy(by string, state serverStatus) adapters.State {
	switch state.Type {
	case "retry":
		return kit.Working(by + s.retryText(state.Attempt, state.Next, state.Message))
	case "busy":
		return kit.Working(by + "busy; " + s.lastTurn())
	}
	return kit.Unknown(fmt.Sprintf("%s%.40q, which isn't known", by, state.Type))
}

// serverDecides reports whether a session that its server does not call busy is not busy. A turn that
// is claimed goes on even then: the service has yet to resume it, or it is in the background.
func (s observation) serverDecides() bool {
	if n := s.facts.next; n != nil {
		return s.server.next && !n.claimed
	}
	return !s.isJustStored() && !s.server.partial && s.server.asked[filepath.Clean(s.facts.cwd)]
}

// hasCall reports whether one of the open calls is of a kind. Servers still list a question
// whose turn was aborted. Such a question counts only while the session is busy (in 1.3.2 it is
// not) and while the call that asked it is open (in 1.18.33 it is closed).
func (s observation) hasCall(kind func(call) bool) bool {
	return slices.ContainsFunc(s.facts.calls, func(c call) bool { return !c.pending && kind(c) })
}

// isJustStored reports whether the last change was stored a moment ago: the server reports
// busy a moment after it stores a prompt.
func (s observation) isJustStored() bool {
	age := s.now.Sub(s.facts.activity.time())
	return s.facts.open() == inTurn && age < firstMessageDelay && age > -firstMessageDelay
}

// byMessages returns the state of a session that has a process, from what is stored.
func (s observation) byMessages() adapters.State {
	f := s.facts
	holder := s.holder() + " (" + s.claim.why + ")"
	switch f.open() {
	case unclear:
		return kit.Unknown(s.lastTurn() + "; " + holder)
	case noMessages:
		if s.willContinue() {
			break
		}
		// A client of a server makes a session before the user has written a prompt.
		if age := s.now.Sub(f.created.time()); s.claim.host.role != server && age < firstMessageDelay && age > -firstMessageDelay {
			return kit.Working("begun " + s.clock(f.created) + ", no message yet; " + holder)
		}
		return kit.Idle("", "no message yet; "+holder)
	case over:
		if s.willContinue() {
			break
		}
		return kit.Idle(f.outcome(), s.lastTurn()+"; "+holder)
	}
	if f.open() != inTurn || s.willContinue() {
		return kit.Working(holder + " was started to continue it; " + s.lastTurn())
	}
	if s.claim.opensOnly {
		return kit.Idle(adapters.Died, s.lastTurn()+", of a process that has ended; "+holder+" only has it open")
	}
	if s.loopOver() {
		return kit.Idle(adapters.Interrupted, "its log says that the turn was ended at "+s.at(s.claim.over)+"; "+holder)
	}
	if v, ok := s.waits(holder); ok {
		return v
	}
	if f.next != nil && len(f.calls) > 0 && s.server == nil {
		holder += ", which could not be asked; whether the call waits for a permission or an answer is not stored"
		if slices.ContainsFunc(f.calls, mayAsk) {
			return kit.Unknown(s.lastTurn() + "; " + holder)
		}
	}
	return kit.Working(s.lastTurn() + "; " + holder)
}

// willContinue reports whether `opencode run` was started to continue the session and
// has not begun yet.
func (s observation) willContinue() bool {
	h := s.claim.host
	age := s.now.Sub(h.Started)
	return h.role == oneShot && (s.facts.last.ID != "" || age < firstMessageDelay) && age < startLimit && age > -time.Minute &&
		(s.claim.opensOnly || max(s.facts.last.Time.Created, s.facts.last.Time.Completed).time().Add(slack).Before(h.began))
}

// waits reports whether an open turn waits for the user.
func (s observation) waits(holder string) (adapters.State, bool) {
	for _, c := range s.facts.calls {
		if asksUser[c.tool] && !c.pending {
			return kit.Waiting(adapters.ForQuestion, fmt.Sprintf("tool %s since %s without an answer; %s", c.tool, s.clock(c.since), holder)), true
		}
	}
	for _, c := range s.facts.calls {
		if why := s.needsPermission(c); why != "" {
			return kit.Waiting(adapters.ForPermission, why+"; "+holder), true
		}
	}
	if s.child != nil {
		return kit.Waiting(s.child.WaitingFor, fmt.Sprintf("its sub-agent %s waits: %s", s.child.ID, s.child.Evidence)), true
	}
	return adapters.State{}, false
}

// mayAsk reports whether a call of OpenCode 2, of which it stores nothing before the end, may wait for the user for longer than it runs. Commands run long,
// and a sub-agent that is known asks itself.
func mayAsk(c call) bool { return !c.pending && c.child == "" && !isShell[c.tool] }

// waitingChild finds a sub-agent of an open call that waits for the user.
func (f *facts) waitingChild(answers map[string]*adapters.Session) *adapters.Session {
	for _, c := range f.calls {
		if child := answers[c.child]; child != nil && child.Status == adapters.Waiting {
			return child
		}
	}
	return nil
}

// asksUser lists the tools that do nothing but ask the user.
var asksUser = map[string]bool{"question": true, "plan_exit": true, "plan_enter": true}

// needsPermission returns the evidence that a call can only be waiting for permission,
// and "" if the call may run. Waiting is not stored: a call that waits has begun
// ("running") and shows nothing yet ("metadata"), and the log has a line about it.
func (s observation) needsPermission(c call) string {
	if c.pending || c.metadata || s.facts.next != nil {
		return ""
	}
	if r := s.claim.run; r != nil {
		for _, a := range r.asks {
			if a.answers(c) {
				return fmt.Sprintf("tool %s since %s has not begun, and the log says that a permission was asked for at %s",
					c.tool, s.clock(c.since), s.at(a.at))
			}
		}
		if s.now.Sub(c.since.time()) < stepDelay {
			return ""
		}
	}
	age := s.now.Sub(c.since.time())
	if c.tool == "bash" && !s.runs && age > kit.Delay(callDelay, s.pressure) {
		return fmt.Sprintf("bash since %s has not begun, and no process of the call runs", s.clock(c.since))
	}
	return ""
}

// answers reports whether a permission was requested for a call: the request is not
// earlier than the call, and nothing about the call was stored after it.
func (a ask) answers(c call) bool {
	// Several calls at once have one line each.
	return !a.at.Add(250*time.Millisecond).Before(c.since.time()) && permits(a.permission, c.tool) &&
		!c.updated.time().After(a.at.Add(250*time.Millisecond))
}

// permits reports whether a tool requests a permission of that kind.
func permits(permission, tool string) bool {
	switch permission {
	case tool, "external_directory", "doom_loop", "":
		return true
	case "edit":
		return tool == "write" || tool == "patch" || tool == "apply_patch" || tool == "multiedit"
	}
	return !knownTools[permission]
}

var knownTools = map[string]bool{"bash": true, "edit": true, "read": true, "glob": true, "grep": true, "list": true,
	"webfetch": true, "websearch": true, "task": true, "skill": true, "lsp": true, "todowrite": true}

// loopOver reports whether the log has an end of the loop after the last message and
// its calls. A turn that is cancelled before the request to the model leaves no other
// trace.
func (s observation) loopOver() bool {
	if s.claim.over.IsZero() {
		return false
	}
	last := max(s.facts.last.Time.Created, s.facts.last.Time.Completed)
	for _, c := range s.facts.calls {
		if c.metadata {
			return false // it runs, maybe because of a command of the user
		}
		last = max(last, c.since)
	}
	return !s.claim.over.Before(last.time()) && s.now.Sub(s.claim.over) > callDelay
}

// lastTurn describes the last turn, for evidence.
func (s observation) lastTurn() string {
	f := s.facts
	switch {
	case f.last.ID == "":
		return "no message yet"
	case f.copied() && !f.last.ended():
		return "all messages are copies of another session's"
	case f.last.Role == "user":
		return "the user's message of " + s.clock(f.last.Time.Created) + " has no answer yet"
	case f.last.Role == "":
		return "the last message has an unknown form"
	case f.last.Error != nil:
		return "last turn ended " + s.clock(f.last.Time.Completed) + " with " + f.last.Error.Name + kit.Quoted(f.last.Error.Data.Message)
	case f.last.Time.Completed == 0 && f.last.Retry != nil:
		return s.retryText(f.last.Retry.Attempt, f.last.Retry.At, f.last.Retry.Error.Message)
	case f.last.Time.Completed == 0 && len(f.calls) > 0:
		c := f.calls[len(f.calls)-1]
		return fmt.Sprintf("answer open since %s, tool %s since %s", s.clock(f.last.Time.Created), c.tool, s.clock(c.since))
	case f.last.Time.Completed == 0:
		return "answer open since " + s.clock(f.last.Time.Created)
	case f.refused && f.next == nil:
		return "the user refused a tool's call, " + s.clock(f.last.Time.Completed)
	case f.betweenSteps() && !f.refused:
		return "step ended " + s.clock(f.last.Time.Completed) + " with " + f.last.Finish + ", another one follows"
	}
	if f.outcome() == adapters.Interrupted {
		return "last turn was cancelled " + s.clock(f.last.Time.Completed)
	}
	return "last turn completed " + s.clock(f.last.Time.Completed)
}

func (s observation) holder() string { return fmt.Sprintf("process %d", s.claim.host.PID) }

// clock returns a time for evidence.
func (s observation) clock(m millis) string { return s.at(m.time()) }
func (s observation) at(t time.Time) string { return kit.Clock(t, s.now) }
