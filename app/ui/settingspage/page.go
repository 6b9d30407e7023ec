// Package settingspage has the page of the window that shows the settings and changes them in config.toml.
package settingspage

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

// Window is what the page needs of the window.
type Window struct {
	*widgets.Host
	Live      *settings.Live   // nil: there are no settings
	Autostart *autostart.Entry // nil: the page does not offer the start at login
	Version   string           // of this program, which is compared with the newest one
}

// Page shows the settings, and changes them in config.toml at once. It is used on Fyne's goroutine only; another
// goroutine reads and writes the file.
type Page struct {
	Content *fyne.Container
	Names   []Name // the fields that the palette finds
	window  Window
	problem *widgets.Banner
	saved   *widgets.Line
	fields  []field
	filling bool // set while the page fills its fields from the file, which must not write them back
	watched bool
	login   *loginSwitch // nil: the start at login cannot be set here

	wake  chan struct{}
	mu    sync.Mutex
	edits []settings.Edit // changes that are not written yet
}

// New returns the page, which has read nothing yet.
func New(w Window) *Page {
	p := &Page{window: w, wake: make(chan struct{}, 1), problem: widgets.NewBanner("waiting"), saved: widgets.NewCaption("")}
	if w.Live == nil {
		p.Content = container.NewStack(widgets.Headline("No settings"), widgets.Hint("The folder of the settings is not known here."))
		return p
	}
	reset := w.NewButton("Reset to the defaults", nil, p.reset)
	rows := []fyne.CanvasObject{widgets.Headline("Settings"), widgets.Inset(p.problem.Content), widgets.NewHeading("General"),
		p.choice("Theme", settings.Edit{Key: "theme"}, option{"Same as the desktop", "desktop"}, option{"Light", "light"}, option{"Dark", "dark"})}
	if w.Autostart != nil {
		p.login = newLoginSwitch(p)
		rows = append(rows, p.login.content)
	}
	rows = append(rows, widgets.NewHeading("Answering"),
		p.choice("Requests answered from here", settings.Edit{Table: "answering", Key: "requests"}, option{"All", "on"}, option{"Only denials", "deny-only"}, option{"None", "off"}),
		p.oneKey())
	rows = slices.Concat(rows, p.notifications(), p.away(), p.agents(), p.named(), p.homes(), p.commands(), p.updates())
	rows = append(rows, widgets.Pad(10, 0, 6, 6, widgets.Flow(reset)), widgets.Pad(0, 0, 6, 6, p.saved),
		widgets.Hint("The settings are in "+present.Short(w.Live.Path())+". Comments and other settings in the file stay as they are."))
	p.Content = container.NewStack(widgets.Page(widgets.Rows(6, rows...)))
	return p
}

// reset removes all settings of the page from the file.
func (p *Page) reset() {
	var edits []settings.Edit
	for _, f := range p.fields {
		if f.edit.Key != "" {
			edits = append(edits, f.edit)
		}
	}
	p.change(edits...)
}

// change writes settings. It returns at once.
func (p *Page) change(edits ...settings.Edit) {
	p.mu.Lock()
	p.edits = append(p.edits, edits...)
	p.mu.Unlock()
	follow.Wake(p.wake)
}

// Look reads the file and shows it. It returns at once.
func (p *Page) Look() {
	if p.window.Live == nil {
		return
	}
	if !p.watched {
		p.watched = true
		go p.watch(p.window.Context)
	}
	follow.Wake(p.wake)
	if p.login != nil {
		p.login.read(nil)
	}
}

// watch writes the user's changes to the file, and shows changes of the file, until ctx is done.
func (p *Page) watch(ctx context.Context) {
	live := p.window.Live
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
		p.window.Post(func() { p.show(&set, mistake, failed, len(edits) > 0) })
	}
}

// show shows the settings. mistake is the error in the file, and failed is the error of the last change; both may be nil. written reports that a
// change was written.
func (p *Page) show(set *settings.Settings, mistake, failed error, written bool) {
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
		p.saved.Set("Saved at "+p.window.Now().Format("15:04:05"), widgets.ColorGood)
	}
	p.Content.Refresh()
}

// loginSwitch turns the start of the tray at login on and off, and shows the file that starts it. It is used on Fyne's
// goroutine only.
type loginSwitch struct {
	page    *Page
	content fyne.CanvasObject
	box     *widgets.CheckBox
	note    *widget.Label
	problem *widgets.Banner
}

func newLoginSwitch(p *Page) *loginSwitch {
	s := &loginSwitch{page: p, note: widgets.Hint("Reading what starts at login…"), problem: widgets.NewBanner("waiting")}
	s.box = p.window.NewCheckBox("Start Rollcall when I log in", func(on bool) {
		change := p.window.Autostart.Off
		if on {
			change = p.window.Autostart.On
		}
		s.read(change)
	})
	s.content = widgets.Rows(6, s.box, s.note, s.problem.Content)
	return s
}

// read calls change, unless it is nil, on another goroutine, and then shows what starts at login.
func (s *loginSwitch) read(change func() (autostart.Change, error)) {
	s.box.Disable()
	widgets.InBackground(s.page.window.Context, s.page.window.Host, func(context.Context) (l autostart.State, failed error) {
		if change != nil {
			_, failed = change()
		}
		l, err := s.page.window.Autostart.State()
		return l, cmp.Or(failed, err)
	}, s.show)
}

// show shows whether the system starts the tray at login, and the error if that could not be read or changed.
func (s *loginSwitch) show(l autostart.State, failed error) {
	s.box.Enable()
	s.box.Fill(l.On)
	entry := present.When(len(l.Paths) > 0, "Entry: "+present.Short(strings.Join(l.Paths, ", ")))
	s.note.SetText(cmp.Or(entry, "Rollcall does not start by itself."))
	s.problem.Set(cmp.Or(present.Error(failed), present.Short(l.Problem)))
	s.page.Content.Refresh()
}

// updatesCheck reads the newest version from the feed in the settings when the user presses its button, and never by itself. It
// is used on Fyne's goroutine only.
type updatesCheck struct {
	page   *Page
	button *widgets.Button
	result *fyne.Container // what was answered
	feed   *widgets.Entry  // the address
}

// updates returns the field for the address of the feed, and the button that reads the feed.
func (p *Page) updates() []fyne.CanvasObject {
	c := &updatesCheck{page: p, result: widgets.Rows(0)}
	edit := settings.Edit{Table: "updates", Key: "feed"}
	c.feed = p.window.NewEntry("https://example.org/releases/latest", nil)
	p.text(edit, c.feed, func(s *settings.Settings) string { return s.Updates.Feed }, func(text string) {
		if text == "" || c.isRight(text) {
			c.say()
			p.set(edit, text)
		}
	})
	c.button = p.window.NewButton("Check for updates", nil, c.check)
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
	w, feed := &c.page.window, strings.TrimSpace(c.feed.Text)
	if feed == "" {
		c.say(widgets.Warning("No address is set: enter one above."))
		return
	}
	if !c.isRight(feed) {
		return
	}
	c.button.Disable()
	c.say(widgets.Hint("Asking " + present.Short(feed) + "…"))
	widgets.InBackground(w.Context, w.Host, func(ctx context.Context) (updates.Release, error) { return updates.Newest(ctx, feed) }, func(r updates.Release, err error) {
		c.button.Enable()
		if err != nil {
			c.say(widgets.Warning(present.Error(err)))
			return
		}
		answer := []fyne.CanvasObject{widgets.Hint(r.Describe(w.Version))}
		if newer, _ := r.IsNewer(w.Version); newer && r.Page != "" {
			answer = append(answer, widgets.NewSelectText(present.Short(r.Page)))
		}
		c.say(answer...)
	})
}

// say shows a result.
func (c *updatesCheck) say(result ...fyne.CanvasObject) {
	c.result.Objects = result
	c.page.Content.Refresh()
}
