package omp

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"rollcall/adapters/internal/kit"
	"rollcall/adapters/internal/skeleton"
)

type evidence = skeleton.Evidence[*process, *session]

// match finds the process of each session. It depends only on the files and the processes as they are now.
func (d *discovery) match() {
	isFree := func(_ *process, s *session) bool { return s.owner == nil }
	skeleton.Match(d.processes, d.sessions, isFree, (*process).assign,
		evidence{Rank: skeleton.Holds, Shows: func(p *process, s *session) string {
			return kit.If(p.Uses(s.Home) && slices.Contains(p.open, s.Path), "it holds the session's file open")
		}},
		evidence{Rank: skeleton.Registered, Shows: func(p *process, s *session) string {
			return kit.If(p.isNamed(s.file) && len(p.sessions) == 0 && d.atTerminal(p) == 1, "named by the file of its terminal, "+p.terminal)
		}},
		evidence{Rank: skeleton.Named, Shows: func(p *process, s *session) string {
			isNamed := p.Uses(s.Home) && p.Named != "" && (strings.HasPrefix(s.id, p.Named) || filepath.Base(s.Path) == filepath.Base(p.Named))
			return kit.If(p.isUnmatched() && isNamed, "named by its command line")
		}},
		evidence{Rank: skeleton.Fits, Shows: func(p *process, s *session) string {
			return kit.If(p.fits(s) && !p.SetBack && !d.hasRival(p), "no other session of its folder began since the process did")
		}})
	for _, s := range d.sessions {
		for _, p := range d.processes {
			switch {
			case s.owner != nil:
			case p.isNamed(s.file) && len(p.sessions) == 0:
				s.doubt = fmt.Sprintf("%d processes have the terminal %s, whose file names it", d.atTerminal(p), p.terminal)
			case p.fits(s):
				s.doubt = fmt.Sprintf("process %d or another one of its folder may have it", p.PID)
			}
		}
	}
	for _, s := range d.subs {
		i := slices.IndexFunc(d.sessions, func(o *session) bool { return o.Path == s.parent })
		if i >= 0 {
			s.above = d.sessions[i]
		}
	}
}

func (p *process) assign(s *session, how string) {
	s.owner, s.how = p, how
	p.sessions = append(p.sessions, s)
}

// atTerminal returns how many processes without a session the file of a process's terminal may be of: a program in the background keeps its terminal.
func (d *discovery) atTerminal(p *process) (n int) {
	for _, o := range d.processes {
		if o.terminal == p.terminal && o.state == p.state && len(o.sessions) == 0 {
			n++
		}
	}
	return n
}

// isUnmatched reports whether nothing names a session of a process, which may have one of its folder.
func (p *process) isUnmatched() bool {
	return p.names == "" && len(p.sessions) == 0 && !p.noSession
}

// fits reports whether a process that nothing names a session of may have one of its folder: it began after the process, or was written since if the process
// continues one.
func (p *process) fits(s *session) bool {
	since := map[bool]time.Time{false: s.at, true: s.last}[p.Resumes]
	return p.isUnmatched() && p.CWD != "" && s.cwd == p.CWD && p.Uses(s.Home) && p.Precedes(since)
}

// hasRival reports whether another process of its folder may have the session of a process.
func (d *discovery) hasRival(p *process) bool {
	return slices.ContainsFunc(d.processes, func(o *process) bool { return o != p && o.isUnmatched() && o.CWD == p.CWD })
}
