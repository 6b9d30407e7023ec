package notify

import (
	"fmt"
	"slices"

	"rollcall/adapters"
	"rollcall/app"
	"rollcall/proc"
)

// Kind is the kind of a notification.
type Kind string

// The kinds.
const (
	Ended   Kind = "ended"   // an agent's own process ended
	Waiting Kind = "waiting" // a session waits for the user
)

// waitingPrefix is the prefix of the keys of waits. Their notifications are withdrawn when the wait is over.
const waitingPrefix = "waiting "

// remembered is the number of ended processes that are kept, so that no end is reported twice.
const remembered = 256

// policy turns events into orders. It is not safe for concurrent use.
type policy struct {
	wants func(Kind, app.Session) bool

	// waits are the sessions that wait and what they wait for, by the key of their notification.
	waits map[string]map[string]adapters.WaitingFor
	ends  map[string][]app.Event // ended sessions, by the key of their process
	known []string               // the keys of ends, oldest first
}

func newPolicy(wants func(Kind, app.Session) bool) *policy {
	if wants == nil {
		wants = func(Kind, app.Session) bool { return true }
	}
	return &policy{wants: wants, waits: map[string]map[string]adapters.WaitingFor{}, ends: map[string][]app.Event{}}
}

// take returns the orders for events that arrived together. Sessions that end with one process share a notification.
func (p *policy) take(events []app.Event) []order {
	var orders, withdrawals []order
	var ended []string
	for _, ev := range events {
		if ev.Session.IsEmptyProcess() || isSuspension(ev) || hadNoTurn(&ev) {
			continue
		}
		for _, o := range p.waiting(ev) {
			if o.withdraw {
				withdrawals = append(withdrawals, o)
			} else {
				orders = append(orders, o)
			}
		}
		if ev.Kind == app.Ended && !isRemoval(&ev) {
			if key := p.ended(ev); key != "" && !slices.Contains(ended, key) {
				ended = append(ended, key)
			}
		}
		if o, told := p.finished(ev); told {
			orders = append(orders, o)
		}
	}
	for _, key := range ended {
		all := p.ends[key]
		orders = append(orders, order{key: key, kind: Ended, session: all[0].Session.ID, text: EndedText(all), ended: all})
	}
	return append(orders, withdrawals...) // new notifications are more urgent
}

// hadNoTurn reports whether ev is the end of a session that never had a prompt or a turn. Codex 0.80 stores such a thread
// when the user leaves its terminal before the first prompt. To the user it was a process without a session.
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

// waiting updates the waits and returns the orders for ev. A session and its sub-agents share a notification, since they
// report the same question. A notification stays while the status of a session with a running process is unknown, for
// example while its storage is renamed.
func (p *policy) waiting(ev app.Event) []order {
	s := ev.Session
	key := waitKey(&s)
	waits := ev.Kind != app.Ended && s.Status == adapters.Waiting
	shown := p.waits[key]
	waitedFor, told := shown[s.ID]
	switch {
	case waits && told:
		shown[s.ID] = s.WaitingFor
		if waitedFor == s.WaitingFor || len(shown) > 1 {
			return nil
		}
	case waits && !p.wants(Waiting, s):
		return nil
	case waits && shown != nil:
		shown[s.ID] = s.WaitingFor
		return nil
	case waits:
		p.waits[key] = map[string]adapters.WaitingFor{s.ID: s.WaitingFor}
	case told && ev.Kind != app.Ended && s.Status == adapters.Unknown && !s.Process.IsZero():
		return nil
	case told:
		if delete(shown, s.ID); len(shown) > 0 {
			return nil
		}
		delete(p.waits, key)
		return []order{{key: key, kind: Waiting, withdraw: true}}
	default:
		return nil
	}
	return []order{waitOrder(s)}
}

// waitKey returns the key of the notification that s waits.
func waitKey(s *app.Session) string {
	id := s.ID
	if s.Parent != "" {
		id = s.Parent
	}
	return waitingPrefix + string(s.Agent) + " " + id
}

// waitOrder returns the order to notify that s waits.
func waitOrder(s app.Session) order {
	return order{key: waitKey(&s), kind: Waiting, session: s.ID, agent: s.Agent, waitingFor: s.WaitingFor, text: WaitingText(s)}
}

// takeOver returns the orders for a wait that an earlier process showed and did not withdraw. If none of the sessions
// waits any more, the notification is withdrawn. Otherwise the wait is taken over; it is shown again only if a session
// waits for something else or the notification is no longer on the screen.
func (p *policy) takeOver(w wait, sessions []app.Session) []order {
	var waiting []*app.Session
	for i := range sessions {
		if s := &sessions[i]; s.Status == adapters.Waiting && waitKey(s) == w.Key {
			waiting = append(waiting, s)
		}
	}
	switch {
	case p.waits[w.Key] != nil: // an event came first
		return nil
	case len(waiting) == 0:
		return []order{{key: w.Key, kind: Waiting, withdraw: true}}
	}
	p.waits[w.Key] = map[string]adapters.WaitingFor{}
	told := waitOrder(*waiting[0])
	for _, s := range waiting {
		p.waits[w.Key][s.ID] = s.WaitingFor
		if s.WaitingFor == w.WaitingFor && !told.stands {
			told = waitOrder(*s)
			told.stands = true
		}
	}
	return []order{told}
}

// ended stores the event and returns the key of its notification. The key is empty if there is none to send: for a
// sub-agent, or an end that was reported before.
func (p *policy) ended(ev app.Event) string {
	if ev.Session.Parent != "" || !p.wants(Ended, ev.Session) {
		return ""
	}
	id := ev.Process
	if id.IsZero() {
		id = ev.Before.Process
	}
	if id.IsZero() {
		id = ev.Session.Process
	}
	key := endKey(ev.Session, id)
	if ev.MachineProcess != "" {
		key = "ended on " + ev.MachineProcess
	}
	told := p.ends[key]
	if holds(told, ev.Session.ID) {
		if !id.IsZero() || ev.MachineProcess != "" {
			return ""
		}
		told = nil // without a process an old end cannot be distinguished from a new one: trust the event
	}
	if _, ok := p.ends[key]; !ok {
		p.known = append(p.known, key)
	}
	told = append(told, ev)
	for _, w := range ev.With { // their events follow, and share this notification
		if w.Parent == "" && !w.IsEmptyProcess() && !holds(told, w.ID) && p.wants(Ended, w) {
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
