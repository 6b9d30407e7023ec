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
	// openBudget is the time that the menu may wait for fresh rows when it opens. Later rows appear in the open menu.
	openBudget = 150 * time.Millisecond
	// sameOpening is the time after a call's return within which further calls belong to the same opening. Panels make up to three
	// calls for each opening, one after another.
	sameOpening = 300 * time.Millisecond
	// openFor is the time for which a menu counts as open if the panel does not report that it was closed, as GTK panels
	// do not.
	openFor = time.Minute
	// updateInterval is the shortest time between two changes of the menu.
	updateInterval = 200 * time.Millisecond
)

// view is the content of the tray on any platform.
type view struct {
	rows    []model.Item
	tooltip string
	icon    assets.State
	count   int // sessions that need the user
}

// menu keeps the platform's tray up to date. It has no timer for ages, which it computes when the menu opens.
type menu struct {
	ctx  context.Context
	core Core
	opts Options
	quit context.CancelFunc
	now  func() time.Time

	mu      sync.Mutex // held while show runs, so that views arrive in order
	show    func(view) // set by start
	last    model.Menu // the menu that is shown
	open    time.Time  // the time until which the menu counts as open
	same    time.Time  // the time until which calls belong to the last opening
	changed time.Time  // last call of show
	later   *time.Timer

	replaced bool // the program was updated, and a restart is due
}

func newMenu(ctx context.Context, core Core, opts Options, quit context.CancelFunc) *menu {
	return &menu{ctx: ctx, core: core, opts: opts, quit: quit, now: time.Now}
}

func (m *menu) build(now time.Time) model.Menu {
	menu := model.Build(m.core.Snapshot(), m.opts.Asked, now)
	if m.opts.Limits != nil {
		menu.Rows = append(menu.Rows, m.opts.Limits(now)...)
	}
	if m.opts.Ended != nil {
		menu.Ended = model.EndedRows(m.opts.Ended(), now)
	}
	if m.opts.Quiet != nil {
		if quiet, until := m.opts.Quiet(); quiet {
			menu.SetQuiet(until, now)
		}
	}
	return menu
}

func (m *menu) first() view {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.last = m.build(m.now())
	return m.view()
}

// start calls show for each change until stop is called. It calls show from one goroutine at a time; show must not call
// methods of menu.
func (m *menu) start(show func(view)) (stop func()) {
	m.mu.Lock()
	m.show = show
	m.mu.Unlock()
	cancel := m.core.Subscribe(func(*app.Snapshot) { m.update() })
	m.update() // a snapshot may have changed between first and Subscribe
	stopWaiting := m.showRestart()
	stopped := make(chan struct{})
	go func() {
		for {
			select {
			case <-m.opts.Changed:
				m.update()
			case <-stopped:
				return
			}
		}
	}()
	return func() {
		stopWaiting()
		cancel()
		close(stopped)
		m.mu.Lock()
		defer m.mu.Unlock()
		m.show = nil
		if m.later != nil {
			m.later.Stop()
		}
	}
}

// showRestart adds the row that restarts Rollcall, once an update has replaced the program, until stop is called.
func (m *menu) showRestart() (stop func()) {
	if m.opts.Replaced == nil {
		return func() {}
	}
	ctx, cancel := context.WithCancel(m.ctx)
	go func() {
		select {
		case <-ctx.Done():
		case <-m.opts.Replaced:
			m.mu.Lock()
			defer m.mu.Unlock()
			m.replaced = true
			if m.show != nil {
				m.show(m.view())
			}
		}
	}()
	return cancel
}

// update shows the newest snapshot, at once or after updateInterval.
func (m *menu) update() {
	m.mu.Lock()
	defer m.mu.Unlock()
	wait := updateInterval - m.now().Sub(m.changed)
	switch {
	case m.later != nil: // the timer will show the newest snapshot
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

// render shows the newest snapshot if it differs from what is shown. In a closed menu it ignores the ages, since the
// next opening computes them. The caller holds the lock.
func (m *menu) render() {
	if m.show == nil {
		return
	}
	now := m.now()
	next := m.build(now)
	if same(m.last, next, now.Before(m.open)) {
		return
	}
	m.last, m.changed = next, now
	m.show(m.view())
}

func same(a, b model.Menu, ages bool) bool {
	row := func(x, y model.Row) bool {
		if !ages {
			x.Age, y.Age = "", ""
		}
		return x == y
	}
	return a.Tooltip == b.Tooltip && a.Icon == b.Icon && a.Count == b.Count && a.Quiet == b.Quiet &&
		slices.EqualFunc(a.Rows, b.Rows, row) && slices.EqualFunc(a.Ended, b.Ended, row)
}

func (m *menu) view() view {
	rows := layOut(m.last, m.opts.Launch != nil, m.opts.SetQuiet != nil)
	if m.opts.ShowTerminal != nil {
		offerTerminals(rows, m.last.Rows)
	}
	if m.replaced {
		rows[idRestart-1] = model.Item{ID: idRestart, Label: "Restart to finish the update"}
	}
	return view{rows: rows, tooltip: m.last.Tooltip, icon: m.last.Icon, count: m.last.Count}
}

// opening updates the ages and asks every adapter. Platforms call it when the menu is about to be shown. It returns when
// all adapters have answered for their live sessions or after openBudget; later answers arrive as snapshots.
func (m *menu) opening() {
	m.mu.Lock()
	now := m.now()
	again := now.Before(m.same)
	m.open = now.Add(openFor)
	pending := m.open // all calls until this call returns belong to the same opening
	if !again {
		m.same = pending
	}
	m.render()
	m.mu.Unlock()
	if again {
		return
	}
	settled := make(chan struct{})
	go func() {
		defer close(settled)
		m.core.RefreshLive(m.ctx)
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
	if m.same.Equal(pending) { // false if the menu was closed meanwhile
		m.same = m.now().Add(sameOpening)
	}
	m.render()
}

// closed records that the menu was closed. Some platforms never call it.
func (m *menu) closed() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.open, m.same = time.Time{}, time.Time{}
}
