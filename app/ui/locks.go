package ui

import (
	"context"
	"slices"
	"strings"
	"time"

	"fyne.io/fyne/v2"

	"rollcall/adapters"
	"rollcall/app/follow"
	"rollcall/app/owned/fuse"
	"rollcall/app/present"
	"rollcall/app/store/lock"
	"rollcall/app/ui/widgets"
)

// folderState holds Rollcall's own records about folders: its locks and timers.
type folderState struct {
	locks            []lock.Lock
	fuses            []fuse.Fuse
	noLocks, noFuses bool // they could not be read
	problems         []string
}

// locksPage shows the locked folders and the timers. It is used on Fyne's goroutine only; another goroutine reads the
// files whenever they change.
type locksPage struct {
	ui      *UI
	content *fyne.Container
	stage   *widgets.Stage // the whole page, or that it is being read
	whole   fyne.CanvasObject
	body    *fyne.Container
	problem *widgets.Banner
	shown   *folderState // nil: not read yet
	cards   []*folderCard
	wake    chan struct{}
}

func newLocksPage(u *UI) *locksPage {
	p := &locksPage{ui: u, wake: make(chan struct{}, 1), stage: widgets.NewStage(), body: widgets.Rows(8)}
	p.problem = widgets.NewBanner("waiting", u.host.NewButton("Try again", nil, p.look))
	lockIt := u.host.NewButton("Lock a folder…", nil, u.showLock)
	timer := u.host.NewButton("Set a timer…", nil, func() { u.showFuse("") })
	cleanUp := u.host.NewButton("Clean up…", nil, u.showCleanup)
	lockIt.SetEnabled(u.options.Launches != nil)
	timer.SetEnabled(u.options.Fuses != nil)
	cleanUp.SetEnabled(u.options.Table != nil)
	p.whole = widgets.Page(widgets.Rows(8, widgets.Headline("Locks & timers"), widgets.Inset(widgets.Rows(8, widgets.Flow(lockIt, timer, cleanUp), p.problem.Content)), p.body))
	p.content = p.stage.Content
	p.stage.Say(widgets.Message{Busy: true, Title: "Reading the locks and timers…"})
	go p.watch(u.ctx)
	return p
}

// look reads the files again. It returns at once, and may be called from any goroutine.
func (p *locksPage) look() { follow.Wake(p.wake) }

// watch reads the files whenever one of them changes, until ctx is done. It begins when the page is first opened.
func (p *locksPage) watch(ctx context.Context) {
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
	if l := p.ui.options.Launches; l != nil {
		locks = changes("locks", l.Locks().Changes)
	}
	if f := p.ui.options.Fuses; f != nil {
		fuses = changes("timers", f.Changes)
	}
	for {
		s := p.read()
		if len(s.problems) == 0 { // else the same reason would be shown twice
			s.problems = problems
		}
		p.ui.post(func() { p.show(s) })
		select {
		case <-ctx.Done():
			return
		case <-p.wake:
		case <-locks:
		case <-fuses:
		}
	}
}

func (p *locksPage) read() *folderState {
	s := &folderState{}
	var err error
	if l := p.ui.options.Launches; l != nil {
		s.locks, err = l.Locks().List()
		if err != nil {
			s.noLocks = len(s.locks) == 0
			s.problems = append(s.problems, present.When(!s.noLocks, "Not all locks could be read: ")+present.Error(err))
		}
	} else {
		s.noLocks, s.problems = true, append(s.problems, "Locks and timers are not available: "+errNoState.Error()+".")
	}
	if f := p.ui.options.Fuses; f != nil {
		s.fuses, err = f.List()
		if err != nil {
			s.noFuses = len(s.fuses) == 0
			s.problems = append(s.problems, present.When(!s.noFuses, "Not all timers could be read: ")+present.Error(err))
		}
	}
	return s
}

func (p *locksPage) show(s *folderState) {
	fresh := p.shown == nil || p.shown.noLocks != s.noLocks || p.shown.noFuses != s.noFuses || len(p.shown.locks) != len(s.locks)
	p.shown = s
	p.stage.Show(p.whole)
	if p.problem.Set(strings.Join(s.problems, "\n")) {
		p.content.Refresh()
	}
	now := p.ui.host.Now()
	texts := make([]folderText, 0, len(s.locks)+len(s.fuses))
	for i := range s.locks {
		texts = append(texts, p.lockText(&s.locks[i], now))
	}
	for i := range s.fuses {
		texts = append(texts, p.fuseText(&s.fuses[i], now))
	}
	if fresh || !slices.EqualFunc(p.cards, texts, (*folderCard).set) {
		p.build(texts, s)
	}
}

// build creates all cards again: those of the locks, and then those of the timers.
func (p *locksPage) build(texts []folderText, s *folderState) {
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
			c := newFolderCard(p.ui.host, &texts[i])
			p.cards = append(p.cards, c)
			p.body.Add(c.Content)
		}
	}
	section("Locked folders", "No folder is locked. A launch locks its folder until the agent's process ends. A lock that you set refuses launches until you remove it.", s.noLocks, texts[:len(s.locks)])
	section("Timers", "No timer is set. A timer runs a script in a folder or calls a webhook when it expires, for example to stop servers that a session started.", s.noFuses, texts[len(s.locks):])
	p.content.Refresh()
}

// showAges shows the times as they are now.
func (p *locksPage) showAges() {
	if p.shown != nil && p.ui.page == pageLocks && p.ui.host.Sheet == nil {
		p.show(p.shown)
	}
}

func (p *locksPage) lockText(k *lock.Lock, now time.Time) folderText {
	path, since := k.Path, "\nsince "+present.Moment(k.Since, now)
	if k.Kind == lock.Manual {
		text := "locked by " + present.Short(k.By)
		if k.Reason != "" {
			text += ": " + present.Cut(present.Short(k.Reason), 400)
		}
		unlock := func(ctx context.Context) error { return p.ui.options.Launches.Locks().Unlock(ctx, path) }
		return folderText{icon: widgets.NewIcon("stopped", widgets.ColorMuted), path: path, text: text + since, actions: []folderAction{
			{"Unlock", path, func(b *widgets.Button) { p.ui.change(b, "The folder was not unlocked: ", unlock) }}}}
	}
	t := folderText{icon: widgets.NewIcon("working", widgets.ColorWorking), path: path,
		text: "locked by a launch of " + present.AgentName(adapters.Name(k.Agent)) + " until its process ends" + since}
	if id := k.Session; id != "" {
		t.actions = []folderAction{{"Show session", id, func(*widgets.Button) { p.ui.Show(id) }}}
	}
	return t
}

// change runs do on another goroutine. It disables b, so that do runs once however often the user presses b, and enables b again if do fails. It shows
// the error after the text failed.
func (u *UI) change(b *widgets.Button, failed string, do func(ctx context.Context) error) {
	if b.Disabled() {
		return
	}
	b.Disable()
	widgets.InBackground(u.ctx, u.host, func(ctx context.Context) (struct{}, error) { return struct{}{}, do(ctx) }, func(_ struct{}, err error) {
		u.locks.look()
		switch {
		case err == nil:
			return
		case u.host.Sheet != nil: // an open sheet stays, since the user is filling it in
			u.notify(failed + present.Error(err))
		default:
			u.host.NewSheet("The change failed", widgets.SheetWidth).Fail(failed + present.Error(err))
		}
		b.Enable()
	})
}

// showLock opens the form that locks a folder.
func (u *UI) showLock() {
	f := u.host.NewForm("Lock a folder", "Lock", "The folder was not locked: ")
	folder := newFolderField(u.host, f)
	reason := f.NewEntry("a release is being made")
	f.Ready = func() bool { return folder.path() != "" }
	f.Submit = func() func(context.Context) error {
		k := lock.Lock{Path: folder.path(), Kind: lock.Manual, Reason: strings.TrimSpace(reason.Text)}
		return func(ctx context.Context) error {
			defer u.locks.look()
			_, err := u.options.Launches.Locks().Take(ctx, k, false, nil)
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
