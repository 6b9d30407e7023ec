package pistore

import (
	"fmt"
	"strings"
	"time"

	"rollcall/adapters"
)

// verdict is a status with what it rests on.
type verdict struct {
	status   adapters.Status
	outcome  adapters.Outcome
	evidence string
}

// grace is how long after the pause before another attempt its answer is waited
// for without doubt. A retry that the user cancels leaves no trace, so that it
// passes for work for that long.
const grace = 15 * time.Second

// decide derives a session's status.
func (d *discovery) decide(s *session) verdict {
	said := d.lastTurn(s)
	switch {
	case s.doubt != "":
		return verdict{status: adapters.Unknown, evidence: s.doubt + "; " + said}
	case s.owner != nil:
		return d.hosted(s, fmt.Sprintf("process %d (%s)", s.owner.PID, s.how), said)
	case len(s.hosts) > 0:
		var ids []string
		for _, p := range s.hosts {
			ids = append(ids, fmt.Sprint(p.PID))
		}
		return d.hosted(s, "one of the processes "+strings.Join(ids, ", ")+", which can't be told apart", said)
	case d.blind:
		return verdict{status: adapters.Unknown, evidence: "the process table can't be read; " + said}
	}
	return d.alone(s, said)
}

// hosted is for a session that a live process has.
func (d *discovery) hosted(s *session, host, said string) verdict {
	switch t := s.turn; t.state {
	case open:
		return verdict{status: adapters.Working, evidence: said + tools(s.owner) + "; " + host}
	case retrying:
		return d.retry(s, host, said, true)
	case failed:
		if s.system || !retryable(t.why) {
			break
		}
		return d.retry(s, host, said, false) // 0.73.1 does not mark an attempt that is to be repeated
	case maybe:
		return verdict{status: adapters.Unknown, evidence: said + ", which may have begun a turn; " + host}
	case lost:
		return verdict{status: adapters.Unknown, evidence: said + "; " + host}
	}
	if s.owner != nil && s.owner.agent == adapters.PiRust && len(s.owner.kids) > 0 {
		return verdict{status: adapters.Working, evidence: fmt.Sprintf(
			"%s runs a tool (process %d), and stores a turn when it ends; before: %s", host, s.owner.kids[0].PID, said)}
	}
	v := verdict{status: adapters.Idle, outcome: s.turn.outcome, evidence: said + "; " + host}
	if s.owner != nil && s.owner.agent == adapters.PiRust {
		v.evidence += "; pi_agent_rust may store a turn only when it ends"
	}
	return v
}

// retry is for an attempt that failed, after which another one is made. marked:
// the agent recorded that it means to.
func (d *discovery) retry(s *session, host, said string, marked bool) verdict {
	attempts := max(s.turn.errors, 1)
	pause, again := d.settings.retryDelay(attempts)
	if !marked && !again {
		return verdict{status: adapters.Idle, outcome: adapters.Failed, evidence: said + "; " + host}
	}
	if d.at.Sub(s.turn.at) > pause+grace {
		return verdict{status: adapters.Unknown, evidence: fmt.Sprintf(
			"%s; it is tried again, or was cancelled by the user, which Pi does not record; %s", said, host)}
	}
	return verdict{status: adapters.Working, evidence: said + ", it is tried again; " + host}
}

// retryable says whether an error is of the kind that Pi 0.73.1 tries again.
func retryable(message string) bool {
	message = strings.ToLower(message)
	for _, word := range []string{"overloaded", "rate limit", "ratelimit", "rate_limit", "too many requests", "429", "500", "502",
		"503", "504", "unavailable", "server error", "server_error", "internal error", "network", "connection", "websocket", "fetch failed",
		"socket hang up", "ended without", "timed out", "timeout", "terminated", "provider returned error", "upstream", "retry delay"} {
		if strings.Contains(message, word) {
			return true
		}
	}
	return false
}

// tools names a process that a turn runs.
func tools(p *process) string {
	if p == nil || len(p.kids) == 0 {
		return ""
	}
	return fmt.Sprintf(", process %d runs", p.kids[len(p.kids)-1].PID)
}

// alone is for a session that no process has.
func (d *discovery) alone(s *session, said string) verdict {
	v := verdict{status: adapters.Stopped, outcome: s.turn.outcome, evidence: "no process has it; " + said}
	switch s.turn.state {
	case open, retrying:
		v.outcome = adapters.Died
	}
	return v
}

// lastTurn says where the last turn stands, for evidence.
func (d *discovery) lastTurn(s *session) string {
	t, when := s.turn, clock(s.turn.at, d.at)
	switch t.state {
	case noTurn:
		return "no turn yet"
	case open:
		return "turn open since " + clock(s.prompted, d.at) + ": " + t.why + " (" + when + ")"
	case retrying:
		return fmt.Sprintf("attempt %d failed %s%s", max(t.errors, 1), when, quoted(t.why))
	case failed:
		return "last turn failed " + when + quoted(t.why)
	case navigated:
		return "the user went to another branch " + when
	case maybe:
		return "an extension added a message " + when
	case lost:
		return "its last entries could not be found"
	}
	words := map[adapters.Outcome]string{adapters.Completed: "completed", adapters.Interrupted: "interrupted"}[t.outcome]
	if words == "" {
		words = "ended"
	}
	if t.outcome == adapters.Interrupted {
		return "last turn interrupted " + when
	}
	return "last turn " + words + " " + when + quoted(t.why)
}

func quoted(why string) string {
	if why == "" {
		return ""
	}
	return fmt.Sprintf(" (%.120s)", strings.ToValidUTF8(why, ""))
}

// spawner is the session of the Pi that a process was started by, as extensions
// for sub-agents do, or by a tool of it; "" where that isn't sure.
func (d *discovery) spawner(p *process) string {
	pid := p.PID
	for range 8 {
		if pid = d.parents[pid]; pid == 0 {
			break
		}
		for _, s := range d.live {
			if s.owner != nil && s.owner.PID == pid && s.doubt == "" && s.writer() == d.name {
				return s.id
			}
		}
	}
	return ""
}

// looseID is the id of a process that has no session yet.
func looseID(p *process) string { return fmt.Sprintf("%s%d-%d", loosePrefix, p.PID, p.Start) }

const loosePrefix = "process-"

// looseRow is a process that has no session: Pi 0.73.1 stores one with its first
// answer, 1.5.2 with its first prompt, and neither with --no-session.
func (d *discovery) looseRow(p *process) adapters.Session {
	out := adapters.Session{
		ID: looseID(p), Agent: p.agent, Status: adapters.Unknown, Process: p.Identity, CWD: p.cwd,
		StartedAt: p.Started, LastActivityAt: p.Started, Parent: d.spawner(p),
	}
	out.Evidence = fmt.Sprintf("process %d has stored nothing since it began %s: it waits for a prompt, is in a first turn (which Pi before 0.9 stores with its first answer), or keeps no session, or one where only its command line said",
		p.PID, clock(p.Started, d.at))
	if p.self {
		out.Evidence = fmt.Sprintf("process %d was started with --no-session: it stores nothing", p.PID)
	}
	for _, k := range p.kids {
		if k.session != "" {
			out.Status = adapters.Working
			out.Evidence = fmt.Sprintf("process %d runs a tool (process %d) for session %.64q, which is not stored", p.PID, k.PID, k.session)
		}
	}
	return out
}

// clock is a time of day where that is enough.
func clock(t, now time.Time) string {
	if t.IsZero() {
		return "some time ago"
	}
	t = t.In(now.Location())
	if age := now.Sub(t); age > 12*time.Hour || age < -12*time.Hour {
		return t.Format("2006-01-02 15:04")
	}
	return t.Format("15:04:05")
}
