package notify

import (
	"fmt"
	"slices"

	"rollcall/adapters"
	"rollcall/app"
	"rollcall/proc"
)

// Kind is what a notification is about.
type Kind string

// The kinds.
const (
	Ended   Kind = "ended"   // an agent's own process really ended
	Waiting Kind = "waiting" // a session needs the user
)

// waitingPrefix begins the keys of notifications that hold only for a while.
const waitingPrefix = "waiting "

// remembered is how many ended processes are kept in mind, to tell an end that
// was told already from a new one.
const remembered = 256

// policy turns events into orders. It is not safe for concurrent use.
type policy struct {
	wants func(Kind, app.Session) bool

	waits map[string]map[string]bool // sessions that wait, by the key of their notification
	ends  map[string][]app.Event     // ended sessions, by the key of their process
	known []string                   // the keys of ends, oldest first
}

func newPolicy(wants func(Kind, app.Session) bool) *policy {
	if wants == nil {
		wants = func(Kind, app.Session) bool { return true }
	}
	return &policy{wants: wants, waits: map[string]map[string]bool{}, ends: map[string][]app.Event{}}
}

// take returns what is to be done after events that came together, so that the
// sessions that end with one process make one notification.
func (p *policy) take(events []app.Event) []order {
	var orders, withdrawals []order
	var ended []string
	for _, ev := range events {
		for _, o := range p.waiting(ev) {
			if o.withdraw {
				withdrawals = append(withdrawals, o)
			} else {
				orders = append(orders, o)
			}
		}
		if ev.Kind == app.Ended {
			if key := p.ended(ev); key != "" && !slices.Contains(ended, key) {
				ended = append(ended, key)
			}
		}
	}
	for _, key := range ended {
		all := p.ends[key]
		orders = append(orders, order{key: key, kind: Ended, session: all[0].Session.ID, text: EndedText(all)})
	}
	return append(orders, withdrawals...) // what is new is what is urgent
}

// waiting follows who waits. A session and the sub-agents that it spawned share
// a notification, or one question would be asked twice.
func (p *policy) waiting(ev app.Event) []order {
	s := ev.Session
	key := waitingPrefix + string(s.Agent) + " " + s.ID
	if s.Parent != "" {
		key = waitingPrefix + string(s.Agent) + " " + s.Parent
	}
	waits := ev.Kind != app.Ended && s.Status == adapters.Waiting
	shown := p.waits[key]
	switch {
	case waits && shown[s.ID]:
		if ev.Before.WaitingFor == s.WaitingFor || len(shown) > 1 {
			return nil
		}
	case waits && !p.wants(Waiting, s):
		return nil
	case waits && shown != nil:
		shown[s.ID] = true
		return nil
	case waits:
		p.waits[key] = map[string]bool{s.ID: true}
	case shown[s.ID]:
		if delete(shown, s.ID); len(shown) > 0 {
			return nil
		}
		delete(p.waits, key)
		return []order{{key: key, kind: Waiting, withdraw: true}}
	default:
		return nil
	}
	return []order{{key: key, kind: Waiting, session: s.ID, text: WaitingText(s)}}
}

// ended keeps the event and returns the key of its notification; empty when
// there is nothing to tell: a sub-agent, or an end that was told before.
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
	told := p.ends[key]
	if holds(told, ev.Session.ID) {
		if !id.IsZero() {
			return ""
		}
		told = nil // without a process one end can't be told from the next: trust the event
	}
	if _, ok := p.ends[key]; !ok {
		p.known = append(p.known, key)
	}
	told = append(told, ev)
	for _, w := range ev.With { // their events follow, and are told with this one
		if w.Parent == "" && !holds(told, w.ID) && p.wants(Ended, w) {
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
