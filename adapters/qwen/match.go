package qwen

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"rollcall/adapters/internal/agentfile"
)

// match finds the process of each session. It depends only on the files and the processes as they are now.
func (d *discovery) match() {
	for _, p := range d.processes {
		for _, e := range p.entries {
			d.assign(p, e.session, "named by the registry, "+filepath.Base(e.path))
		}
		if len(p.entries) > 0 {
			continue
		}
		for _, c := range p.children {
			d.assign(p, c.session, fmt.Sprintf("named by its tool, process %d", c.PID))
		}
		if len(p.sessions) == 0 {
			d.assign(p, p.named, "named by its command line")
		}
	}
	for _, p := range d.processes {
		if len(p.entries) == 0 && len(p.sessions) == 0 && !p.hosts {
			d.byStart(p)
		}
	}
	for _, s := range d.subs {
		i := slices.IndexFunc(d.sessions, func(o *session) bool { return o.id() == s.file.parent && o.home == s.home })
		if i >= 0 {
			s.parent = d.sessions[i]
		}
	}
}

// id returns the id of a session: its file's name has it.
func (s *session) id() string { return s.file.id }

func (d *discovery) assign(p *process, id, how string) {
	for _, s := range d.sessions {
		if id != "" && s.id() == id && s.owner == nil && (!p.known || p.home == s.home) {
			s.owner, s.how = p, how
			p.sessions = append(p.sessions, s)
		}
	}
}

// byStart assigns the session of the process's folder that began after the process, or was written since if the process continues one, where there is one
// only. A run with -p is in no registry, and before 0.23 nothing was (0.24.4, 0.15.6).
func (d *discovery) byStart(p *process) {
	var found []*session
	for _, s := range d.sessions {
		since := s.at
		if p.resumes {
			since = s.last
		}
		if s.owner == nil && p.cwd != "" && s.cwd == p.cwd && (!p.known || p.home == s.home) && !since.Before(p.Started.Add(-slack)) {
			found = append(found, s)
		}
	}
	rival := slices.ContainsFunc(d.processes, func(o *process) bool {
		return o != p && len(o.entries) == 0 && len(o.sessions) == 0 && !o.hosts && o.cwd == p.cwd && o.home == p.home
	})
	if len(found) == 1 && !rival {
		d.assign(p, found[0].id(), "no other session of its folder began since the process did")
		return
	}
	for _, s := range found {
		s.doubt = fmt.Sprintf("process %d or another one of its folder may have it", p.PID)
	}
}

// meta is what the file beside a sub-agent's conversation says (0.24.4).
type meta struct {
	running bool
	title   string
	at      time.Time
}

func readMeta(path string) meta {
	data, _, err := agentfile.ReadSmall(path, maxEntry)
	if err != nil {
		return meta{}
	}
	return meta{running: string(agentfile.Text(agentfile.Get(data, "status"))) == "running", title: short(agentfile.Get(data, "description")),
		at: agentfile.Time(agentfile.Get(data, "lastUpdatedAt"))}
}

// runs reports whether a sub-agent runs: its state is left behind by a kill, so that a process must have its parent, and have had it by then.
func (s *session) runs() bool {
	p := s.parent
	return p != nil && p.owner != nil && p.doubt == "" && s.meta.running && !s.at.Before(p.owner.began().Add(-slack))
}

// tool returns the process that a call of the session runs and that began after a time. Servers that were started
// with Qwen Code are older.
func (s *session) tool(since time.Time) (child, bool) {
	for _, c := range s.owner.children {
		mine := c.session == s.id() || c.session == "" && len(s.owner.sessions) == 1
		if c.tool && mine && !c.Started.Before(since) {
			return c, true
		}
	}
	return child{}, false
}

// names returns the names of the tools that are called, without repetitions.
func (s *session) names() string {
	var names []string
	for _, c := range s.calls {
		if name := cmp.Or(c.tool, "a tool"); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return strings.Join(names, ", ")
}
