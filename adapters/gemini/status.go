package gemini

import (
	"fmt"
	"slices"

	"rollcall/adapters"
	"rollcall/adapters/internal/kit"
)

// isListed reports whether a session has anything to show: Gemini CLI makes a file when it starts.
func (d *discovery) isListed(s *session) bool {
	if s.messages && (s.firstPrompt != "" || s.turn.state != noTurn) || s.lost != "" {
		return true
	}
	_, typed := d.pending(s)
	return typed || s.owner != nil && s.owner.Headless
}

// decide derives the status of a session. unsettled reports that the title of the terminal can say more.
func (d *discovery) decide(s *session) (v kit.Verdict, unsettled bool) {
	said := d.lastTurn(s)
	switch {
	case s.doubt != "":
		return kit.Unknown(s.doubt + "; " + said), false
	case s.owner != nil:
		return d.decideHosted(s, said)
	case d.noTable:
		return kit.Unknown("the process table can't be read; " + said), false
	case d.mayBeHidden(s):
		return kit.Unknown("not all sessions could be read, so that it is not known which one a process has; " + said), false
	}
	outcome := s.turn.outcome
	if s.turn.state == prompted || s.turn.state == called {
		outcome = adapters.Died
		if isObject(s.Path) { // 0.29.0 does not record how a failed run ends
			outcome = ""
		}
	}
	return kit.Stopped(outcome, "no process has it; "+said), false
}

// mayBeHidden reports whether a process without a session may have this one, because something was not read.
func (d *discovery) mayBeHidden(s *session) bool {
	return (d.partial || s.project.hidden) && slices.ContainsFunc(d.processes, func(p *process) bool {
		return p.session == nil && p.mayUse(s.project)
	})
}

// decideHosted returns the verdict on a session that a live process has.
func (d *discovery) decideHosted(s *session, said string) (v kit.Verdict, unsettled bool) {
	p := s.owner
	host := fmt.Sprintf("process %d (%s)", p.PID, s.how)
	if prompt, ok := d.pending(s); ok {
		return kit.Unknown(fmt.Sprintf("a prompt was typed at %s and is not recorded yet: the session works on it, or it was a command for the shell; %s",
			kit.Clock(prompt.at, d.now), host)), true
	}
	t := s.turn
	if t.at.Before(p.Started) && (t.state == prompted || t.state == called) {
		return kit.Idle(adapters.Died, said+", before the process that has it now began; "+host), false
	}
	since := t.at
	if t.results.After(since) {
		since = t.results
	}
	if tool, runs := d.tool(p, since.Add(-kit.StartSlack)); runs && t.state != noTurn && t.outcome != adapters.Interrupted {
		return kit.Working(fmt.Sprintf("%s; process %d runs for it; %s", said, tool.PID, host)), false
	}
	switch t.state {
	case prompted:
		if isObject(s.Path) && !p.Headless {
			return kit.Working(said + ", or waits for a permission: this version records a call only when it is over; " + host), true
		}
		return kit.Working(said + "; " + host), false
	case called:
		switch sub := d.openSub(s); {
		case sub != nil:
			return kit.Working(fmt.Sprintf("%s; sub-agent %.8s works; %s", said, sub.id, host)), true
		case p.Headless:
			return kit.Working(said + ", and it runs without a terminal that could ask; " + host), false
		}
		return kit.Unknown(said + ", and no process runs for it: it waits for the user, or the tool needs no process; " + host), true
	case lost:
		return kit.Unknown(said + "; " + host), true
	case noTurn:
		if p.Headless {
			return kit.Working("its prompt is not recorded yet; " + host), false
		}
	}
	return kit.Idle(t.outcome, said+"; "+host), t.outcome == adapters.Completed && !p.Headless
}

// openSub returns a sub-agent of the open turn that works.
func (d *discovery) openSub(s *session) *session {
	for _, sub := range d.subs {
		if sub.parent == s && d.isOpen(sub) && sub.turn.state == prompted {
			return sub
		}
	}
	return nil
}

// isOpen reports whether a sub-agent belongs to the open turn of its parent.
func (d *discovery) isOpen(sub *session) bool {
	p := sub.parent
	return p != nil && p.owner != nil && p.turn.state == called && !sub.at.Before(p.prompted)
}

// decideSub returns the verdict on a sub-agent of an open turn.
func (d *discovery) decideSub(s *session) kit.Verdict {
	said := d.lastTurn(s)
	host := fmt.Sprintf("session %.8s in process %d started it and waits for it", s.parent.id, s.owner.PID)
	switch s.turn.state {
	case called:
		if tool, runs := d.tool(s.owner, s.turn.at.Add(-kit.StartSlack)); runs {
			return kit.Working(fmt.Sprintf("%s; process %d runs for it; %s", said, tool.PID, host))
		}
		return kit.Unknown(said + ", and no process runs for it: it waits for the user, or the tool needs no process; " + host)
	case lost, noTurn:
		return kit.Unknown(said + "; " + host)
	}
	return kit.Working(said + "; " + host)
}

// lastTurn describes the last turn, for evidence.
func (d *discovery) lastTurn(s *session) string {
	t, when := s.turn, kit.Clock(s.turn.at, d.now)
	switch t.state {
	case noTurn:
		if s.lost != "" {
			return "format not recognised: " + s.lost
		}
		return "no turn yet"
	case prompted:
		return fmt.Sprintf("turn open since %s: %s (%s)", kit.Clock(s.prompted, d.now), t.why, when)
	case called:
		return fmt.Sprintf("turn open since %s: a call is open (%s)", kit.Clock(s.prompted, d.now), when)
	case lost:
		return "format not recognised: " + s.lost
	}
	switch t.outcome {
	case adapters.Completed:
		return "last turn completed " + when
	case adapters.Interrupted:
		return "last turn interrupted " + when
	case adapters.Failed:
		return "last turn failed " + when + kit.Quoted(t.why)
	}
	return "last turn ended " + when + kit.Quoted(t.why)
}

// addSessions adds the sessions and processes that the query asks for to the answer.
func (d *discovery) addSessions() {
	if d.query.Usage {
		d.settle()
	}
	verdicts := map[*session]kit.Verdict{}
	var unsettled []*session
	for _, s := range d.sessions {
		if !d.isListed(s) {
			continue
		}
		v, more := d.decide(s)
		if verdicts[s] = v; more && d.queried(s.id) {
			unsettled = append(unsettled, s)
		}
	}
	d.askTerminals(verdicts, unsettled)
	for _, s := range d.sessions {
		v, listed := verdicts[s]
		if !listed || !d.queried(s.id) {
			continue
		}
		row := d.row(s, v)
		if len(d.query.IDs) == 0 && row.Status == adapters.Stopped && row.LastActivityAt.Before(d.query.Since) {
			continue
		}
		d.answer.AddOnce(row, "several homes have the session", func(s *adapters.Session) bool { return s.Live() })
	}
	for _, s := range d.subs {
		if d.isOpen(s) && s.doubt == "" && d.queried(s.id) {
			row := d.row(s, d.decideSub(s))
			row.Parent, row.Shared = s.parent.id, true
			row.CWD = s.parent.project.cwd
			d.answer.AddOnce(row, "several homes have the session", func(s *adapters.Session) bool { return s.Live() })
		}
	}
	for _, p := range d.processes {
		if p.session == nil || verdicts[p.session].Status == "" {
			if row := d.processRow(p); d.queried(row.ID) {
				d.answer.Add(row)
			}
		}
	}
}

func (d *discovery) queried(id string) bool {
	return len(d.query.IDs) == 0 || slices.Contains(d.query.IDs, id)
}

// row returns a session for the answer.
func (d *discovery) row(s *session, v kit.Verdict) adapters.Session {
	out := adapters.Session{
		ID: s.id, Agent: Name, Status: v.Status, WaitingFor: v.WaitingFor, Outcome: v.Outcome, Evidence: v.Evidence,
		CWD: s.project.cwd, Model: s.model, Title: s.title, FirstPrompt: s.firstPrompt, LastPrompt: s.lastPrompt,
		Doing: s.doing, DoingSince: s.doingAt, Tokens: s.tokens(), Context: adapters.Context{Used: s.context},
		StartedAt: s.at, LastActivityAt: latest(s.last, s.at), TurnStartedAt: s.prompted, Files: s.paths, Home: s.project.home,
	}
	if prompt, ok := d.pending(s); ok && v.Status != adapters.Idle {
		out.LastPrompt, out.TurnStartedAt, out.LastActivityAt = prompt.text, prompt.at, latest(out.LastActivityAt, prompt.at)
		if out.FirstPrompt == "" {
			out.FirstPrompt = prompt.text
		}
	}
	if s.owner != nil && v.Status != adapters.Stopped && s.doubt == "" {
		out.Process = s.owner.Identity
	}
	if s.spent != nil {
		out.Usage = s.spent.Usage
	}
	return out
}

// processRow returns the row of a process without a session.
func (d *discovery) processRow(p *process) adapters.Session {
	hidden := d.partial || slices.ContainsFunc(d.projects, func(in *project) bool { return in.hidden && p.mayUse(in) })
	doubt := slices.ContainsFunc(d.sessions, func(s *session) bool { return s.doubt != "" && p.mayUse(s.project) })
	return p.Row(Name, &d.homes, hidden, false, doubt)
}
