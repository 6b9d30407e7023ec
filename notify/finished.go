package notify

import (
	"rollcall/adapters"
	"rollcall/app"
	"rollcall/app/present"
)

// finished returns the order to notify of the end of a turn that no terminal shows, such as that of a thread that
// Codex's daemon continues after its terminal was closed. It returns none for a turn that the user interrupted, and for
// the later unloading of the thread, which does not end a turn.
func (p *policy) finished(ev app.Event) (order, bool) {
	s, before := ev.Session, ev.Before
	inTurn := before.Status == adapters.Working || before.Status == adapters.Waiting
	over := s.Status == adapters.Idle && s.Unattended && !s.Suspended || s.Status == adapters.Stopped && before.Unattended
	if ev.Kind != app.Changed || !inTurn || !over || s.Parent != "" || s.Outcome == adapters.Interrupted || !p.wants(Ended, s) {
		return order{}, false
	}
	return order{key: "finished " + string(s.Agent) + " " + s.ID, kind: Ended, session: s.ID, text: FinishedText(ev)}, true
}

// FinishedText returns the text for a turn that ended while the process continues.
func FinishedText(ev app.Event) Text {
	s := present.Brief(ev.Session.Session)
	return Text{
		Title: present.AgentName(s.Agent) + " finished" + place(s),
		Body:  lines(topic(s), sentence(howEnded(s), ran(ev))),
	}
}
