// Package ui is the content of Rollcall's window: the sessions and what is
// known of each, how each agent answered, what is launched, locked and timed. It
// consists of Fyne containers and widgets and never imports fyne.io/fyne/v2/app, so it
// builds and can be tested without cgo, a display or OpenGL.
//
// Everything a session's agent wrote is cleaned by package present before it
// is shown. Snapshots become rows on a goroutine of the package's own; the UI
// goroutine only shows them.
package ui

import (
	"context"
	"os"
	"sync"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"rollcall/adapters"
	"rollcall/app"
	"rollcall/app/fuse"
	"rollcall/app/launch"
	"rollcall/proc"
)

// Core is what the window needs of the core; *app.Core is one.
type Core interface {
	// Snapshot returns the last picture. It never blocks.
	Snapshot() *app.Snapshot
	// Refresh asks every agent and returns when each has settled.
	Refresh(ctx context.Context) *app.Snapshot
	// Subscribe calls f for each new picture, never two calls at once.
	Subscribe(f func(*app.Snapshot)) (cancel func())
}

// Options are what New needs beside the core.
type Options struct {
	// Window is where the content is shown: for dialogs, the focus and
	// shortcuts. Required; New does not set its content.
	Window fyne.Window
	// Days is how far back stopped sessions are listed; 0: as far as the core
	// knows them.
	Days int
	// Agents are all agents' adapters. Those that are an adapters.Launcher can be
	// launched.
	Agents []adapters.Adapter
	// Launches and Fuses are what Rollcall keeps of launches, folders and timers.
	// Without them nothing can be launched, locked or timed.
	Launches *launch.Launches
	Fuses    *fuse.Fuses
	// Table reads this machine's processes; without it nothing is cleaned up.
	Table proc.Lister
	// Program is the path of Rollcall itself, for terminals to run.
	Program string
	// KeepEnv leaves variables in place that an agent's adapter would leave out
	// of its environment: the user's settings say so.
	KeepEnv bool
}

// UI is the window's content. Its methods are called on Fyne's goroutine.
type UI struct {
	core   Core
	window fyne.Window
	days   int
	now    func() time.Time
	do     func(func())
	system system
	// options are those of New; environ is the environment of what is launched.
	options Options
	environ func() []string

	feed     *feed
	sessions *sessionsPage
	agents   *agentsPage
	launch   *launchPage
	locks    *locksPage
	sheet    *sheet // the dialog that is open, if one is

	content *fyne.Container
	pages   *fyne.Container
	tabs    []*tab
	page    int
	asOf    *line
	refresh *button

	ctx    context.Context // ends with Close
	cancel func()
	ended  func() // of the subscription
	closed sync.Once
}

// The pages, in the order of their tabs.
const (
	pageSessions = iota
	pageAgents
	pageLaunch
	pageLocks
)

// New builds the content and keeps it up to date until Close. It must be
// called on Fyne's goroutine, with Theme set in the application's settings.
func New(core Core, o Options) *UI {
	return newUI(core, o, fyne.Do, time.Now, realSystem())
}

func newUI(core Core, o Options, do func(func()), now func() time.Time, sys system) *UI {
	u := &UI{core: core, window: o.Window, days: o.Days, do: do, now: now, system: sys, options: o, environ: os.Environ}
	u.ctx, u.cancel = context.WithCancel(context.Background())
	u.feed = newFeed(do, now, o.Days, u.apply)
	u.asOf = newLine("", colorMuted, theme.SizeNameCaptionText, fyne.TextStyle{})
	u.asOf.align = fyne.TextAlignTrailing
	u.refresh = newButton("Refresh", plainIcon("refresh"), u.typedKey, u.Refresh)
	u.tabs = []*tab{
		newTab("Sessions", u.typedKey, func() { u.open(pageSessions) }),
		newTab("Agents", u.typedKey, func() { u.open(pageAgents) }),
		newTab("Launch…", u.typedKey, func() { u.open(pageLaunch) }),
		newTab("Locks & timers", u.typedKey, func() { u.open(pageLocks) }),
	}
	u.sessions = newSessionsPage(u)
	u.agents = newAgentsPage(u)
	u.launch = newLaunchPage(u)
	u.locks = newLocksPage(u)
	u.pages = container.NewStack(u.sessions.content, u.agents.content, u.launch.content, u.locks.content)
	u.content = u.frame()
	u.open(pageSessions)
	u.addShortcuts()
	u.feed.setSnapshot(core.Snapshot())
	u.ended = core.Subscribe(u.feed.setSnapshot)
	go u.tick()
	return u
}

func (u *UI) frame() *fyne.Container {
	tabs := container.New(layout.NewCustomPaddedHBoxLayout(2))
	for _, t := range u.tabs {
		tabs.Add(t)
	}
	top := newTopBar(tabs, u.asOf, u.refresh)
	return container.New(&sized{changed: func() {
		if u.sheet != nil {
			u.sheet.fit() // a dialog lies above the content, and would keep its size
		}
	}}, border(container.New(layout.NewCustomPaddedVBoxLayout(0), top, widget.NewSeparator()), nil, nil, u.pages))
}

// Content is what the window shows. It is always the same object.
func (u *UI) Content() fyne.CanvasObject { return u.content }

// Show opens the sessions and, unless id is empty, the session with that id,
// or the only one whose id starts with it, now or as soon as it is listed.
func (u *UI) Show(id string) {
	u.open(pageSessions)
	if id == "" {
		return
	}
	u.sessions.wanted = id
	u.sessions.apply(u.sessions.view)
}

// ShowLaunch opens the launch page.
func (u *UI) ShowLaunch() { u.open(pageLaunch) }

// Warn shows a warning above the list until the next one; an empty text removes
// it. Unlike the other methods it may be called from any goroutine.
func (u *UI) Warn(text string) {
	u.post(func() {
		u.sessions.warning = short(text)
		u.sessions.apply(u.sessions.view)
	})
}

// tell shows what went wrong with something that the user no longer looks at,
// above the list, until it is dismissed. It is called on the UI goroutine.
func (u *UI) tell(text string) {
	u.sessions.notice = short(text)
	u.sessions.apply(u.sessions.view)
}

// Refresh asks all agents again, and puts the list in order. It returns at once.
func (u *UI) Refresh() {
	u.feed.sort()
	u.launch.look()
	if u.page == pageLocks {
		u.locks.look()
	}
	go u.core.Refresh(u.ctx)
}

// Close ends what keeps the content up to date; nothing is handed to Fyne's
// goroutine after it. It may be called more than once, and from any goroutine
// but that of the core's subscriptions.
func (u *UI) Close() {
	u.closed.Do(func() {
		u.cancel()
		u.ended()
		u.feed.close()
	})
}

// post runs f on Fyne's goroutine, unless the UI is closed.
func (u *UI) post(f func()) {
	if u.ctx.Err() == nil {
		u.do(f)
	}
}

// ageStep is how often ages are brought up to date.
const ageStep = 15 * time.Second

func (u *UI) tick() {
	t := time.NewTicker(ageStep)
	defer t.Stop()
	for {
		select {
		case <-u.ctx.Done():
			return
		case <-t.C:
			u.post(u.showAges)
		}
	}
}

func (u *UI) showAges() {
	if u.ctx.Err() != nil {
		return
	}
	u.showTop(u.sessions.view.snapshot)
	switch u.page {
	case pageSessions:
		u.sessions.list.Refresh()
		u.sessions.showDetail()
	case pageAgents:
		u.agents.apply(u.sessions.view.snapshot)
	case pageLocks:
		u.locks.showAges()
	}
}

// apply shows a new view on every page.
func (u *UI) apply(v *view) {
	u.showTop(v.snapshot)
	u.sessions.apply(v)
	u.agents.apply(v.snapshot)
	u.launch.apply(v.snapshot)
}

func (u *UI) showTop(s *app.Snapshot) {
	text := ""
	switch {
	case s.Refreshing || pending(s):
		text = "Asking…"
	case !s.At.IsZero():
		text = "as of " + s.At.Local().Format("15:04:05")
	}
	u.asOf.set(text, colorMuted)
	var sign fyne.Resource
	if len(failedNames(s)) > 0 {
		sign = newIcon("waiting", colorWaiting)
	}
	if t := u.tabs[pageAgents]; t.icon != sign {
		t.icon = sign
		t.Refresh()
	}
}

// open shows one of the pages.
func (u *UI) open(page int) {
	if page != u.page {
		defer u.focusPage()
	}
	u.page = page
	for i, o := range u.pages.Objects {
		if i == page {
			o.Show()
		} else {
			o.Hide()
		}
		if t := u.tabs[i]; t.active != (i == page) {
			t.active = i == page
			t.Refresh()
		}
	}
	switch page {
	case pageAgents:
		u.agents.apply(u.sessions.view.snapshot)
	case pageLaunch:
		u.launch.look()
	case pageLocks:
		u.locks.look()
	}
}

// copyText puts text on the clipboard and says so on the button for a moment.
func (u *UI) copyText(b *button, text string) {
	fyne.CurrentApp().Clipboard().SetContent(text)
	was := b.Text
	if was == copied {
		return
	}
	b.SetIcon(newIcon("done", colorGood))
	b.SetText(copied)
	time.AfterFunc(copiedFor, func() {
		u.post(func() {
			b.SetIcon(plainIcon("copy"))
			b.SetText(was)
		})
	})
}

const (
	copied    = "Copied"
	copiedFor = 1500 * time.Millisecond
)
