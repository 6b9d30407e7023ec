package notify

import (
	"slices"

	"rollcall/app"
)

// waitingPrefix is the prefix of the keys of waits. Their notifications are withdrawn when the wait is over.
const waitingPrefix = "waiting "

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

func (p *policy) wants(k Kind, s *app.Session) bool { return p.rules().wants(k, s) }

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

// isSuspension reports whether ev only reports that the session's process was stopped by a signal, or continued.
func isSuspension(ev app.Event) bool {
	return ev.Kind == app.Changed && ev.Before.Suspended != ev.Session.Suspended &&
		ev.Before.Status == ev.Session.Status && ev.Before.WaitingFor == ev.Session.WaitingFor
}
