package app

import (
	"errors"
	"slices"

	"github.com/fsnotify/fsnotify"

	"rollcall/adapters"
)

// findPlaces reads which places of a source exist, beside Run's goroutine: a file system
// that does not answer delays the watches of that source only.
func (r *runner) findPlaces(s *source, p *places) {
	if r.newPlaces[s] = p; r.findingPlaces[s] {
		return
	}
	r.findingPlaces[s] = true
	delete(r.newPlaces, s)
	go func() { // not in the group, since it may never end
		found := foundPlaces{source: s, wanted: wantedBy(p), missing: missingPlaces(p)}
		found.appeared = slices.ContainsFunc(p.missing, func(path string) bool { return !slices.Contains(found.missing, path) })
		send(r.ctx, r.foundPlaces, found)
	}()
}

// foundPlaces is the result of findPlaces.
type foundPlaces struct {
	source   *source
	wanted   map[string]interest
	missing  []string
	appeared bool // a place that was missing after the answer exists
}

// watchPlaces watches the folders of a source. It refreshes the source if a folder is new,
// which may have changed before it was watched, or if a missing place has appeared.
func (r *runner) watchPlaces(p foundPlaces) {
	s := p.source
	delete(r.findingPlaces, s)
	if newer := r.newPlaces[s]; newer != nil {
		r.findPlaces(s, newer)
	}
	r.poll.missing[s] = p.missing
	if r.folders.notify != nil { // without them, the source's health contains the reason
		again, limits := r.folders.sync(s, p.wanted)
		r.setLimits(s, limits)
		for _, s := range again {
			r.markChanged(s)
		}
	}
	if p.appeared {
		r.markChanged(s)
	}
}

// setLimits shows which folders of a source can't be watched.
func (r *runner) setLimits(s *source, limits []string) {
	c := r.core
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(limits) == 0 && len(s.limits) == 0 {
		return
	}
	s.limits = limits
	c.publishLocked()
}

// watchFolders creates the folder watcher, if an adapter wants one.
func (r *runner) watchFolders() {
	for _, s := range r.core.sources {
		if _, ok := s.adapter.(adapters.Watcher); ok {
			f, err := newFolders()
			if err != nil {
				r.eventsLost(err)
				return
			}
			r.folders = f
			return
		}
	}
}

// eventsLost handles an error of the folder watcher: changes were not noticed, or will not
// be.
func (r *runner) eventsLost(err error) {
	r.core.cfg.Log.Warn("changes of folders may go unnoticed", "error", err)
	if errors.Is(err, fsnotify.ErrEventOverflow) {
		r.folders.forgetAll() // also the removal of a folder may be among the lost events
	}
	for _, s := range r.core.sources {
		if _, ok := s.adapter.(adapters.Watcher); !ok {
			continue
		}
		if r.folders.notify == nil {
			r.setLimits(s, []string{explainWatch("", err)})
		} else {
			r.markChanged(s)
		}
	}
}
