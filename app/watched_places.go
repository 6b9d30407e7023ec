package app

import (
	"slices"
)

// findPlaces reads which places of a source exist and watches their folders, on another goroutine than Run: a file
// system that does not answer delays the watches of that source only.
func (r *runner) findPlaces(s *source, p *places) {
	if r.newPlaces[s] = p; r.findingPlaces[s] {
		return
	}
	r.findingPlaces[s] = true
	delete(r.newPlaces, s)
	go func() { // not in the group, since it may never end
		wanted := wantedBy(p)
		found := foundPlaces{source: s, missing: missingPlaces(p)}
		found.appeared = slices.ContainsFunc(p.missing, func(path string) bool { return !slices.Contains(found.missing, path) })
		found.disturbed, found.limits = r.folders.sync(s, wanted)
		send(r.ctx, r.foundPlaces, found)
	}()
}

// foundPlaces is the result of findPlaces.
type foundPlaces struct {
	source    *source
	missing   []string
	appeared  bool      // a place that was missing after the answer exists
	disturbed []*source // sources with a folder that was not watched for a moment
	limits    []string  // which folders can't be watched
}

// watchPlaces handles the result of findPlaces. It refreshes the source if a folder is new,
// which may have changed before it was watched, or if a missing place has appeared.
func (r *runner) watchPlaces(p foundPlaces) {
	s := p.source
	delete(r.findingPlaces, s)
	if newer := r.newPlaces[s]; newer != nil {
		r.findPlaces(s, newer)
	}
	r.poll.missing[s] = p.missing
	if !r.noWatcher { // otherwise the source's health contains the reason
		r.setLimits(s, p.limits)
	}
	for _, s := range p.disturbed {
		r.markChanged(s)
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
