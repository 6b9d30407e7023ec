package tray

import (
	"context"
	"slices"
	"sync"
	"time"

	"rollcall/app"
	"rollcall/assets"
	"rollcall/tray/model"
)

const (
	// openBudget is how long the menu may wait for fresh rows before it is
	// shown with the last ones; what comes later is shown in the open menu.
	openBudget = 150 * time.Millisecond
	// sameOpening: panels tell of one opening by up to three calls.
	sameOpening = 300 * time.Millisecond
	// openFor is how long a menu counts as open when nobody says that it was
	// closed: GTK panels don't.
	openFor = time.Minute
	// pace is the least time between two changes of the menu.
	pace = 200 * time.Millisecond
)

// view is what a platform shows.
type view struct {
	rows    []row
	tooltip string
	icon    assets.State
	count   int // sessions that need the user
}

// menu keeps the platform's tray up to date. It does nothing while no snapshot
// comes: ages are computed when the menu opens, not by a timer.
type menu struct {
	ctx  context.Context
	core Core
	opts Options
	quit context.CancelFunc
	now  func() time.Time

	mu      sync.Mutex // held while show runs, so that views arrive in order
	show    func(view) // set by start
	last    model.Menu // what is shown
	open    time.Time  // counts as open until then
	opened  time.Time  // last opening
	changed time.Time  // last call of show
	later   *time.Timer
}

func newMenu(ctx context.Context, core Core, opts Options, quit context.CancelFunc) *menu {
	return &menu{ctx: ctx, core: core, opts: opts, quit: quit, now: time.Now}
}

// first is what a platform shows to begin with.
func (m *menu) first() view {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.last = model.Build(m.core.Snapshot(), m.now())
	return m.view()
}

// start passes every change on to show from now on, until stop is called. show
// is called by one goroutine at a time and must not call back.
func (m *menu) start(show func(view)) (stop func()) {
	m.mu.Lock()
	m.show = show
	m.mu.Unlock()
	cancel := m.core.Subscribe(func(*app.Snapshot) { m.update() })
	m.update() // what came between first and Subscribe
	return func() {
		cancel()
		m.mu.Lock()
		defer m.mu.Unlock()
		m.show = nil
		if m.later != nil {
			m.later.Stop()
		}
	}
}

// update shows the newest snapshot, at once or as soon as pace allows.
func (m *menu) update() {
	m.mu.Lock()
	defer m.mu.Unlock()
	wait := pace - m.now().Sub(m.changed)
	switch {
	case m.later != nil: // it will show the newest
	case wait <= 0:
		m.render()
	default:
		m.later = time.AfterFunc(wait, func() {
			m.mu.Lock()
			defer m.mu.Unlock()
			m.later = nil
			m.render()
		})
	}
}

// render shows the newest snapshot if that changes anything. In a closed menu
// an age that grew is no change: the opening will compute it anyway. The caller
// holds the lock.
func (m *menu) render() {
	if m.show == nil {
		return
	}
	now := m.now()
	next := model.Build(m.core.Snapshot(), now)
	if same(m.last, next, now.Before(m.open)) {
		return
	}
	m.last, m.changed = next, now
	m.show(m.view())
}

func same(a, b model.Menu, ages bool) bool {
	return a.Tooltip == b.Tooltip && a.Icon == b.Icon && a.Count == b.Count &&
		slices.EqualFunc(a.Rows, b.Rows, func(x, y model.Row) bool {
			if !ages {
				x.Age, y.Age = "", ""
			}
			return x == y
		})
}

func (m *menu) view() view {
	return view{
		rows:    layOut(m.last, m.opts.Launch != nil),
		tooltip: m.last.Tooltip,
		icon:    m.last.Icon,
		count:   m.last.Count,
	}
}

// opening is called when the menu is about to be shown. It brings the ages up
// to date, asks every adapter, and returns when all have answered or the budget
// is used up; later answers come as snapshots.
func (m *menu) opening() {
	m.mu.Lock()
	now := m.now()
	again := now.Sub(m.opened) < sameOpening
	m.open = now.Add(openFor)
	if !again {
		m.opened = now
	}
	m.render()
	m.mu.Unlock()
	if again {
		return
	}
	settled := make(chan struct{})
	go func() {
		defer close(settled)
		m.core.Refresh(m.ctx)
	}()
	budget := time.NewTimer(openBudget)
	defer budget.Stop()
	select {
	case <-settled:
	case <-budget.C:
	case <-m.ctx.Done():
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.render()
}

// closed is called when the menu was closed, where that is told.
func (m *menu) closed() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.open, m.opened = time.Time{}, time.Time{}
}
