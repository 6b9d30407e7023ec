package ui

import (
	"context"
	"slices"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"rollcall/adapters"
	"rollcall/app"
	"rollcall/app/owned/launch"
	"rollcall/app/present"
	"rollcall/app/ui/widgets"
)

// detailPane shows a session: its status with the evidence, what it asks with the buttons to answer, what can be done
// with it, and its conversation or, on demand, all other known facts. It changes only the texts that changed, so that a
// selection and the scroll position stay.
type detailPane struct {
	ui      *UI
	content *fyne.Container // the session or a message
	scroll  *container.Scroll

	icon       *canvas.Image
	title      *widget.Label
	status     *widgets.Line
	stale      *widgets.Banner
	request    *requestView
	goTo       *goTo
	send       *widgets.Button
	interrupt  *widgets.Button
	stop       *widgets.Button
	resume     *widgets.Button
	retryHooks *widgets.Button
	copy       *widgets.Button
	details    *widgets.Button

	facts        *fieldList
	conversation *conversation
	above        *container.Scroll // the status, the request and the actions
	below        *fyne.Container   // the conversation or the facts
	both         fyne.CanvasObject // the session
	showsFacts   bool

	session *app.Session
	key     key
	message string // shown if no session is
}

// requestRows is the number of rows of a request that the details show without scrolling.
const requestRows = 6

func newDetailPane(u *UI) *detailPane {
	d := &detailPane{ui: u}
	d.icon = widgets.NewImage(nil, 22)
	d.title = widgets.Headline("")
	d.status = widgets.NewLine("", widgets.ColorMuted, theme.SizeNameText, fyne.TextStyle{})
	d.goTo = newGoTo(d)
	d.send = d.button("Send a prompt…", func(s *app.Session) { u.showSend(*s) })
	d.interrupt = d.button("Interrupt", func(s *app.Session) { u.showInterrupt(*s) })
	d.stop = d.button("Stop…", func(s *app.Session) { u.showStop(*s) })
	d.resume = d.button("Resume…", func(s *app.Session) { u.showResume(*s) })
	d.retryHooks = d.button("Retry hooks", func(s *app.Session) { u.retryHooks(d.retryHooks, s) })
	d.retryHooks.Hide()
	d.copy = d.button("Copy", func(s *app.Session) { u.showMenuBelow(d.copy, d.copyItems(s)) })
	d.copy.Icon = widgets.PlainIcon("copy")
	d.details = d.button("Details", func(*app.Session) { d.showFacts(!d.showsFacts) })
	d.stale = widgets.NewBanner("stale")
	d.facts = newFieldList(u)
	d.conversation = newConversation(u)
	d.scroll = container.NewVScroll(widgets.Pad(0, 16, 4, 12, d.facts.content))
	d.below = container.NewStack(d.conversation.content)
	d.request = newRequestView(u, requestRows, d.layOut)
	d.request.goTo.Hide() // the details already show the session
	headline := widgets.Border(nil, widgets.TopOf(7, 0, 10, 0, d.icon), nil, widgets.Rows(-6, d.title, widgets.Pad(0, 4, 6, 8, d.status)))
	buttons := widgets.Flow(d.goTo.show, d.send, d.interrupt, d.stop, d.resume, d.retryHooks, d.goTo.open, d.copy, d.details)
	top := widgets.Pad(6, 4, 4, 12, widgets.Rows(6, headline, widgets.Pad(0, 0, 8, 4, d.stale.Content),
		widgets.Pad(0, 0, 4, 0, d.request.content), widgets.Pad(0, 4, 10, 4, buttons)))
	d.above = container.NewVScroll(widgets.Rows(0, top, widget.NewSeparator()))
	d.both = overConversation(d.above, d.below)
	d.content = container.NewStack()
	d.showMessage("Nothing selected", selectHint)
	return d
}

// leastBelow is the smallest share of the height that the conversation gets.
const leastBelow = 0.3

// overConversation gives the first object the height that it needs, and the second the rest. In a low window the first
// one scrolls.
func overConversation(above *container.Scroll, below fyne.CanvasObject) *fyne.Container {
	return container.New(widgets.Layout{Arrange: func(_ []fyne.CanvasObject, size fyne.Size) {
		most := size.Height * (1 - leastBelow)
		above.Resize(fyne.NewSize(size.Width, most))
		height := min(above.Content.MinSize().Height, most)
		widgets.Place(above, 0, 0, size.Width, height)
		widgets.Place(below, 0, height, size.Width, size.Height-height)
	}, Least: func([]fyne.CanvasObject) fyne.Size { return above.MinSize().Max(below.MinSize()) }}, above, below)
}

// layOut lays the pane out after a height changed.
func (d *detailPane) layOut() {
	if d.both != nil && d.content != nil {
		d.both.Refresh()
	}
}

// showFacts shows all facts in place of the conversation, or the conversation.
func (d *detailPane) showFacts(on bool) {
	d.showsFacts = on
	text, object := "Details", d.conversation.content
	if on {
		text, object = "Conversation", fyne.CanvasObject(d.scroll)
	}
	d.details.SetText(text)
	d.below.Objects = []fyne.CanvasObject{object}
	d.content.Refresh()
}

// focus moves the focus to the action that the session most likely needs. It never chooses an action that ends
// something or answers a request: the Enter key that moved the focus here may be repeated.
func (d *detailPane) focus() {
	likely := d.send
	if d.request.has {
		likely = d.goTo.show
	}
	if !likely.Visible() || likely.Disabled() {
		likely = d.copy
	}
	d.ui.host.Focus(likely)
}

// copyItems returns the menu of what can be copied of a session.
func (d *detailPane) copyItems(s *app.Session) []*fyne.MenuItem {
	u := d.ui
	folder := fyne.NewMenuItem("Copy folder", func() { u.copyText(d.copy, s.CWD) })
	folder.Disabled = s.CWD == ""
	resume := fyne.NewMenuItem("Copy resume command", func() { d.copyResumeCommand(s) })
	resume.Disabled = !u.hasResume(s)
	items := []*fyne.MenuItem{fyne.NewMenuItem("Copy id", func() { u.copyText(d.copy, s.ID) }), folder, resume}
	if a := u.askedBy(s); a != nil && a.request != nil {
		text := a.request.Text
		items = append(items, fyne.NewMenuItem("Copy request", func() { u.copyText(d.copy, present.Visible(text)) }))
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
	go func() {
		command, err := launch.ResumeCommand(u.adapter(x.Agent), &x)
		u.post(func() {
			if err != nil {
				u.notify(errorText(err))
				return
			}
			u.copyText(d.copy, command)
		})
	}()
}

// selectHint is shown while no session is selected.
const selectHint = "Choose a session in the list to see its details."

// showMessage shows a message instead of a session.
func (d *detailPane) showMessage(title, text string) {
	if d.message == title+text {
		return
	}
	d.session, d.message = nil, title+text
	d.conversation.leave()
	d.content.Objects = []fyne.CanvasObject{widgets.NewMessage(nil, title, text)}
	d.content.Refresh()
}

// show shows session s with the key k. v holds the other sessions, to which the facts refer.
func (d *detailPane) show(s *app.Session, k key, v *view, now time.Time) {
	fresh := d.session == nil || d.key != k
	d.session, d.key, d.message = s, k, ""
	widgets.SetImage(d.icon, statusIcon(&s.Session))
	widgets.SetLabel(d.title, present.Cut(sessionTitle(s), 240))
	d.status.Set(statusSentence(s, now), statusColor(&s.Session))
	moved := d.stale.Set(staleText(s))
	d.showActions(s)
	retry := d.ui.canRetryHooks(s)
	if shown := d.retryHooks.Visible(); fresh || retry != shown {
		d.retryHooks.SetEnabled(true) // an earlier click disabled the button
		d.retryHooks.Hidden = !retry
		moved = moved || retry != shown
	}
	d.facts.show(sections(s, k, v, now), fresh)
	if fresh {
		d.request.hide()
	}
	d.showRequest(s, now)
	if moved && !fresh {
		d.layOut()
	}
	if !fresh {
		d.conversation.update(*s)
		return
	}
	d.content.Objects = []fyne.CanvasObject{d.both}
	d.content.Refresh()
	d.scroll.ScrollToTop()
	d.above.ScrollToTop()
	d.conversation.follow(*s)
}

// showActions shows what can be done with a session.
func (d *detailPane) showActions(s *app.Session) {
	d.goTo.update(s)
	d.send.Hidden = !d.ui.canSend(s)
	text := "Send a prompt…"
	if s.Status != adapters.Idle {
		text = "Queue a prompt…"
	}
	if d.send.Text != text {
		d.send.SetText(text)
	}
	d.interrupt.Hidden = !d.ui.canInterrupt(s)
	d.stop.SetEnabled(d.ui.canStop(s))
	d.resume.SetEnabled(d.ui.canResume(s))
}

// showRequest shows what the session asks, if it waits.
func (d *detailPane) showRequest(s *app.Session, now time.Time) {
	if a := d.ui.askedBy(s); a != nil {
		d.request.show(a, now)
		return
	}
	d.request.hide()
}

func sessionTitle(s *app.Session) string {
	if topic := present.Topic(present.Brief(s.Session)); topic != "" {
		return topic
	}
	return present.Project(s.CWD)
}

func subtitle(s *app.Session, now time.Time) string {
	text := present.Status(s.Session) + " · " + present.AgentName(s.Agent) + " · " + present.Project(tail(s.CWD, maxRowText))
	if age := present.Since(s.LastActivityAt, now); age == "now" {
		text += " · active now"
	} else if age != "" {
		text += " · active " + age + " ago"
	}
	return text
}

// statusSentence returns the status with its age and its evidence.
func statusSentence(s *app.Session, now time.Time) string {
	text := subtitle(s, now)
	if evidence := short(s.Evidence); evidence != "" {
		text += " · " + evidence
	}
	return text
}

func staleText(s *app.Session) string {
	if s.Stale == nil {
		return ""
	}
	text := "Last seen"
	if !s.Stale.Since.IsZero() {
		text += " at " + s.Stale.Since.Local().Format("15:04:05")
	}
	return text + ": " + short(s.Stale.Reason)
}

// canRetryHooks reports whether the launch of a session has a hook that was started and whose result is unknown.
func (u *UI) canRetryHooks(s *app.Session) bool {
	return u.options.Launches != nil && s.Launch != nil && slices.ContainsFunc(s.Launch.Hooks, func(h app.Hook) bool { return h.Lost })
}

// retryHooks makes the tray run those hooks again.
func (u *UI) retryHooks(b *widgets.Button, s *app.Session) {
	if !u.canRetryHooks(s) {
		return
	}
	id := s.Launch.ID
	u.change(b, "The hooks were not retried: ", func(ctx context.Context) error { return u.options.Launches.RetryHooks(ctx, id) })
}
