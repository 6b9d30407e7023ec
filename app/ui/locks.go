package ui

import (
	"context"
	"os/user"
	"slices"
	"strings"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/widget"

	"rollcall/adapters"
	"rollcall/app/fuse"
	"rollcall/app/lock"
	"rollcall/app/present"
)

// kept is what Rollcall keeps of folders, as it lies on disk now.
type kept struct {
	locks    []lock.Lock
	fuses    []fuse.Fuse
	problems []string
}

// locksPage shows the locked folders and the timers. It belongs to the UI
// goroutine; what it shows is read off it, whenever the files change.
type locksPage struct {
	ui      *UI
	content *fyne.Container
	body    *fyne.Container
	problem *banner
	shown   *kept // nil: not read yet
	cards   []*keptCard
	locks   int // how many of the cards are locks
	wake    chan struct{}
}

func newLocksPage(u *UI) *locksPage {
	p := &locksPage{ui: u, wake: make(chan struct{}, 1), problem: newBanner("waiting")}
	lockIt := newButton("Lock a folder…", nil, u.typedKey, u.showLock)
	timer := newButton("Set a timer…", nil, u.typedKey, func() { u.showFuse("") })
	tidy := newButton("Clean up…", nil, u.typedKey, u.showCleanup)
	setEnabled(lockIt, u.options.Launches != nil)
	setEnabled(timer, u.options.Fuses != nil)
	setEnabled(tidy, u.options.Table != nil)
	p.body = container.New(layout.NewCustomPaddedVBoxLayout(8))
	p.body.Add(paragraph("Looking…", widget.LowImportance))
	top := container.New(newFlow(), lockIt, timer, tidy)
	p.content = container.NewStack(container.NewVScroll(container.New(layout.NewCustomPaddedLayout(12, 16, 12, 12),
		container.New(&column{width: 760}, container.New(layout.NewCustomPaddedVBoxLayout(8),
			top, p.problem.content, p.body)))))
	go p.watch(u.ctx)
	return p
}

// look reads the files again. It returns at once.
func (p *locksPage) look() {
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

// watch reads the files whenever one of them changes, until ctx is done. Nothing
// is watched before the page is opened for the first time.
func (p *locksPage) watch(ctx context.Context) {
	select {
	case <-ctx.Done():
		return
	case <-p.wake:
	}
	var locks, fuses <-chan struct{}
	var problems []string
	var err error
	if l := p.ui.options.Launches; l != nil {
		if locks, err = l.Locks().Changes(ctx); err != nil {
			problems = append(problems, "Changes of the locks are seen after Refresh only: "+short(err.Error()))
		}
	}
	if f := p.ui.options.Fuses; f != nil {
		if fuses, err = f.Changes(ctx); err != nil {
			problems = append(problems, "Changes of the timers are seen after Refresh only: "+short(err.Error()))
		}
	}
	for {
		k := p.read()
		k.problems = append(k.problems, problems...)
		p.ui.post(func() { p.show(k) })
		select {
		case <-ctx.Done():
			return
		case <-p.wake:
		case <-locks:
		case <-fuses:
		}
	}
}

func (p *locksPage) read() *kept {
	k := &kept{}
	var err error
	if l := p.ui.options.Launches; l != nil {
		if k.locks, err = l.Locks().List(); err != nil {
			k.problems = append(k.problems, "Not all locks could be read: "+present.Cut(short(err.Error()), 500))
		}
	} else {
		k.problems = append(k.problems, "Where Rollcall's state lies is not known, so there are no locks and timers.")
	}
	if f := p.ui.options.Fuses; f != nil {
		if k.fuses, err = f.List(); err != nil {
			k.problems = append(k.problems, "Not all timers could be read: "+present.Cut(short(err.Error()), 500))
		}
	}
	return k
}

func (p *locksPage) show(k *kept) {
	p.shown = k
	if p.problem.show(strings.Join(k.problems, "\n")) {
		p.content.Refresh()
	}
	now := p.ui.now()
	words := make([]keptWords, 0, len(k.locks)+len(k.fuses))
	for i := range k.locks {
		words = append(words, p.lockWords(&k.locks[i], now))
	}
	for i := range k.fuses {
		words = append(words, p.fuseWords(&k.fuses[i], now))
	}
	if p.cards != nil && len(k.locks) == p.locks && slices.EqualFunc(p.cards, words, (*keptCard).set) {
		return
	}
	p.build(words, len(k.locks))
}

// build makes the cards anew, those of locks first.
func (p *locksPage) build(words []keptWords, locks int) {
	p.cards, p.locks = make([]*keptCard, 0, len(words)), locks
	list := []fyne.CanvasObject{newHeading("Locked folders")}
	timers := []fyne.CanvasObject{newHeading("Timers")}
	for i := range words {
		c := newKeptCard(&words[i], p.ui.typedKey)
		p.cards = append(p.cards, c)
		if i < locks {
			list = append(list, c.content)
		} else {
			timers = append(timers, c.content)
		}
	}
	if locks == 0 {
		list = append(list, indented("No folder is locked. A launch locks its folder until the agent's process ends; a lock by hand keeps launches out until you remove it."))
	}
	if len(words) == locks {
		timers = append(timers, indented("No timer runs. A timer runs a script in a folder, or tells a webhook, when its time is up: for what a session left running there."))
	}
	p.body.Objects = slices.Concat(list, timers)
	p.content.Refresh()
}

// indented is a text below a heading.
func indented(text string) fyne.CanvasObject {
	return container.New(layout.NewCustomPaddedLayout(0, 0, 4, 4), paragraph(text, widget.LowImportance))
}

// showAges brings the times up to date.
func (p *locksPage) showAges() {
	if p.shown != nil && p.ui.page == pageLocks && p.ui.sheet == nil {
		p.show(p.shown)
	}
}

func (p *locksPage) lockWords(k *lock.Lock, now time.Time) keptWords {
	since := "\nsince " + moment(k.Since, now)
	if k.Kind == lock.Manual {
		text := "locked by " + short(k.By)
		if k.Reason != "" {
			text += ": " + present.Cut(short(k.Reason), 400)
		}
		path := k.Path
		return keptWords{icon: newIcon("stopped", colorMuted), path: path, text: text + since, actions: []keptAction{
			{"Unlock", path, func(b *button) { p.unlock(b, path) }}}}
	}
	w := keptWords{icon: newIcon("working", colorWorking), path: k.Path,
		text: "a launch of " + present.AgentName(adapters.Name(k.Agent)) + ", until its process ends" + since}
	if id := k.Session; id != "" {
		w.actions = []keptAction{{"Show the session", id, func(*button) { p.ui.Show(id) }}}
	}
	return w
}

// unlock removes a lock that was made by hand, off the UI goroutine.
func (p *locksPage) unlock(b *button, path string) {
	p.ui.change(b, "It was not unlocked: ", func(ctx context.Context) error { return p.ui.options.Launches.Locks().Unlock(ctx, path) })
}

// change changes locks or timers off the UI goroutine, once however often b is
// pressed, and tells what went wrong.
func (u *UI) change(b *button, failed string, what func(ctx context.Context) error) {
	if b.Disabled() {
		return
	}
	b.Disable()
	go func() {
		err := what(u.ctx)
		u.post(func() {
			u.locks.look()
			if err == nil {
				return
			}
			b.Enable()
			text := failed + present.Cut(short(err.Error()), 1000)
			if u.sheet != nil { // the user fills it in: it stays
				u.tell(text)
				return
			}
			u.newSheet("That did not work", sheetWidth).failed(text)
		})
	}()
}

// changeLimit is how long a sheet waits for another process to let go of the
// files.
const changeLimit = 10 * time.Second

// submit does what a sheet was filled in for, off the UI goroutine, and closes
// it; what went wrong is shown in problem.
func (s *sheet) submit(b *button, problem *fyne.Container, what func(ctx context.Context) error) {
	if b.Disabled() {
		return // Ctrl+Enter while something is missing, or once more
	}
	b.Disable()
	problem.Hide()
	go func() {
		ctx, cancel := context.WithTimeout(s.ui.ctx, changeLimit)
		defer cancel()
		err := what(ctx)
		s.ui.post(func() {
			s.ui.locks.look()
			if err == nil {
				s.close()
				return
			}
			if !s.open() {
				s.ui.tell("That did not work: " + short(err.Error()))
				return
			}
			b.Enable()
			problem.Objects = []fyne.CanvasObject{sentence("failed", colorBad, present.Cut(short(err.Error()), 1000))}
			problem.Show()
			s.fit()
		})
	}()
}

// showLock locks a folder by hand.
func (u *UI) showLock() {
	s := u.newSheet("Lock a folder", sheetWidth)
	problem := container.NewStack()
	problem.Hide()
	lockIt := s.button("Lock it", nil)
	folder := newFolderField(u, func() {})
	reason := newFormEntry(u, "for those who are refused", nil)
	folder.changed = func() { setEnabled(lockIt, folder.path() != "") }
	lockIt.Importance = widget.HighImportance
	lockIt.OnTapped = func() {
		k := lock.Lock{Path: folder.path(), Kind: lock.Manual, Reason: strings.TrimSpace(reason.Text)}
		s.submit(lockIt, problem, func(ctx context.Context) error {
			k.By = userName() // a directory service may have to be asked
			_, err := u.options.Launches.Locks().Take(ctx, k, false, nil)
			return err
		})
	}
	folder.entry.submit, reason.submit = lockIt.OnTapped, lockIt.OnTapped
	folder.changed()
	s.show([]fyne.CanvasObject{
		paragraph("Launches into it, into a folder above it or below it are refused until you unlock it.", widget.LowImportance),
		container.New(layout.NewCustomPaddedVBoxLayout(6), named("Folder", folder.content), named("Why", reason)), problem}, s.button("Cancel", s.close), lockIt)
	s.focus(folder.entry)
}

func userName() string {
	if u, err := user.Current(); err == nil {
		return u.Username
	}
	return "you"
}
