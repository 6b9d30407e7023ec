package copilot

import (
	"rollcall/adapters/internal/kit"
)

// settle finds which of the answers in the files count for which session. A session that was forked repeats those of the other one.
func (d *discovery) settle() {
	var accounts []*kit.Account
	for _, s := range d.sessions {
		if s.facts.tokens() == nil || s.unread {
			continue
		}
		s.spent = &kit.Account{ID: s.id, Ledgers: []*kit.Ledger{&s.facts.ledger}, Last: s.facts.last, Model: s.facts.model, CWD: s.facts.cwd, Branch: s.facts.branch}
		accounts = append(accounts, s.spent)
	}
	d.Report.Settle(accounts)
}
