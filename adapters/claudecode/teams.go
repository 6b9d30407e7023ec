package claudecode

import (
	"fmt"
	"os"
	"path/filepath"

	"rollcall/adapters"
	"rollcall/adapters/internal/agentfile"
	"rollcall/adapters/internal/kit"
)

// A teammate of an agent team (2.1.332 with --teammate-mode tmux) is a process of its own, without a registry entry. Its arguments
// name its team and its lead; one of them is a secret, which is never shown. Its transcript has the names of team and mate. It asks in the terminal of its
// lead, whose registry entry then says that it waits.

// readTeam reads the arguments of a teammate.
func (c *claude) readTeam() {
	for i := 0; i+1 < len(c.args); i++ {
		switch value := c.args[i+1]; c.args[i] {
		case "--team-name":
			c.team = value
		case "--agent-name":
			c.mate = value
		case "--parent-session-id":
			if kit.Is(value) {
				c.lead = value
			}
		}
	}
	if c.team == "" || c.mate == "" {
		c.team = ""
		c.mate = ""
		c.lead = ""
	}
}

// leadOf returns the session that leads the team of s; "" if s is no teammate, or the lead is not known.
func (d *discovery) leadOf(s *session) string {
	if s.facts.team == "" || s.facts.mate == "" {
		return ""
	}
	if s.owner != nil && s.owner.lead != "" {
		return s.owner.lead
	}
	if s.file == nil || !filepath.IsLocal(s.facts.team) || filepath.Base(s.facts.team) != s.facts.team {
		return ""
	}
	const limit = 1 << 20
	root := filepath.Dir(filepath.Dir(s.file.dir))
	data, _, err := agentfile.ReadSmall(filepath.Join(root, "teams", s.facts.team, "config.json"), limit)
	if err != nil && !os.IsNotExist(err) {
		d.answer.Skip("unreadable configuration of a team", 1)
	}
	if lead := agentfile.String(agentfile.Get(data, "leadSessionId")); kit.Is(lead) && lead != s.id {
		return lead
	}
	return ""
}

// decideMate returns the state of a live teammate.
func (d *discovery) decideMate(s *session) adapters.State {
	t := &s.facts.turn
	why := fmt.Sprintf("pid %d is the teammate %s; %s", s.owner.PID, shorten(s.facts.mate), d.lastRecord(s))
	lead := d.sessions[s.owner.lead]
	var asks *liveEntry
	if lead != nil {
		for i := range lead.live {
			if e := &lead.live[i]; e.status == "waiting" && e.waitingFor != dialogOpen {
				asks = e
			}
		}
	}
	switch {
	case s.err != nil || t.state == unreadable:
		return kit.Unknown(why)
	case t.state.over() || t.state == noTurn:
		return kit.Idle(t.outcome(), why)
	case t.state != callsTools:
		return kit.Working(why)
	case lead == nil || len(lead.live) == 0:
		return kit.Unknown(why + "; its lead, which shows its requests, has no registry entry")
	case asks == nil:
		return kit.Working(why + "; its lead, which shows its requests, does not wait")
	}
	why += fmt.Sprintf("; its lead shows a request (%s: waiting)", asks.source())
	if callers := d.callersOf(lead); callers != 1 {
		return kit.Unknown(why + fmt.Sprintf(", of one of %d members of the team", callers))
	}
	return kit.Waiting(d.waitingFor(asks.waitingFor), why)
}

// callersOf returns how many members of the team of lead have a call without a result, lead included.
func (d *discovery) callersOf(lead *session) (n int) {
	if d.load(d.ctx, lead); lead.facts.turn.state == callsTools {
		n++
	}
	for _, s := range d.sessions {
		if s.owner != nil && s.owner.lead == lead.id && s.facts.turn.state == callsTools {
			n++
		}
	}
	return n
}

// whereMateAsks returns the error for a request of a teammate.
func whereMateAsks(lead string) error {
	return fmt.Errorf("%w: a teammate asks in the terminal of its lead, session %s", adapters.ErrAnswerElsewhere, lead)
}
