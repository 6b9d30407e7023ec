//go:build !headless

package desktop

import (
	"context"
	"slices"
	"sync"

	"rollcall/app"
	"rollcall/tray/model"
)

// recentEnds keeps the sessions that ended last, of this run of the tray. It is safe for concurrent use.
type recentEnds struct {
	headless func() app.Headless

	mu   sync.Mutex
	list []app.Event // the last one first
}

// follow adds the sessions that end to the list, until ctx is done. It calls changed after each change of the list.
func (r *recentEnds) follow(ctx context.Context, events *app.Events, changed func()) error {
	for {
		ev, err := events.Next(ctx)
		if err != nil {
			return err
		}
		if r.add(&ev) {
			changed()
		}
	}
}

// add keeps ev if it is the end of a session that the user knows, or removes a session that was resumed. It reports
// whether the list changed.
func (r *recentEnds) add(ev *app.Event) bool {
	mode := r.headless()
	r.mu.Lock()
	defer r.mu.Unlock()
	list := slices.DeleteFunc(slices.Clone(r.list), func(old app.Event) bool {
		return old.Session.Agent == ev.Session.Agent && old.Session.ID == ev.Session.ID
	})
	if ev.Kind == app.Ended && ev.Session.Parent == "" && !ev.Session.IsEmptyProcess() && !mode.Mutes(ev) {
		list = slices.Insert(list, 0, *ev)
	} else if len(list) == len(r.list) {
		return false
	}
	r.list = list[:min(len(list), model.MaxEnded)]
	return true
}

// get returns the events, the last one first. The caller must not change the list.
func (r *recentEnds) get() []app.Event {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.list
}
