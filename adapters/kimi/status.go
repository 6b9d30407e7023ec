package kimi

import (
	"cmp"
	"fmt"
	"slices"

	"rollcall/adapters"
	"rollcall/adapters/internal/kit"
)

// decide derives the status of a session.
func (d *discovery) decide(s *session) adapters.State {
	said := d.lastTurn(&s.facts)
	if s.owner != nil && s.doubt == "" {
		return d.decideHosted(s, said)
	}
	outcome := s.turn.outcome
	if s.turn.state == open {
		outcome = adapters.Died
	}
	return d.Unowned(s.doubt, d.mayBeHidden(s), outcome, said)
}

// mayBeHidden reports whether a process without a session may have this one, because something was not read.
func (d *discovery) mayBeHidden(s *session) bool {
	return slices.ContainsFunc(d.processes, func(p *process) bool {
		return (d.Hidden || s.hidden) && p.session == nil && !p.served && p.Uses(s.home) && (s.cwd == "" || p.At(s.cwd))
	})
}

// decideHosted returns the state of a session that a live process has.
func (d *discovery) decideHosted(s *session, said string) adapters.State {
	p := s.owner
	host := fmt.Sprintf("; process %d (%s)", p.PID, s.how)
	ask, by := s.asking()
	switch {
	case s.turn.state == lost, s.hidden:
		return kit.Unknown(said + host)
	case ask != nil:
		return d.waits(ask, by+said+host)
	case s.turn.state == open && s.isOld(&s.facts):
		return kit.Idle(adapters.Died, said+", before the process that has it now began"+host)
	case s.turn.state == open:
		return kit.Working(said + host)
	case s.isHeadless() && !s.served && s.turn.state == ended && !s.isOld(&s.facts):
		return kit.Working(said + "; its run is not over" + host)
	case !s.compacting.Before(p.Started.Add(-kit.StartSlack)):
		return kit.Working("it shortens the conversation since " + kit.Clock(s.compacting, d.Now) + host)
	}
	return kit.Idle(s.turn.outcome, said+host)
}

// isOld reports whether a turn is another process's than that of the session.
func (s *session) isOld(f *facts) bool { return f.turn.at.Before(s.owner.Started.Add(-kit.StartSlack)) }

// asking returns the request that waits for the user: those of sub-agents are recorded in their own files only (2.1.0). by names the sub-agent.
func (s *session) asking() (a *ask, by string) {
	begin := s.owner.Started.Add(-kit.StartSlack)
	of := func(f *facts) *ask {
		i := slices.IndexFunc(f.asks, func(a ask) bool { return !a.at.Before(begin) })
		if i < 0 {
			return nil
		}
		return &f.asks[i]
	}
	a = of(&s.facts)
	if a != nil {
		return a, ""
	}
	for _, sub := range s.agents {
		a = of(&sub.facts)
		if a != nil && s.isAtWork(sub) {
			return a, "sub-agent " + sub.agent + " asks; "
		}
	}
	return nil, ""
}

// waits returns the state of a session with a request for the user.
func (d *discovery) waits(a *ask, said string) adapters.State {
	when := kit.Clock(a.at, d.Now)
	switch {
	case a.question:
		return kit.Waiting(adapters.ForQuestion, fmt.Sprintf("a question without an answer since %s; %s", when, said))
	case a.plan:
		return kit.Waiting(adapters.ForPermission, fmt.Sprintf("a plan to approve since %s; %s", when, said))
	}
	return kit.Waiting(adapters.ForPermission, fmt.Sprintf("a request for a permission since %s; %s", when, said))
}

// isAtWork reports whether a sub-agent has an open turn that belongs to the process and the turn of its session, or goes on in the background.
func (s *session) isAtWork(a *agent) bool {
	if s.owner == nil || a.turn.state != open || s.isOld(&a.facts) {
		return false
	}
	return s.turn.state == open && !s.isOld(&s.facts) || slices.Contains(s.background, a.agent)
}

// decideAgent returns the state of a sub-agent that is at work.
func (d *discovery) decideAgent(s *session, a *agent) adapters.State {
	said := d.lastTurn(&a.facts) + fmt.Sprintf("; session %s in process %d started it", s.id, s.owner.PID)
	i := slices.IndexFunc(a.asks, func(one ask) bool { return !one.at.Before(s.owner.Started.Add(-kit.StartSlack)) })
	if i >= 0 {
		return d.waits(&a.asks[i], said)
	}
	return kit.Working(said)
}

// lastTurn describes the last turn, for evidence.
func (d *discovery) lastTurn(f *facts) string {
	t, when := f.turn, kit.Clock(f.turn.at, d.Now)
	switch t.state {
	case lost:
		return "format not recognised: " + f.lost
	case noTurn:
		return "no turn yet"
	case open:
		why := t.why
		if n := len(f.calls); n > 0 {
			why = "a call runs"
		}
		return fmt.Sprintf("turn open since %s: %s", when, why)
	}
	return "last turn " + cmp.Or(string(t.outcome), "ended") + " " + when + kit.Quoted(t.why)
}
