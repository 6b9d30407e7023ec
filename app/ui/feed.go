package ui

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"rollcall/app"
)

// feed turns snapshots into views on its own goroutine, and delivers the latest view on Fyne's goroutine. Changes that
// arrive in the meantime are combined, so that neither side falls behind.
type feed struct {
	deliver *latest[view]
	now     func() time.Time
	days    int

	wake chan struct{} // receives when something has changed

	mu        sync.Mutex
	snapshot  *app.Snapshot
	filter    string
	scope     scope
	grouped   bool // by project
	open      map[key]bool
	pinned    map[key]bool // sessions that are shown even if they stopped long ago
	sortAgain bool         // the next view sorts the sessions again

	done chan struct{} // closed when the goroutine has ended
}

// newFeed starts a feed, which ends with ctx.
func newFeed(ctx context.Context, do func(func()), now func() time.Time, days int, deliver func(*view)) *feed {
	f := &feed{deliver: &latest[view]{ctx: ctx, do: do, deliver: deliver}, now: now, days: days, scope: allGroups, wake: make(chan struct{}, 1), done: make(chan struct{}),
		open: make(map[key]bool), pinned: make(map[key]bool)}
	go f.run(ctx)
	return f
}

// setSnapshot shows another snapshot. It never waits for the window.
func (f *feed) setSnapshot(s *app.Snapshot) { f.change(func() { f.snapshot = s }) }

// sort sorts the sessions again. Without it, listed sessions keep their positions.
func (f *feed) sort() { f.change(func() { f.sortAgain = true }) }

// setOpen unfolds or folds the finished sub-agents of k.
func (f *feed) setOpen(k key, open bool) {
	f.change(func() { f.open[k] = open })
}

// reveal puts k into the list: it unfolds the parents of k, also what the user folded, and ignores the age of k.
func (f *feed) reveal(k key, parents []key) {
	f.change(func() {
		if slices.Contains(parents, putAway) {
			maps.DeleteFunc(f.open, func(folded key, _ bool) bool { return strings.HasPrefix(folded.id, putAway.id) })
		}
		f.pinned[k] = true
		for _, p := range parents {
			f.open[p], f.pinned[p] = true, true
		}
	})
}

// change changes the fields that next reads, and shows what follows from them.
func (f *feed) change(apply func()) {
	f.mu.Lock()
	apply()
	f.mu.Unlock()
	wake(f.wake)
}

func (f *feed) run(ctx context.Context) {
	defer close(f.done)
	var (
		last      *app.Snapshot
		x         *index
		texts     []string
		seen      = make(map[key]bool)
		positions map[key]position
		known     = map[string]project{}
	)
	for {
		select {
		case <-ctx.Done():
			return
		case <-f.wake:
		}
		snap, s := f.next()
		if snap == nil {
			continue
		}
		if snap != last {
			list := snap.Sessions()
			last = snap
			x = newIndex(list)
			texts = nil
			for i := range list {
				if list[i].Live() {
					seen[x.keys[i]] = true
				}
			}
		}
		if s.projects != nil {
			s.projects = maps.Clone(projects(known, snap))
		}
		if s.filter != "" && texts == nil {
			texts = searchTexts(snap.Sessions())
		}
		for k := range s.seen {
			seen[k] = true
		}
		s.seen = seen
		if !s.sortAgain {
			s.positions = positions
		}
		v := newView(snap, x, texts, s)
		positions = v.positions
		f.deliver.set(v)
	}
}

// next returns what is shown next, and of which sessions; nil: no snapshot was set yet.
func (f *feed) next() (*app.Snapshot, selection) {
	f.mu.Lock()
	defer f.mu.Unlock()
	s := selection{filter: f.filter, scope: f.scope, sortAgain: f.sortAgain, open: maps.Clone(f.open), seen: maps.Clone(f.pinned)}
	f.sortAgain = false
	if f.grouped {
		s.projects = map[string]project{}
	}
	if f.days > 0 {
		s.since = f.now().AddDate(0, 0, -f.days)
	}
	return f.snapshot, s
}

// latest delivers values on Fyne's goroutine, until ctx is done. A value that waits there is replaced by the next one.
type latest[T any] struct {
	ctx     context.Context
	do      func(func())
	deliver func(*T) // called on Fyne's goroutine

	mu    sync.Mutex
	value *T // not delivered yet; nil: none
}

func (l *latest[T]) set(value *T) {
	l.mu.Lock()
	waiting := l.value != nil
	l.value = value
	l.mu.Unlock()
	if waiting {
		return
	}
	l.do(func() {
		l.mu.Lock()
		value := l.value
		l.value = nil
		l.mu.Unlock()
		if l.ctx.Err() == nil {
			l.deliver(value)
		}
	})
}
