package opencode

import (
	"path/filepath"
	"sync"
	"time"

	"rollcall/proc"
)

// memory keeps what cannot change: which process wrote which run of a log, once
// that was sure, also after the process is gone; and the data folders that were
// in use, whose sessions would else vanish with their process.
type memory struct {
	mu    sync.Mutex
	runs  map[proc.Identity]ownRun
	owner map[ownRun]proc.Identity
	roots []string
}

// ownRun names a run of a shared log.
type ownRun struct{ log, id string }

const (
	// surely is how long after its start a process has logged, and everything that
	// was begun beside it as well.
	surely   = 10 * time.Second
	maxOwned = 1000
	maxRoots = 32
)

// known returns the run that a process is known to have written.
func (m *memory) known(id proc.Identity, log string) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	if r := m.runs[id]; r.log == log {
		return r.id
	}
	return ""
}

// foreign says whether a run is known to be that of another process.
func (m *memory) foreign(id proc.Identity, log, run string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	owner, ok := m.owner[ownRun{log, run}]
	return ok && owner != id
}

func (m *memory) learn(id proc.Identity, log, run string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.runs == nil || len(m.owner) >= maxOwned {
		m.runs, m.owner = map[proc.Identity]ownRun{}, map[ownRun]proc.Identity{}
	}
	m.runs[id] = ownRun{log, run}
	m.owner[ownRun{log, run}] = id
}

// root remembers a data folder that a process uses, and returns all of them.
func (m *memory) root(path string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.roots = appendNew(m.roots, path); len(m.roots) > maxRoots {
		m.roots = m.roots[1:]
	}
}

func (m *memory) allRoots() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return append([]string(nil), m.roots...)
}

// assign matches the runs of a root's shared log to its processes, with what
// their descriptors tell, what is known from before and what their children show.
func (d *discovery) assign(r *root, l *links, sessions map[string]*facts) {
	log := filepath.Join(r.logFolder(), sharedName)
	prompts := map[string]string{}
	for id, f := range sessions {
		prompts[id] = f.lastPrompt
	}
	fixed := map[*host]*run{}
	hosts := d.unlogged(r, l)
	for _, h := range hosts {
		if one := d.written(h, log, l); one != nil {
			fixed[h] = one
		} else if one := l.shared[d.memory.known(h.Identity, log)]; one != nil {
			fixed[h] = one
		} else if one := d.shownByChild(h, hosts, l, sessions); one != nil {
			fixed[h] = one
		}
	}
	can := func(h *host, one *run) bool {
		return h.canBe(one, prompts) && !d.memory.foreign(h.Identity, log, one.id)
	}
	l.runs = assign(hosts, l.shared, fixed, can)
	for h, one := range l.runs.runOf {
		if age := d.now.Sub(h.Started); age > surely || fixed[h] != nil {
			d.memory.learn(h.Identity, log, one.id)
		}
	}
}

// written finds the run that a process is writing. What it has from a parent that
// let it inherit a descriptor began before it did.
func (d *discovery) written(h *host, log string, l *links) *run {
	for _, id := range d.writtenBy(h.Identity, log) {
		if one := l.shared[id]; one != nil && !one.first.Add(startSlack).Before(h.Started) {
			return one
		}
	}
	return nil
}

// shownByChild finds the run of a process by a command that it has running: only
// one session's open call began when the child did.
func (d *discovery) shownByChild(h *host, hosts []*host, l *links, sessions map[string]*facts) *run {
	var shown *run
	for _, child := range d.census.children[h.PID] {
		if isOpenCode(child.Comm) {
			continue
		}
		var found *run
		for _, one := range l.shared {
			for id := range one.sessions {
				f := sessions[id]
				if f == nil || !f.beganWith(child.Started) || !h.at(f.directory) {
					continue
				}
				if found != nil && found != one {
					return nil
				}
				found = one
			}
		}
		if found == nil || shown != nil && shown != found {
			continue
		}
		for _, o := range hosts {
			if o != h && d.census.beganChild(o, child.Started) {
				return nil // another one's child fits as well
			}
		}
		shown = found
	}
	return shown
}

// childSlack is by how much a command's process may seem older or younger than
// the call that it belongs to.
const childSlack = 1500 * time.Millisecond

func (f *facts) beganWith(at time.Time) bool {
	for _, c := range f.calls {
		if c.tool == "bash" && c.metadata && c.since.time().Sub(at).Abs() < childSlack {
			return true
		}
	}
	return false
}

func (c census) beganChild(h *host, at time.Time) bool {
	for _, child := range c.children[h.PID] {
		if child.Started.Sub(at).Abs() < 2*childSlack {
			return true
		}
	}
	return false
}
