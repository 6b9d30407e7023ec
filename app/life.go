package app

import (
	"cmp"
	"slices"
	"time"

	"rollcall/adapters"
	"rollcall/proc"
)

// life is a session from when it was seen live until its process ended.
type life struct {
	session Session // as it was last shown live
	procs   []proc.Identity
	// over: it was told that the session stopped, as last, and its process is
	// still there: agents write down that they end a moment before they do.
	over bool
	last Session
	seen bool // in the answer at hand
}

// advance takes the lives on to what is shown now and returns what happened.
func (s *source) advance(shown []Session, a *Answer, now *liveness) []Event {
	quiet := !s.scanned || s.recovering(a)
	hosts, listed := hostsOf(shown), processesOf(a.Sessions)
	var evs []Event
	for i := range shown {
		x := &shown[i]
		l := s.lives[x.ID]
		if l != nil {
			l.seen = true
		}
		if !x.Live() || s.ghost(x, l, now) {
			if l != nil {
				evs = append(evs, s.finish(l, *x, hosts, now)...)
			}
			continue
		}
		if l == nil {
			l = &life{over: true, seen: true}
			s.lives[x.ID] = l
		}
		delete(s.ended, x.ID)
		if e, ok := l.live(*x, quiet); ok {
			evs = append(evs, e)
		}
		if ps := listed[x.ID]; ps != nil {
			l.procs = l.rehosted(ps, hosts, now)
		}
	}
	s.replace(shown)
	evs = append(evs, s.unlisted(hosts, now)...)
	s.note(a)
	return group(evs)
}

// unlisted takes on the lives that are not shown, and readies all for the next
// answer.
func (s *source) unlisted(hosts map[proc.Identity][]string, now *liveness) []Event {
	var evs []Event
	for _, l := range s.lives {
		switch {
		case l.seen:
			l.seen = false
		case l.over:
			evs = append(evs, s.finish(l, l.last, hosts, now)...)
		default:
			evs = append(evs, s.finish(l, vanished(l.session, now), hosts, now)...)
		}
	}
	return evs
}

// replace drops the lives of launches that their agent lists by now, under an id
// of its own: nothing happened to them.
func (s *source) replace(shown []Session) {
	for id, l := range s.lives {
		own := l.session.Launch
		if l.seen || own == nil || !own.Unlisted {
			continue
		}
		if slices.ContainsFunc(shown, func(x Session) bool { return x.Launch != nil && x.Launch.ID == own.ID }) {
			delete(s.lives, id)
		}
	}
}

// ghost says whether x is a session whose process ended and whose agent can't
// tell more of it: it is listed as unknown, and yet it is over.
func (s *source) ghost(x *Session, l *life, now *liveness) bool {
	if x.Status != adapters.Unknown || x.Remote != "" || !x.Process.IsZero() {
		return false
	}
	if l == nil {
		_, ended := s.ended[x.ID]
		return ended
	}
	return len(l.procs) > 0 && !slices.ContainsFunc(l.procs, now.notEnded)
}

// live is what it means for the life that its session is shown live as x.
func (l *life) live(x Session, quiet bool) (Event, bool) {
	before, over := l.session, l.over
	l.session, l.over = x, false
	e := Event{At: time.Now(), Session: x}
	switch {
	case over:
		e.Kind = Started
		return e, !quiet
	case before.Status != x.Status || before.WaitingFor != x.WaitingFor:
		e.Kind, e.Before = Changed, before
		return e, true
	}
	return e, false
}

// finish is what it means for the life that its session is shown as x, no longer
// live.
func (s *source) finish(l *life, x Session, hosts map[proc.Identity][]string, now *liveness) []Event {
	e := Event{Kind: Changed, At: time.Now(), Session: x, Before: l.session}
	drop := func() { delete(s.lives, x.ID) }
	switch {
	case len(l.procs) == 0: // no process of this machine: nothing ends that we could see
		drop()
	case !slices.ContainsFunc(l.procs, now.notEnded):
		drop()
		e.Kind, e.Process = Ended, l.procs[len(l.procs)-1]
		s.ended[x.ID] = e.At
		return []Event{e}
	case !slices.ContainsFunc(l.procs, now.alive):
		return nil // the watcher is about to say so
	case l.session.Shared || slices.ContainsFunc(l.procs, func(p proc.Identity) bool { return taken(&l.session, hosts[p]) }):
		drop()
	}
	if l.over {
		return nil
	}
	l.over, l.last = true, x
	return []Event{e}
}

// taken says whether a process that hosts these sessions no longer hosts x.
func taken(x *Session, hosted []string) bool {
	return slices.ContainsFunc(hosted, func(id string) bool { return id != x.ID })
}

// rehosted are the processes of a life whose session is listed on these: older
// ones stay while they live and have no other session.
func (l *life) rehosted(listed []proc.Identity, hosts map[proc.Identity][]string, now *liveness) []proc.Identity {
	out := make([]proc.Identity, 0, len(listed))
	for _, p := range l.procs {
		if !slices.Contains(listed, p) && now.alive(p) && !taken(&l.session, hosts[p]) {
			out = append(out, p)
		}
	}
	return append(out, listed...)
}

// hostsOf lists the main sessions of each process: sub-agents come and go in
// their parent's.
func hostsOf(shown []Session) map[proc.Identity][]string {
	out := map[proc.Identity][]string{}
	for i := range shown {
		if x := &shown[i]; x.Live() && !x.Process.IsZero() && x.Parent == "" {
			out[x.Process] = append(out[x.Process], x.ID)
		}
	}
	return out
}

// processesOf lists the processes of each session that is listed live; a
// session can be open in two.
func processesOf(list []adapters.Session) map[string][]proc.Identity {
	out := map[string][]proc.Identity{}
	for i := range list {
		if x := &list[i]; x.Live() && x.Remote == "" && !x.Process.IsZero() && !slices.Contains(out[x.ID], x.Process) {
			out[x.ID] = append(out[x.ID], x.Process)
		}
	}
	return out
}

// vanished is a session that its adapter doesn't list any more.
func vanished(x Session, now *liveness) Session {
	if gone(&x.Session, now.alive) {
		return stopped(x)
	}
	x.Status, x.WaitingFor, x.Stale = adapters.Unknown, "", nil
	x.Evidence = "its agent no longer lists it; before: " + x.Evidence
	return x
}

// recovering says whether a says more than the answer before it because
// something that was missing is readable again: what turns up then isn't new.
func (s *source) recovering(a *Answer) bool {
	return s.lastErr != "" && (a.Err == nil || a.Err.Error() != s.lastErr)
}

// note remembers what matters for the events of the next answer.
func (s *source) note(a *Answer) {
	if a.IDs != nil {
		return
	}
	s.lastErr = ""
	if !a.complete() {
		s.lastErr = a.Err.Error()
	}
	if a.complete() || len(a.Sessions) > 0 {
		s.scanned = true
	}
}

// group puts events into the order in which they make sense: what changed, what
// started, what ended. Those of sessions that ended with one process follow each
// other, and know of each other.
func group(evs []Event) []Event {
	var changed, started, ended []Event
	for _, e := range evs {
		switch e.Kind {
		case Ended:
			ended = append(ended, e)
		case Started:
			started = append(started, e)
		default:
			changed = append(changed, e)
		}
	}
	slices.SortStableFunc(ended, func(a, b Event) int {
		if a.Process != b.Process {
			return cmp.Or(cmp.Compare(a.Process.PID, b.Process.PID), cmp.Compare(a.Process.Start, b.Process.Start))
		}
		return compareSessions(&a.Session, &b.Session)
	})
	for i := range ended {
		for j := range ended {
			if i != j && ended[i].Process == ended[j].Process {
				ended[i].With = append(ended[i].With, ended[j].Session)
			}
		}
	}
	return slices.Concat(changed, started, ended)
}
