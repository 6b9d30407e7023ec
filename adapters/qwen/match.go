package qwen

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"rollcall/adapters/internal/agentfile"
	"rollcall/adapters/internal/kit"
	"rollcall/adapters/internal/skeleton"
)

type evidence = skeleton.Evidence[*process, *session]

// match finds the process of each session. It depends only on the files and the processes as they are now.
func (d *discovery) match() {
	isFree := func(p *process, s *session) bool { return s.owner == nil && p.Uses(s.Home) }
	skeleton.Match(d.processes, d.sessions, isFree, (*process).assign,
		evidence{Rank: skeleton.Registered, Shows: func(p *process, s *session) string { return claimed(p.entries, s) }},
		evidence{Rank: skeleton.Runs, Shows: func(p *process, s *session) string { return claimed(p.named(), s) }}, // or what its command line names
		evidence{Rank: skeleton.Fits, Shows: func(p *process, s *session) string {
			return kit.If(p.fits(s) && !d.hasRival(p), "no other session of its folder began since the process did")
		}})
	for _, p := range d.processes {
		d.doubt(p)
	}
	for _, s := range d.subs {
		for _, o := range d.sessions {
			if o.id == s.parent && o.Home == s.Home {
				s.above = o
			}
		}
		if s.above != nil && (s.above.owner != nil || d.Query.Usage) {
			// What can't be read says nothing. The records of a sub-agent name no model; of one in the foreground, this
			// file names it among the flags (0.24.4).
			meta, _, _ := agentfile.ReadSmall(strings.TrimSuffix(s.Path, ".jsonl")+".meta.json", maxEntry)
			s.model = cmp.Or(s.model, kit.Short(agentfile.Get(meta, "model")),
				kit.Short(agentfile.Get(meta, "persistedCliFlags", "model")))
			s.running, s.Title = string(agentfile.Text(agentfile.Get(meta, "status"))) == "running", kit.Short(agentfile.Get(meta, "description"))
		}
	}
}

func (p *process) assign(s *session, how string) {
	s.owner, s.how = p, how
	p.sessions = append(p.sessions, s)
}

// isUnmatched reports whether nothing names a session of a process, which has one of its folder.
func (p *process) isUnmatched() bool { return len(p.entries) == 0 && len(p.sessions) == 0 && !p.Hosts }

// claimed returns how a session is named in claims; empty: it is not.
func claimed(claims []claim, s *session) string {
	i := slices.IndexFunc(claims, func(c claim) bool { return c.session == s.id })
	if i < 0 {
		return ""
	}
	return claims[i].how
}

// fits reports whether a process that nothing names a session of may have one of its folder: it began after the process, or was written since if the process
// continues one. A run with -p is in no registry, and before 0.23 nothing was (0.24.4, 0.15.6).
func (p *process) fits(s *session) bool {
	since := map[bool]time.Time{false: s.at, true: s.last}[p.Resumes]
	return p.isUnmatched() && s.owner == nil && p.At(s.cwd) && p.Uses(s.Home) && p.Precedes(since)
}

// hasRival reports whether another process of its folder may have the session of a process.
func (d *discovery) hasRival(p *process) bool {
	return slices.ContainsFunc(d.processes, func(o *process) bool {
		return o != p && o.isUnmatched() && o.Folder() == p.Folder() && o.Home == p.Home
	})
}

// doubt notes which sessions a process without one may have. A run with -p has one at once: if there is none, its start was moved with the clock.
func (d *discovery) doubt(p *process) {
	fits := p.fits
	if p.Headless && !slices.ContainsFunc(d.sessions, fits) && d.Now.Sub(p.Started) > time.Minute {
		fits = func(s *session) bool {
			return p.isUnmatched() && s.owner == nil && p.At(s.cwd) && p.Uses(s.Home) && (s.turn.state == prompted || s.turn.state == called)
		}
	}
	for _, s := range d.sessions {
		if fits(s) {
			s.doubt = fmt.Sprintf("process %d or another one of its folder may have it", p.PID)
		}
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
