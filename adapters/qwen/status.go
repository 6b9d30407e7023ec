package qwen

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"rollcall/adapters"
	"rollcall/adapters/internal/agentfile"
	"rollcall/adapters/internal/kit"
)

// The tools that say what an open call means (0.15.6, 0.24.4).
const (
	questionTool = "ask_user_question"
	shellTool    = "run_shell_command"
	agentTool    = "agent"
	exitPlan     = "exit_plan_mode"
)

// asksQuestion is how `qwen serve` and the Agent Client Protocol call a request of questionTool (0.24.4).
const asksQuestion = "user_question"

// quickTools are tools without a process that take milliseconds.
var quickTools = []string{"edit", "write_file", "read_file", "read_many_files", "list_directory", "glob", "grep_search", "todo_write", exitPlan, "notebook_edit"}

// unclear is said of a call of which it is not known whether it runs.
const unclear = ": it waits for the user, or runs without a process; "

// quick is how long a call may be open without waiting for the user: a command has no process at first.
const quick = 2 * time.Second

// slow is how long the result of a command can take until it is recorded, beside quick, while programs wait for a processor all the time: 6 s to 14 s
// (0.24.4), and 0.3 s to 2 s otherwise.
const slow = 14 * time.Second

// firstWord is the time within which the first word of an answer comes. Until then the user can take the prompt back without a record (0.24.4).
const firstWord = 30 * time.Second

// floor is the first version whose processes are in a registry.
var floor = kit.Floor{Title: "Qwen Code", Version: "0.24"}

// silence is how long a call may be open, and its command have ended, without waiting for the user.
func (d *discovery) silence() time.Duration {
	return quick + time.Duration(d.Table.Pressure()*float64(slow))
}

// noteRan notes that a process runs now for the open calls of a session.
func (d *discovery) noteRan(s *session) {
	d.ranLock.Lock()
	defer d.ranLock.Unlock()
	if d.ran == nil {
		d.ran = map[string]ran{}
	}
	d.ran[s.Path] = ran{s.turn.at, d.Now}
}

// lastRan returns when a process was last seen that ran for the open calls of a session; the zero time if none was.
func (d *discovery) lastRan(s *session) time.Time {
	d.ranLock.Lock()
	defer d.ranLock.Unlock()
	if last := d.ran[s.Path]; last.called.Equal(s.turn.at) {
		return last.seen
	}
	delete(d.ran, s.Path)
	return time.Time{}
}

// ran is when a process was last seen that ran for the calls of a time.
type ran struct{ called, seen time.Time }

// decide derives the status of a session.
func (d *discovery) decide(s *session) adapters.State {
	said := d.lastTurn(s)
	switch {
	case s.doubt != "":
		return kit.Unknown(s.doubt + "; " + said)
	case s.owner != nil:
		return d.decideHosted(s, said)
	case d.Homes.NoTable:
		return kit.Unknown("the process table can't be read; " + said)
	case d.isNew(s):
		return kit.Unknown("a server of several sessions names a new one in the registry only after a moment; " + said)
	case d.Hidden && slices.ContainsFunc(d.processes, func(p *process) bool { return len(p.sessions) == 0 && p.Uses(s.Home) && p.At(s.cwd) }):
		return kit.Unknown("not all sessions could be read, so that it is not known which one a process has; " + said)
	}
	outcome, said := s.left(said)
	return kit.Stopped(outcome, "no process has it; "+said)
}

// left returns the outcome of the last turn if no process goes on with it, and what is said of that. In a terminal, and over the Agent Client Protocol, the
// turn may have been over: nothing is recorded when the user takes a prompt back before the first word of the answer (0.24.4).
func (s *session) left(said string) (adapters.Outcome, string) {
	outcome := s.turn.left()
	if outcome == adapters.Died && s.turn.state == prompted && s.inTerminal && s.promptID == "" {
		return "", said + ", or it was interrupted before the first word of the answer, which is not recorded"
	}
	return outcome, said
}

// isNew reports whether a session may be one that `qwen serve` was just given: the registry names it up to a second after its first record (0.24.4).
func (d *discovery) isNew(s *session) bool {
	return s.owner == nil && s.promptID != "" && (s.turn.state == prompted || s.turn.state == called) && d.Now.Sub(s.turn.at).Abs() < quick &&
		slices.ContainsFunc(d.processes, func(p *process) bool { return (p.serves || p.Hosts) && p.Uses(s.Home) })
}

// decideHosted returns the state of a session that a live process has.
func (d *discovery) decideHosted(s *session, said string) adapters.State {
	host := fmt.Sprintf("process %d (%s)", s.owner.PID, s.how)
	t := s.turn
	runs, _ := s.tool(t.at) // a call that is not recorded yet
	switch {
	case s.last.Before(s.owner.began) && (t.state == prompted || t.state == called):
		outcome, said := s.left(said)
		return kit.Idle(outcome, said+", before the process that has it now began; "+host)
	case t.state == prompted && runs != "":
		return kit.Working(said + "; " + runs + "; " + host)
	case t.state == prompted && d.isReady(s):
		return kit.Idle("", said+"; its terminal's title shows no turn: the prompt was taken back, or given up; "+host)
	case t.state == prompted && d.mayBeTakenBack(s):
		return kit.Unknown(said + ": it works, or was interrupted before the first word of the answer, which is not recorded; " + host)
	case t.state == prompted:
		return kit.Working(said + "; " + host)
	case t.state == called:
		v := d.decideCalled(s, said, host)
		if v.Status == adapters.Waiting && floor.IsOlder(s.version) {
			return floor.Unknown(s.version, said+"; "+host)
		}
		return v
	case t.state == lost:
		return kit.Unknown(said + "; " + host)
	case t.state == noTurn && s.owner.Headless:
		return kit.Working("its prompt is not recorded yet; " + host)
	case d.goesOn(s):
		return kit.Working(said + ", but its terminal's title shows a turn: the model was asked again without a record; " + host)
	}
	return kit.Idle(t.outcome, said+"; "+host)
}

// mayBeTakenBack reports whether the user may have taken the last prompt of a session back, since the time in which a first word comes is over and no title
// shows a turn. A run for one prompt takes none back; what versions below the floor do was not looked at.
func (d *discovery) mayBeTakenBack(s *session) bool {
	return !s.owner.Headless && s.promptID == "" && !floor.IsOlder(s.version) && d.title(s) == noTitle && d.Now.Sub(s.last) >= firstWord
}

// decideCalled returns the state of a session with open calls: a call is recorded when the model makes it, and nothing when it begins to run.
func (d *discovery) decideCalled(s *session, said, host string) adapters.State {
	has := func(tools ...string) bool {
		return slices.ContainsFunc(s.calls, func(c call) bool { return slices.Contains(tools, c.tool) })
	}
	asks := s.owner.Mode != "yolo"
	tool, unsure := s.tool(s.turn.at)
	switch {
	case agentfile.True(agentfile.Get(s.status, "isWaitingForPermission")):
		return kit.Waiting(adapters.ForPermission, said+", and its server waits for a permission; "+host)
	case agentfile.True(agentfile.Get(s.status, "isWaitingForUserQuestion")):
		return kit.Waiting(adapters.ForQuestion, said+", and its server waits for an answer; "+host)
	case s.status != nil:
		return kit.Working(said + ", and its server waits for no answer; " + host)
	case tool != "":
		d.noteRan(s)
		return kit.Working(said + "; " + tool + "; " + host)
	case s.owner.Headless:
		return kit.Working(said + ", and it runs without a terminal that could ask; " + host)
	case has(questionTool):
		return kit.Waiting(adapters.ForQuestion, said+"; "+host)
	case d.title(s) == titleAsks:
		return kit.Waiting(adapters.ForPermission, said+"; its terminal's title says that it waits; "+host)
	case d.title(s) != noTitle:
		return kit.Working(said + "; its terminal's title says that it does not wait; " + host)
	case d.Now.Sub(s.turn.at).Abs() < d.silence(): // it may be about to run; a call of the future is one of before the clock was set back
		return kit.Working(said + "; " + host).Until(s.turn.at.Add(d.silence()))
	case d.Now.Sub(d.lastRan(s)) < d.silence():
		return kit.Working(said + "; its command has ended, and the result is recorded after some seconds; " + host).Until(d.lastRan(s).Add(d.silence()))
	case has(shellTool) && asks && unsure:
		return kit.Unknown(said + ": it runs or waits for the user, and the clock was set back since then; " + host)
	case has(shellTool) && asks:
		return kit.Waiting(adapters.ForPermission, said+", and no process runs for it; "+host)
	case has(agentTool):
		return kit.Working(said + ", a sub-agent; " + host)
	case !slices.ContainsFunc(s.calls, func(c call) bool { return !slices.Contains(quickTools, c.tool) }) && asks:
		return kit.Waiting(adapters.ForPermission, said+" for longer than it takes; "+host)
	}
	return kit.Unknown(said + unclear + host)
}

// decideSub returns the state of a sub-agent that runs.
func (d *discovery) decideSub(s *session) adapters.State {
	said, host := d.lastTurn(s), fmt.Sprintf("session %.8s in process %d started it", s.above.id, s.above.owner.PID)
	if s.turn.state == called {
		if tool, _ := s.above.tool(s.turn.at); tool != "" {
			said += "; " + tool
		} else if d.Now.Sub(s.turn.at) >= quick {
			return kit.Unknown(said + unclear + host)
		}
	}
	return kit.Working(said + "; " + host)
}

// lastTurn describes the last turn, for evidence.
func (d *discovery) lastTurn(s *session) string {
	t, when := s.turn, kit.Clock(s.turn.at, d.Now)
	switch t.state {
	case noTurn:
		return "no turn yet"
	case prompted:
		text := fmt.Sprintf("turn open since %s: %s (%s)", kit.Clock(s.prompted, d.Now), t.why, when)
		if t.failure != "" {
			text += ", and a request to it failed" + kit.Quoted(t.failure)
		}
		return text
	case called:
		var tools []string
		for _, c := range s.calls {
			tools = kit.AppendNew(tools, cmp.Or(kit.PlainWord(c.tool), "a tool"))
		}
		return fmt.Sprintf("turn open since %s: a call of %s is open (%s)", kit.Clock(s.prompted, d.Now), strings.Join(tools, ", "), when)
	case lost:
		return "format not recognised: " + s.longLine
	}
	return fmt.Sprintf("last turn %s %s%s", t.outcome, when, kit.Quoted(t.why))
}

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
			row.Parent = s.parent
			d.Add(row)
		}
	}
	for _, p := range d.processes {
		doubt := slices.ContainsFunc(d.sessions, func(s *session) bool { return s.doubt != "" && p.At(s.cwd) && cmp.Or(p.Home, s.Home) == s.Home })
		if len(p.sessions) == 0 {
			d.AddProcess(p.Row(d.Look, d.Hidden, len(p.entries) > 0, doubt)) // with an entry, nothing was typed yet
		}
	}
}

// row returns a session for the answer.
func (d *discovery) row(s *session, v adapters.State) adapters.Session {
	out := adapters.Session{
		ID: s.id, Agent: Name, Model: s.model, Files: []string{s.Path},
		State: v,
		Place: adapters.Place{CWD: s.cwd, Branch: s.branch, Home: s.Home},
		Topic: s.Topic,
		Spent: adapters.Spent{Context: adapters.Context{Used: s.context}},
		Times: adapters.Times{StartedAt: s.at, LastActivityAt: s.last, TurnStartedAt: s.prompted},
	}
	if s.longLine == "" {
		out.Tokens = new(s.ledger.Tokens())
	}
	if s.owner != nil && v.Status != adapters.Stopped && s.doubt == "" {
		out.Process, out.Shared = s.owner.Identity, s.owner.serves || s.owner.Hosts && len(s.owner.sessions) > 1
		if v.Status == adapters.Idle {
			out.Background = d.shells(s)
		}
	}
	out.Usage = s.spent.Steps()
	return out
}

// settle finds which of the answers in the files count for which session. Those of sub-agents that are over count for their parent.
func (d *discovery) settle() {
	var accounts []*kit.Account
	for _, s := range slices.Concat(d.sessions, d.subs) {
		switch {
		case s.longLine == "" && (s.parent == "" || s.runs()):
			s.spent = &kit.Account{ID: s.id, Ledgers: []*kit.Ledger{&s.ledger}, Last: s.last, Model: s.model, CWD: s.cwd, Branch: s.branch}
			accounts = append(accounts, s.spent)
		case s.parent == "":
		case s.above == nil:
			d.Report.LeaveOut(kit.NoSession, 1)
		case s.longLine != "" || s.above.spent == nil:
			d.Report.LeaveOut(kit.NotReadable, 1)
		default:
			s.ledger.SetModel(s.model)
			s.above.spent.Ledgers = append(s.above.spent.Ledgers, &s.ledger)
		}
	}
	d.Report.Settle(accounts)
}
