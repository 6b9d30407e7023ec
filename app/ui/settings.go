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
	filling bool // the page shows the file, and changes nothing
	watched bool
	login   *loginSwitch // nil: nothing is offered to start at login
	newest  *updatesCheck

	wake  chan struct{}
	mu    sync.Mutex
	edits []settings.Edit // those that are not written yet
	start *bool           // what the user wants at login; nil: nothing new
}

// settingsField is a field of the page.
type settingsField struct {
	edit settings.Edit                // without a value
	fill func(set *settings.Settings) // shows the value of the settings
}

const tableNotifications = "notifications"

func newSettingsPage(u *UI) *settingsPage {
	p := &settingsPage{ui: u, wake: make(chan struct{}, 1), problem: widgets.NewBanner("waiting"), saved: widgets.NewCaption("")}
	if u.options.Live == nil {
		p.content = container.NewStack(widgets.NewMessage(nil, "No settings", "The folder of the settings is not known here."))
		return p
	}
	reset := u.host.NewButton("Reset to the defaults", nil, p.reset)
	rows := []fyne.CanvasObject{p.problem.Content, widgets.NewHeading("Notifications")}
	rows = append(rows, p.kinds()...)
	rows = append(rows, p.times()...)
	rows = append(rows, p.quiet()...)
	rows = append(rows, widgets.NewHeading("For those who are away"))
	rows = append(rows, p.away()...)
	rows = append(rows, p.agents()...)
	rows = append(rows, p.homes()...)
	rows = append(rows, widgets.NewHeading("Answering"), p.choice("Requests answered from here", "", "answering",
		[]option{{"all", "on"}, {"only denials", "deny-only"}, {"none", "off"}}, func(s *settings.Settings) string { return string(s.Answering) }))
	rows = append(rows, widgets.NewHeading("Window"), p.choice("Theme", "", "theme", []option{{"as the desktop", "desktop"}, {"light", "light"}, {"dark", "dark"}},
		func(s *settings.Settings) string { return string(s.Theme) }))
	rows = append(rows, p.commands()...)
	if u.options.Autostart != nil {
		p.login = newLoginSwitch(p)
		rows = append(rows, widgets.NewHeading("At login"), p.login.content)
	}
	rows = append(rows, widgets.NewHeading("Updates"))
	rows = append(rows, p.updates()...)
	rows = append(rows, widgets.Pad(10, 0, 0, 0, widgets.Flow(reset, u.host.NewButton("Introduction…", nil, u.ShowIntroduction))), widgets.Pad(0, 0, 6, 6, p.saved),
		widgets.Hint("The settings are in "+short(u.options.Live.Path())+". Comments and other settings in the file stay as they are."))
	p.scroll = widgets.Page(620, widgets.Rows(6, rows...))
	p.content = container.NewStack(p.scroll)
	return p
}

// option is a choice of a field: what it is called, and its value.
type option struct{ name, value string }

// choice returns a field with a choice. The first option is the default.
func (p *settingsPage) choice(name, table, key string, options []option, get func(*settings.Settings) string) fyne.CanvasObject {
	e := settings.Edit{Table: table, Key: key}
	var names []string
	for _, o := range options {
		names = append(names, o.name)
	}
	field := p.ui.host.NewSelect(names, nil)
	field.OnChanged = func(chosen string) {
		if p.filling {
			return
		}
		value := chosen // one that the user wrote into the file
		if i := slices.IndexFunc(options, func(o option) bool { return o.name == chosen }); i >= 0 {
			value = options[i].value
		}
		p.change(settings.Edit{Table: table, Key: key, Value: value})
	}
	p.fields = append(p.fields, settingsField{e, func(s *settings.Settings) {
		value := get(s)
		shown := value
		if value == "" {
			shown = options[0].name
		} else if i := slices.IndexFunc(options, func(o option) bool { return o.value == value }); i >= 0 {
			shown = options[i].name
		}
		if all := append(slices.Clone(names), shown); !slices.Contains(names, shown) {
			field.Options = all
		} else {
			field.Options = names
		}
		field.SetSelected(shown)
	}})
	return widgets.NamedLong(name, field)
}

// kinds returns a field for each kind of notification.
func (p *settingsPage) kinds() (rows []fyne.CanvasObject) {
	options := []option{{"on", "on"}, {"with a sound", "sound"}, {"off", "off"}}
	for _, k := range []struct{ key, name string }{{"permission", "A session needs permission"}, {"question", "A session asks you"},
		{"reply", "A turn is over"}, {"failed", "A turn failed, or a process died"}, {"limit", "A rate limit is reached"}, {"ended", "An agent's process ended"}} {
		rows = append(rows, p.choice(k.name, tableNotifications, k.key, options, func(s *settings.Settings) string {
			return string(*s.Notifications.Manners()[k.key])
		}))
	}
	return rows
}

// times returns the fields with times.
func (p *settingsPage) times() []fyne.CanvasObject {
	n := func(get func(*settings.Notifications) settings.Duration) func(*settings.Settings) string {
		return func(s *settings.Settings) string { return get(&s.Notifications).String() }
	}
	return []fyne.CanvasObject{
		p.choice("Shortest turn whose end is told", tableNotifications, "reply_after", []option{{"30 seconds", "30s"}, {"any", "0s"}, {"1 minute", "1m"}, {"5 minutes", "5m"}},
			n(func(n *settings.Notifications) settings.Duration { return n.ReplyAfter })),
		p.choice("Remind of a wait after", tableNotifications, "remind_after", []option{{"never", "0s"}, {"5 minutes", "5m"}, {"10 minutes", "10m"}, {"30 minutes", "30m"}, {"1 hour", "1h"}},
			n(func(n *settings.Notifications) settings.Duration { return n.RemindAfter })),
		p.choice("Waits that share a notification", tableNotifications, "together", []option{{"within 2 seconds", "2s"}, {"within 10 seconds", "10s"}, {"never", "0s"}},
			n(func(n *settings.Notifications) settings.Duration { return n.Together })),
	}
}

// quiet returns the fields that say when nothing is told.
func (p *settingsPage) quiet() []fyne.CanvasObject {
	shown := ""
	mute := p.ui.host.NewTextArea("~/scratch (one folder per line)", 3, nil)
	save := p.ui.host.NewButton("Save folders", nil, func() {
		var list []string
		for l := range strings.Lines(mute.Text) {
			if l = strings.TrimSpace(l); l != "" {
				list = append(list, l)
			}
		}
		e := settings.Edit{Table: tableNotifications, Key: "mute"}
		if len(list) > 0 {
			e.Value = list
		}
		p.change(e)
	})
	p.fields = append(p.fields, settingsField{settings.Edit{Table: tableNotifications, Key: "mute"}, func(s *settings.Settings) {
		fillText(mute, &shown, strings.Join(s.Notifications.Mute, "\n"))
	}})
	return []fyne.CanvasObject{
		p.check("Tell also of sessions whose terminal has the focus", "when_focused", func(s *settings.Settings) bool { return s.Notifications.WhenFocused }),
		widgets.NamedLong("Muted folders", widgets.Rows(4, mute, widgets.Flow(save))),
	}
}

// away returns the fields of what happens after a long wait.
func (p *settingsPage) away() []fyne.CanvasObject {
	shown := ""
	command := p.ui.host.NewEntry("curl -d \"$ROLLCALL_SUMMARY\" ntfy.sh/my-topic", nil)
	save := p.ui.host.NewButton("Save command", nil, func() {
		e := settings.Edit{Table: tableNotifications, Key: "on_wait"}
		if text := strings.TrimSpace(command.Text); text != "" {
			e.Value = text
		}
		p.change(e)
	})
	p.fields = append(p.fields, settingsField{settings.Edit{Table: tableNotifications, Key: "on_wait"}, func(s *settings.Settings) {
		fillText(command, &shown, s.Notifications.OnWait)
	}})
	return []fyne.CanvasObject{
		p.choice("After a wait of", tableNotifications, "on_wait_after", []option{{"2 minutes", "2m"}, {"0 seconds", "0s"}, {"5 minutes", "5m"}, {"15 minutes", "15m"}, {"1 hour", "1h"}},
			func(s *settings.Settings) string { return s.Notifications.OnWaitAfter.String() }),
		widgets.NamedLong("Run a command", widgets.Border(nil, nil, save, command)),
		p.check("Send a message to the webhook", "on_wait_webhook", func(s *settings.Settings) bool { return s.Notifications.OnWaitWebhook }),
	}
}

// fillText shows text in a field, unless it was shown before: the user may have written something else since.
func fillText(e *widgets.Entry, shown *string, text string) {
	if *shown != text {
		*shown = text
		e.SetText(text)
	}
}

// check returns a check box.
func (p *settingsPage) check(text, key string, get func(*settings.Settings) bool) fyne.CanvasObject {
	box := p.ui.host.NewCheckBox(text, nil)
	box.OnChanged = func(on bool) {
		if !p.filling {
			p.change(settings.Edit{Table: tableNotifications, Key: key, Value: on})
		}
	}
	p.fields = append(p.fields, settingsField{settings.Edit{Table: tableNotifications, Key: key}, func(s *settings.Settings) { box.SetChecked(get(s)) }})
	return box
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

// changeLogin turns the start at login on or off. It returns at once.
func (p *settingsPage) changeLogin(on bool) {
	p.mu.Lock()
	p.start = &on
	p.mu.Unlock()
	wake(p.wake)
}

// look shows the file. It returns at once.
func (p *settingsPage) look() {
	if p.ui.options.Live == nil {
		return
	}
	if !p.watched {
		p.watched = true
		go p.watch(p.ui.ctx)
	}
	wake(p.wake)
}

// watch writes the changes of the user, and shows those of the file, until ctx is done.
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
		edits, start := p.edits, p.start
		p.edits, p.start = nil, nil
		p.mu.Unlock()
		var failed error
		if len(edits) > 0 {
			failed = settings.Change(live.Path(), edits...)
		}
		live.Read()
		set, mistake := live.Get()
		var login loginState
		if p.login != nil {
			login = readLogin(*p.ui.options.Autostart, start)
		}
		p.ui.post(func() {
			if p.login != nil {
				p.login.show(&login)
			}
			p.show(&set, mistake, failed, len(edits) > 0)
		})
	}
}

// show shows the settings. mistake is what is wrong with the file, failed why it could not be changed.
func (p *settingsPage) show(set *settings.Settings, mistake, failed error, written bool) {
	p.filling = true
	for _, f := range p.fields {
		f.fill(set)
	}
	p.filling = false
	text := ""
	if failed != nil {
		text = errorText(failed)
	}
	if mistake != nil {
		text = strings.TrimSpace(text + "\nThe file has a mistake, and the last settings without it stay in force: " + errorText(mistake))
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
