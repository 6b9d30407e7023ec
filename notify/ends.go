package notify

import (
	"cmp"
	"fmt"
	"slices"

	"rollcall/app"
	"rollcall/proc"
)

// remembered is the number of ended processes that are kept, so that no end is reported twice.
const remembered = 256

// toldOfOne is the largest number of ends in the notification for one process on another machine. No agent has that many
// sessions in one process, but a machine can claim anything.
const toldOfOne = 16

// tellEnd returns the order to notify of the end of a process. It returns none if the user must not be disturbed, looked
// at the session when it ended, or ended it.
func (p *policy) tellEnd(key string, l *look) []order {
	all := p.ends[key]
	kind := Ended
	for i := range all {
		if k := endKind(&all[i].Session.State); kind == Ended || k == Failed {
			kind = k
		}
	}
	own := slices.ContainsFunc(all, func(ev app.Event) bool { return l.acted[ev.Session.ID] })
	if l.quiet || own || l.focused[all[0].Session.ID] {
		p.unsaid = append(p.unsaid, all...)
		return nil
	}
	o := order{key: key, kind: kind, session: all[0].Session.ID, text: EndedText(all), ended: all}
	o.sound, o.soundName = p.rules().soundFor(kind, all[0].Session.Agent)
	return []order{o}
}

// ended stores the event and returns the key of its notification. The key is empty if no notification is sent: for
// a sub-agent, for an end that was reported before, and for a kind of end that the user's rules exclude.
func (p *policy) ended(ev app.Event) string {
	if ev.Session.Parent != "" {
		return ""
	}
	if !p.wants(endKind(&ev.Session.State), &ev.Session) || p.rules().Headless.Mutes(&ev) {
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
		if w.Parent == "" && !w.IsEmptyProcess() && !holds(told, w.ID) && p.wants(endKind(&w.State), &w) {
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

// hadNoTurn reports whether ev is the end of a session that never had a prompt or a turn. Codex 0.80 stores such a thread
// when the user leaves its terminal before the first prompt. For the user there was only a process, and no session. Of a run that no file records it is not
// known.
func hadNoTurn(ev *app.Event) bool {
	had := func(s *app.Session) bool {
		return s.Launch != nil || s.FirstPrompt != "" || s.LastPrompt != "" || s.Title != "" || s.Outcome != "" || s.Tokens != nil ||
			!s.TurnStartedAt.IsZero() || s.Unstored || s.InTurn()
	}
	return ev.Kind == app.Ended && !had(&ev.Session) && !had(&ev.Before)
}

// isRemoval reports whether ev is the end of a session that its gateway removed. No process ended, so the user is not
// notified.
func isRemoval(ev *app.Event) bool {
	return ev.Process.IsZero() && ev.MachineProcess == "" && ev.Session.Remote != ""
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
