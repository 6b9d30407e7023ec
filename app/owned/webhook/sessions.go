package webhook

import (
	"cmp"
	"context"
	"slices"
	"time"

	"rollcall/app"
	"rollcall/app/store/fault"
)

// newSession returns a running session as it is stored.
func newSession(x *app.Session) Session {
	s := Session{Agent: x.Agent, ID: x.ID, CWD: x.CWD, Process: x.Process}
	if x.Launch != nil {
		s.Launch = x.Launch.ID
	}
	return s
}

// is reports whether s is the session x. A launch has one session, whose id may be learned late.
func (s *Session) is(x *Session) bool {
	if s.Launch != "" && x.Launch != "" {
		return s.Launch == x.Launch
	}
	return s.Agent == x.Agent && s.ID == x.ID
}

func (s *Sender) find(x *app.Session) *Session {
	wanted := newSession(x)
	for _, e := range s.sessions {
		if e.is(&wanted) {
			return e
		}
	}
	return nil
}

// inherit adds the sessions that an earlier process has stored, and the launches that were running when they were last seen.
func (s *Sender) inherit(left *sessions, running []Session) {
	for _, x := range left.Sessions {
		if s.messages[x.Delivery] != nil { // the keeper was killed after it had stored the message
			s.dirty = true
			s.early = append(s.early, x)
		}
	}
	s.done = append(left.Done, s.done...)
	for _, x := range s.early {
		if x.Launch != "" {
			s.done = append(s.done, x.Launch)
		}
	}
	running = slices.DeleteFunc(slices.Clone(running), func(x Session) bool { return slices.Contains(s.done, x.Launch) })
	known := func(x *Session) bool {
		return slices.ContainsFunc(s.sessions, func(e *Session) bool { return e.is(x) }) ||
			slices.ContainsFunc(s.early, func(e Session) bool { return e.is(x) })
	}
	for _, x := range slices.Concat(left.Sessions, running) {
		if known(&x) {
			continue
		}
		x.Delivery, x.state = cmp.Or(x.Delivery, newID()), inherited
		s.sessions = append(s.sessions, &x)
	}
	s.early = nil
}

// look updates the sessions from a snapshot. It makes messages about those that an earlier process has seen and that have
// ended since.
func (s *Sender) look(snap *app.Snapshot) {
	if !s.locked || snap == nil {
		return
	}
	if to, err := s.cfg.Target(); to.URL == "" {
		if err == nil {
			s.rest()
		}
		return
	}
	live := map[*Session]bool{}
	for x := range snap.All() {
		if !x.Live() || x.Stale != nil || !isSent(x) {
			continue
		}
		e := s.find(x)
		if e == nil {
			if len(s.sessions) >= maxSessions {
				continue
			}
			e = &Session{Delivery: newID()}
			s.sessions, s.dirty = append(s.sessions, e), true
		}
		live[e] = true
		if e.state == ending {
			continue
		}
		now := newSession(x)
		now.Delivery = e.Delivery
		now.state = seenLive
		now.Process = cmp.Or(now.Process, e.Process)
		before := *e
		before.state, before.goneFrom = now.state, now.goneFrom
		s.dirty = s.dirty || before != now
		*e = now
	}
	for _, e := range slices.Clone(s.sessions) {
		if !live[e] && e.state != ending {
			s.stopped(e, snap)
		}
	}
}

// rest handles a snapshot while there is no webhook: no session counts as seen by this process. It removes the stored
// sessions Keep after they were written.
func (s *Sender) rest() {
	for _, e := range s.sessions {
		if e.state == seenLive {
			e.state = inherited
		}
	}
	if len(s.sessions)+len(s.done) > 0 && s.making == 0 && fault.Now().Sub(s.listAt) >= Keep {
		s.sessions = nil
		s.done = nil
		s.dirty = true
	}
}

// stopped handles a session that is not listed as live.
func (s *Sender) stopped(e *Session, snap *app.Snapshot) {
	// The answer of an agent that is no longer installed is complete: it has no sessions.
	if state := snap.Health(e.Agent).State; state != app.OK && state != app.Absent {
		return
	}
	list := snap.Sessions()
	i := slices.IndexFunc(list, func(x app.Session) bool { n := newSession(&x); return e.is(&n) })
	if i >= 0 && list[i].Stale != nil {
		return
	}
	runs := !e.Process.IsZero() && s.cfg.Alive(e.Process)
	switch {
	case runs && (e.state == seenLive || hosts(snap, e)), e.state == seenLive && e.Process.IsZero() && i >= 0:
		s.forget(e) // the session stopped, and its process or gateway runs on
	case runs:
	case e.state == inherited && i >= 0:
		x := list[i]
		s.late(e, func(ctx context.Context) Payload { return s.payloadOf(ctx, &x) })
	case e.state == inherited:
		p := Payload{HookType: "session.stopped", SessionID: e.ID, Agent: e.Agent, CWD: e.CWD}
		if e.Launch != "" {
			p.Meta = map[string]string{"launch": e.Launch}
		}
		s.late(e, func(context.Context) Payload { return p })
	case e.goneFrom.IsZero():
		e.goneFrom = time.Now() // an event follows
	case time.Since(e.goneFrom) > goneLimit:
		s.forget(e)
	}
}

// late makes a message about a session that ended while no keeper ran.
func (s *Sender) late(e *Session, payload func(context.Context) Payload) {
	s.make(e, func(ctx context.Context) Payload {
		p := payload(ctx)
		p.Late, p.Timestamp = true, fault.Now().UTC()
		return p
	})
}

func (s *Sender) forget(e *Session) {
	s.sessions = slices.DeleteFunc(s.sessions, func(x *Session) bool { return x == e })
	s.dirty = true
}

// hosts reports whether the process of an entry has another session now.
func hosts(snap *app.Snapshot, e *Session) bool {
	return slices.ContainsFunc(snap.Sessions(), func(x app.Session) bool { return x.Live() && x.Process == e.Process })
}

// writeSessions stores the sessions, if they have changed.
func (s *Sender) writeSessions() {
	if !s.dirty || !s.locked || s.writing.Left(time.Now()) > 0 {
		return
	}
	if len(s.sessions)+len(s.done) == 0 {
		if err := s.cfg.Folder.Remove(list); err != nil {
			s.failed("the sessions whose end is sent cannot be stored", err)
			return
		}
		s.dirty = false
		return
	}
	now := sessions{At: fault.Now(), Done: s.done}
	for _, e := range s.sessions {
		now.Sessions = append(now.Sessions, *e)
	}
	if err := s.cfg.Folder.Write(list, &now); err != nil {
		s.failed("the sessions whose end is sent cannot be stored", err)
		return
	}
	s.dirty, s.listAt = false, now.At
	s.writing.Succeeded()
}
