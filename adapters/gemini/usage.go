package gemini

import (
	"rollcall/adapters"
	"rollcall/adapters/internal/kit"
)

// ledgers returns what the files of a session say about its answers. ok is false if one could not be read in full.
func (s *session) ledgers() (list []*kit.Ledger, ok bool) {
	for _, f := range append([]*session{s}, s.more...) {
		list = append(list, &f.ledger)
		if f.lost != "" {
			return nil, false
		}
	}
	return list, true
}

// tokens returns the session's totals, and nil when they are not known.
func (s *session) tokens() *adapters.Tokens {
	ledgers, ok := s.ledgers()
	if !ok {
		return nil
	}
	t := kit.TokensOf(ledgers...)
	return &t
}

// settle finds which of the answers in the files count for which session. Those of sub-agents that are over count for their parent.
func (d *discovery) settle() {
	var accounts []*kit.Account
	open := func(s *session) {
		ledgers, ok := s.ledgers()
		if !ok {
			d.answer.LeaveOut(kit.NotReadable, 1+len(s.more))
			return
		}
		s.spent = &kit.Account{ID: s.id, Ledgers: ledgers, Last: latest(s.last, s.at), Model: s.model, CWD: s.project.cwd}
		accounts = append(accounts, s.spent)
	}
	for _, s := range d.sessions {
		if d.isListed(s) {
			open(s)
		}
	}
	for _, s := range d.subs {
		switch ledgers, ok := s.ledgers(); {
		case d.isOpen(s):
			open(s)
		case s.parent == nil:
			d.answer.LeaveOut(kit.NoSession, 1)
		case !ok, s.parent.spent == nil:
			d.answer.LeaveOut(kit.NotReadable, 1)
		default:
			s.parent.spent.Ledgers = append(s.parent.spent.Ledgers, ledgers...)
		}
	}
	kit.Settle(accounts)
	for _, a := range accounts {
		d.answer.Copies(a.Copies)
	}
}
