package ui

import (
	"cmp"
	"slices"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"rollcall/adapters"
	"rollcall/app"
	"rollcall/app/describe"
	"rollcall/app/listing"
	"rollcall/app/owned/launch"
	"rollcall/app/present"
	"rollcall/app/ui/facts"
	"rollcall/app/ui/widgets"
)

// detailPane shows a session: its status with the evidence, what it asks with the buttons to answer, what can be done
// with it, and its conversation or, on demand, all other known facts. It changes only the texts that changed, so that a
// selection and the scroll position stay.
type detailPane struct {
	ui      *UI
	content *fyne.Container
	stage   *widgets.Stage // the session or a message

	icon     *canvas.Image
	title    *widgets.Line
	status   *widgets.Line
	trouble  *widgets.Banner // why the facts are old, or the last turn failed
	request  *requestView
	result   *fyne.Container // how the last answer ended
	terminal *widgets.Button // shows the terminal, or the log of a launch that has none
	showing  bool            // a terminal is being shown
	stop     *widgets.Button
	resume   *widgets.Button
	goOn     *widgets.Button // continues a session that reached a limit
	buttons  *fyne.Container
	more     *widgets.Button // opens the menu of everything else
	composer *composer

	facts        *facts.List
	conversation *conversation
	above        *container.Scroll // the status and the actions
	over         *fyne.Container   // above, and the conversation
	both         fyne.CanvasObject // the session
	showsFacts   bool
	loads        loadReader
	changes      *changesView // shown instead of both; nil: it is not

	session *app.Session
	key     listing.Key
}

func newDetailPane(u *UI) *detailPane {
	d := &detailPane{ui: u}
	d.icon = widgets.NewImage(nil, 22)
	d.title = widgets.NewLine("", theme.ColorNameForeground, theme.SizeNameSubHeadingText, fyne.TextStyle{Bold: true})
	d.status = widgets.NewLine("", widgets.ColorMuted, theme.SizeNameText, fyne.TextStyle{})
	d.terminal = d.button("Show terminal", d.showTerminal)
	d.stop = d.button("Stop…", func(s *app.Session) { u.upkeep.Stop(*s) })
	d.resume = d.button("Resume…", func(s *app.Session) { u.launch.Resume(*s) })
	d.goOn = d.button("Continue at the reset…", func(s *app.Session) { u.upkeep.Continue(*s) })
	d.more = d.button("", func(s *app.Session) { u.host.ShowMenuBelow(d.more, d.moreItems(s)) })
	d.more.Icon = widgets.PlainIcon("more")
	d.composer = newComposer(u)
	d.trouble = widgets.NewBanner("stale")
	d.facts = facts.New(u.host, func(k listing.Key) { u.sessions.reveal(k) })
	d.request = newRequestView(u, d.layOut)
	d.conversation = newConversation(u, d.request)
	d.result = container.NewStack()
	d.result.Hide()
	headline := widgets.Border(nil, widgets.TopOf(2, 0, 0, 10, d.icon), nil, widgets.Rows(1, d.title, d.status))
	d.buttons = widgets.Flow(d.request.allow, d.request.deny, d.request.form.send, d.terminal, d.resume, d.goOn, d.stop, d.more)
	top := widgets.Pad(10, 8, 14, 14, widgets.Rows(8, headline, d.buttons, d.request.below, d.trouble.Content, d.result))
	d.above = container.NewVScroll(widgets.Rows(0, top, widget.NewSeparator()))
	d.over = d.overConversation()
	d.both = container.NewBorder(nil, d.composer.content, nil, nil, d.over)
	d.stage = widgets.NewStage()
	d.content = d.stage.Content
	d.showMessage("Nothing selected", selectHint)
	return d
}

// leastBelow is the smallest share of the height that is left to what scrolls.
const leastBelow = 0.3

// overConversation gives the header the height that it needs, and the rest to what scrolls. The header is the last object: Fyne 2.8.1 finds under the mouse also
// a block of code that the conversation has scrolled out of sight, unless a later object is there.
func (d *detailPane) overConversation() *fyne.Container {
	above, below := d.above, d.conversation.content
	return container.New(widgets.Layout{Arrange: func(_ []fyne.CanvasObject, size fyne.Size) {
		most := size.Height * (1 - leastBelow)
		above.Resize(fyne.NewSize(size.Width, most))
		height := min(above.Content.MinSize().Height, most)
		widgets.Place(above, 0, 0, size.Width, height)
		widgets.Place(below, 0, height, size.Width, size.Height-height)
	}, Least: func([]fyne.CanvasObject) fyne.Size { return above.MinSize().Max(below.MinSize()) }}, below, above)
}

// layOut lays the pane out after a height changed.
func (d *detailPane) layOut() {
	if d.over != nil {
		d.above.Refresh()
		d.over.Layout.Layout(d.over.Objects, d.over.Size())
		d.conversation.layOut()
	}
}

// showFacts shows all facts in place of the conversation, or the conversation.
func (d *detailPane) showFacts(on bool) {
	d.showsFacts = on
	if on {
		d.conversation.showInstead(widgets.Pad(0, 16, 4, 12, d.facts.Content))
		d.ui.sessions.showDetail() // what it uses is read only now
		return
	}
	d.conversation.showInstead(nil)
}

// focus moves the focus to the action that the session most likely needs. It never chooses an action that ends
// something or answers a request, or shows the terminal in which one waits: the Enter key that moved the focus here may be repeated.
func (d *detailPane) focus() {
	switch {
	case d.request.has:
		d.ui.host.Focus(d.more)
	case d.composer.field.Visible():
		d.ui.host.Focus(d.composer.entry)
	case d.terminal.Visible() && !d.terminal.Disabled():
		d.ui.host.Focus(d.terminal)
	default:
		d.ui.host.Focus(d.more)
	}
}

// moreItems returns the menu of everything that can be done with a session in addition to the buttons.
func (d *detailPane) moreItems(s *app.Session) []*fyne.MenuItem {
	u := d.ui
	items := []*fyne.MenuItem{fyne.NewMenuItem(map[bool]string{true: "Conversation", false: "Details"}[d.showsFacts], func() { d.showFacts(!d.showsFacts) })}
	if !d.showsFacts {
		items = append(items, fyne.NewMenuItem("Find (Ctrl+F)", d.conversation.finder.open))
	}
	if u.options.Answers.CanInterrupt(s) {
		items = append(items, fyne.NewMenuItem("Interrupt the turn…", func() { u.showInterrupt(*s) }))
	}
	if s.Live() && u.launch.CanResume(s) {
		items = append(items, fyne.NewMenuItem("Resume…", func() { u.launch.Resume(*s) }))
	}
	if u.canRetryHooks(s) {
		id := s.Launch.ID
		items = append(items, fyne.NewMenuItem("Retry hooks", func() {
			u.try("The hooks were not retried: ", func() error { return u.options.Launches.RetryHooks(u.ctx, id) })
		}))
	}
	items = append(items, u.markItems(s)...)
	if s.HasLocalFolder() {
		items = append(items, fyne.NewMenuItem("What changed", func() { d.showChanges(s) }))
	}
	if u.options.Shower != nil && s.HasLocalFolder() {
		items = append(items, u.openItems(*s)...)
	}
	return append(append(items, fyne.NewMenuItemSeparator()), d.copyItems(s)...)
}

// copyItems returns the menu of what can be copied of a session.
func (d *detailPane) copyItems(s *app.Session) []*fyne.MenuItem {
	u := d.ui
	folder := fyne.NewMenuItem("Copy folder", func() { u.host.Copy(d.more, s.CWD) })
	folder.Disabled = s.CWD == ""
	resume := fyne.NewMenuItem("Copy resume command", func() { d.copyResumeCommand(s) })
	resume.Disabled = !launch.HasResume(launch.Find(u.options.Agents, s.Agent), s)
	var items []*fyne.MenuItem
	if last := d.conversation.lastReply(); last != nil {
		items = append(items, fyne.NewMenuItem("Copy last message", func() { u.host.Copy(d.more, last.message.Markdown()) }))
	}
	items = append(items, fyne.NewMenuItem("Copy id", func() { u.host.Copy(d.more, s.ID) }), folder, resume)
	if a := u.askedBy(s, u.sessions.ref); a != nil && a.Request != nil {
		text := a.Request.Text
		items = append(items, fyne.NewMenuItem("Copy request", func() { u.host.Copy(d.more, present.Visible(text)) }))
	}
	return items
}

// button returns a button that acts on the session that is shown. It does nothing when none is shown: a session can
// disappear while the button has the focus.
func (d *detailPane) button(text string, tapped func(*app.Session)) *widgets.Button {
	return d.ui.host.NewButton(text, nil, func() {
		if d.session != nil {
			tapped(d.session)
		}
	})
}

// copyResumeCommand copies the command that resumes a session. The adapter searches for the program on another goroutine.
func (d *detailPane) copyResumeCommand(s *app.Session) {
	u, x := d.ui, *s
	u.try("", func() error {
		command, err := launch.ResumeCommand(launch.Find(u.options.Agents, x.Agent), &x)
		if err == nil {
			u.post(func() { u.host.Copy(d.more, command) })
		}
		return err
	})
}

// selectHint is shown while no session is selected.
const selectHint = "Choose a session in the list to see its details."

// showMessage shows a message instead of a session.
func (d *detailPane) showMessage(title, text string, actions ...fyne.CanvasObject) {
	if d.stage.Say(widgets.Message{Title: title, Text: text, Actions: actions}) {
		d.session = nil
		d.leaveChanges()
		d.request.hide() // its keys must not answer what is not shown
		d.conversation.leave()
	}
}

// show shows session s with the key k. v holds the other sessions, to which the facts refer.
func (d *detailPane) show(s *app.Session, k listing.Key, v *listing.View, now time.Time) {
	fresh := d.session == nil || d.key != k
	d.session, d.key = s, k
	widgets.SetImage(d.icon, facts.StatusIcon(&s.Session))
	d.title.Set(present.Cut(describe.Title(s), 240), theme.ColorNameForeground)
	d.status.Set(describe.Subtitle(s, now), facts.StatusColor(&s.Session))
	moved := d.showTrouble(s)
	d.showActions(s)
	d.facts.Show(describe.Facts(d.withLoad(s, v), k, v, now), fresh)
	if fresh {
		if d.ui.scope != listing.NeedsYou { // there, the next request is shown below how the last answer ended
			d.ui.sessions.showResult("", "", "")
		}
		d.request.hide()
		d.conversation.isBelow = false
	}
	d.showRequest(s, now)
	if (moved || d.showsFacts) && !fresh {
		d.layOut()
	}
	if !fresh {
		d.conversation.update(*s)
		return
	}
	d.leaveChanges()
	d.stage.Show(d.both)
	d.content.Refresh()
	d.above.ScrollToTop()
	d.conversation.follow(*s)
	d.conversation.moveTo(0)
}

// showActions shows what can be done with a session.
func (d *detailPane) showActions(s *app.Session) {
	if text := map[bool]string{true: "Show log", false: "Show terminal"}[s.IsBackground()]; d.terminal.Text != text {
		d.terminal.SetText(text)
	}
	d.terminal.SetEnabled(d.ui.canShowTerminal(s) && !d.showing)
	d.ui.guardEnter(d.terminal, s)
	widgets.SetVisible(d.terminal, s.Live())
	widgets.SetVisible(d.stop, s.Live())
	widgets.SetVisible(d.resume, !s.Live())
	widgets.SetVisible(d.goOn, d.ui.upkeep.CanContinue(s))
	d.stop.SetEnabled(s.Live() && s.Parent == "")
	d.resume.SetEnabled(d.ui.launch.CanResume(s))
	d.composer.show(s)
	d.buttons.Refresh()
}

// showTerminal shows the terminal of the session, one at a time, or the log of a launch that has none.
func (d *detailPane) showTerminal(s *app.Session) {
	if s.IsBackground() {
		d.ui.launch.ShowLog(s)
		return
	}
	d.showing = true
	d.terminal.Disable()
	d.ui.showTerminal(*s, func() {
		d.showing = false
		d.terminal.SetEnabled(d.session != nil && d.ui.canShowTerminal(d.session)) // of the session that is shown by now
	})
}

// showRequest shows what the session asks, if it waits.
func (d *detailPane) showRequest(s *app.Session, now time.Time) {
	a := d.ui.askedBy(s, d.ui.sessions.ref)
	if a == nil {
		d.request.hide()
	} else if fresh := d.request.show(a, now); fresh && a.IsKnown() {
		d.conversation.showRequest()
	}
	if a == nil || !a.IsKnown() {
		d.conversation.hideRequest()
	}
	d.markPrimary(s)
}

// primary returns the button for what a session most likely needs: to answer its request, to see where it runs, to send it a prompt, or to resume it.
func (d *detailPane) primary(s *app.Session) *widgets.Button {
	switch {
	case d.request.allow.Visible():
		return d.request.allow
	case s.Status != adapters.Waiting && d.composer.field.Visible():
		return d.composer.send
	case !s.Live():
		return d.resume
	}
	return d.terminal
}

// markPrimary gives the primary button its colour, and no other. The button that allows has its own: that of a danger where the request has one.
func (d *detailPane) markPrimary(s *app.Session) {
	primary := d.primary(s)
	for _, b := range []*widgets.Button{d.composer.send, d.resume, d.terminal} {
		b.SetPrimary(b == primary)
	}
}

// showTrouble shows since when the session could not be read or else why its last turn failed, and reports whether that has changed.
func (d *detailPane) showTrouble(s *app.Session) (moved bool) {
	icon, text := widgets.NewIcon("stale", widgets.ColorWaiting), describe.Stale(s)
	if text == "" && s.Outcome == adapters.Failed {
		icon, text = widgets.NewIcon("failed", widgets.ColorBad), "The turn failed: "+cmp.Or(present.FailedWhy(&s.State), present.Evidence(&s.State))
	}
	d.trouble.SetIcon(icon)
	return d.trouble.Set(present.Cut(text, 600))
}

// canRetryHooks reports whether the launch of a session has a hook that was started and whose result is unknown.
func (u *UI) canRetryHooks(s *app.Session) bool {
	return u.options.Launches != nil && s.Launch != nil && slices.ContainsFunc(s.Launch.Hooks, func(h app.Hook) bool { return h.Lost })
}
