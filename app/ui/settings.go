package ui

import (
	"context"
	"slices"
	"strings"
	"sync"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"

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
	filling bool // set while the page fills its fields from the file, which must not write them back
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
	rows := append([]fyne.CanvasObject{widgets.Headline("Settings"), widgets.Inset(p.problem.Content)}, p.theme()...)
	if u.options.Autostart != nil {
		p.login = newLoginSwitch(u)
		rows = append(rows, p.login.content)
	}
	rows = slices.Concat(rows, p.answering(), p.notifications(), p.away(), p.agents(), p.homes(), p.commands(), p.updates())
	rows = append(rows, widgets.Pad(10, 0, 6, 6, widgets.Flow(reset)), widgets.Pad(0, 0, 6, 6, p.saved),
		widgets.Hint("The settings are in "+short(u.options.Live.Path())+". Comments and other settings in the file stay as they are."))
	p.scroll = widgets.Page(widgets.Rows(6, rows...))
	p.content = container.NewStack(p.scroll)
	return p
}

// reset removes all settings of the page from the file.
func (p *settingsPage) reset() {
	var edits []settings.Edit
	for _, f := range p.fields {
		edits = append(edits, f.edit)
	}
	p.change(edits...)
}

// change writes settings. It returns at once.
func (p *settingsPage) change(edits ...settings.Edit) {
	p.mu.Lock()
	p.edits = append(p.edits, edits...)
	p.mu.Unlock()
	wake(p.wake)
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
	wake(p.wake)
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
	text := errorText(failed)
	if mistake != nil {
		text = strings.TrimSpace(text + "\nThe file has a mistake, and the last valid settings stay in force: " + errorText(mistake))
	}
	p.problem.Set(text)
	switch {
	case failed != nil:
		p.saved.Set("", widgets.ColorMuted)
	case written:
		p.saved.Set("Saved at "+p.ui.now().Format("15:04:05"), widgets.ColorGood)
	}
	p.content.Refresh()
}
