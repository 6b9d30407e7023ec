package ui

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/widget"

	"rollcall/app/follow"
	"rollcall/app/present"
	"rollcall/app/self/autostart"
	"rollcall/app/self/updates"
	"rollcall/app/settings"
	"rollcall/app/ui/widgets"
)

// settingsPage shows the settings, and changes them in config.toml at once. It is used on Fyne's goroutine only; another
// goroutine reads and writes the file.
type settingsPage struct {
	ui      *UI
	content *fyne.Container
	scroll  *container.Scroll
	problem *widgets.Banner
	saved   *widgets.Line
	fields  []settingsField
	names   []settingName // of the fields that the palette finds
	filling bool          // set while the page fills its fields from the file, which must not write them back
	watched bool
	login   *loginSwitch // nil: the start at login cannot be set here
	newest  *updatesCheck

	wake  chan struct{}
	mu    sync.Mutex
	edits []settings.Edit // changes that are not written yet
}

func newSettingsPage(u *UI) *settingsPage {
	p := &settingsPage{ui: u, wake: make(chan struct{}, 1), problem: widgets.NewBanner("waiting"), saved: widgets.NewCaption("")}
	if u.options.Live == nil {
		p.content = container.NewStack(widgets.Headline("No settings"), widgets.Hint("The folder of the settings is not known here."))
		return p
	}
	reset := u.host.NewButton("Reset to the defaults", nil, p.reset)
	rows := []fyne.CanvasObject{widgets.Headline("Settings"), widgets.Inset(p.problem.Content), widgets.NewHeading("General"),
		p.choice("Theme", settings.Edit{Key: "theme"}, option{"Same as the desktop", "desktop"}, option{"Light", "light"}, option{"Dark", "dark"})}
	if u.options.Autostart != nil {
		p.login = newLoginSwitch(u)
		rows = append(rows, p.login.content)
	}
	rows = append(rows, widgets.NewHeading("Answering"),
		p.choice("Requests answered from here", settings.Edit{Table: "answering", Key: "requests"}, option{"All", "on"}, option{"Only denials", "deny-only"}, option{"None", "off"}),
		p.oneKey())
	rows = slices.Concat(rows, p.notifications(), p.away(), p.agents(), p.named(), p.homes(), p.commands(), p.updates())
	rows = append(rows, widgets.Pad(10, 0, 6, 6, widgets.Flow(reset)), widgets.Pad(0, 0, 6, 6, p.saved),
		widgets.Hint("The settings are in "+present.Short(u.options.Live.Path())+". Comments and other settings in the file stay as they are."))
	p.scroll = widgets.Page(widgets.Rows(6, rows...))
	p.content = container.NewStack(p.scroll)
	return p
}

// reset removes all settings of the page from the file.
func (p *settingsPage) reset() {
	var edits []settings.Edit
	for _, f := range p.fields {
		if f.edit.Key != "" {
			edits = append(edits, f.edit)
		}
	}
	p.change(edits...)
}

// change writes settings. It returns at once.
func (p *settingsPage) change(edits ...settings.Edit) {
	p.mu.Lock()
	p.edits = append(p.edits, edits...)
	p.mu.Unlock()
	follow.Wake(p.wake)
}

// look reads the file and shows it. It returns at once.
func (p *settingsPage) look() {
	if p.ui.options.Live == nil {
		return
	}
	if !p.watched {
		p.watched = true
		go p.watch(p.ui.ctx)
	}
	follow.Wake(p.wake)
	if p.login != nil {
		p.login.read(nil)
	}
}

// watch writes the user's changes to the file, and shows changes of the file, until ctx is done.
func (p *settingsPage) watch(ctx context.Context) {
	live := p.ui.options.Live
	changed := live.Changes()
	for {
		select {
		case <-ctx.Done():
			return
		case <-p.wake:
		case <-changed:
		}
		p.mu.Lock()
		edits := p.edits
		p.edits = nil
		p.mu.Unlock()
		var failed error
		if len(edits) > 0 {
			failed = settings.Change(live.Path(), edits...)
		}
		live.Read()
		set, mistake := live.Get()
		p.ui.post(func() { p.show(&set, mistake, failed, len(edits) > 0) })
	}
}

// show shows the settings. mistake is the error in the file, and failed is the error of the last change; both may be nil. written reports that a
// change was written.
func (p *settingsPage) show(set *settings.Settings, mistake, failed error, written bool) {
	p.filling = true
	for _, f := range p.fields {
		f.fill(set)
	}
	p.filling = false
	text := present.Error(failed)
	if mistake != nil {
		text = strings.TrimSpace(text + "\nThe file has a mistake, and the last valid settings stay in force: " + present.Error(mistake))
	}
	p.problem.Set(text)
	switch {
	case failed != nil:
		p.saved.Set("", widgets.ColorMuted)
	case written:
		p.saved.Set("Saved at "+p.ui.host.Now().Format("15:04:05"), widgets.ColorGood)
	}
	p.content.Refresh()
}

// loginSwitch turns the start of the tray at login on and off, and shows the file that starts it. It is used on Fyne's
// goroutine only.
type loginSwitch struct {
	ui      *UI
	content fyne.CanvasObject
	box     *widgets.CheckBox
	note    *widget.Label
	problem *widgets.Banner
	filling bool // set while the box is filled with the system's state, which must not be changed by that
}

func newLoginSwitch(u *UI) *loginSwitch {
	s := &loginSwitch{ui: u, note: widgets.Hint("Reading what starts at login…"), problem: widgets.NewBanner("waiting")}
	s.box = u.host.NewCheckBox("Start Rollcall when I log in", func(on bool) {
		switch {
		case s.filling:
		case on:
			s.read(u.options.Autostart.On)
		default:
			s.read(u.options.Autostart.Off)
		}
	})
	s.content = widgets.Rows(6, s.box, s.note, s.problem.Content)
	return s
}

// read calls change, unless it is nil, on another goroutine, and then shows what starts at login.
func (s *loginSwitch) read(change func() (autostart.Change, error)) {
	s.box.Disable()
	widgets.InBackground(s.ui.ctx, s.ui.host, func(context.Context) (l autostart.State, failed error) {
		if change != nil {
			_, failed = change()
		}
		l, err := s.ui.options.Autostart.State()
		return l, cmp.Or(failed, err)
	}, s.show)
}

// show shows whether the system starts the tray at login, and the error if that could not be read or changed.
func (s *loginSwitch) show(l autostart.State, failed error) {
	s.box.Enable()
	s.filling = true
	s.box.SetChecked(l.On)
	s.filling = false
	note := "Rollcall does not start by itself."
	if len(l.Paths) > 0 {
		note = "Entry: " + present.Short(strings.Join(l.Paths, ", "))
	}
	s.note.SetText(note)
	s.problem.Set(cmp.Or(present.Error(failed), present.Short(l.Problem)))
	s.ui.settings.content.Refresh()
}

// updatesCheck reads the newest version from the feed in the settings when the user presses its button, and never by itself. It
// is used on Fyne's goroutine only.
type updatesCheck struct {
	settings *settingsPage
	button   *widgets.Button
	result   *fyne.Container // what was answered
	feed     *widgets.Entry  // the address
}

// updates returns the field for the address of the feed, and the button that reads the feed.
func (p *settingsPage) updates() []fyne.CanvasObject {
	c := &updatesCheck{settings: p, result: widgets.Rows(0)}
	edit := settings.Edit{Table: "updates", Key: "feed"}
	c.feed = p.ui.host.NewEntry("https://example.org/releases/latest", nil)
	p.text(edit, c.feed, func(s *settings.Settings) string { return s.Updates.Feed }, func(text string) {
		if text == "" || c.isRight(text) {
			c.say()
			p.set(edit, text)
		}
	})
	c.button = p.ui.host.NewButton("Check for updates", nil, c.check)
	p.newest = c
	return []fyne.CanvasObject{
		widgets.NewHeading("Updates"), widgets.NamedLong("Address of the releases", c.feed),
		widgets.Inset(widgets.Flow(c.button)), c.result,
		widgets.Hint("Only this button and rollcall version --check read this address, and they send nothing about you or this machine."),
	}
}

// isRight reports whether a feed can have the address. It shows why not.
func (c *updatesCheck) isRight(feed string) bool {
	err := updates.CheckFeed(feed)
	if err != nil {
		c.say(widgets.Warning("The address was not saved: " + present.Error(err)))
	}
	return err == nil
}

// check reads the feed on another goroutine. It returns at once.
func (c *updatesCheck) check() {
	u, feed := c.settings.ui, strings.TrimSpace(c.feed.Text)
	if feed == "" {
		c.say(widgets.Warning("No address is set: enter one above."))
		return
	}
	if !c.isRight(feed) {
		return
	}
	c.button.Disable()
	c.say(widgets.Hint("Asking " + present.Short(feed) + "…"))
	widgets.InBackground(u.ctx, u.host, func(ctx context.Context) (updates.Release, error) { return updates.Newest(ctx, feed) }, func(r updates.Release, err error) {
		c.button.Enable()
		if err != nil {
			c.say(widgets.Warning(present.Error(err)))
			return
		}
		answer := []fyne.CanvasObject{widgets.Hint(r.Describe(u.options.Version))}
		if newer, _ := r.IsNewer(u.options.Version); newer && r.Page != "" {
			answer = append(answer, widgets.NewSelectText(present.Short(r.Page)))
		}
		c.say(answer...)
	})
}

// say shows a result.
func (c *updatesCheck) say(result ...fyne.CanvasObject) {
	c.result.Objects = result
	c.settings.content.Refresh()
}
