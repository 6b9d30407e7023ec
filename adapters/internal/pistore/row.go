package pistore

import (
	"path/filepath"
	"slices"
	"strings"

	"rollcall/adapters"
	"rollcall/adapters/internal/kit"
)

// addSessions adds the sessions and processes that the query asks for to the answer.
func (d *discovery) addSessions() {
	all := slices.Concat(d.live, d.requested)
	seen := make(map[string]bool, len(all))
	d.answer.Expect(len(all))
	if d.query.Usage {
		d.settle(all)
	}
	for _, s := range all {
		if seen[s.id] || s.writer() != d.store.Name() || !d.queried(s.id) {
			continue
		}
		seen[s.id] = true
		if !s.mayBeLive && kit.IsOver(d.ctx) {
			d.isLate(s.root, 1, 0)
			continue
		}
		row := d.row(s)
		if len(d.query.IDs) == 0 && row.Status == adapters.Stopped && row.LastActivityAt.Before(d.query.Since) {
			continue
		}
		d.answer.Add(row)
	}
	for _, p := range slices.Concat(d.sessionless, d.unresponsiveProcesses) {
		if row := d.processRow(p); p.agent == d.store.Name() && d.queried(row.ID) {
			d.answer.Add(row)
		}
	}
}

func (d *discovery) queried(id string) bool {
	return len(d.query.IDs) == 0 || slices.Contains(d.query.IDs, id)
}

// row returns a session for the answer.
func (d *discovery) row(s *session) adapters.Session {
	v := d.decide(s)
	if s.unheaded && v.Status == adapters.Stopped && len(d.processes) > 0 { // its folder, which is needed for the match, is not known
		v = kit.Unknown("it is not known whether a process has it; " + d.lastTurn(s))
	}
	out := adapters.Session{
		ID: s.id, Agent: d.store.Name(), Model: s.model, Files: []string{s.path},
		State: kit.WithLimit(v, s.turn.isLimited(), s.turn.why, s.turn.at),
		Place: adapters.Place{CWD: s.cwd},
		Topic: s.Topic,
		Spent: adapters.Spent{Tokens: s.tokens(), Context: adapters.Context{Used: s.context}},
		Times: adapters.Times{StartedAt: s.at, LastActivityAt: s.active(), TurnStartedAt: s.prompted},
	}
	for _, r := range d.roots.Paths {
		if s.dir != r && filepath.Base(r) == "sessions" && strings.HasPrefix(s.path, r+string(filepath.Separator)) {
			out.Home = filepath.Dir(r)
		}
	}
	if s.isExact() {
		out.CostUSD = s.sums.cost
	}
	if s.spent != nil {
		out.Usage = s.spent.Usage
	}
	if s.owner != nil && v.Status != adapters.Stopped && s.doubt == "" {
		out.Process, out.Headless = s.owner.Identity, s.owner.headless
	}
	return out
}
