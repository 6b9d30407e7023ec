package gemini

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"rollcall/adapters"
	"rollcall/adapters/internal/kit"
)

// isListed reports whether a session has anything to show: Gemini CLI makes a file when it starts.
func (d *discovery) isListed(s *session) bool {
	if s.messages && (s.FirstPrompt != "" || s.turn.state != noTurn) || s.lost != "" {
		return true
	}
	_, typed := d.pending(s)
	return typed || s.owner != nil && s.owner.Headless
}

// decide derives the status of a session. unsettled reports that the title of the terminal can say more.
func (d *discovery) decide(s *session) (v adapters.State, unsettled bool) {
	said := d.lastTurn(s)
	if s.owner != nil && s.doubt == "" {
		return d.decideHosted(s, said)
	}
	outcome := s.turn.outcome
	switch {
	case s.turn.isOpen() && isObject(s.Path): // 0.29.0 does not record how a failed run ends
	case s.turn.isOpen():
		outcome = adapters.Died
	case outcome == adapters.Completed:
		outcome, said = d.answered(s, said)
	}
	v = d.Unowned(s.doubt, d.mayBeHidden(s), outcome, said)
	v.MayAsk = v.Status == adapters.Stopped && s.turn.outcome == adapters.Completed && v.Outcome == ""
	return v, false
}

// answered returns how the last turn ended of a session that no process has, and whose last record is a text. It can be one before a call that asked: see
// decideAnswered. A terminal logs nothing of what is typed while a turn runs or asks (0.61.0), so that the turn was over if something was typed after the text. A run for one prompt
// logs nothing at all, and asks nothing; what a process hosts for another program is not logged, and may ask.
func (d *discovery) answered(s *session, said string) (adapters.Outcome, string) {
	logID := d.logIDOf(s)
	for _, l := range d.log(s.project) {
		switch {
		case l.session != logID || !l.at.After(s.turn.at):
		case strings.HasPrefix(l.text, "/"):
			return adapters.Completed, said
		default:
			return "", said + fmt.Sprintf("; a prompt was typed at %s and is not recorded", kit.Clock(l.at, d.Now))
		}
	}
	isHosted := len(s.opened) > 0 && s.opened[len(s.opened)-1].hosted
	if logID == "" && !isHosted && !s.project.logLost {
		return adapters.Completed, said
	}
	return "", said + "; it answered, or asked for something (Gemini CLI does not record which)"
}

// mayBeHidden reports whether a process without a session may have this one, because something was not read.
func (d *discovery) mayBeHidden(s *session) bool {
	return (d.Hidden || s.project.hidden) && slices.ContainsFunc(d.processes, func(p *process) bool {
		return p.session == nil && p.mayUse(s.project)
	})
}

// decideHosted returns the state of a session that a live process has.
func (d *discovery) decideHosted(s *session, said string) (v adapters.State, unsettled bool) {
	p, t := s.owner, s.turn
	host := fmt.Sprintf("; process %d (%s)", p.PID, s.how)
	if prompt, ok := d.pending(s); ok {
		return kit.Unknown(fmt.Sprintf("a prompt was typed at %s and is not recorded yet: the session works on it, or it was a command for the shell",
			kit.Clock(prompt.at, d.Now)) + host), true
	}
	isOlder := p.BeganAfter(t.at)
	if isOlder && t.isOpen() {
		if p.isYoung(d.Now) || !kit.Latest(s.openedAt()...).Before(p.Started.Add(-kit.StartSlack)) {
			return kit.Idle(adapters.Died, said+", before the process that has it now began"+host), false
		}
		return kit.Unknown(said + ", before the process that has it now began, or the clock was set since" + host), true
	}
	if tool := d.tool(s); tool != "" && !isOlder && t.state != noTurn && t.outcome != adapters.Interrupted {
		return kit.Working(said + tool + host), false
	}
	switch sub := d.openSub(s); {
	case t.state == prompted && isObject(s.Path) && !p.Headless:
		return kit.Working(said + ", or waits for a permission: this version records a call only when it is over" + host), true
	case t.state == prompted:
		return kit.Working(said + host), false
	case sub != nil:
		return kit.Working(fmt.Sprintf("%s; sub-agent %.8s works", said, sub.id) + host), true
	case p.Headless && t.state == called:
		return kit.Working(said + ", and it runs without a terminal that could ask" + host), false
	case p.Headless && t.state == noTurn:
		return kit.Working("its prompt is not recorded yet" + host), false
	case t.state == called:
		return d.decideCalled(s, said, host), true
	case t.state == lost:
		return kit.Unknown(said + host), true
	}
	if t.outcome == adapters.Completed {
		return d.decideAnswered(s, said+host)
	}
	return kit.Idle(t.outcome, said+host), false
}

// decideCalled returns the state of a session with an open call that no process runs: it may be about to begin, and later it may wait for the user.
func (d *discovery) decideCalled(s *session, said, host string) adapters.State {
	began := s.turn.at
	for _, sub := range d.subs {
		if sub.parent == s && d.isOpen(sub) {
			began = kit.Latest(began, sub.turn.at)
		}
	}
	if d.Now.Sub(began).Abs() < quick && !isObject(s.Path) { // the record may be newer than the look
		return kit.Working(said + "; it may be about to begin" + host).Until(began.Add(quick))
	}
	v := kit.Unknown(said + noTool + host)
	v.MayAsk = true
	return v
}

// quick is how long after its record, or that of the text before it, a call may begin to run without asking.
const quick = 2 * time.Second

// decideAnswered returns the state of a session whose last record is a text: it is recorded before the calls that follow it in the same answer, and these
// only when they are over (0.61.0). A run for one prompt ends when its turn does.
func (d *discovery) decideAnswered(s *session, said string) (v adapters.State, unsettled bool) {
	switch {
	case s.owner.Headless:
		return kit.Working(said + "; its run is not over"), false
	case d.Now.Sub(s.turn.at).Abs() < quick && !isObject(s.Path): // the record may be newer than the look
		return kit.Working(said + "; it may go on with a call").Until(s.turn.at.Add(quick)), true
	}
	v = kit.Idle("", "your turn: it answered, or asks for something (Gemini CLI does not record which); "+said)
	v.MayAsk = true
	return v, true
}

// noTool is said of a call that no process runs.
const noTool = ", and no process runs for it: it waits for the user, or the tool needs no process"

// tool describes the child of a session's process that a call runs and that began after the last record of the turn; empty: there is none.
// Servers that were started with Gemini CLI are older.
func (d *discovery) tool(s *session) string {
	for _, c := range s.owner.Children {
		if env, err := d.Table.Env(c.Identity); err == nil && !c.Started.Before(s.turn.at.Add(-kit.StartSlack)) && kit.Get(env, "GEMINI_CLI") != "" {
			return fmt.Sprintf("; process %d runs for it", c.PID)
		}
	}
	return ""
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
	return p != nil && (p.owner != nil || p.doubt != "") && p.turn.state == called && !sub.at.Before(p.prompted)
}

// decideSub returns the state of a sub-agent of an open turn.
func (d *discovery) decideSub(s *session) adapters.State {
	said := d.lastTurn(s)
	if s.doubt != "" {
		return kit.Unknown(s.doubt + "; " + said)
	}
	host := fmt.Sprintf("; session %.8s in process %d started it and waits for it", s.parent.id, s.owner.PID)
	switch tool := d.tool(s); {
	case s.turn.state == called && tool == "":
		return kit.Unknown(said + noTool + host)
	case s.turn.state == called:
		return kit.Working(said + tool + host)
	case s.turn.state == lost, s.turn.state == noTurn:
		return kit.Unknown(said + host)
	}
	return kit.Working(said + host)
}

// lastTurn describes the last turn, for evidence.
func (d *discovery) lastTurn(s *session) string {
	t, when := s.turn, kit.Clock(s.turn.at, d.Now)
	switch {
	case s.lost != "" && (t.state == lost || t.state == noTurn):
		return "format not recognised: " + s.lost
	case t.state == noTurn:
		return "no turn yet"
	case t.isOpen():
		return fmt.Sprintf("turn open since %s: %s (%s)", kit.Clock(s.prompted, d.Now), t.why, when)
	}
	if t.outcome == adapters.Completed {
		return "last record: an answer, " + when
	}
	return "last turn " + cmp.Or(string(t.outcome), "ended") + " " + when + kit.Quoted(t.why)
}

// addSessions adds the sessions and processes that the query asks for to the answer.
func (d *discovery) addSessions() {
	if d.Query.Usage {
		d.settle()
	}
	verdicts := map[*session]adapters.State{}
	var unsettled []*session
	for _, s := range d.sessions {
		if d.isListed(s) {
			v, more := d.decide(s)
			verdicts[s] = v
			if more && kit.Asked(d.Query, s.id) {
				unsettled = append(unsettled, s)
			}
		}
	}
	d.askTerminals(verdicts, unsettled)
	for _, s := range d.sessions {
		if v := verdicts[s]; v.Status != "" {
			d.Add(d.row(s, v))
		}
	}
	for _, s := range d.subs {
		if d.isOpen(s) {
			row := d.row(s, d.decideSub(s))
			row.Parent = s.parent.id
			row.Shared = true
			row.NoResume = "Gemini CLI resumes no sub-agents"
			row.CWD = s.parent.project.cwd
			d.Add(row)
		}
	}
	for _, p := range d.processes {
		if p.session == nil || verdicts[p.session].Status == "" {
			d.AddProcess(d.processRow(p))
		}
	}
}

// row returns a session for the answer.
func (d *discovery) row(s *session, v adapters.State) adapters.Session {
	out := adapters.Session{
		ID: s.id, Agent: Name, Model: s.model, Files: s.paths,
		State: v,
		Place: adapters.Place{CWD: s.project.cwd, Home: s.project.home},
		Topic: s.Topic,
		Spent: adapters.Spent{Tokens: s.tokens(), Context: adapters.Context{Used: s.context}},
		Times: adapters.Times{StartedAt: s.at, LastActivityAt: kit.Latest(s.last, s.at), TurnStartedAt: s.prompted},
	}
	if prompt, ok := d.pending(s); ok && v.Status != adapters.Idle {
		out.LastPrompt = prompt.text
		out.TurnStartedAt = prompt.at
		out.LastActivityAt = kit.Latest(out.LastActivityAt, prompt.at)
		out.FirstPrompt = cmp.Or(out.FirstPrompt, prompt.text)
	}
	if !s.resumes {
		out.NoResume = "Gemini CLI refuses it, since its file has no header, or no prompt that was not taken back"
	}
	if s.owner != nil && v.Status != adapters.Stopped && s.doubt == "" {
		out.Process, out.Shared = s.owner.Identity, s.owner.sessions > 1
		if v.Status == adapters.Idle && !out.Shared {
			out.Background = d.shells(s)
		}
	}
	out.Usage = s.spent.Steps()
	return out
}

// processRow returns the row of a process without a session.
func (d *discovery) processRow(p *process) adapters.Session {
	hidden := d.Hidden || slices.ContainsFunc(d.projects, func(in *project) bool { return in.hidden && p.mayUse(in) })
	doubt := slices.ContainsFunc(d.sessions, func(s *session) bool { return s.doubt != "" && (p.mayUse(s.project) || p.MayHaveLeft(s.project.cwd)) })
	return p.Row(d.Look, hidden, false, doubt)
}

// tokens returns the session's totals, and nil when they are not known.
func (s *session) tokens() *adapters.Tokens {
	if s.unsure {
		return nil
	}
	return new(kit.TokensOf(s.ledgers...))
}

// settle finds which of the answers in the files count for which session. Those of sub-agents that are over count for their parent.
func (d *discovery) settle() {
	var accounts []*kit.Account
	for _, s := range slices.Concat(d.sessions, d.subs) {
		up := s.parent
		switch own := s.file.parent == "" || d.isOpen(s); {
		case own && !s.unsure:
			s.spent = &kit.Account{ID: s.id, Ledgers: s.ledgers, Last: kit.Latest(s.last, s.at), Model: s.model, CWD: s.project.cwd}
			accounts = append(accounts, s.spent)
		case !own && up == nil:
			d.Report.LeaveOutAll(kit.NoSession, s.ledgers...)
		case own, s.unsure, up.spent == nil:
			d.Report.LeaveOut(kit.NotReadable, len(s.ledgers))
		default:
			up.spent.Agents = append(up.spent.Agents, s.ledgers...)
		}
	}
	d.Report.Settle(accounts)
}
