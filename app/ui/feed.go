package ui

import (
	"maps"
	"sync"
	"time"

	"rollcall/app"
)

// feed turns snapshots into views on a goroutine of its own and hands each
// newest one to the UI goroutine. What arrives meanwhile is combined: neither
// side can fall behind the other.
type feed struct {
	deliver func(*view) // called on the UI goroutine
	do      func(func())
	now     func() time.Time
	days    int

	mu       sync.Mutex
	wake     *sync.Cond
	snapshot *app.Snapshot
	filter   string
	open     map[key]bool
	pinned   map[key]bool // shown however old
	dirty    bool
	afresh   bool // the next view puts the sessions in order anew
	closed   bool
	ready    *view // handed to do, not yet delivered

	done chan struct{}
}

func newFeed(do func(func()), now func() time.Time, days int, deliver func(*view)) *feed {
	f := &feed{deliver: deliver, do: do, now: now, days: days, done: make(chan struct{}),
		open: make(map[key]bool), pinned: make(map[key]bool)}
	f.wake = sync.NewCond(&f.mu)
	go f.run()
	return f
}

// setSnapshot takes the newest picture. It never waits for the window.
func (f *feed) setSnapshot(s *app.Snapshot) { f.change(func() { f.snapshot = s }) }

func (f *feed) setFilter(text string) { f.change(func() { f.filter = text }) }

// sort puts the sessions in order anew: until then those that are listed keep
// their places.
func (f *feed) sort() { f.change(func() { f.afresh = true }) }

// setOpen unfolds or folds the finished sub-agents of k.
func (f *feed) setOpen(k key, open bool) {
	f.change(func() {
		if open {
			f.open[k] = true
		} else {
			delete(f.open, k)
		}
	})
}

// reveal makes sure that k is listed: its parents unfolded, its age ignored.
func (f *feed) reveal(k key, parents []key) {
	f.change(func() {
		f.pinned[k] = true
		for _, p := range parents {
			f.open[p], f.pinned[p] = true, true
		}
	})
}

func (f *feed) change(how func()) {
	f.mu.Lock()
	how()
	f.dirty = true
	f.mu.Unlock()
	f.wake.Signal()
}

// close ends the goroutine and waits for it.
func (f *feed) close() {
	f.mu.Lock()
	f.closed = true
	f.mu.Unlock()
	f.wake.Signal()
	<-f.done
}

func (f *feed) run() {
	defer close(f.done)
	var (
		last *app.Snapshot
		x    *index
		hay  []string
		seen = make(map[key]bool)
		// Where the sessions stand.
		placed map[key]placing
	)
	for {
		snap, s, ok := f.next()
		if !ok {
			return
		}
		if snap != last {
			last, x, hay = snap, newIndex(snap.Sessions), nil
			for i := range snap.Sessions {
				if snap.Sessions[i].Live() {
					seen[x.keys[i]] = true
				}
			}
		}
		if s.filter != "" && hay == nil {
			hay = haystacks(snap.Sessions)
		}
		for k := range s.seen {
			seen[k] = true
		}
		s.seen = seen
		if !s.afresh {
			s.placed = placed
		}
		v := newView(snap, x, hay, s)
		placed = v.placed
		f.hand(v)
	}
}

// next waits for something to show.
func (f *feed) next() (*app.Snapshot, sieve, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for !f.closed && (!f.dirty || f.snapshot == nil) {
		f.wake.Wait()
	}
	f.dirty = false
	s := sieve{filter: f.filter, afresh: f.afresh, open: maps.Clone(f.open), seen: maps.Clone(f.pinned)}
	f.afresh = false
	if f.days > 0 {
		s.since = f.now().AddDate(0, 0, -f.days)
	}
	return f.snapshot, s, !f.closed
}

// hand gives v to the UI goroutine, in place of one that still waits there.
func (f *feed) hand(v *view) {
	f.mu.Lock()
	waiting := f.ready != nil
	f.ready = v
	f.mu.Unlock()
	if !waiting {
		f.do(func() {
			f.mu.Lock()
			v := f.ready
			f.ready = nil
			closed := f.closed
			f.mu.Unlock()
			if !closed {
				f.deliver(v)
			}
		})
	}
}
