package ui

import (
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/widget"

	"rollcall/app"
	"rollcall/app/launch"
	"rollcall/app/present"
	"rollcall/app/ui/widgets"
)

// detailPane shows all known facts of a session, and its conversation below them. It changes only the texts that
// changed, so that a selection and the scroll position stay.
type detailPane struct {
	ui      *UI
	content *fyne.Container // the session or a message
	scroll  *container.Scroll

	icon                        *canvas.Image
	title, subtitle             *widget.Label
	stop, resume, retryHooks    *widgets.Button
	copyID, copyCWD, copyResume *widgets.Button
	stale                       *widgets.Banner
	facts                       *fieldList
	conversation                *conversation
	both                        fyne.CanvasObject // the facts above the conversation

	session *app.Session
	key     key
	message string // shown instead of a session
}

func newDetailPane(u *UI) *detailPane {
	d := &detailPane{ui: u}
	d.icon = widgets.NewImage(nil, 22)
	d.title = widgets.Headline("")
	d.subtitle = widgets.Hint("")
	d.stop = d.button("Stop…", "", func(s *app.Session) { u.showStop(*s) })
	d.resume = d.button("Resume…", "", func(s *app.Session) { u.showResume(*s) })
	d.retryHooks = d.button("Retry hooks", "", func(s *app.Session) { u.retryHooks(d.retryHooks, s) })
	d.retryHooks.Hide()
	d.copyID = d.button("Copy id", "copy", func(s *app.Session) { u.copyText(d.copyID, s.ID) })
	d.copyCWD = d.button("Copy folder", "copy", func(s *app.Session) { u.copyText(d.copyCWD, s.CWD) })
	d.copyResume = d.button("Copy resume command", "copy", d.copyResumeCommand)
	d.stale = widgets.NewBanner("stale")
	d.facts = newFieldList(u)
	headline := widgets.Border(nil, widgets.TopOf(7, 0, 10, 0, d.icon), nil, widgets.Rows(-8, d.title, d.subtitle))
	buttons := widgets.Flow(d.stop, d.resume, d.retryHooks, d.copyID, d.copyCWD, d.copyResume)
	d.scroll = container.NewVScroll(widgets.Pad(6, 16, 4, 12, widgets.Rows(8, headline,
		widgets.Pad(0, 0, 8, 4, d.stale.Content),
		widgets.Pad(0, 0, 10, 4, buttons), d.facts.content)))
	d.conversation = newConversation(u)
	split := container.NewVSplit(d.scroll, d.conversation.content)
	split.SetOffset(0.42)
	d.both = split
	d.content = container.NewStack()
	d.showMessage("Nothing selected", selectHint)
	return d
}

// button returns a button that acts on the session that is shown. It does nothing when none is shown: a session can
// disappear while the button has the focus.
func (d *detailPane) button(text, file string, tapped func(*app.Session)) *widgets.Button {
	var icon fyne.Resource
	if file != "" {
		icon = widgets.PlainIcon(file)
	}
	return d.ui.host.NewButton(text, icon, func() {
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
			u.copyText(d.copyResume, command)
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

// show shows a session as it is in v.
func (d *detailPane) show(s *app.Session, k key, v *view, now time.Time) {
	fresh := d.session == nil || d.key != k
	d.session, d.key, d.message = s, k, ""
	widgets.SetImage(d.icon, statusIcon(&s.Session))
	widgets.SetLabel(d.title, present.Cut(sessionTitle(s), 240))
	widgets.SetLabel(d.subtitle, subtitle(s, now))
	moved := d.stale.Set(staleText(s))
	d.stop.SetEnabled(d.ui.canStop(s))
	d.resume.SetEnabled(d.ui.canResume(s))
	retry := d.ui.canRetryHooks(s)
	if shown := d.retryHooks.Visible(); fresh || retry != shown {
		d.retryHooks.SetEnabled(true) // a retry disabled it
		d.retryHooks.Hidden = !retry
		moved = moved || retry != shown
	}
	d.copyCWD.SetEnabled(s.CWD != "")
	d.copyResume.SetEnabled(d.ui.hasResume(s))
	d.facts.show(sections(s, k, v, now), fresh)
	if moved && !fresh {
		d.content.Refresh()
	}
	if !fresh {
		d.conversation.update(*s)
		return
	}
	d.content.Objects = []fyne.CanvasObject{d.both}
	d.content.Refresh()
	d.scroll.ScrollToTop()
	d.conversation.follow(*s)
}

func sessionTitle(s *app.Session) string {
	t := s.Session
	t.Title, t.LastPrompt, t.FirstPrompt = head(t.Title, 2000), head(t.LastPrompt, 2000), head(t.FirstPrompt, 2000)
	if topic := present.Topic(t); topic != "" {
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
