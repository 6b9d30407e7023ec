package gemini

import (
	"slices"

	"rollcall/adapters"
	"rollcall/adapters/internal/kit"
)

// tokens returns the session's totals, and nil when they are not known: also where two files hold messages of it, which may be the same.
func (s *session) tokens() *adapters.Tokens {
	if s.lost != "" || slices.ContainsFunc(s.more, func(o *session) bool { return o.messages }) {
		return nil
	}
	t := s.ledger.Tokens()
	return &t
}

// settle finds which of the answers in the files count for which session. Those of sub-agents that are over count for their parent.
func (d *discovery) settle() {
	var accounts []*kit.Account
	open := func(s *session) {
		s.spent = &kit.Account{ID: s.id, Ledgers: []*kit.Ledger{&s.ledger}, Last: latest(s.last, s.at), Model: s.model, CWD: s.project.cwd}
		accounts = append(accounts, s.spent)
	}
	for _, s := range d.sessions {
		if d.isListed(s) && s.tokens() != nil {
			open(s)
		}
	}
	for _, s := range d.subs {
		switch {
		case d.isOpen(s) && s.lost == "":
			open(s)
		case s.lost == "" && s.parent != nil && s.parent.spent != nil:
			s.parent.spent.Ledgers = append(s.parent.spent.Ledgers, &s.ledger)
		case s.parent == nil:
			d.answer.LeaveOut(kit.NoSession, 1)
		default:
			d.answer.LeaveOut(kit.NotReadable, 1)
		}
	}
	kit.Settle(accounts)
	for _, a := range accounts {
		d.answer.Copies(a.Copies)
	}
}
