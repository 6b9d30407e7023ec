package ui

import (
	"context"
	"os/user"
	"strings"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/theme"
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
	p.problem.show(strings.Join(k.problems, "\n"))
	var cards []fyne.CanvasObject
	cards = append(cards, newHeading("Locked folders"))
	for i := range k.locks {
		cards = append(cards, p.lockCard(&k.locks[i]))
	}
	if len(k.locks) == 0 {
		cards = append(cards, indented("No folder is locked. A launch locks its folder until the agent's process ends; a lock by hand keeps launches out until you remove it."))
	}
	cards = append(cards, newHeading("Timers"))
	for i := range k.fuses {
		cards = append(cards, p.fuseCard(&k.fuses[i]))
	}
	if len(k.fuses) == 0 {
		cards = append(cards, indented("No timer runs. A timer runs a script in a folder, or tells a webhook, when its time is up: for what a session left running there."))
	}
	p.body.Objects = cards
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

// keptCard shows one lock or timer: its folder, what is known of it, and what
// can be done.
func keptCard(icon *icon, path, text string, more fyne.CanvasObject, actions ...fyne.CanvasObject) fyne.CanvasObject {
	image := canvas.NewImageFromResource(icon)
	image.FillMode = canvas.ImageFillContain
	image.SetMinSize(fyne.NewSquareSize(16))
	title := newLine(short(path), theme.ColorNameForeground, theme.SizeNameText, fyne.TextStyle{Bold: true})
	facts := container.New(layout.NewCustomPaddedVBoxLayout(-2),
		container.New(layout.NewCustomPaddedLayout(2, 0, 6, 6), title), newSelectText(text))
	if more != nil {
		facts.Add(more)
	}
	return newPanel(container.New(layout.NewCustomPaddedLayout(6, 4, 10, 8), border(nil,
		container.New(layout.NewCustomPaddedLayout(3, 0, 0, 4), container.NewVBox(image)),
		container.NewVBox(container.New(layout.NewCustomPaddedHBoxLayout(6), actions...)), facts)))
}

func (p *locksPage) lockCard(k *lock.Lock) fyne.CanvasObject {
	now := p.ui.now()
	if k.Kind == lock.Manual {
		text := "locked by " + short(k.By)
		if k.Reason != "" {
			text += ": " + present.Cut(short(k.Reason), 400)
		}
		path := k.Path
		var unlock *button
		unlock = newButton("Unlock", nil, p.ui.typedKey, func() { p.unlock(unlock, path) })
		return keptCard(newIcon("stopped", colorMuted), path, text+"\nsince "+moment(k.Since, now), nil, unlock)
	}
	text := "a launch of " + present.AgentName(adapters.Name(k.Agent)) + ", until its process ends"
	var actions []fyne.CanvasObject
	if id := k.Session; id != "" {
		actions = append(actions, newButton("Show the session", nil, p.ui.typedKey, func() { p.ui.Show(id) }))
	}
	return keptCard(newIcon("working", colorWorking), k.Path, text+"\nsince "+moment(k.Since, now), nil, actions...)
}

// unlock removes a lock that was made by hand, off the UI goroutine.
func (p *locksPage) unlock(b *button, path string) {
	b.Disable()
	p.ui.change("It was not unlocked: ", func(ctx context.Context) error { return p.ui.options.Launches.Locks().Unlock(ctx, path) })
}

// change changes locks or timers off the UI goroutine, and tells what went
// wrong.
func (u *UI) change(failed string, what func(ctx context.Context) error) {
	go func() {
		err := what(u.ctx)
		u.post(func() {
			if err != nil {
				s := u.newSheet("That did not work", sheetWidth)
				s.failed(failed + present.Cut(short(err.Error()), 1000))
			}
			u.locks.look()
		})
	}()
}

// changeLimit is how long a sheet waits for another process to let go of the
// files.
const changeLimit = 10 * time.Second

// submit does what a sheet was filled in for, off the UI goroutine, and closes
// it; what went wrong is shown in problem.
func (s *sheet) submit(b *button, problem *fyne.Container, what func(ctx context.Context) error) {
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
		k := lock.Lock{Path: folder.path(), Kind: lock.Manual, By: userName(), Reason: strings.TrimSpace(reason.Text)}
		s.submit(lockIt, problem, func(ctx context.Context) error {
			_, err := u.options.Launches.Locks().Take(ctx, k, false, nil)
			return err
		})
	}
	folder.entry.submit, reason.submit = lockIt.OnTapped, lockIt.OnTapped
	folder.changed()
	s.show([]fyne.CanvasObject{
		paragraph("Launches into it, into a folder above it or below it are refused until you unlock it.", widget.LowImportance),
		container.New(layout.NewCustomPaddedVBoxLayout(6), named("Folder", folder.content), named("Why", reason)), problem}, s.button("Cancel", s.close), lockIt)
	u.focus(folder.entry)
}

func userName() string {
	if u, err := user.Current(); err == nil {
		return u.Username
	}
	return "you"
}
