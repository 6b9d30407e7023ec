package qwen

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"rollcall/adapters/internal/agentfile"
	"rollcall/adapters/internal/kit"
)

// match finds the process of each session. It depends only on the files and the processes as they are now.
func (d *discovery) match() {
	for _, p := range d.processes {
		for _, c := range p.named() {
			for _, s := range d.sessions {
				if s.id == c.session && s.owner == nil && p.Uses(s.Home) {
					p.assign(s, c.how)
				}
			}
		}
	}
	for _, p := range d.processes {
		if p.isUnmatched() {
			d.byStart(p)
		}
	}
	for _, s := range d.subs {
		for _, o := range d.sessions {
			if o.id == s.parent && o.Home == s.Home {
				s.above = o
			}
		}
		if s.above != nil && s.above.owner != nil {
			meta, _, _ := agentfile.ReadSmall(strings.TrimSuffix(s.Path, ".jsonl")+".meta.json", maxEntry) // one that can't be read says nothing (0.24.4)
			s.running, s.title = string(agentfile.Text(agentfile.Get(meta, "status"))) == "running", kit.Short(agentfile.Get(meta, "description"))
		}
	}
}

func (p *process) assign(s *session, how string) {
	s.owner, s.how = p, how
	p.sessions = append(p.sessions, s)
}

// isUnmatched reports whether nothing names a session of a process, which has one of its folder.
func (p *process) isUnmatched() bool { return len(p.entries) == 0 && len(p.sessions) == 0 && !p.Hosts }

// byStart assigns the session of the process's folder that began after the process, or was written since if the process continues one, where there is one
// only. A run with -p is in no registry, and before 0.23 nothing was (0.24.4, 0.15.6). Such a run has a session at once: its start moves when the clock is set.
func (d *discovery) byStart(p *process) {
	var found, open []*session
	for _, s := range d.sessions {
		since := map[bool]time.Time{false: s.at, true: s.last}[p.Resumes]
		switch began := !since.Before(p.Started.Add(-kit.StartSlack)); {
		case s.owner != nil || !p.At(s.cwd) || !p.Uses(s.Home):
		case began:
			found = append(found, s)
		case p.Headless && (s.turn.state == prompted || s.turn.state == called) && d.Now.Sub(p.Started) > time.Minute:
			open = append(open, s)
		}
	}
	rival := slices.ContainsFunc(d.processes, func(o *process) bool {
		return o != p && o.isUnmatched() && o.Folder() == p.Folder() && o.Home == p.Home
	})
	if len(found) == 1 && !rival {
		p.assign(found[0], "no other session of its folder began since the process did")
		return
	}
	if len(found) == 0 {
		found = open
	}
	for _, s := range found {
		s.doubt = fmt.Sprintf("process %d or another one of its folder may have it", p.PID)
	}
}

// runs reports whether a sub-agent runs: its state is left behind by a kill, so that a process must have its parent, and have had it by then.
func (s *session) runs() bool {
	p := s.above
	return p != nil && p.owner != nil && p.doubt == "" && s.running && !s.at.Before(p.owner.began.Add(-kit.StartSlack))
}

// tool returns the process that a call of the session runs and that began after the call, for evidence. Servers that were started with Qwen
// Code are older. unsure reports that one of them may be what the call runs, since the clock was set back.
func (s *session) tool(since time.Time) (evidence string, unsure bool) {
	for _, c := range s.owner.claims {
		switch {
		case c.session != s.id || c.tool.PID == 0:
		case !c.tool.Started.Before(since.Add(-kit.StartSlack)):
			return fmt.Sprintf("process %d runs for it", c.tool.PID), false
		default:
			unsure = s.owner.SetBack
		}
	}
	return "", unsure
}
