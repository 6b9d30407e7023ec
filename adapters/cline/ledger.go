package cline

import (
	"cmp"

	"rollcall/adapters"
	"rollcall/adapters/internal/kit"
)

// tokens returns what a session used: what its conversation holds or, if that is more, what Cline states.
func (s *session) tokens() *adapters.Tokens {
	sum := s.talk.ledger.Tokens()
	if s.statesMore(sum) {
		return s.stated
	}
	return &sum
}

// statesMore reports whether Cline states at least these tokens. During a turn it states those before it.
func (s *session) statesMore(sum adapters.Tokens) bool {
	if s.stated == nil {
		return false
	}
	rest := s.stated.Minus(sum)
	return min(rest.Input, rest.Output, rest.CacheRead, rest.CacheWrite) >= 0
}

// settle finds which of the answers in the conversations count for which session.
func (d *discovery) settle() {
	var accounts []*kit.Account
	for _, s := range d.sessions {
		if s.readErr != nil {
			continue
		}
		s.spent = &kit.Account{ID: s.id, Ledgers: []*kit.Ledger{&s.talk.ledger}, Last: cmp.Or(s.talk.last.at, s.started), Model: s.model, CWD: s.cwd, Branch: s.branch}
		if s.statesMore(s.talk.ledger.Tokens()) {
			s.spent.Known = &kit.Known{Tokens: *s.stated, CostUSD: s.cost}
		}
		accounts = append(accounts, s.spent)
	}
	kit.Settle(accounts)
	for _, a := range accounts {
		d.answer.Copies(a.Copies)
	}
}
