package omp

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"rollcall/adapters/internal/kit"
)

// match finds the process of each session. It depends only on the files and the processes as they are now.
func (d *discovery) match() {
	d.assign("it holds the session's file open", func(p *process, s *session) bool { return slices.Contains(p.open, s.Path) })
	for _, p := range d.processes {
		rivals := d.atTerminal(p)
		for _, s := range d.sessions {
			switch {
			case !p.isNamed(s.file) || s.owner != nil || len(p.sessions) > 0:
			case rivals > 1:
				s.doubt = fmt.Sprintf("%d processes have the terminal %s, whose file names it", rivals, p.terminal)
			default:
				p.assign(s, "named by the file of its terminal, "+p.terminal)
			}
		}
	}
	d.assign("named by its command line", func(p *process, s *session) bool {
		return p.isUnmatched() && p.Named != "" && (strings.HasPrefix(s.id, p.Named) || filepath.Base(s.Path) == filepath.Base(p.Named))
	})
	for _, p := range d.processes {
		if p.isUnmatched() {
			d.byStart(p)
		}
	}
	for _, s := range d.subs {
		i := slices.IndexFunc(d.sessions, func(o *session) bool { return o.Path == s.parent })
		if i >= 0 {
			s.above = d.sessions[i]
		}
	}
}

// assign assigns the sessions that has accepts, unless another process has them.
func (d *discovery) assign(how string, has func(*process, *session) bool) {
	for _, p := range d.processes {
		for _, s := range d.sessions {
			if s.owner == nil && s.doubt == "" && p.Uses(s.Home) && has(p, s) {
				p.assign(s, how)
			}
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

// byStart assigns the session of the process's folder that began after the process, or was written since if the process continues one, where there is one
// only.
func (d *discovery) byStart(p *process) {
	var found []*session
	for _, s := range d.sessions {
		since := map[bool]time.Time{false: s.at, true: s.last}[p.Resumes]
		if s.owner == nil && p.CWD != "" && s.cwd == p.CWD && p.Uses(s.Home) && !since.Before(p.Started.Add(-kit.StartSlack)) {
			found = append(found, s)
		}
	}
	rival := slices.ContainsFunc(d.processes, func(o *process) bool { return o != p && o.isUnmatched() && o.CWD == p.CWD })
	if len(found) == 1 && !rival && !p.SetBack {
		p.assign(found[0], "no other session of its folder began since the process did")
		return
	}
	for _, s := range found {
		s.doubt = fmt.Sprintf("process %d or another one of its folder may have it", p.PID)
	}
}
