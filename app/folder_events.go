package app

import (
	"errors"
	"slices"

	"github.com/fsnotify/fsnotify"

	"rollcall/adapters"
	"rollcall/app/places"
)

// startFolderWatcher creates the folder watcher, if an adapter wants one.
func (r *runner) startFolderWatcher() {
	for _, s := range r.core.sources {
		if _, ok := s.adapter.(adapters.Watcher); !ok {
			continue
		}
		f, err := places.NewFolders[*source](r.watcherReplaced)
		if err != nil {
			r.eventsLost(lostEvents{err, true})
			return
		}
		r.folders = f
		go r.handleEvents(f.Watcher())
		return
	}
}

// handleEvents reports to Run which sources the events of a watcher concern. It runs on another goroutine than Run,
// because the methods of folders may wait.
func (r *runner) handleEvents(w *places.Watcher) {
	for {
		select {
		case <-r.ctx.Done():
			return
		case e, ok := <-w.Events():
			if !ok {
				return
			}
			if changed := r.folders.Changed(e); changed != nil {
				send(r.ctx, r.changed, changed)
			}
		case err, ok := <-w.Errors():
			if !ok {
				return
			}
			r.handleWatchError(err)
		}
	}
}

// handleWatchError reports to Run that events were lost.
func (r *runner) handleWatchError(err error) {
	if errors.Is(err, fsnotify.ErrEventOverflow) {
		r.folders.ForgetAll() // the removal of a folder may be among the lost events
	}
	send(r.ctx, r.lost, lostEvents{err: err})
}

// watcherReplaced reports to Run that a watcher was given up with all its watches, and starts to handle the events of the
// new one, if there is one. The watches begin again as the sources are refreshed.
func (r *runner) watcherReplaced(now *places.Watcher, err error) {
	if now != nil {
		go r.handleEvents(now)
	}
	send(r.ctx, r.lost, lostEvents{err, now == nil})
}

// lostEvents is the reason why changes were not noticed or, without a watcher, will not be.
type lostEvents struct {
	err       error
	noWatcher bool
}

// eventsLost refreshes the sources that want folders watched, or shows with each that
// there is no watcher.
func (r *runner) eventsLost(l lostEvents) {
	r.noWatcher = r.noWatcher || l.noWatcher
	r.core.cfg.Log.Warn("changes of folders may go unnoticed", "error", l.err)
	for _, s := range r.core.sources {
		if _, ok := s.adapter.(adapters.Watcher); !ok {
			continue
		}
		if l.noWatcher {
			r.setLimits(s, []string{places.Explain("", l.err)})
		}
		r.markChanged(s)
	}
}

// findPlaces reads which places of a source exist and watches their folders, on another goroutine than Run: a file
// system that does not answer delays the watches of that source only.
func (r *runner) findPlaces(s *source, p *watchList) {
	if _, running := r.findingPlaces[s]; running {
		r.findingPlaces[s] = p
		return
	}
	r.findingPlaces[s] = nil
	go func() { // outside the runner's group, since it may never end
		found := foundPlaces{source: s}
		wanted, missing := places.Wanted(p.watch, p.lookedIn)
		found.disturbed, found.limits = r.folders.Sync(s, wanted)
		found.missing = places.Missing(p.all())
		found.appeared = slices.ContainsFunc(slices.Concat(p.missing, missing), func(path string) bool { return !slices.Contains(found.missing, path) })
		send(r.ctx, r.foundPlaces, found)
	}()
}

// foundPlaces is the result of findPlaces.
type foundPlaces struct {
	source    *source
	missing   []string
	appeared  bool      // a place that was missing, at the answer or later, exists
	disturbed []*source // sources with a folder that was not watched for a moment
	limits    []string  // which folders can't be watched
}

// watchPlaces handles the result of findPlaces. It refreshes the source if a folder is new,
// which may have changed before it was watched, or if a missing place has appeared.
func (r *runner) watchPlaces(p foundPlaces) {
	s := p.source
	newer := r.findingPlaces[s]
	delete(r.findingPlaces, s)
	if newer != nil {
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
