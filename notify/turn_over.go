package notify

import (
	"slices"
	"strings"
	"time"

	"rollcall/adapters"
	"rollcall/app"
	"rollcall/app/present"
)

// turnOver returns the orders for a turn that ended while its process continues. If no terminal shows the turn, it is treated as
// an end: an example is a thread that Codex's daemon continues after its terminal was closed. Any other turn has a reply, which is
// withdrawn once the session works again. turnOver returns no orders for a turn that the user interrupted, and for the later
// unloading of the thread, which does not end a turn.
func (p *policy) turnOver(ev *app.Event, l *look) []order {
	s, before := &ev.Session, &ev.Before
	key := replyKey(s)
	inTurn := before.InTurn() || mayWait(before)
	switch {
	case s.Parent != "":
		return nil
	case ev.Kind == app.Changed && mayWait(s) && !s.Suspended: // it may ask, however short the turn was
		return p.reply(Question, key, ev, l)
	case ev.Kind != app.Changed || !inTurn || s.Outcome == adapters.Interrupted:
		return p.replyAnswered(key, ev)
	case endedUnattended(ev):
		return p.told(endKind(&s.State), "finished "+string(s.Agent)+" "+s.ID, ev, l)
	case s.Status != adapters.Idle || s.Suspended:
		return p.replyAnswered(key, ev)
	case s.Outcome == adapters.Failed, s.Outcome == adapters.Died:
		return p.reply(endKind(&s.State), key, ev, l)
	case s.Decision != "": // it asks, however long it took
		return p.reply(Question, key, ev, l)
	}
	if p.keepsBack(s) {
		return p.replyAnswered(key, ev)
	}
	kind, after := Reply, p.rules().ReplyAfter
	if s.MayAsk {
		after = min(after, mayAskAfter)
		if !p.wants(kind, s) {
			kind = Question
		}
	}
	if took, known := ev.TurnLength(); !known || took < after {
		return p.replyAnswered(key, ev)
	}
	return p.reply(kind, key, ev, l)
}

// endedUnattended reports whether no terminal shows the turn that is over.
func endedUnattended(ev *app.Event) bool {
	s := &ev.Session
	if s.Status == adapters.Idle {
		return (s.Unattended || ev.TerminalEnded) && !s.Suspended
	}
	return s.Status == adapters.Stopped && (ev.Before.Unattended || ev.TerminalEnded)
}

// mayWait reports whether the open call of a session may wait for the user.
func mayWait(s *app.Session) bool { return s.Status == adapters.Unknown && s.MayAsk }

// keepsBack reports whether the reply of s is told only when no command of it runs any more: another turn follows then, whose reply is told.
func (p *policy) keepsBack(s *app.Session) bool {
	return p.rules().Kinds[Reply] == WhenNothingRuns && slices.ContainsFunc(s.Background, func(b adapters.Background) bool { return b.TurnFollows })
}

// mayAskAfter is how long a turn took of whose end the user is told where it may be a question instead.
const mayAskAfter = 5 * time.Second

func replyKey(s *app.Session) string { return "reply " + string(s.Agent) + " " + s.ID }

// oneShot is the time within which a process that was started for one turn ends after it: 0.05 to 0.5 s (opencode run 1.18.33, claude -p
// 2.1.332).
const oneShot = 2 * time.Second

// endedWithTurn reports whether the end of a process is that of a turn of which the user was told a moment ago: the two are one thing,
// and the notification of the turn stays on the screen. It keeps the end, so that it is not told later either.
func (p *policy) endedWithTurn(ev *app.Event, l *look) bool {
	s := &ev.Session
	last, told := p.replies[replyKey(s)]
	now := endKind(&s.State)
	same := last.kind == now || last.kind == Reply && now == Ended
	if ev.Kind != app.Ended || !told || !last.shown || !same || l.now.Sub(last.told) >= oneShot || len(ev.With) > 0 {
		return false
	}
	p.ended(*ev)
	last.over = true
	p.replies[replyKey(s)] = last
	return true
}

// reply is the last notification about the end of a turn.
type reply struct {
	kind  Kind
	told  time.Time
	shown bool // the notification was not withdrawn
	over  bool // it is that of an end as well
	// goesOn is the beginning of the turn of a reply that left a command running; otherwise zero. The end of the command begins a turn without a prompt, whose
	// reply replaces this one, without a sound.
	goesOn time.Time
}

// isOf reports whether the user has given the session no prompt since the reply, which left a command running.
func (r *reply) isOf(s *app.Session) bool {
	return !r.goesOn.IsZero() && r.goesOn.Equal(s.TurnStartedAt)
}

// overFor is how long the notification of an end is withdrawn once its session works again.
const overFor = 24 * time.Hour

// reply returns the order to notify of a turn that is over. It returns none for a failed turn less than Rules.Pause after
// the notification of another failed one.
func (p *policy) reply(k Kind, key string, ev *app.Event, l *look) []order {
	pause := p.rules().Pause
	for old, last := range p.replies {
		if age := l.now.Sub(last.told); !last.shown && age >= pause || last.over && age >= overFor {
			delete(p.replies, old)
		}
	}
	if last, ok := p.replies[key]; ok && k != Reply && k != Question && last.kind == k && l.now.Sub(last.told) < pause {
		return nil
	}
	orders := p.told(k, key, ev, l)
	if len(orders) > 0 {
		last := p.replies[key]
		orders[0].sound = orders[0].sound && (!last.shown || !last.isOf(&ev.Session))
		now := reply{kind: k, told: l.now, shown: true}
		if present.Commands(&ev.Session.State) > 0 {
			now.goesOn = ev.Session.TurnStartedAt
		}
		p.replies[key] = now
	}
	return orders
}

// replyAnswered returns the order to withdraw a reply once the session works again, or ended, or the call is over that might have waited.
func (p *policy) replyAnswered(key string, ev *app.Event) []order {
	last, told := p.replies[key]
	goesOn := ev.Session.InTurn() || mayWait(&ev.Before)
	if !told || ev.Kind != app.Ended && !goesOn {
		return nil
	}
	if ev.Session.Status == adapters.Working && ev.Kind != app.Ended && last.isOf(&ev.Session) {
		return nil
	}
	p.replies[key] = reply{kind: last.kind, told: last.told}
	if ev.Kind == app.Ended {
		delete(p.replies, key)
	}
	if !last.shown {
		return nil
	}
	return []order{{key: key, kind: Reply, withdraw: true}}
}

// told returns the order to notify of a turn that is over. It returns none if the user's rules exclude the notification, if the user must not be
// disturbed, if the user looks at the session, or ended the turn.
func (p *policy) told(k Kind, key string, ev *app.Event, l *look) []order {
	if !p.wants(k, &ev.Session) || p.rules().Headless.Mutes(ev) || l.quiet || l.focused[ev.Session.ID] || l.acted[ev.Session.ID] {
		return nil
	}
	o := order{key: key, kind: k, session: ev.Session.ID, text: FinishedText(*ev)}
	o.sound, o.soundName = p.rules().soundFor(k, ev.Session.Agent)
	return []order{o}
}

// FinishedText returns the text for a turn that ended while the process continues.
func FinishedText(ev app.Event) Text {
	s := present.Brief(ev.Session.Session)
	what := " replied"
	if s.Decision != "" {
		what = " has " + present.Line(s.Decision) + " for your decision"
	}
	switch {
	case s.MayAsk && s.Status == adapters.Idle:
		what = " answered, or asks you"
	case s.MayAsk && s.Status == adapters.Unknown:
		what = " may ask you"
	case s.Unattended || ev.TerminalEnded || s.Status == adapters.Stopped:
		what = " finished"
	case endKind(&s.State) == Limit:
		what = " reached a rate limit"
	case endKind(&s.State) == Failed:
		what = " failed"
	}
	return Text{
		Title: present.AgentName(s.Agent) + what + place(&s.Place),
		Body:  lines(topic(s.Topic), sentence(howEnded(&s.State), ran(ev)), strings.Join(present.Background(&s.State), " · ")),
	}
}
