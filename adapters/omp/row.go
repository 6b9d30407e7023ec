package omp

import (
	"slices"

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
	for _, s := range d.subs {
		if s.runs() {
			row := d.row(s, d.decideSub(s))
			row.Owner = adapters.Owner{Process: s.above.owner.Identity, Shared: true}
			row.Parent = s.above.id
			d.Add(row)
		}
	}
	for _, p := range d.processes {
		if len(p.sessions) == 0 {
			d.AddProcess(d.processRow(p))
		}
	}
}

// row returns a session for the answer.
func (d *discovery) row(s *session, v adapters.State) adapters.Session {
	out := adapters.Session{
		ID: s.id, Agent: Name, Model: s.model, Files: []string{s.Path},
		State: kit.WithLimit(v, s.turn.status == 429, s.turn.why, s.turn.at),
		Place: adapters.Place{CWD: s.cwd, Home: s.Home},
		Topic: s.Topic,
		Spent: adapters.Spent{Context: adapters.Context{Used: s.context}},
		Times: adapters.Times{StartedAt: s.at, LastActivityAt: s.last, TurnStartedAt: s.prompted},
	}
	if s.longLine == "" {
		out.Tokens, out.CostUSD = new(s.ledger.Tokens()), s.cost
	}
	if p := s.owner; p != nil && v.Status != adapters.Stopped && s.doubt == "" {
		out.Owner = adapters.Owner{Process: p.Identity, Shared: len(p.sessions) > 1, Headless: p.Headless}
		out.Version = p.version
	}
	out.Usage = s.spent.Steps()
	return out
}

// settle finds which of the answers in the files count for which session. Those of sub-agents that are over count for the session that started them.
func (d *discovery) settle() {
	var accounts []*kit.Account
	for _, s := range slices.Concat(d.sessions, d.subs) {
		if s.longLine == "" && (s.parent == "" || s.runs()) {
			s.spent = &kit.Account{ID: s.id, Ledgers: []*kit.Ledger{&s.ledger}, Last: s.last, Model: s.model, CWD: s.cwd}
			accounts = append(accounts, s.spent)
		}
	}
	for _, s := range d.subs {
		switch above := s.above; {
		case s.spent != nil:
		case above == nil:
			d.Report.LeaveOut(kit.NoSession, 1)
		case s.longLine != "" || above.spent == nil:
			d.Report.LeaveOut(kit.NotReadable, 1)
		default:
			above.spent.Ledgers = append(above.spent.Ledgers, &s.ledger)
		}
	}
	d.Report.Settle(accounts)
}
