package ui

import (
	"slices"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"rollcall/app"
	"rollcall/app/present"
)

// detailPane shows everything that is known of one session, and below it what
// was said last. It changes only
// the texts that changed, so that what the user selects or reads stays.
type detailPane struct {
	ui      *UI
	content *fyne.Container // of either the session or a message
	scroll  *container.Scroll

	icon                       *canvas.Image
	title, subtitle            *widget.Label
	stop, resume               *button
	copyID, copyCWD, copyAgain *button
	stale                      *banner
	body                       *fyne.Container
	values                     []*fieldView
	shape                      []section // what body was built for
	talk                       *conversation
	both                       fyne.CanvasObject // the facts above the conversation

	session *app.Session
	key     key
	message string // that stands in its place
}

func newDetailPane(u *UI) *detailPane {
	d := &detailPane{ui: u}
	d.icon = canvas.NewImageFromResource(nil)
	d.icon.FillMode = canvas.ImageFillContain
	d.icon.SetMinSize(fyne.NewSquareSize(22))
	d.title = paragraph("", widget.MediumImportance)
	d.title.TextStyle.Bold = true
	d.title.SizeName = theme.SizeNameSubHeadingText
	d.subtitle = paragraph("", widget.LowImportance)
	d.stop = d.button("Stop…", "", func(s *app.Session) { u.showStop(*s) })
	d.resume = d.button("Resume…", "", func(s *app.Session) { u.showResume(*s) })
	d.copyID = d.button("Copy id", "copy", func(s *app.Session) { u.copyText(d.copyID, s.ID) })
	d.copyCWD = d.button("Copy folder", "copy", func(s *app.Session) { u.copyText(d.copyCWD, s.CWD) })
	d.copyAgain = d.button("Copy resume command", "copy", func(s *app.Session) { u.copyText(d.copyAgain, resumeCommand(&s.Session)) })
	d.stale = newBanner("stale")
	d.body = container.New(layout.NewCustomPaddedVBoxLayout(0))
	headline := border(nil,
		container.New(layout.NewCustomPaddedLayout(7, 0, 10, 0), container.NewVBox(d.icon)), nil,
		container.New(layout.NewCustomPaddedVBoxLayout(-8), d.title, d.subtitle))
	buttons := container.New(newFlow(), d.stop, d.resume, d.copyID, d.copyCWD, d.copyAgain)
	d.scroll = container.NewVScroll(container.New(layout.NewCustomPaddedLayout(6, 16, 4, 12),
		container.New(layout.NewCustomPaddedVBoxLayout(8), headline,
			container.New(layout.NewCustomPaddedLayout(0, 0, 8, 4), d.stale.content),
			container.New(layout.NewCustomPaddedLayout(0, 0, 10, 4), buttons), d.body)))
	d.talk = newConversation(u)
	split := container.NewVSplit(d.scroll, d.talk.content)
	split.SetOffset(0.42)
	d.both = split
	d.content = container.NewStack()
	d.showMessage("Nothing selected", "Choose a session in the list to see what is known of it.")
	return d
}

// button does something with the session that is shown. It may be pressed when
// none is any more: its session went away while it had the focus.
func (d *detailPane) button(text, file string, tapped func(*app.Session)) *button {
	var icon fyne.Resource
	if file != "" {
		icon = plainIcon(file)
	}
	return newButton(text, icon, d.ui.typedKey, func() {
		if d.session != nil {
			tapped(d.session)
		}
	})
}

// showMessage takes the place of a session.
func (d *detailPane) showMessage(title, text string) {
	if d.message == title+text {
		return
	}
	d.session, d.message = nil, title+text
	d.talk.leave()
	d.content.Objects = []fyne.CanvasObject{newMessage(nil, title, text)}
	d.content.Refresh()
}

// show shows a session as it is in v.
func (d *detailPane) show(s *app.Session, k key, v *view, now time.Time) {
	fresh := d.session == nil || d.key != k
	d.session, d.key, d.message = s, k, ""
	d.icon.Resource = statusIcon(&s.Session)
	d.icon.Refresh()
	setLabel(d.title, present.Cut(sessionTitle(s), 240))
	setLabel(d.subtitle, subtitle(s, now))
	moved := d.stale.show(staleText(s))
	setEnabled(d.stop, d.ui.canStop(s))
	setEnabled(d.resume, d.ui.canResume(s))
	setEnabled(d.copyCWD, s.CWD != "")
	setEnabled(d.copyAgain, resumeCommand(&s.Session) != "")
	d.showSections(sections(s, k, v, now), fresh)
	if moved && !fresh {
		d.content.Refresh()
	}
	if !fresh {
		d.talk.update(*s)
		return
	}
	d.content.Objects = []fyne.CanvasObject{d.both}
	d.content.Refresh()
	d.scroll.ScrollToTop()
	d.talk.follow(*s)
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
	text := "This is what was last seen"
	if !s.Stale.Since.IsZero() {
		text += " at " + s.Stale.Since.Local().Format("15:04:05")
	}
	return text + ": " + short(s.Stale.Reason)
}

func setLabel(l *widget.Label, text string) {
	if l.Text != text {
		l.SetText(text)
	}
}

func setEnabled(b *button, on bool) {
	if on == b.Disabled() {
		if on {
			b.Enable()
		} else {
			b.Disable()
		}
	}
}

func (d *detailPane) showSections(secs []section, fresh bool) {
	if !fresh && slices.EqualFunc(secs, d.shape, sameShape) {
		i := 0
		for _, sec := range secs {
			for _, f := range sec.fields {
				d.values[i].set(f)
				i++
			}
		}
		d.shape = secs
		return
	}
	d.shape, d.values = secs, d.values[:0]
	d.body.RemoveAll()
	for _, sec := range secs {
		d.body.Add(newHeading(sec.title))
		for _, f := range sec.fields {
			v := newFieldView(f, d.ui)
			d.values = append(d.values, v)
			d.body.Add(v.content)
		}
	}
	d.body.Refresh()
}

// sameShape says whether b can be shown by changing the texts that show a.
func sameShape(a, b section) bool {
	return a.title == b.title && slices.EqualFunc(a.fields, b.fields, func(f, g field) bool {
		return f.name == g.name && f.mono == g.mono && f.ratio == g.ratio && (f.link == nil) == (g.link == nil) && (f.rest == "") == (g.rest == "")
	})
}

// newHeading is a section's title above a thin rule.
func newHeading(text string) fyne.CanvasObject {
	title := newLine(text, theme.ColorNameForeground, theme.SizeNameText, fyne.TextStyle{Bold: true})
	return container.New(layout.NewCustomPaddedLayout(14, 3, 10, 6),
		container.New(layout.NewCustomPaddedVBoxLayout(4), title, widget.NewSeparator()))
}
