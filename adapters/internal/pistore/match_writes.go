package pistore

import (
	"maps"
	"path/filepath"
	"slices"
	"time"

	"rollcall/proc"
)

// writeCounts holds the counters of the previous call. If a session's file has grown since
// then, its writer is a process that has written at least as many bytes.
type writeCounts struct {
	at      time.Time
	written map[proc.Identity]uint64 // by each process, before the files were looked at
	sizes   map[string]int64         // of the sessions' files, by path
	folders map[string]bool          // folders whose files are all in sizes
}

// processSession is a process and the id of a session.
type processSession struct {
	process proc.Identity
	session string
}

// countWritten records how much the processes have written, before any file is read.
func (d *discovery) countWritten() {
	d.written = make(map[proc.Identity]uint64, len(d.processes))
	for _, p := range d.processes {
		if n, err := d.store.table.Written(p.Identity); err == nil {
			d.written[p.Identity] = n
		}
	}
}

// attributeWrites compares what was added to sessions since the last call with what processes
// have written. It finds the processes that can't have written to a session, and for a session
// the process that alone can have written to it.
func (d *discovery) attributeWrites() {
	before := d.counted
	d.soleWriters, d.grown = map[*process]*session{}, map[string]bool{}
	if before.written == nil {
		return
	}
	since := d.writtenSince()
	for _, s := range d.live {
		if s.readErr != nil || !s.known {
			continue
		}
		growth := s.info.Size() - before.sizes[s.path]
		_, known := before.sizes[s.path]
		if known = known || before.folders[s.dir] || s.stored.After(before.at); !known || growth <= 0 {
			continue
		}
		d.grown[s.path] = true
		if p := d.onlyWriter(s, uint64(growth), since); p != nil {
			if old := d.soleWriters[p]; old == nil || s.active().After(old.active()) {
				d.soleWriters[p] = s
			}
		}
	}
}

// writtenSince returns the largest amount that each process can have written since the
// last call. It leaves out processes for which that is not known.
func (d *discovery) writtenSince() map[*process]uint64 {
	since := make(map[*process]uint64, len(d.processes))
	for _, p := range d.processes {
		was, seen := d.counted.written[p.Identity]
		n, err := d.store.table.Written(p.Identity)
		if err == nil && (seen || p.Started.After(d.counted.at)) {
			since[p] = n - was
		}
	}
	return since
}

// onlyWriter returns the one process that can have written that much into a session,
// and records those that can't have. A process that wrote less may still have written
// the last part.
func (d *discovery) onlyWriter(s *session, growth uint64, since map[*process]uint64) *process {
	var writers []*process
	uncounted, ended := false, d.endedWriter(s)
	for _, p := range d.processes {
		switch n, counted := since[p]; {
		case !p.uses(s.root), d.busyElsewhere(p, s):
		case counted && n < growth:
			if !ended && !d.tookOver(p, s) {
				d.notWrittenBy[processSession{p.Identity, s.id}] = s.active()
			}
		default:
			writers = append(writers, p)
			uncounted = uncounted || !counted
		}
	}
	if len(writers) != 1 || uncounted || ended || !writers[0].mayHave(s) || s.prompted.Before(writers[0].Started) {
		return nil
	}
	return writers[0]
}

// endedWriter reports whether a process that has ended since the last question may
// have written into a session, or a part of what was written.
func (d *discovery) endedWriter(s *session) bool {
	for id := range d.counted.written {
		had := d.lastSessions[id].session
		if _, lives := d.written[id]; !lives && (had == "" || had == s.id) {
			return true
		}
	}
	return false
}

// tookOver reports whether a process that began since the last call may have resumed a
// session to which other processes, which began and ended since, have written.
func (d *discovery) tookOver(p *process, s *session) bool {
	if _, seen := d.counted.written[p.Identity]; seen || !s.stored.Before(p.Started) {
		return false
	}
	for id, h := range d.lastSessions {
		if _, lives := d.written[id]; lives && h.session == s.id && id != p.Identity {
			return false // that process wrote
		}
	}
	return true
}

// busyElsewhere reports whether a process is in a turn of another session. Such a
// process writes to its terminal all the time.
func (d *discovery) busyElsewhere(p *process, s *session) bool {
	had := d.lastSessions[p.Identity].session
	return had != "" && had != s.id && slices.ContainsFunc(d.live, func(o *session) bool { return o.id == had && o.busy() })
}

// recordCounts stores the counters with which the next call compares. The caller holds
// the store's lock.
func (d *discovery) recordCounts() {
	now := writeCounts{at: d.now, written: d.written, sizes: make(map[string]int64, len(d.live)), folders: map[string]bool{}}
	for _, p := range d.processes {
		for _, r := range d.roots {
			if p.uses(r) {
				now.folders[filepath.Join(r, folderName(p.cwd))] = true
			}
		}
	}
	for _, s := range d.live {
		now.sizes[s.path] = s.info.Size()
	}
	for _, f := range d.files { // the others that were listed
		if now.folders[f.dir] {
			now.sizes[f.path] = f.info.Size()
		}
	}
	d.store.writeCounts = now
	maps.Copy(d.store.notWrittenBy, d.notWrittenBy)
	maps.DeleteFunc(d.store.notWrittenBy, func(k processSession, _ time.Time) bool {
		_, lives := d.written[k.process]
		return !lives
	})
}

// excluded reports whether a process does not have a session: other processes wrote
// into it, and no prompt has been added since.
func (m *matcher) excluded(p *process, s *session) bool {
	at, ok := m.notWrittenBy[processSession{p.Identity, s.id}]
	return ok && !s.prompted.After(at)
}

// wroteLess reports whether a process has written less since its start than is in the
// file of a session that began later: the process did not make it. A Pi that was never
// prompted has written 3 KB to 6 KB to its terminal, and 1.5.2 stores 6 KB and more
// with the first prompt. The system may have copied the beginning of a fork.
func (m *matcher) wroteLess(p *process, s *session) bool {
	if s.sqlite || s.parent != "" {
		return false
	}
	n, err := m.store.table.Written(p.Identity) // after the file's size was read
	return err == nil && s.info.Size() > 0 && n < uint64(s.info.Size())
}

// byWriting assigns the session that no other process can have written to. A process
// whose earlier session has grown as well may have written to that one.
func (m *matcher) byWriting(p *process) {
	s := m.soleWriters[p]
	if s == nil || m.has[p] != nil || !s.isFree() {
		return
	}
	for _, o := range m.sessions {
		if o.id == m.lastSessions[p.Identity].session && o != s && m.grown[o.path] {
			return
		}
	}
	m.assign(s, p, "no other process wrote as much when the session grew")
}
