package pistore

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"rollcall/adapters"
	"rollcall/adapters/internal/kit"
)

// grace is the time for which Rollcall still expects an answer after the pause before a
// retry. A retry that the user cancels leaves no trace, so it looks like work for that long.
const grace = 15 * time.Second

// decide derives a session's status.
func (d *discovery) decide(s *session) adapters.State {
	said := d.lastTurn(s)
	switch {
	case d.partial && s.mayBeLive && len(d.processes) > 0:
		return kit.Unknown("not all sessions were read, so that it is not known which one a process has; " + said)
	case s.doubt != "":
		return kit.Unknown(s.doubt + "; " + said)
	case s.owner != nil:
		return d.decideHosted(s, fmt.Sprintf("process %d (%s)", s.owner.PID, s.how), said)
	case len(s.hosts) > 0:
		var ids []string
		for _, p := range s.hosts {
			ids = append(ids, fmt.Sprint(p.PID))
		}
		return d.decideHosted(s, "one of the processes "+strings.Join(ids, ", ")+", which can't be distinguished", said)
	case d.roots.NoTable:
		return kit.Unknown("the process table can't be read; " + said)
	}
	return d.decideStopped(s, said)
}

// decideHosted returns the state of a session that a live process has. host describes the
// process, and said describes the last turn.
func (d *discovery) decideHosted(s *session, host, said string) adapters.State {
	if s.owner != nil && !s.isNumbered(s.owner) && s.turn.state != ended {
		return floor.Unknown("", said+"; "+host)
	}
	if s.owner != nil && s.how == resumedHow && s.busy() && !d.inherited(s) && d.isQuiet(s.owner) {
		return kit.Unknown(said + ", by this process or by one that has ended: it has no connection and runs no command; " + host)
	}
	if d.inherited(s) {
		outcome := adapters.Failed
		if s.turn.state != failed {
			outcome = s.turn.brokenOff()
		}
		return kit.Idle(outcome, said+", before the process that has it now began; "+host)
	}
	switch t := s.turn; t.state {
	case open:
		return kit.Working(said + tools(s.owner) + "; " + host)
	case retrying:
		if t.isCut() {
			return d.decideCut(s, host, said)
		}
		return d.decideRetry(s, host, said)
	case maybe:
		return kit.Unknown(said + ", which may have begun a turn; " + host)
	case lost:
		return kit.Unknown(said + "; " + host)
	}
	if s.owner != nil && s.owner.agent == PiRust && len(s.owner.children) > 0 {
		return kit.Working(fmt.Sprintf(
			"%s runs a tool (process %d), and stores a turn when it ends; before: %s", host, s.owner.children[0].PID, said))
	}
	v := kit.Idle(s.turn.outcome, said+"; "+host)
	if s.owner != nil && s.owner.agent == PiRust {
		v.Evidence += "; pi_agent_rust may store a turn only when it ends"
	}
	return v
}

// inherited reports whether a session's turn was left open, or to be tried again, by a
// process that ended before the session's present process began. A tool that runs for
// the session belongs to a turn that is not stored yet.
func (d *discovery) inherited(s *session) bool {
	if !s.busy() && s.turn.state != failed {
		return false
	}
	if s.owner != nil && slices.ContainsFunc(s.owner.children, func(k toolProcess) bool { return k.session == s.id }) {
		return false
	}
	later := func(p *process) bool { return p.BeganAfter(s.turn.at) }
	if s.owner != nil {
		return later(s.owner)
	}
	return !slices.ContainsFunc(s.hosts, func(p *process) bool { return !later(p) })
}

// isQuiet reports whether a process of Pi certainly neither waits for a model nor runs a command: what it has open can be seen.
func (d *discovery) isQuiet(p *process) bool {
	files, _ := d.store.Table.OpenFiles(p.Identity)
	sockets, err := d.store.Table.Sockets(p.Identity)
	return p.agent == Pi && err == nil && sockets == 0 && len(files) > 0 && len(p.children) == 0
}

// decideRetry returns the state of a failed attempt that is followed by another one.
func (d *discovery) decideRetry(s *session, host, said string) adapters.State {
	pause := d.settings.retryDelay(max(s.turn.errors, 1))
	if d.now.Sub(s.turn.at) > pause+grace {
		return kit.Unknown(fmt.Sprintf(
			"%s; it is being retried, or the user cancelled it, which Pi does not record; %s", said, host))
	}
	return kit.Working(said + ", it is being retried; " + host)
}

// isCut reports whether an answer that was cut off was taken out of the context. Pi (1.6.0) compacts the context then, and asks again if it could; in a
// short session it can't, and the turn is over without a record of that.
func (t *turn) isCut() bool { return t.state == retrying && t.why == lengthLimit }

// brokenOff returns the outcome of a turn that its records leave open, in a session whose process has ended.
func (t *turn) brokenOff() adapters.Outcome {
	if t.isCut() {
		return ""
	}
	return adapters.Died
}

// quick is how long after the record of an answer that was cut off Pi may begin to ask for a summary.
const quick = 2 * time.Second

// decideCut returns the state of a session whose last answer was cut off and taken out of the context. No file shows that its process asks a model.
func (d *discovery) decideCut(s *session, host, said string) adapters.State {
	switch {
	case d.now.Sub(s.turn.at) < quick:
		return kit.Working(said + ", it may be tried again; " + host).Until(s.turn.at.Add(quick))
	case s.owner != nil && d.isQuiet(s.owner):
		return kit.Idle(adapters.Completed, said+", and the model was not asked again: the process has no connection; "+host)
	}
	// A connection that Pi keeps after the answer may stay open for minutes: it is looked at again less and less often.
	return kit.Unknown(said + "; it is being tried again, or the turn is over, which Pi does not record; " + host).Until(d.now.Add(d.now.Sub(s.turn.at)))
}

// tools describes a process that a turn runs, for evidence.
func tools(p *process) string {
	if p == nil || len(p.children) == 0 {
		return ""
	}
	return fmt.Sprintf(", process %d runs", p.children[len(p.children)-1].PID)
}

// decideStopped returns the state of a session that no process has.
func (d *discovery) decideStopped(s *session, said string) adapters.State {
	outcome := s.turn.outcome
	if s.busy() {
		outcome = s.turn.brokenOff()
	}
	return kit.Stopped(outcome, "no process has it; "+said)
}

// lastTurn describes the last turn, for evidence.
func (d *discovery) lastTurn(s *session) string {
	t, when := s.turn, kit.Clock(s.turn.at, d.now)
	switch t.state {
	case noTurn:
		return "no turn yet"
	case open:
		return "turn open since " + kit.Clock(s.prompted, d.now) + ": " + t.why + " (" + when + ")"
	case retrying:
		if t.isCut() {
			return "last answer " + t.why + " " + when
		}
		return fmt.Sprintf("attempt %d failed %s%s", max(t.errors, 1), when, kit.Quoted(t.why))
	case failed:
		return "last turn failed " + when + kit.Quoted(t.why)
	case navigated:
		return "the user went to another branch " + when
	case maybe:
		return "an extension added a message " + when
	case lost:
		if s.longLine != "" {
			return "format not recognised: " + s.longLine
		}
		return "its last entries could not be found"
	}
	switch t.outcome {
	case adapters.Interrupted:
		return "last turn interrupted " + when
	case adapters.Completed:
		return "last turn completed " + when + kit.Quoted(t.why)
	}
	return "last turn ended " + when + kit.Quoted(t.why)
}

// spawner returns the session of the Pi that started a process, as extensions for
// sub-agents do, or whose tool started the process. It returns "" if the session is not
// certain.
func (d *discovery) spawner(p *process) string {
	pid := p.PID
	for range 8 {
		pid = d.parents[pid]
		if pid == 0 {
			break
		}
		for _, s := range d.live {
			if s.owner != nil && s.owner.PID == pid && s.doubt == "" && s.writer() == d.store.Name() {
				return s.id
			}
		}
	}
	return ""
}

// processRow returns the row of a process that has no session. Pi 0.74.2 and older
// store a session with the first answer, 1.5.2 with the first prompt, and neither with
// --no-session. A process without a connection is not waiting for a model.
func (d *discovery) processRow(p *process) adapters.Session {
	if p.unresponsive != "" {
		return adapters.UnresponsiveProcess(p.agent, p.Process, p.cwd, p.unresponsive)
	}
	out := adapters.ProcessSession(p.agent, p.Process, p.cwd)
	out.Parent = d.spawner(p)
	sockets, err := d.store.Table.Sockets(p.Identity)
	unknown := ""
	switch stored := "has stored nothing since it began " + kit.Clock(p.Started, d.now); {
	case p.noSession:
		unknown = "was started with --no-session: it stores nothing"
	case d.partial:
		unknown = "may have a session that was not read"
	case d.unreadable:
		unknown = "may have a session in a folder that can't be read"
	case p.mayWork:
		unknown = stored + ": it has a session of its folder if the clock was set since"
	case p.mayHaveSession:
		unknown = stored + " in its folder: it has a session of a folder that is gone if its own was renamed"
	case len(p.children) > 0 || err == nil && sockets > 0:
		unknown = stored + ", and is connected or runs a command: it is in a first turn, which Pi before 0.87 stores with its first answer, " +
			"or has just started"
	case d.mayStoreElsewhere(p):
		unknown = stored + " where it is looked for, and may store its session elsewhere (--session-dir)"
	case err != nil: // as on macOS and Windows
		unknown = stored + ", and its connections can't be read: it may wait for its first prompt, or be in a first turn"
	}
	if unknown != "" {
		out.Status, out.Evidence = adapters.Unknown, fmt.Sprintf("process %d %s", p.PID, unknown)
	}
	for _, k := range p.children {
		if k.session != "" {
			out.Status = adapters.Working
			out.Evidence = fmt.Sprintf("process %d runs a tool (process %d) for session %.64q, which is not stored", p.PID, k.PID, k.session)
		}
	}
	return out
}
