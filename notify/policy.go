package notify

import (
	"cmp"
	"fmt"
	"slices"

	"rollcall/adapters"
	"rollcall/app"
	"rollcall/proc"
)

// waitingPrefix is the prefix of the keys of waits. Their notifications are withdrawn when the wait is over.
const waitingPrefix = "waiting "

// remembered is the number of ended processes that are kept, so that no end is reported twice.
const remembered = 256

// toldOfOne is the largest number of ends in the notification for one process on another machine. No agent has that many
// sessions in one process, but a machine can claim anything.
const toldOfOne = 16

// policy turns events into orders. It is not safe for concurrent use.
type policy struct {
	rules func() Rules
	board Board // returns the requests of waiting sessions; nil: they are not known

	waits   map[string]*openWait   // waits that are not over, by key; see waitKey
	newest  *shownNotification     // the newest notification of waits; nil: none
	last    map[string]lastWait    // waits that are over, by key
	replies map[string]reply       // the last reply of each session, by key
	ends    map[string][]app.Event // ended sessions, by the key of their process
	known   []string               // the keys of ends, oldest first

	// unsaid are ends that the user's rules exclude. absent are the sessions for which Options.Away must be called. The
	// caller of policy reads and clears both.
	unsaid []app.Event
	absent []app.Session
}

func newPolicy(rules func() Rules) *policy {
	if rules == nil {
		rules = func() Rules { return Rules{AwayAfter: -1} }
	}
	return &policy{rules: rules, waits: map[string]*openWait{}, last: map[string]lastWait{}, replies: map[string]reply{},
		ends: map[string][]app.Event{}}
}

func (p *policy) wants(k Kind, s *app.Session) bool {
	r := p.rules()
	return r.wants(k, s)
}

// take returns the orders for events that arrived together. Sessions that end with one process share a notification.
func (p *policy) take(events []app.Event, l look) []order {
	var orders, withdrawals []order
	var ended []string
	put := func(list ...order) {
		for _, o := range list {
			if o.withdraw {
				withdrawals = append(withdrawals, o)
				continue
			}
			withdrawals = slices.DeleteFunc(withdrawals, func(w order) bool { return w.key == o.key })
			orders = append(orders, o)
		}
	}
	for i := range events {
		ev := &events[i]
		if ev.Session.IsEmptyProcess() || isSuspension(*ev) || hadNoTurn(ev) {
			continue
		}
		put(p.waiting(ev, &l)...)
		if p.endedWithTurn(ev, &l) {
			p.unsaid = append(p.unsaid, *ev)
			continue
		}
		if ev.Kind == app.Ended && !isRemoval(ev) {
			if key := p.ended(*ev); key != "" && !slices.Contains(ended, key) {
				ended = append(ended, key)
			}
		}
		put(p.turnOver(ev, &l)...)
	}
	for _, key := range ended {
		put(p.tellEnd(key, &l)...)
	}
	return append(orders, withdrawals...) // withdrawals come last, since new notifications are more urgent
}

// tellEnd returns the order to notify of the end of a process. It returns none if the user must not be disturbed, looked
// at the session when it ended, or ended it.
func (p *policy) tellEnd(key string, l *look) []order {
	all := p.ends[key]
	kind := Ended
	for i := range all {
		if k := endKind(&all[i].Session.Session); kind == Ended || k == Failed {
			kind = k
		}
	}
	own := slices.ContainsFunc(all, func(ev app.Event) bool { return l.acted[ev.Session.ID] })
	if l.quiet || own || l.focused[all[0].Session.ID] {
		p.unsaid = append(p.unsaid, all...)
		return nil
	}
	return []order{{key: key, kind: kind, session: all[0].Session.ID, text: EndedText(all), ended: all, sound: p.rules().Kinds[kind] == WithSound}}
}

// hadNoTurn reports whether ev is the end of a session that never had a prompt or a turn. Codex 0.80 stores such a thread
// when the user leaves its terminal before the first prompt. For the user there was only a process, and no session.
func hadNoTurn(ev *app.Event) bool {
	had := func(s *app.Session) bool {
		return s.Launch != nil || s.FirstPrompt != "" || s.LastPrompt != "" || s.Title != "" || s.Outcome != "" || s.Tokens != nil ||
			!s.TurnStartedAt.IsZero() || s.Status == adapters.Working || s.Status == adapters.Waiting
	}
	return ev.Kind == app.Ended && !had(&ev.Session) && !had(&ev.Before)
}

// isRemoval reports whether ev is the end of a session that its gateway removed. No process ended, so the user is not
// notified.
func isRemoval(ev *app.Event) bool {
	return ev.Process.IsZero() && ev.MachineProcess == "" && ev.Session.Remote != ""
}

// isSuspension reports whether ev only reports that the session's process was stopped by a signal, or continued.
func isSuspension(ev app.Event) bool {
	return ev.Kind == app.Changed && ev.Before.Suspended != ev.Session.Suspended &&
		ev.Before.Status == ev.Session.Status && ev.Before.WaitingFor == ev.Session.WaitingFor
}

// ended stores the event and returns the key of its notification. The key is empty if no notification is sent: for
// a sub-agent, for an end that was reported before, and for a kind of end that the user's rules exclude.
func (p *policy) ended(ev app.Event) string {
	if ev.Session.Parent != "" {
		return ""
	}
	if !p.wants(endKind(&ev.Session.Session), &ev.Session) || p.rules().Headless.Mutes(&ev) {
		p.unsaid = append(p.unsaid, ev)
		return ""
	}
	id := cmp.Or(ev.Process, ev.Before.Process, ev.Session.Process)
	key := endKey(ev.Session, id)
	if ev.MachineProcess != "" {
		key = "ended on " + ev.MachineProcess
	}
	told := p.ends[key]
	if holds(told, ev.Session.ID) {
		if !id.IsZero() || ev.MachineProcess != "" {
			return ""
		}
		told = nil // without a process, an old end cannot be distinguished from a new one, so the event counts as new
	}
	if ev.MachineProcess != "" && len(told) >= toldOfOne {
		return ""
	}
	if _, ok := p.ends[key]; !ok {
		p.known = append(p.known, key)
	}
	told = append(told, ev)
	for _, w := range ev.With { // the events of these sessions follow, and share this notification
		if w.Parent == "" && !w.IsEmptyProcess() && !holds(told, w.ID) && p.wants(endKind(&w.Session), &w) {
			told = append(told, app.Event{Kind: app.Ended, At: ev.At, Session: w, Process: ev.Process})
		}
	}
	p.ends[key] = told
	if len(p.known) > remembered {
		delete(p.ends, p.known[0])
		p.known = slices.Delete(p.known, 0, 1)
	}
	return key
}

func holds(events []app.Event, session string) bool {
	return slices.ContainsFunc(events, func(ev app.Event) bool { return ev.Session.ID == session })
}

func endKey(s app.Session, id proc.Identity) string {
	key := "ended " + string(s.Agent) + " "
	if id.IsZero() {
		return key + s.ID
	}
	return fmt.Sprintf("%s%d %d %s", key, id.PID, id.Start, id.Boot)
}
