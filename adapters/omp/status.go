package omp

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"rollcall/adapters"
	"rollcall/adapters/internal/kit"
	"rollcall/proc"
)

// The tools that say what an open call means (18.2.3).
const (
	askTool   = "ask"
	shellTool = "bash"
)

// retryTime and limitTime are longer than failed requests are tried again: ten times, with pauses of up to 8 s, or as long as a server that limits its use
// says, up to 5 minutes (18.2.3). Only the first failure is recorded.
const (
	retryTime = 10 * time.Minute
	limitTime = time.Hour
)

// ownSockets is how many sockets a process has without a connection: Bun's own (18.2.3 with Bun 1.3.14). A first turn has no file only while the model answers.
const ownSockets = 3

// decide derives the status of a session.
func (d *discovery) decide(s *session) adapters.State {
	said := d.lastTurn(s)
	if s.owner != nil && s.doubt == "" {
		return d.decideHosted(s, said)
	}
	mayHave := func(p *process) bool { return p.isUnmatched() && p.Uses(s.Home) && p.CWD == s.cwd }
	return d.Unowned(s.doubt, d.Hidden && slices.ContainsFunc(d.processes, mayHave), s.turn.left(), said)
}

// decideHosted returns the state of a session that a live process has.
func (d *discovery) decideHosted(s *session, said string) adapters.State {
	p, t, title := s.owner, s.turn, d.titleOf(s.owner)
	host := fmt.Sprintf("; process %d (%s)", p.PID, s.how)
	open := t.isOpen() || t.state == injected
	switch {
	case s.newer || t.state == lost:
		return kit.Unknown(said + host)
	case open && p.BeganAfter(t.at) && !p.SetBack:
		return kit.Idle(t.left(), said+", before the process that has it now began"+host)
	case open && isBelowFloor(p.version):
		return kit.Unknown(fmt.Sprintf("%s; what it does is known from oh-my-pi %d on, and not of %s%s", said, floor, kit.PlainWord(p.version), host))
	case t.state == prompted, t.state == noTurn && p.Headless:
		return kit.Working(said + host)
	case open && title == titleWorks:
		return kit.Working(said + "; its terminal's title says that it works" + host)
	case t.state == called:
		return d.decideCalled(s, said, host)
	case t.state == failing && title != titleReady:
		return d.decideFailing(s, said, host)
	case t.state == injected && title != titleReady:
		return kit.Unknown(said + ", which may have begun a turn" + host)
	}
	return kit.Idle(t.left(), said+host)
}

// decideFailing returns the state of a session whose last request failed: that it is tried again is not recorded.
func (d *discovery) decideFailing(s *session, said, host string) adapters.State {
	until := s.turn.at.Add(retryTime)
	if s.turn.status == http.StatusTooManyRequests || s.turn.status == 0 {
		until = s.turn.at.Add(limitTime)
	}
	if d.Now.After(until) {
		return kit.Idle(adapters.Failed, said+host)
	}
	return kit.Unknown(said + ": it is tried again, or was given up, which is not recorded" + host).Until(until)
}

// decideCalled returns the state of a session with open calls: a call is recorded before the user is asked for a permission, and its shell is inside of the
// process.
func (d *discovery) decideCalled(s *session, said, host string) adapters.State {
	p := s.owner
	switch asks := slices.ContainsFunc(s.calls, func(c call) bool { return c.tool == askTool }); {
	case asks && !p.Headless:
		return kit.Waiting(adapters.ForQuestion, said+host)
	case d.titleOf(p) == titleAsks && d.titles[p.Identity].Shows:
		return kit.Waiting(adapters.ForPermission, said+"; its terminal asks for a permission"+host)
	case !d.asks(p):
		return kit.Working(said + ", and it asks for no permission" + host)
	}
	if child := s.command(); child != 0 {
		return kit.Working(fmt.Sprintf("%s; process %d runs for it%s", said, child, host))
	}
	return kit.Unknown(said + ": it runs or waits for a permission, which oh-my-pi records alike" + host)
}

// command returns the process of the only open call of a session, a command; 0: it is not seen. Servers that were started with oh-my-pi are older than the call.
func (s *session) command() int {
	children := s.owner.Children
	i := slices.IndexFunc(children, func(row proc.Process) bool { return !row.Started.Before(s.turn.at) })
	if i < 0 || len(s.calls) != 1 || s.calls[0].tool != shellTool || s.owner.SetBack {
		return 0
	}
	return children[i].PID
}

// runs reports whether a sub-agent runs: the process of its session holds its file open, or the call is open that started it, and its turn goes on.
func (s *session) runs() bool {
	above := s.above
	if above == nil || above.owner == nil || above.doubt != "" || !s.turn.isOpen() || above.owner.BeganAfter(s.turn.at) {
		return false
	}
	return slices.Contains(above.owner.open, s.Path) || slices.ContainsFunc(above.calls, func(c call) bool { return c.tool == "task" })
}

// decideSub returns the state of a sub-agent that runs.
func (d *discovery) decideSub(s *session) adapters.State {
	said := fmt.Sprintf("%s; session %.8s in process %d started it", d.lastTurn(s), s.above.id, s.above.owner.PID)
	if s.turn.state == prompted || s.turn.state == called && !d.asks(s.above.owner) {
		return kit.Working(said)
	}
	return kit.Unknown(said + "; what it waits for is not recorded")
}

// lastTurn describes the last turn, for evidence.
func (d *discovery) lastTurn(s *session) string {
	t := s.turn
	if t.state == called {
		var tools []string
		for _, c := range s.calls {
			tools = kit.AppendNew(tools, cmp.Or(kit.PlainWord(c.tool), "a tool"))
		}
		t.why = "a call of " + strings.Join(tools, ", ") + " is open"
	}
	said := map[state]string{prompted: "turn open ", called: "turn open ", failing: "a request to the model failed ", lost: "format not recognised ",
		injected: "a job in the background or an extension added a message ", ended: "last turn " + cmp.Or(string(t.outcome), "ended") + " "}[t.state]
	switch {
	case s.newer:
		return "format not recognised: the session has a newer form than is known"
	case t.state == noTurn:
		return "no turn yet"
	}
	return said + kit.Clock(t.at, d.Now) + kit.Quoted(t.why)
}

// processRow returns the row of a process without a session: oh-my-pi stores one with its first whole answer.
func (d *discovery) processRow(p *process) adapters.Session {
	out := p.Row(d.Look, false, true, false)
	if d.Homes.Unresponsive(p.Home) {
		return out
	}
	doubt := slices.ContainsFunc(d.sessions, func(s *session) bool { return s.doubt != "" && s.cwd == p.CWD })
	sockets, err := d.Table.Sockets(p.Identity)
	title := d.titleOf(p)
	out.Status, out.Headless = adapters.Unknown, p.Headless
	why := ""
	switch {
	case d.Hidden && p.isUnmatched():
		why = "may have a session that could not be read"
	case title == titleWorks, title == noTitle && p.Headless && !p.noSession && !doubt:
		out.Status, why = adapters.Working, "has its first prompt, and stores its session with the first answer"
	case title == titleAsks:
		why = "waits for the user or runs a command by its terminal's title, in a first turn that is not stored yet"
	case p.noSession:
		why = "was started with --no-session: it stores nothing"
	case doubt, p.Resumes && p.isUnmatched():
		why = "has a session of its folder, and it is not known which one"
	case title != titleReady && (sockets > ownSockets || err != nil):
		why = "has stored no session: it may be in a first turn, which is stored with the first answer"
	default: // nothing was asked yet
		out.Status = adapters.Idle
		return out
	}
	out.Evidence = fmt.Sprintf("process %d %s", p.PID, why)
	return out
}
