package follow

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"rollcall/app"
	"rollcall/app/listing"
)

// Sessions turns snapshots into views on its own goroutine, and delivers the latest view on the goroutine of the surface. Changes that
// arrive in the meantime are combined, so that neither side falls behind.
type Sessions struct {
	deliver *Latest[listing.View]
	now     func() time.Time
	days    int

	wake chan struct{} // receives when something has changed

	mu        sync.Mutex
	snapshot  *app.Snapshot
	filter    string
	scope     listing.Scope
	grouped   bool // by project
	open      map[listing.Key]bool
	pinned    map[listing.Key]bool // sessions that are shown even if they stopped long ago
	sortAgain bool                 // the next view sorts the sessions again

	Done chan struct{} // closed when the goroutine has ended
}

// SetSnapshot shows another snapshot. It never waits for the window.
func (f *Sessions) SetSnapshot(s *app.Snapshot) { f.change(func() { f.snapshot = s }) }

// Sort sorts the sessions again. Without it, listed sessions keep their positions.
func (f *Sessions) Sort() { f.change(func() { f.sortAgain = true }) }

// SetOpen unfolds or folds the finished sub-agents of k.
func (f *Sessions) SetOpen(k listing.Key, open bool) {
	f.change(func() { f.open[k] = open })
}

// Reveal puts k into the list: it unfolds the parents of k, also what the user folded, and ignores the age of k.
func (f *Sessions) Reveal(k listing.Key, parents []listing.Key) {
	f.change(func() {
		if slices.Contains(parents, listing.PutAway) {
			maps.DeleteFunc(f.open, func(folded listing.Key, _ bool) bool { return strings.HasPrefix(folded.ID, listing.PutAway.ID) })
		}
		f.pinned[k] = true
		for _, p := range parents {
			f.open[p], f.pinned[p] = true, true
		}
	})
}

// SetFilter limits the list to the sessions that have all words of a text.
func (f *Sessions) SetFilter(text string) { f.change(func() { f.filter = text }) }

// SetScope limits the list to a group.
func (f *Sessions) SetScope(s listing.Scope) { f.change(func() { f.scope = s }) }

// SetGrouped groups the sessions by project, or by status.
func (f *Sessions) SetGrouped(on bool) { f.change(func() { f.grouped = on }) }

// change changes the fields that next reads, and shows what follows from them.
func (f *Sessions) change(apply func()) {
	f.mu.Lock()
	apply()
	f.mu.Unlock()
	Wake(f.wake)
}

func (f *Sessions) run(ctx context.Context) {
	defer close(f.Done)
	var (
		last      *app.Snapshot
		x         *listing.Index
		texts     []string
		seen      = make(map[listing.Key]bool)
		positions map[listing.Key]listing.Position
		known     = map[string]listing.Project{}
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
			x = listing.NewIndex(list)
			texts = nil
			for i := range list {
				if list[i].Live() {
					seen[x.Keys[i]] = true
				}
			}
		}
		if s.Projects != nil {
			s.Projects = maps.Clone(listing.Projects(known, snap))
		}
		if s.Filter != "" && texts == nil {
			texts = listing.SearchTexts(snap.Sessions())
		}
		for k := range s.Seen {
			seen[k] = true
		}
		s.Seen = seen
		if !s.SortAgain {
			s.Positions = positions
		}
		v := listing.New(snap, x, texts, s)
		positions = v.Positions
		f.deliver.Set(v)
	}
}

// next returns what is shown next, and of which sessions; nil: no snapshot was set yet.
func (f *Sessions) next() (*app.Snapshot, listing.Selection) {
	f.mu.Lock()
	defer f.mu.Unlock()
	s := listing.Selection{Filter: f.filter, Scope: f.scope, SortAgain: f.sortAgain, Open: maps.Clone(f.open), Seen: maps.Clone(f.pinned)}
	f.sortAgain = false
	if f.grouped {
		s.Projects = map[string]listing.Project{}
	}
	if f.days > 0 {
		s.Since = f.now().AddDate(0, 0, -f.days)
	}
	return f.snapshot, s
}

// NewSessions starts a feed, which ends with ctx.
func NewSessions(ctx context.Context, do func(func()), now func() time.Time, days int, deliver func(*listing.View)) *Sessions {
	f := &Sessions{deliver: NewLatest(ctx, do, deliver), now: now, days: days, scope: listing.AllGroups, wake: make(chan struct{}, 1), Done: make(chan struct{}),
		open: make(map[listing.Key]bool), pinned: make(map[listing.Key]bool)}
	go f.run(ctx)
	return f
}
