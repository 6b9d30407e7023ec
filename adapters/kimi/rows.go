package kimi

import (
	"cmp"
	"slices"
	"time"

	"rollcall/adapters"
	"rollcall/adapters/internal/kit"
)

// addSessions adds the sessions and processes that the query asks for to the answer.
func (d *discovery) addSessions() {
	if d.query.Usage {
		d.settle()
	}
	for _, s := range d.sessions {
		if !kit.Asked(d.query, s.id) {
			continue
		}
		v := d.decide(s)
		if isOld := v.Status == adapters.Stopped && s.active().Before(d.query.Since); len(d.query.IDs) > 0 || !isOld {
			d.answer.AddOnce(d.row(s, v), "several homes have the session", (*adapters.Session).Live)
		}
	}
	for _, s := range d.sessions {
		for _, a := range s.agents {
			if kit.Asked(d.query, a.id()) && s.isAtWork(a) {
				d.answer.AddOnce(d.agentRow(s, a), "several homes have the session", (*adapters.Session).Live)
			}
		}
	}
	for _, p := range d.processes {
		if row := d.processRow(p); p.session == nil && !p.Hosts && kit.Asked(d.query, row.ID) {
			d.answer.Add(row)
		}
	}
}

func (a *agent) id() string { return a.of.id + "/" + a.agent }

// active returns when a session was last active.
func (s *session) active() time.Time { return latest(s.last, s.at, s.state.last) }

// row returns a session for the answer.
func (d *discovery) row(s *session, v kit.Verdict) adapters.Session {
	out := s.common(&s.facts, v)
	out.ID, out.Title = s.id, s.state.title
	out.Archived, out.Headless = s.state.archived, s.isHeadless()
	out.LastPrompt = cmp.Or(s.lastPrompt, s.state.lastPrompt)
	out.LastActivityAt, out.Files = s.active(), s.paths
	if !s.unsure {
		out.Tokens = new(s.ledger.Tokens())
	}
	if s.owner != nil && v.Status != adapters.Stopped {
		out.Process, out.Shared = s.owner.Identity, s.owner.several || s.served
	}
	out.Limited = s.turn.limited && v.Outcome == adapters.Failed
	if out.Limited {
		out.LimitedUntil = kit.ResetTime(s.turn.why, s.turn.at)
	}
	if ask := s.request(v); ask != nil {
		out.Doing, out.DoingSince = ask.text, ask.at
	}
	out.Usage = s.spent.Steps()
	return out
}

// request returns the request that a session waits for.
func (s *session) request(v kit.Verdict) *ask {
	if v.Status != adapters.Waiting {
		return nil
	}
	ask, _ := s.asking()
	return ask
}

// common returns what the rows of a session and of its sub-agents have in common.
func (s *session) common(f *facts, v kit.Verdict) adapters.Session {
	out := adapters.Session{
		Agent: Name, Status: v.Status, WaitingFor: v.WaitingFor, Outcome: v.Outcome, Evidence: v.Evidence, CWD: s.cwd, Home: s.home, Model: f.model,
		FirstPrompt: f.firstPrompt, LastPrompt: f.lastPrompt, Doing: f.doing, DoingSince: f.doingAt, Context: adapters.Context{Used: f.context}, StartedAt: f.at, TurnStartedAt: f.prompted,
	}
	if n := len(f.calls); n > 0 && f.turn.state == open {
		out.Doing, out.DoingSince = f.calls[n-1].text, f.calls[n-1].at
	}
	return out
}

// agentRow returns a sub-agent for the answer.
func (d *discovery) agentRow(s *session, a *agent) adapters.Session {
	out := s.common(&a.facts, d.decideAgent(s, a))
	out.ID, out.Parent = a.id(), s.id
	out.Process, out.Shared = s.owner.Identity, true
	out.LastActivityAt, out.Files = latest(a.last, a.at), []string{a.Path}
	if len(a.asks) > 0 && out.Status == adapters.Waiting {
		out.Doing, out.DoingSince = a.asks[0].text, a.asks[0].at
	}
	return out
}

// processRow returns the row of a process without a session.
func (d *discovery) processRow(p *process) adapters.Session {
	hidden := d.partial || slices.ContainsFunc(d.sessions, func(s *session) bool { return s.hidden && p.Uses(s.home) && (s.cwd == "" || p.At(s.cwd)) })
	return p.Row(Name, &d.homes, hidden, false, p.doubt)
}

// settle finds which of the answers in the files count for which session. Those of sub-agents count for their session. A fork has copies of its parent's.
func (d *discovery) settle() {
	var accounts []*kit.Account
	for _, s := range d.sessions {
		if s.unsure {
			d.answer.LeaveOut(kit.NotReadable, 1)
			continue
		}
		s.spent = &kit.Account{ID: s.id, Ledgers: []*kit.Ledger{&s.ledger}, Last: s.active(), Model: s.model, CWD: s.cwd}
		for _, a := range s.agents {
			s.spent.Agents = append(s.spent.Agents, &a.ledger)
		}
		accounts = append(accounts, s.spent)
	}
	d.answer.Settle(accounts)
}
