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
func (d *discovery) decide(s *session) adapters.State {
	said, t := d.lastTurn(s), &s.events.turn
	switch {
	case len(s.owners) == 0 && d.Homes.NoTable:
		return kit.Unknown(said + "; the process table can't be read")
	case len(s.owners) == 0 && d.mayBeLive(s):
		return kit.Unknown(said + "; a process of Grok Build may have it, whose open files can't be seen")
	case len(s.owners) == 0:
		return d.decideStopped(s, said)
	case s.unread:
		return kit.Unknown(fmt.Sprintf("its records could not be read; process %d", s.owner().PID))
	case s.events.known > 0 && !strings.HasPrefix(s.events.schema, formPrefix):
		return kit.Unknown(fmt.Sprintf("the form %q of its records is not known: 1.0 is; process %d", kit.PlainWord(s.events.schema), s.owner().PID))
	case t.open && t.lost == "":
		return d.decideOpen(s, said)
	}
	said += fmt.Sprintf("; process %d", s.owner().PID)
	switch {
	case t.lost != "":
		return kit.Unknown(said)
	case s.events.known == 0 && s.owner().Headless:
		return kit.Working("its prompt is not recorded yet; " + said)
	}
	return kit.Idle(t.outcome, said)
}

// The evidence for a prompt that was taken back, and that this is not known.
const (
	wasTaken = "; the log says that its prompt was taken back before the first word of the answer"
	mayTaken = ", or its prompt was taken back before the first word of the answer, of which the log does not reach back to the turn"
)

// decideStopped returns the state of a session without a process.
func (d *discovery) decideStopped(s *session, said string) adapters.State {
	t := &s.events.turn
	if !t.open || t.lost != "" {
		return kit.Stopped(t.outcome, "no process has it; "+said)
	}
	taken, known := d.takenBack(s)
	switch {
	case t.spoke, s.summary.kind == "headless", known && !taken:
		return kit.Stopped(adapters.Died, "no process has it; "+said)
	case taken:
		return kit.Stopped("", "no process has it; "+said+wasTaken)
	}
	return kit.Stopped("", "no process has it; "+said+mayTaken)
}

// firstWord is the time within which the first word of an answer comes. Until then the user can take the prompt back.
const firstWord = 30 * time.Second

// decideOpen returns the state of a session with an open turn that a process has.
func (d *discovery) decideOpen(s *session, said string) adapters.State {
	writer, none, doubt := d.writer(s)
	if writer != nil {
		s.owners[0] = writer
	}
	said += fmt.Sprintf("; process %d", s.owner().PID)
	switch {
	case none, !doubt && writer == nil && s.isOlder():
		return kit.Idle(adapters.Died, said+" did not begin the turn")
	case doubt:
		return kit.Unknown(said + " has it, and it is not known whether it, or another one that has it, is in the turn")
	case s.events.turn.spoke, s.owner().Headless:
		return d.decideTurn(s, said)
	}
	last := kit.Latest(s.events.last, s.updates.last)
	taken, known := d.takenBack(s)
	switch {
	case taken:
		return kit.Idle("", said+wasTaken)
	case !known && d.Now.Sub(last).Abs() >= firstWord:
		return kit.Unknown(said + mayTaken)
	case !known:
		return d.decideTurn(s, said).Until(last.Add(firstWord))
	}
	return d.decideTurn(s, said)
}

// decideTurn returns the state of a session that is in a turn.
func (d *discovery) decideTurn(s *session, said string) adapters.State {
	t := &s.events.turn
	doing, _ := s.updates.doing()
	limit := kit.Delay(ownDecision, d.Table.Pressure())
	asks := slices.IndexFunc(t.asked, func(a asked) bool { return d.Now.Sub(a.at).Abs() >= limit })
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
		return fmt.Sprintf("turn open since %s: %s, %s ago", kit.Clock(t.at, d.Now), cmp.Or(strings.ReplaceAll(t.phase, "_", " "), "it begins"),
			kit.Span(d.Now.Sub(s.events.last)))
	}
	why := ""
	if t.outcome == adapters.Failed {
		why = kit.Quoted(s.updates.retry)
	}
	return fmt.Sprintf("last turn %s %s%s", cmp.Or(string(t.outcome), "ended"), kit.Clock(s.events.last, d.Now), why)
}

// addSessions adds the sessions and processes that the query asks for to the answer.
func (d *discovery) addSessions() {
	if d.Query.Usage {
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
		isEmpty := s.events.known == 0 && s.updates.firstPrompt == "" && !s.partly // every start of a terminal makes one, which Grok Build does not list either
		if row.Status != adapters.Stopped || !isEmpty {
			d.Add(row)
		}
	}
	for _, p := range d.processes {
		has := slices.ContainsFunc(d.sessions, func(s *session) bool { return slices.Contains(s.owners, p) })
		if row, ok := d.processRow(p); ok && !has {
			d.AddProcess(row)
		}
	}
}

// turnStarted returns when the turn of the last prompt began. The end of a task begins one without a prompt.
func (s *session) turnStarted() time.Time {
	if s.updates.byItself {
		return s.updates.prompted
	}
	return cmp.Or(s.events.turn.at, s.updates.prompted)
}

// row returns a session for the answer.
func (s *session) row() adapters.Session {
	u, v := &s.updates, s.verdict
	out := adapters.Session{
		ID: s.id, Agent: Name, Model: s.events.model, Files: []string{s.path("updates.jsonl"), s.Path},
		State: v,
		Owner: adapters.Owner{Headless: s.summary.kind == "headless"},
		Place: adapters.Place{CWD: s.summary.cwd, Branch: s.summary.branch, Home: s.Home},
		Topic: adapters.Topic{Title: s.summary.titleBeside(u.firstPrompt), FirstPrompt: u.firstPrompt, LastPrompt: u.lastPrompt},
		Spent: adapters.Spent{Context: adapters.Context{Used: u.context}, Usage: s.spent.Steps()},
		Times: adapters.Times{StartedAt: s.summary.created, LastActivityAt: kit.Latest(s.events.last, u.last, s.summary.created),
			TurnStartedAt: s.turnStarted()},
	}
	if v.Status != adapters.Stopped {
		out.Doing, out.DoingSince = u.doing()
	}
	if p := s.owner(); p != nil && v.Status == adapters.Idle { // tasks of a process that was killed stay recorded
		out.Background = slices.DeleteFunc(slices.Clone(u.tasks), func(b adapters.Background) bool { return b.Since.Before(p.Started) })
	}
	if s.isCounted() {
		out.Tokens = new(u.ledger.Tokens())
	}
	if s.above != nil {
		out.Parent = s.above.id
	}
	if p := s.owner(); p != nil && v.Status != adapters.Stopped {
		shared := p.Hosts || s.summary.isSub() || p.mains > 1 && p.entry != s.id // after /new its terminal shows the one that the registry names
		out.Owner = adapters.Owner{Process: p.Identity, Shared: shared, Headless: p.Headless}
		out.CWD = cmp.Or(out.CWD, p.CWD)
	}
	return out
}

// isCounted reports whether the tokens of a session are known: Grok Build records them at the end of each turn.
func (s *session) isCounted() bool { return !s.partly && s.updates.longLine == "" && s.updates.counted }

// settle finds which of the answers in the files count for which session: a fork repeats those of the session that it continues. What a turn used includes its
// sub-agents (1.0.41); those of a turn that never ended count by themselves.
func (d *discovery) settle() {
	included := map[string]bool{}
	for _, s := range d.sessions {
		for _, id := range s.updates.included {
			included[id] = included[id] || s.isCounted()
		}
	}
	var accounts []*kit.Account
	for _, s := range d.sessions {
		switch {
		case !s.isCounted():
		case s.summary.isSub() && included[s.id]:
			s.spent = &kit.Account{Usage: []adapters.Usage{}}
		default:
			s.spent = &kit.Account{ID: s.id, Ledgers: []*kit.Ledger{&s.updates.ledger}, Last: s.updates.last, Model: s.events.model, CWD: s.summary.cwd, Branch: s.summary.branch}
			accounts = append(accounts, s.spent)
		}
	}
	d.Report.Settle(accounts)
}
