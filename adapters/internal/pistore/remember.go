package pistore

import "slices"

// holdersBefore returns the process with which each session was seen at earlier calls.
func (d *discovery) holdersBefore() map[string]holder {
	before := make(map[string]holder, len(d.lastSessions))
	for id, h := range d.lastSessions {
		alive := slices.ContainsFunc(d.processes, func(p *process) bool { return p.Identity == id })
		if old, there := before[h.session]; !there || alive || !old.alive && h.active.After(old.active) {
			before[h.session] = holder{pid: id.PID, alive: alive, active: h.active}
		}
	}
	return before
}

// maxLastSessions is the largest number of ended processes whose last sessions are
// remembered.
const maxLastSessions = 1000

// remember stores the state that the next call and WatchPaths start from.
func (d *discovery) remember() {
	watch := d.watchPaths()
	d.store.mu.Lock()
	defer d.store.mu.Unlock()
	d.store.watch = watch
	d.store.hadRust = d.store.hadRust || d.hasRust
	d.store.listedOnce = d.store.listedOnce || d.listed
	d.store.transcripts.Trim()
	for id := range d.store.seen {
		if !d.noTable && !slices.ContainsFunc(d.processes, func(p *process) bool { return p.Identity == id }) && !d.store.table.Alive(id) {
			delete(d.store.seen, id)
		}
	}
	if len(d.store.lastSessions) > maxLastSessions {
		clear(d.store.lastSessions)
	}
	for _, s := range d.live {
		if s.owner != nil && s.doubt == "" {
			d.store.lastSessions[s.owner.Identity] = lastSession{s.id, s.active(), s.file}
		}
	}
	d.recordCounts()
}
