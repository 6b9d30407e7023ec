package grok

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"rollcall/adapters"
	"rollcall/adapters/internal/kit"
)

// ownDecision is longer than Grok Build takes to allow a request by itself on an idle machine, 0 to 25 ms: it writes the same two records as for one that the
// user allows (1.0.41).
const ownDecision = 500 * time.Millisecond

// decide derives the status of a session from its events and its processes.
func (d *discovery) decide(s *session) kit.Verdict {
	said, t := d.lastTurn(s), &s.events.turn
	switch {
	case len(s.owners) == 0 && d.homes.NoTable:
		return kit.Unknown(said + "; the process table can't be read")
	case len(s.owners) == 0 && d.mayBeLive(s):
		return kit.Unknown(said + "; a process of Grok Build may have it, whose open files can't be seen")
	case len(s.owners) == 0:
		outcome := t.outcome
		if t.open && t.lost == "" {
			outcome = adapters.Died
		}
		return kit.Stopped(outcome, "no process has it; "+said)
	case s.unread:
		return kit.Unknown(fmt.Sprintf("its records could not be read; process %d", s.owner().PID))
	case s.events.known > 0 && !strings.HasPrefix(s.events.schema, formPrefix):
		return kit.Unknown(fmt.Sprintf("the form %q of its records is not known: 1.0 is; process %d", kit.PlainWord(s.events.schema), s.owner().PID))
	case t.open && len(s.owners) > 1 && !d.findWriter(s):
		return kit.Unknown(said + "; several processes have it, and it is not known whether one of them is in the turn")
	}
	said += fmt.Sprintf("; process %d", s.owner().PID)
	switch {
	case t.lost != "":
		return kit.Unknown(said)
	case t.open && d.isOlder(s):
		return kit.Idle(adapters.Died, said+", which began after the turn")
	case t.open:
		return d.decideOpen(s, said)
	case s.events.known == 0 && s.owner().headless:
		return kit.Working("its prompt is not recorded yet; " + said)
	}
	return kit.Idle(t.outcome, said)
}

// findWriter puts the process first that wrote the last record of a session which several have (1.0.41 lets any number resume it). It returns false if that
// is not known, or none of them did.
func (d *discovery) findWriter(s *session) bool {
	i := slices.IndexFunc(s.owners, func(p *process) bool { return d.wroteLast(p, s) })
	if i > 0 {
		s.owners[0], s.owners[i] = s.owners[i], s.owners[0]
	}
	return i >= 0
}

// decideOpen returns the verdict on a session that is in a turn.
func (d *discovery) decideOpen(s *session, said string) kit.Verdict {
	t := &s.events.turn
	doing, _ := s.updates.doing()
	limit := kit.Delay(ownDecision, d.Table.Pressure())
	asks := slices.IndexFunc(t.asked, func(a asked) bool { return d.now.Sub(a.at).Abs() >= limit })
	switch {
	case asks >= 0:
		return kit.Waiting(adapters.ForPermission, said+"; it asks for permission"+kit.Quoted(doing))
	case slices.Contains(t.tools, questionTool) && len(t.asked) == 0:
		return kit.Waiting(adapters.ForQuestion, said+"; it asks"+kit.Quoted(doing))
	case slices.Contains(t.tools, exitPlan) && len(t.asked) == 0:
		return kit.Waiting(adapters.ForPermission, said+"; it asks for permission to carry out its plan")
	case len(t.asked) > 0:
		return kit.Working(said + "; it has just asked for a permission, which it may give itself").Until(t.asked[0].at.Add(limit))
	case s.updates.retry != "":
		return kit.Working(said + "; a request to the model failed, and is tried again" + kit.Quoted(s.updates.retry))
	}
	return kit.Working(said)
}

// lastTurn describes the last turn, for evidence.
func (d *discovery) lastTurn(s *session) string {
	t := &s.events.turn
	switch {
	case s.events.known == 0:
		return "no turn yet"
	case t.lost != "":
		return "the state of its turn is not known: " + t.lost
	case t.open:
		return fmt.Sprintf("turn open since %s: %s, %s ago", kit.Clock(t.at, d.now), cmp.Or(strings.ReplaceAll(t.phase, "_", " "), "it begins"),
			kit.Span(d.now.Sub(s.events.last)))
	}
	why := ""
	if t.outcome == adapters.Failed {
		why = kit.Quoted(s.updates.retry)
	}
	return fmt.Sprintf("last turn %s %s%s", cmp.Or(string(t.outcome), "ended"), kit.Clock(s.events.last, d.now), why)
}

// addSessions adds the sessions and processes that the query asks for to the answer.
func (d *discovery) addSessions() {
	if d.query.Usage {
		d.settle()
	}
	for _, s := range d.sessions {
		s.verdict = d.decide(s)
	}
	for _, s := range d.sessions {
		if o := s.above; o != nil && s.verdict.Status == adapters.Waiting && o.verdict.Status == adapters.Working { // its terminal asks
			o.verdict = kit.Waiting(s.verdict.WaitingFor, fmt.Sprintf("its sub-agent %s waits: %s", s.id, s.verdict.Evidence))
		}
	}
	for _, s := range d.sessions {
		row := s.row()
		isOld := len(d.query.IDs) == 0 && row.LastActivityAt.Before(d.query.Since)
		isEmpty := s.events.known == 0 && s.updates.firstPrompt == "" && !s.partly // every start of a terminal makes one, which Grok Build does not list either
		if !kit.Asked(d.query, s.id) || row.Status == adapters.Stopped && (isOld || isEmpty) {
			continue
		}
		d.answer.AddOnce(row, "several homes have the session", (*adapters.Session).Live)
	}
	for _, p := range d.processes {
		has := slices.ContainsFunc(d.sessions, func(s *session) bool { return slices.Contains(s.owners, p) })
		if row, ok := d.processRow(p); ok && !has && kit.Asked(d.query, row.ID) {
			d.answer.Add(row)
		}
	}
}

// row returns a session for the answer.
func (s *session) row() adapters.Session {
	u, v := &s.updates, s.verdict
	out := adapters.Session{
		ID: s.id, Agent: Name, Status: v.Status, WaitingFor: v.WaitingFor, Outcome: v.Outcome, Evidence: v.Evidence, AskAgain: v.AskAgain,
		CWD: s.summary.cwd, Branch: s.summary.branch, Model: s.events.model, Title: s.summary.titleBeside(u.firstPrompt),
		FirstPrompt: u.firstPrompt, LastPrompt: u.lastPrompt, Context: adapters.Context{Used: u.context}, Headless: s.summary.kind == "headless",
		StartedAt: s.summary.created, LastActivityAt: slices.MaxFunc([]time.Time{s.events.last, u.last, s.summary.created}, time.Time.Compare), TurnStartedAt: cmp.Or(s.events.turn.at, u.prompted),
		Files: []string{s.path("updates.jsonl"), s.Path}, Home: s.Home, Usage: s.spent.Steps(),
	}
	if v.Status != adapters.Stopped {
		out.Doing, out.DoingSince = u.doing()
	}
	if s.isCounted() {
		out.Tokens = new(u.ledger.Tokens())
	}
	if s.above != nil {
		out.Parent = s.above.id
	}
	if p := s.owner(); p != nil && v.Status != adapters.Stopped {
		out.Process, out.Headless, out.CWD = p.Identity, p.headless, cmp.Or(out.CWD, p.cwd)
		out.Shared = p.serves || s.summary.isSub() || p.mains > 1 && p.entry != s.id // after /new its terminal shows the one that the registry names
	}
	return out
}

// isCounted reports whether the tokens of a session are known: Grok Build records them at the end of each turn.
func (s *session) isCounted() bool { return !s.partly && s.updates.longLine == "" && s.updates.counted }

// settle finds which of the answers in the files count for which session: a fork repeats those of the session that it continues. What a session used includes
// its sub-agents (1.0.41).
func (d *discovery) settle() {
	var accounts []*kit.Account
	for _, s := range d.sessions {
		if s.isCounted() && !s.summary.isSub() {
			s.spent = &kit.Account{ID: s.id, Ledgers: []*kit.Ledger{&s.updates.ledger}, Last: s.updates.last, Model: s.events.model, CWD: s.summary.cwd, Branch: s.summary.branch}
			accounts = append(accounts, s.spent)
		}
	}
	d.answer.Settle(accounts)
}
