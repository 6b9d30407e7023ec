package opencode

import (
	"bytes"
	"io"
	"path/filepath"
	"sync"
	"time"

	"rollcall/adapters/internal/agentfile"
	"rollcall/adapters/internal/report"
	"rollcall/proc"
)

// runOwners remembers which process wrote which run of a log once that is certain, also after
// the process has ended: the writer of a run can't change.
type runOwners struct {
	mu    sync.Mutex
	runs  map[proc.Identity]ownRun
	owner map[ownRun]proc.Identity
}

// ownRun names a run of a shared log.
type ownRun struct{ log, id string }

const (
	// certainAfter is the age at which a process, and every process that was started at
	// the same time, has certainly logged something.
	certainAfter = 10 * time.Second
	maxOwned     = 1000
)

// known returns the run that a process is known to have written.
func (m *runOwners) known(id proc.Identity, log string) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	if r := m.runs[id]; r.log == log {
		return r.id
	}
	return ""
}

// foreign reports whether a run is known to belong to another process.
func (m *runOwners) foreign(id proc.Identity, log, run string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	owner, ok := m.owner[ownRun{log, run}]
	return ok && owner != id
}

func (m *runOwners) learn(id proc.Identity, log, run string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.runs == nil || len(m.owner) >= maxOwned {
		m.runs, m.owner = map[proc.Identity]ownRun{}, map[ownRun]proc.Identity{}
	}
	m.runs[id] = ownRun{log, run}
	m.owner[ownRun{log, run}] = id
}

// assign matches the runs of a root's shared log to its processes, by their
// descriptors, by earlier results and by their children.
func (d *discovery) assign(r *root, l *links, sessions map[string]*facts) {
	log := filepath.Join(r.logFolder(), sharedName)
	prompts := map[string]string{}
	for id, f := range sessions {
		prompts[id] = f.lastPrompt
	}
	fixed := map[*host]*run{}
	hosts := l.sharedLogHosts()
	for _, h := range hosts {
		if one := d.written(h, log, l); one != nil {
			fixed[h] = one
		} else if one := l.shared[d.adapter.runOwners.known(h.Identity, log)]; one != nil {
			fixed[h] = one
		} else if one := d.shownByChild(h, hosts, l, sessions); one != nil {
			fixed[h] = one
		}
	}
	can := func(h *host, one *run) bool {
		return h.canBe(one, prompts) && !d.adapter.runOwners.foreign(h.Identity, log, one.id)
	}
	l.runs = assign(hosts, l.shared, fixed, can)
	l.doubtGuesses(can)
	for h, one := range l.runs.runOf {
		if age := d.now.Sub(h.Started); age > certainAfter || fixed[h] != nil {
			d.adapter.runOwners.learn(h.Identity, log, one.id)
		}
	}
}

// written finds the run that a process is writing. A run that began before the process
// belongs to a parent from which the process inherited a descriptor.
func (d *discovery) written(h *host, log string, l *links) *run {
	for _, id := range d.adapter.writtenBy(h.Identity, log) {
		if one := l.shared[id]; one != nil && !one.first.Add(startSlack).Before(h.Started) {
			return one
		}
	}
	return nil
}

// shownByChild finds the run of a process by a command that the process is running, if
// only one session has an open call that began when the child did.
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
				return nil // a child of another process fits as well
			}
		}
		shown = found
	}
	return shown
}

// childSlack is the largest difference between the start times of a command's process
// and of its call.
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

// writtenBy returns the runs whose lines a process wrote last, usually one. It returns
// none if the system doesn't show that, as on systems other than Linux.
func (a *Adapter) writtenBy(id proc.Identity, log string) []string {
	ends, err := a.table.Appended(id, log)
	if err != nil || len(ends) == 0 {
		return nil
	}
	f, _, err := agentfile.OpenRegular(log)
	if err != nil {
		return nil
	}
	defer f.Close()
	var runs []string
	for _, end := range ends {
		runs = report.AppendNew(runs, runBefore(f, end))
	}
	return runs
}

// runBefore returns the run of the line of a shared log that ends at an offset, and ""
// when no line ends there, as in a log that was cut since.
func runBefore(f io.ReaderAt, end int64) string {
	for _, size := range []int64{4 << 10, 64 << 10, maxLine} {
		size = min(size, end)
		b := make([]byte, size)
		if n, err := f.ReadAt(b, end-size); int64(n) != size || err != nil && n == 0 {
			return ""
		}
		line, whole := bytes.CutSuffix(b, []byte("\n"))
		if !whole {
			return ""
		}
		begin := bytes.LastIndexByte(line, '\n')
		if begin < 0 && size < end {
			continue
		}
		runs := map[string]*run{}
		sharedLine(runs, line[begin+1:])
		for id := range runs {
			return id
		}
		return ""
	}
	return ""
}
