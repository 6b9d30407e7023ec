// Package upkeep has the page of the window with the locks and timers of folders, and the sheets that end and clean up: sessions, processes that were left behind,
// files that nothing needs, and the worktrees of groups.
package upkeep

import (
	"context"
	"slices"
	"strings"
	"time"

	"fyne.io/fyne/v2"

	"rollcall/adapters"
	"rollcall/app"
	"rollcall/app/follow"
	"rollcall/app/owned/fuse"
	"rollcall/app/owned/launch"
	"rollcall/app/present"
	"rollcall/app/store"
	"rollcall/app/store/lock"
	"rollcall/app/ui/widgets"
	"rollcall/proc"
)

// folderState holds Rollcall's own records about folders: its locks and timers.
type folderState struct {
	locks            []lock.Lock
	fuses            []fuse.Fuse
	noLocks, noFuses bool // they could not be read
	problems         []string
}

// Core is the part of the core that this package requires.
type Core interface {
	// Refresh reads every agent, and returns when each has answered or failed.
	Refresh(ctx context.Context) *app.Snapshot
	// PlanStop, PlanStopIdle, PlanStopAllIdle and Stop stop sessions.
	PlanStop(ctx context.Context, s app.Session) (*app.StopPlan, error)
	PlanStopIdle(ctx context.Context, s app.Session) (*app.StopPlan, error)
	PlanStopAllIdle(ctx context.Context, snap *app.Snapshot, failed func(*app.Session, error)) []*app.StopPlan
	Stop(ctx context.Context, p *app.StopPlan, progress func(app.StopStep)) (app.StopResult, error)
	// LeftBehind, Uses and EndLeftBehind list and end what sessions left behind.
	LeftBehind(ctx context.Context) (left []app.LeftBehind, unknown []adapters.Name, err error)
	Uses(list ...proc.Process) (memory uint64, ports []uint16)
	EndLeftBehind(ctx context.Context, l *app.LeftBehind) ([]proc.Process, error)
}

// Window is what the page and the sheets need of the window.
type Window struct {
	*widgets.Host
	Core      Core
	Launches  *launch.Launches        // nil: there are no locks
	Fuses     *fuse.Fuses             // nil: there are no timers
	Table     proc.Lister             // nil: nothing is cleaned up
	Environ   func() []string         // returns the environment of launched agents
	CanPrompt func(*app.Session) bool // reports whether a session can be given a prompt
	Show      func(id string)         // shows a session
	Ended     func()                  // called when processes that were left behind were ended
}

// Page shows the locked folders and the timers. It is used on Fyne's goroutine only; another goroutine reads the
// files whenever they change.
type Page struct {
	Content *fyne.Container
	window  Window
	stage   *widgets.Stage // the whole page, or that it is being read
	whole   fyne.CanvasObject
	body    *fyne.Container
	problem *widgets.Banner
	shown   *folderState // nil: not read yet
	cards   []*folderCard
	wake    chan struct{}
}

// New returns the page, which reads nothing before it is opened.
func New(w Window) *Page {
	p := &Page{window: w, wake: make(chan struct{}, 1), stage: widgets.NewStage(), body: widgets.Rows(8)}
	p.problem = widgets.NewBanner("waiting", w.NewButton("Try again", nil, p.Look))
	lockIt := w.NewButton("Lock a folder…", nil, p.showLock)
	timer := w.NewButton("Set a timer…", nil, func() { p.showTimer("") })
	cleanUp := w.NewButton("Clean up…", nil, p.CleanUp)
	lockIt.SetEnabled(w.Launches != nil)
	timer.SetEnabled(w.Fuses != nil)
	cleanUp.SetEnabled(w.Table != nil)
	p.whole = widgets.Page(widgets.Rows(8, widgets.Headline("Locks & timers"), widgets.Inset(widgets.Rows(8, widgets.Flow(lockIt, timer, cleanUp), p.problem.Content)), p.body))
	p.Content = p.stage.Content
	p.stage.Say(widgets.Message{Busy: true, Title: "Reading the locks and timers…"})
	go p.watch(w.Context)
	return p
}

// Look reads the files again. It returns at once, and may be called from any goroutine.
func (p *Page) Look() { follow.Wake(p.wake) }

// watch reads the files whenever one of them changes, until ctx is done. It begins when the page is first opened.
func (p *Page) watch(ctx context.Context) {
	select {
	case <-ctx.Done():
		return
	case <-p.wake:
	}
	var problems []string
	changes := func(what string, watch func(context.Context) (<-chan struct{}, error)) <-chan struct{} {
		changed, err := watch(ctx)
		if err != nil {
			problems = append(problems, "Changes of the "+what+" are shown only after Refresh: "+present.Error(err))
		}
		return changed
	}
	var locks, fuses <-chan struct{}
	if l := p.window.Launches; l != nil {
		locks = changes("locks", l.Locks().Changes)
	}
	if f := p.window.Fuses; f != nil {
		fuses = changes("timers", f.Changes)
	}
	for {
		s := p.read()
		if len(s.problems) == 0 { // else the same reason would be shown twice
			s.problems = problems
		}
		p.window.Post(func() { p.show(s) })
		select {
		case <-ctx.Done():
			return
		case <-p.wake:
		case <-locks:
		case <-fuses:
		}
	}
}

func (p *Page) read() *folderState {
	s := &folderState{}
	var err error
	if l := p.window.Launches; l != nil {
		s.locks, err = l.Locks().List()
		if err != nil {
			s.noLocks = len(s.locks) == 0
			s.problems = append(s.problems, present.When(!s.noLocks, "Not all locks could be read: ")+present.Error(err))
		}
	} else {
		s.noLocks, s.problems = true, append(s.problems, "Locks and timers are not available: "+store.ErrNoFolder.Error()+".")
	}
	if f := p.window.Fuses; f != nil {
		s.fuses, err = f.List()
		if err != nil {
			s.noFuses = len(s.fuses) == 0
			s.problems = append(s.problems, present.When(!s.noFuses, "Not all timers could be read: ")+present.Error(err))
		}
	}
	return s
}

func (p *Page) show(s *folderState) {
	fresh := p.shown == nil || p.shown.noLocks != s.noLocks || p.shown.noFuses != s.noFuses || len(p.shown.locks) != len(s.locks)
	p.shown = s
	p.stage.Show(p.whole)
	if p.problem.Set(strings.Join(s.problems, "\n")) {
		p.Content.Refresh()
	}
	now := p.window.Now()
	texts := make([]folderText, 0, len(s.locks)+len(s.fuses))
	for i := range s.locks {
		texts = append(texts, p.lockText(&s.locks[i], now))
	}
	for i := range s.fuses {
		texts = append(texts, p.timerText(&s.fuses[i], now))
	}
	if fresh || !slices.EqualFunc(p.cards, texts, (*folderCard).set) {
		p.build(texts, s)
	}
}

// build creates all cards again: those of the locks, and then those of the timers.
func (p *Page) build(texts []folderText, s *folderState) {
	p.cards, p.body.Objects = make([]*folderCard, 0, len(texts)), nil
	section := func(title, none string, failed bool, texts []folderText) {
		p.body.Add(widgets.NewHeading(title))
		switch {
		case failed:
			p.body.Add(widgets.Failure("They could not be read, so it is not known whether there are any."))
		case len(texts) == 0:
			p.body.Add(widgets.Hint(none))
		}
		for i := range texts {
			c := newFolderCard(p.window.Host, &texts[i])
			p.cards = append(p.cards, c)
			p.body.Add(c.Content)
		}
	}
	section("Locked folders", "No folder is locked. A launch locks its folder until the agent's process ends. A lock that you set refuses launches until you remove it.", s.noLocks, texts[:len(s.locks)])
	section("Timers", "No timer is set. A timer runs a script in a folder or calls a webhook when it expires, for example to stop servers that a session started.", s.noFuses, texts[len(s.locks):])
	p.Content.Refresh()
}

// ShowAges shows the times as they are now.
func (p *Page) ShowAges() {
	if p.shown != nil && p.window.Sheet == nil {
		p.show(p.shown)
	}
}

func (p *Page) lockText(k *lock.Lock, now time.Time) folderText {
	path, since := k.Path, "\nsince "+present.Moment(k.Since, now)
	if k.Kind == lock.Manual {
		text := "locked by " + present.Short(k.By) + present.When(k.Reason != "", ": "+present.Cut(present.Short(k.Reason), 400))
		unlock := func(ctx context.Context) error { return p.window.Launches.Locks().Unlock(ctx, path) }
		return folderText{icon: widgets.NewIcon("stopped", widgets.ColorMuted), path: path, text: text + since, actions: []folderAction{
			{"Unlock", path, func(b *widgets.Button) { p.change(b, "The folder was not unlocked: ", unlock) }}}}
	}
	t := folderText{icon: widgets.NewIcon("working", widgets.ColorWorking), path: path,
		text: "locked by a launch of " + present.AgentName(adapters.Name(k.Agent)) + " until its process ends" + since}
	if id := k.Session; id != "" {
		t.actions = []folderAction{{"Show session", id, func(*widgets.Button) { p.window.Show(id) }}}
	}
	return t
}

// change runs do on another goroutine. It disables b, so that do runs once however often the user presses b, and enables b again if do fails. It shows
// the error after the text failed.
func (p *Page) change(b *widgets.Button, failed string, do func(ctx context.Context) error) {
	if b.Disabled() {
		return
	}
	b.Disable()
	widgets.InBackground(p.window.Context, p.window.Host, func(ctx context.Context) (struct{}, error) { return struct{}{}, do(ctx) }, func(_ struct{}, err error) {
		p.Look()
		switch {
		case err == nil:
			return
		case p.window.Sheet != nil: // an open sheet stays, since the user is filling it in
			p.window.Notify(failed + present.Error(err))
		default:
			p.window.NewSheet("The change failed", widgets.SheetWidth).Fail(failed + present.Error(err))
		}
		b.Enable()
	})
}

// showLock opens the form that locks a folder.
func (p *Page) showLock() {
	f := p.window.NewForm("Lock a folder", "Lock", "The folder was not locked: ")
	folder := newFolderField(p.window.Host, f)
	reason := f.NewEntry("a release is being made")
	f.Ready = func() bool { return folder.path() != "" }
	f.Submit = func() func(context.Context) error {
		k := lock.Lock{Path: folder.path(), Kind: lock.Manual, Reason: strings.TrimSpace(reason.Text)}
		return func(ctx context.Context) error {
			defer p.Look()
			_, err := p.window.Launches.Locks().Take(ctx, k, false, nil)
			return err
		}
	}
	f.Open(widgets.Hint("Launches in this folder, in a folder above it or in a folder below it are refused until you unlock it."),
		widgets.Named("Folder", folder.content), widgets.Named("Reason", reason))
	f.Focus(folder.entry)
}

// folderText holds the texts that describe a lock or a timer of a folder.
type folderText struct {
	icon    *widgets.Icon
	path    string
	text    string
	output  string // output of the timer's script
	actions []folderAction
}

// folderAction is a button of a lock or a timer.
type folderAction struct {
	name   string
	target string // what it acts on
	tapped func(*widgets.Button)
}

// folderCard shows a lock or a timer.
type folderCard struct {
	*widgets.Card
	shown folderText
}

func newFolderCard(h *widgets.Host, f *folderText) *folderCard {
	var actions []fyne.CanvasObject
	for _, a := range f.actions {
		var b *widgets.Button
		b = h.NewButton(a.name, nil, func() { a.tapped(b) })
		actions = append(actions, b)
	}
	c := &folderCard{widgets.NewCard(f.icon, present.Short(f.path), f.text, actions...), *f}
	if f.output != "" {
		c.Body.Add(widgets.Quote(f.output))
	}
	return c
}

// set shows the lock or timer as it is now. It keeps the focus and the selected text. It returns false if another
// card must be created for f.
func (c *folderCard) set(f folderText) bool {
	same := func(a, b folderAction) bool { return a.name == b.name && a.target == b.target }
	if c.shown.path != f.path || c.shown.output != f.output || !slices.EqualFunc(c.shown.actions, f.actions, same) {
		return false
	}
	c.Set(f.icon, f.text)
	return true
}

// folderField is the path of a folder in a form, and a button that chooses one.
type folderField struct {
	content *fyne.Container
	entry   *widgets.Entry
}

func newFolderField(h *widgets.Host, form *widgets.Form) *folderField {
	f := &folderField{entry: form.NewEntry("/home/me/project")}
	f.content = widgets.Border(nil, nil, h.NewBrowseButton(f.entry.SetText, form.ShowProblem), f.entry)
	return f
}

func (f *folderField) path() string { return launch.Path(strings.TrimSpace(f.entry.Text)) }
