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
	if d.Query.Usage {
		d.settle()
	}
	for _, s := range d.sessions {
		d.Add(d.row(s, d.decide(s)))
	}
	for _, s := range d.sessions {
		for _, a := range s.agents {
			if s.isAtWork(a) {
				d.Add(d.agentRow(s, a))
			}
		}
	}
	for _, p := range d.processes {
		if p.session == nil && !p.Hosts {
			d.AddProcess(d.processRow(p))
		}
	}
}

// id returns the id of the session whose records a file has.
func (f *file) id() string {
	if f.agent == mainAgent {
		return f.of.id
	}
	return f.of.id + "/" + f.agent
}

// active returns when a session was last active.
func (s *session) active() time.Time { return kit.Latest(s.last, s.at, s.state.last) }

// row returns a session for the answer.
func (d *discovery) row(s *session, v adapters.State) adapters.Session {
	out := s.common(&s.facts, kit.WithLimit(v, s.turn.limited, s.turn.why, s.turn.at))
	out.ID, out.Title = s.id, s.state.Title
	out.Archived, out.Headless = s.state.archived, s.isHeadless()
	out.LastPrompt = cmp.Or(s.LastPrompt, s.state.LastPrompt)
	out.LastActivityAt, out.Files = s.active(), s.paths
	if !s.unsure {
		out.Tokens = new(s.ledger.Tokens())
	}
	if s.owner != nil && v.Status != adapters.Stopped {
		out.Process, out.Shared = s.owner.Identity, s.owner.several || s.served
	}
	if v.Status == adapters.Idle && s.owner != nil && !s.served {
		out.Background = d.tasks(s)
	}
	if ask := s.request(v); ask != nil {
		out.Doing, out.DoingSince = ask.text, ask.at
	}
	out.Usage = s.spent.Steps()
	return out
}

// request returns the request that a session waits for.
func (s *session) request(v adapters.State) *ask {
	if v.Status != adapters.Waiting {
		return nil
	}
	ask, _ := s.asking()
	return ask
}

// common returns what the rows of a session and of its sub-agents have in common.
func (s *session) common(f *facts, v adapters.State) adapters.Session {
	out := adapters.Session{
		Agent: Name, Model: f.model,
		State: v,
		Place: adapters.Place{CWD: s.cwd, Home: s.home},
		Topic: f.Topic,
		Spent: adapters.Spent{Context: adapters.Context{Used: f.context}},
		Times: adapters.Times{StartedAt: f.at, TurnStartedAt: f.prompted},
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
	out.LastActivityAt, out.Files = kit.Latest(a.last, a.at), []string{a.Path}
	if len(a.asks) > 0 && out.Status == adapters.Waiting {
		out.Doing, out.DoingSince = a.asks[0].text, a.asks[0].at
	}
	return out
}

// processRow returns the row of a process without a session.
func (d *discovery) processRow(p *process) adapters.Session {
	hidden := d.Hidden || slices.ContainsFunc(d.sessions, func(s *session) bool { return s.hidden && p.Uses(s.home) && (s.cwd == "" || p.At(s.cwd)) })
	return p.Row(d.Look, hidden, false, p.doubt)
}

// settle finds which of the answers in the files count for which session. Those of sub-agents count for their session. A fork has copies of its parent's.
func (d *discovery) settle() {
	var accounts []*kit.Account
	for _, s := range d.sessions {
		if s.unsure {
			d.Report.LeaveOut(kit.NotReadable, 1)
			continue
		}
		s.spent = &kit.Account{ID: s.id, Ledgers: []*kit.Ledger{&s.ledger}, Last: s.active(), Model: s.model, CWD: s.cwd}
		for _, a := range s.agents {
			s.spent.Agents = append(s.spent.Agents, &a.ledger)
		}
		accounts = append(accounts, s.spent)
	}
	d.Report.Settle(accounts)
}
