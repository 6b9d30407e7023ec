package notify

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"rollcall/adapters"
	"rollcall/app"
)

// openWait is a wait that is not over, of a session and its sub-agents, which report the same question.
type openWait struct {
	sessions map[string]adapters.WaitingFor // those that wait
	session  app.Session                    // the session that the notification names
	begun    time.Time
	shown    *shownNotification // the notification of the wait; nil: none was sent
	told     time.Time          // when the notification was sent
	withheld bool               // the user must not be disturbed; the notification is sent afterwards
	due      time.Time          // when the notification is sent, if it is postponed after a quick wait of the same session; zero: it is not
	reminded bool
	away     bool // Options.Away was called
}

// shownNotification is one notification on the screen, of one wait or several.
type shownNotification struct {
	key     string
	waits   []string // keys of the waits, the oldest first
	asked   string   // key of the request that the notification shows; empty: none
	changed time.Time
}

// lastWait describes the last wait of a session, which is over.
type lastWait struct {
	told  time.Time
	brief bool // the wait ended soon after the user was notified of it
}

// waiting updates the waits and returns the orders for ev. A session and its sub-agents share a notification, since they
// report the same question. A notification stays while the status of a session with a running process is unknown, for
// example while its storage is renamed.
func (p *policy) waiting(ev *app.Event, l *look) []order {
	s := ev.Session
	key := waitKey(&s)
	waits := ev.Kind != app.Ended && s.Status == adapters.Waiting
	w := p.waits[key]
	var waitedFor adapters.WaitingFor
	known := false
	if w != nil {
		waitedFor, known = w.sessions[s.ID]
	}
	switch {
	case waits && known:
		w.sessions[s.ID] = s.WaitingFor
		if waitedFor == s.WaitingFor && !asksAgain(ev) || len(w.sessions) > 1 {
			return nil
		}
		return p.waitsForAnother(key, w, s, l)
	case waits && !p.wants(waitKind(&s), &s):
		return nil
	case waits && w != nil:
		w.sessions[s.ID] = s.WaitingFor
		return nil
	case waits:
		w = &openWait{sessions: map[string]adapters.WaitingFor{s.ID: s.WaitingFor}, session: s, begun: l.now}
		p.waits[key] = w
		return p.tell(key, w, l)
	case known && ev.Kind != app.Ended && mayStillWait(&s):
		return nil
	case known:
		if delete(w.sessions, s.ID); len(w.sessions) > 0 {
			return nil
		}
		return p.over(key, w, l)
	}
	return nil
}

// mayStillWait reports whether it is not known what a session with a running process does.
func mayStillWait(s *app.Session) bool { return s.Status == adapters.Unknown && !s.Process.IsZero() }

// asksAgain reports whether the session, after it could not be read, waits for a request of the same kind again. The request may be another one.
func asksAgain(ev *app.Event) bool {
	return ev.Kind == app.Changed && ev.Before.Stale != nil && ev.Session.Stale == nil &&
		ev.Before.Status == adapters.Waiting && ev.Before.WaitingFor == ev.Session.WaitingFor
}

// waitsForAnother returns the orders for a session that now waits for something else.
func (p *policy) waitsForAnother(key string, w *openWait, s app.Session, l *look) []order {
	w.session = s
	w.begun = l.now
	w.reminded = false
	w.away = false
	switch {
	case !p.wants(waitKind(&s), &s):
		return p.over(key, w, l)
	case w.shown == nil:
		return p.tell(key, w, l)
	case len(w.shown.waits) == 1 && !l.quiet && !l.focused[s.ID]:
		return []order{p.orderOf(w.shown)}
	}
	return []order{p.changed(w.shown)}
}

// tell returns the orders to notify of a wait for the first time. It returns none if the notification is postponed, or if the
// user looks at the session.
func (p *policy) tell(key string, w *openWait, l *look) []order {
	last, again := p.last[key]
	pause := p.rules().Pause
	switch {
	case l.focused[w.session.ID]:
		return nil
	case l.quiet:
		w.withheld = true
		return nil
	case again && last.brief && l.now.Sub(last.told) < pause:
		w.due = last.told.Add(pause)
		return nil
	}
	return []order{p.show([]string{key}, l.now, p.rules().Together)}
}

// show returns the order to notify of waits for the first time. The waits share the notification of an earlier wait that
// was shown less than together ago.
func (p *policy) show(keys []string, now time.Time, together time.Duration) order {
	b := p.newest
	var replaces string
	switch {
	case b != nil && len(b.waits) > 0 && together > 0 && now.Sub(b.changed) <= together:
		if key := severalKey(now); len(b.waits) == 1 && b.key != key {
			replaces = b.key
			b.key = key
		}
	default:
		b = &shownNotification{key: keys[0]}
		if len(keys) > 1 {
			b.key = severalKey(now)
		}
		p.newest = b
	}
	b.changed = now
	for _, key := range keys {
		w := p.waits[key]
		w.shown = b
		w.told = now
		w.withheld = false
		w.due = time.Time{}
		w.reminded = w.reminded || now.Sub(w.begun) >= p.rules().RemindAfter // this notification replaces the reminder that is due
		b.waits = append(b.waits, key)
	}
	o := p.orderOf(b)
	o.replaces = replaces
	return o
}

// severalKey returns the key of a notification of several waits. A later process must not use it for others.
func severalKey(now time.Time) string {
	return fmt.Sprintf("%sseveral %d", waitingPrefix, now.UnixNano())
}

// over returns the orders for a wait that is over: its notification is withdrawn or, if it has other waits, corrected.
func (p *policy) over(key string, w *openWait, l *look) []order {
	delete(p.waits, key)
	b := w.shown
	if b == nil {
		return nil
	}
	pause := p.rules().Pause
	for old, last := range p.last {
		if l.now.Sub(last.told) >= pause {
			delete(p.last, old)
		}
	}
	if pause > 0 {
		p.last[key] = lastWait{told: w.told, brief: l.now.Sub(w.told) < quick}
	}
	b.waits = slices.DeleteFunc(b.waits, func(k string) bool { return k == key })
	if len(b.waits) == 0 {
		return []order{{key: b.key, kind: waitKind(&w.session), withdraw: true}}
	}
	return []order{p.changed(b)}
}

// changed returns the order to correct a notification of several waits. The correction has no sound, and is carried out only while the notification
// is on the screen.
func (p *policy) changed(b *shownNotification) order {
	o := p.orderOf(b)
	o.sound, o.onlyShown = false, true
	return o
}

// orderOf returns the order to show a notification with its current text.
func (p *policy) orderOf(b *shownNotification) order {
	var sessions []app.Session
	var members []member
	rules := p.rules()
	sound, soundName := false, ""
	for _, key := range b.waits {
		s := p.waits[key].session
		sessions = append(sessions, s)
		members = append(members, member{Key: key, Agent: s.Agent, Session: s.ID, WaitingFor: s.WaitingFor})
		if !sound {
			sound, soundName = rules.soundFor(waitKind(&s), s.Agent)
		}
	}
	o := waitOrder(sessions[0])
	o.key, o.sound, o.soundName = b.key, sound, soundName
	if len(sessions) == 1 {
		o.ask = p.ask(p.waits[b.waits[0]])
	}
	b.asked = ""
	if o.ask != nil {
		o.text, b.asked = o.ask.text(&sessions[0]), o.ask.ref.Key
	}
	if len(sessions) > 1 {
		o.session = ""
		o.text = p.severalText(sessions)
		o.members = members
	} else if b.key != b.waits[0] {
		o.members = members
	}
	return o
}

// tick returns the orders that are due: notifications that were withheld or postponed, and reminders. It returns none for
// a session that the user looks at.
func (p *policy) tick(l *look) []order {
	if l.quiet {
		return nil
	}
	orders := append(p.afterQuiet(l), p.askedAnew()...)
	rules := p.rules()
	for _, key := range p.sortedWaits() {
		w := p.waits[key]
		if !p.wants(waitKind(&w.session), &w.session) { // the settings exclude this kind of notification now
			continue
		}
		seen := l.focused[w.session.ID]
		if w.shown == nil && !w.due.IsZero() && !l.now.Before(w.due) {
			w.due = (time.Time{})
			if !seen {
				orders = append(orders, p.show([]string{key}, l.now, rules.Together))
			}
		}
		if rules.RemindAfter > 0 && !w.reminded && w.due.IsZero() && !l.now.Before(w.begun.Add(rules.RemindAfter)) {
			w.reminded = true
			if !seen {
				orders = append(orders, p.remind(key, w, l))
			}
		}
		if rules.AwayAfter >= 0 && !w.away && !l.now.Before(w.begun.Add(rules.AwayAfter)) {
			w.away = true
			p.absent = append(p.absent, w.session)
		}
	}
	return orders
}

// afterQuiet returns the order for the waits that were withheld: one notification for all.
func (p *policy) afterQuiet(l *look) []order {
	var keys []string
	for _, key := range p.sortedWaits() {
		w := p.waits[key]
		switch {
		case !w.withheld:
		case !p.wants(waitKind(&w.session), &w.session):
			delete(p.waits, key)
		case l.focused[w.session.ID]:
			w.withheld = false
		default:
			keys = append(keys, key)
		}
	}
	if len(keys) == 0 {
		return nil
	}
	return []order{p.show(keys, l.now, 0)}
}

// remind returns the order that reminds the user of a wait, which the caller has marked as reminded.
func (p *policy) remind(key string, w *openWait, l *look) (o order) {
	if w.shown == nil { // the user looked at the session when the wait began, and does no longer
		o = p.show([]string{key}, l.now, 0)
	} else {
		for _, other := range w.shown.waits { // one reminder for all waits of the notification
			p.waits[other].reminded = true
		}
		o = p.orderOf(w.shown)
	}
	o.text.Title = reminder + o.text.Title
	return o
}

const reminder = "Still: "

// next returns the time at which tick must be called; zero: nothing is due later.
func (p *policy) next() (at time.Time) {
	rules := p.rules()
	earlier := func(t time.Time) {
		if at.IsZero() || t.Before(at) {
			at = t
		}
	}
	for _, w := range p.waits {
		if !rules.wants(waitKind(&w.session), &w.session) {
			continue
		}
		if w.shown == nil && !w.due.IsZero() {
			earlier(w.due)
		}
		if rules.RemindAfter > 0 && !w.reminded && w.due.IsZero() {
			earlier(w.begun.Add(rules.RemindAfter))
		}
		if rules.AwayAfter >= 0 && !w.away {
			earlier(w.begun.Add(rules.AwayAfter))
		}
	}
	return at
}

// withhold adds waits that the user was not notified of, such as those that began while another process withheld notifications.
func (p *policy) withhold(sessions []app.Session, now time.Time) {
	for _, s := range sessions {
		key := waitKey(&s)
		if s.Status != adapters.Waiting || !p.wants(waitKind(&s), &s) {
			continue
		}
		if w := p.waits[key]; w != nil {
			w.sessions[s.ID] = s.WaitingFor
			continue
		}
		p.waits[key] = &openWait{sessions: map[string]adapters.WaitingFor{s.ID: s.WaitingFor}, session: s, begun: now, withheld: true}
	}
}

func (p *policy) sortedWaits() []string {
	return slices.SortedFunc(maps.Keys(p.waits), func(a, b string) int {
		return cmp.Or(p.waits[a].begun.Compare(p.waits[b].begun), strings.Compare(a, b))
	})
}

func waitKey(s *app.Session) string {
	return waitingPrefix + string(s.Agent) + " " + cmp.Or(s.Parent, s.ID)
}

// waitOrder returns the order to notify that s waits.
func waitOrder(s app.Session) order {
	return order{key: waitKey(&s), kind: waitKind(&s), session: s.ID, agent: s.Agent, waitingFor: s.WaitingFor, text: WaitingText(s)}
}

// takeOver returns the orders for a wait that an earlier process showed and did not withdraw. If none of the sessions
// waits any more, the notification is withdrawn; one of which the first answer does not know what it does may still wait.
// Otherwise the wait is taken over; it is shown again only if a session waits for something else or the notification is
// no longer on the screen.
func (p *policy) takeOver(left wait, sessions []app.Session, now time.Time) []order {
	b := &shownNotification{key: left.Key, changed: now}
	stands := true
	for _, m := range left.all() {
		var waiting []*app.Session
		for i := range sessions {
			s := sessions[i]
			if waitKey(&s) != m.Key {
				continue
			}
			if mayStillWait(&s) {
				s.Status, s.WaitingFor = adapters.Waiting, m.WaitingFor
			}
			if s.Status == adapters.Waiting {
				waiting = append(waiting, &s)
			}
		}
		if p.waits[m.Key] != nil { // an event has added the wait already
			if m.Key == left.Key {
				return nil
			}
			waiting = nil
		}
		if len(waiting) == 0 {
			stands = false
			continue
		}
		w := &openWait{sessions: map[string]adapters.WaitingFor{}, session: *waiting[0], begun: now, told: now, shown: b, reminded: true, away: true}
		same := false
		for _, s := range waiting {
			w.sessions[s.ID] = s.WaitingFor
			if s.WaitingFor == m.WaitingFor && !same {
				w.session, same = *s, true
			}
		}
		stands = stands && same
		p.waits[m.Key] = w
		b.waits = append(b.waits, m.Key)
	}
	if len(b.waits) == 0 {
		return []order{{key: left.Key, kind: Permission, withdraw: true}}
	}
	o := p.orderOf(b)
	o.stands = stands
	o.onlyShown = !stands && len(left.Members) > 0 && len(b.waits) < len(left.Members)
	return []order{o}
}
