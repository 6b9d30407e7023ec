package ui

import (
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/widget"

	"rollcall/adapters"
	"rollcall/app/codetext"
	"rollcall/app/control/answer"
	"rollcall/app/listing"
	"rollcall/app/present"
	"rollcall/app/settings"
	"rollcall/app/ui/widgets"
)

// requestView shows one request, or a session whose request is not known, whole, with the buttons that answer. The
// buttons do nothing for a moment after the request has changed: a click or key that was meant for the previous
// request must not answer the new one. It is used on Fyne's goroutine only.
type requestView struct {
	ui      *UI
	content *fyne.Container
	title   *widget.Label
	age     *widgets.Line
	dangers *widget.Label
	marks   *fyne.Container // shows dangers with an icon
	code    *widgets.Code
	panel   *fyne.Container // has code
	size    *widgets.Line
	why     *widget.Label   // why the request can't be answered
	below   *fyne.Container // belongs below the buttons, which do not scroll with content
	rule    *widget.Label   // what one key allows, while a second one is asked for
	allow   *widgets.Button
	deny    *widgets.Button
	message *widgets.Entry // with a denial
	form    *questionForm
	formBox *fyne.Container
	laidOut func() // called when the height has changed, to lay out what is around the view

	item    answer.Asked
	has     bool
	armed   bool
	sure    bool // the user wants to allow the request, or to send reply, and is asked once more
	reply   [][]string
	denying bool // the user wants to deny the request, and is asked why
	arms    int  // number of the last call of arm
}

// newRequestView returns an empty view.
func newRequestView(u *UI, laidOut func()) *requestView {
	v := &requestView{ui: u, laidOut: laidOut}
	v.title = widgets.Paragraph("", widget.MediumImportance)
	v.title.TextStyle.Bold = true
	v.age = widgets.NewCaption("").Whole()
	v.dangers = widgets.Paragraph("", widget.DangerImportance)
	v.marks = widgets.Border(nil, widgets.TopOf(8, 0, 8, 0, widgets.NewImage(widgets.NewIcon("waiting", widgets.ColorBad), 16)), nil, v.dangers)
	v.code = u.host.NewCode()
	v.code.Changed = v.codeChanged
	v.size = widgets.NewCaption("")
	v.why = widgets.Hint("")
	v.allow = u.host.NewPrimaryButton("Allow once", widget.HighImportance, func() { v.allowIt(v.sure) })
	v.deny = u.host.NewButton("Deny", nil, v.denyIt)
	v.allow.Early, v.deny.Early = v.delayEarly, v.delayEarly
	v.message = u.host.NewEntry("Why not, for the agent: Enter sends the denial, Esc leaves it", nil)
	v.message.OnSubmitted = func(string) { v.denyIt() }
	v.message.Key = func(ev *fyne.KeyEvent) bool {
		left := ev.Name == fyne.KeyEscape
		if left {
			v.askReason(false)
		}
		return left
	}
	v.form = newQuestionForm(v)
	v.formBox = container.NewStack(v.form.rows)
	v.rule = widgets.Hint(present.Sentence(answer.OneKeyRule) + ".")
	v.rule.Hide()
	v.below = widgets.Rows(4, v.size, widgets.Pad(-4, -4, -6, -6, v.why), v.message, widgets.Pad(-4, -4, -6, -6, v.rule))
	top := widgets.Rows(-4, widgets.Border(nil, nil, widgets.TopOf(8, 0, 0, 8, v.age), v.title), v.marks)
	v.panel = widgets.Pad(panelMargin, 6, 6, 6, widgets.NewPanel(0, 0, 0, 0, v.code.Content))
	v.content = widgets.Rows(0, top, v.formBox, v.panel)
	v.content.Hide()
	v.below.Hide()
	v.enable()
	return v
}

// panelMargin is the space above the panel with the text.
const panelMargin = 2

// setSight sets which part of content is in sight.
func (v *requestView) setSight(from, to float32) {
	top := v.panel.Position().Y + panelMargin
	v.code.SetSight(from-top, to-top)
}

// end returns where in content the text ends.
func (v *requestView) end() float32 { return v.panel.Position().Y + v.panel.Size().Height }

// show shows a, and reports whether the user has not seen it yet. It keeps what the user typed if a is the same request as before.
func (v *requestView) show(a *answer.Asked, now time.Time) (fresh bool) {
	fresh = !v.has || v.item.Ref() != a.Ref() || v.item.Entry.Read != a.Entry.Read
	v.item, v.has = *a, true
	widgets.SetLabel(v.title, present.Sentence(a.What())) // the header above names the agent, the project and the machine
	v.age.Set(present.Ago(v.item.Since(), now), widgets.ColorMuted)
	if fresh {
		v.message.SetText("")
		v.askReason(false)
		v.form.set(a.Request)
		v.setSure(false)
		v.showText()
		v.arm()
	}
	widgets.SetLabel(v.dangers, a.Asks.Danger())
	v.marks.Hidden = len(a.Asks.Dangers) == 0
	why := a.WhyNot(v.ui.options.Answers.Policy())
	widgets.SetLabel(v.why, why)
	v.why.Hidden = why == ""
	v.enable()
	if fresh {
		v.below.Show()
		widgets.SetVisible(v.content, a.IsKnown() || !a.Entry.Read)
		v.content.Refresh()
		v.laidOut()
	}
	return fresh
}

// showText shows the texts of the request.
func (v *requestView) showText() {
	r := v.item.Request
	v.panel.Hidden = false
	switch {
	case r != nil:
		hasTooMany := v.form.tooMany
		v.code.Set(r.Size(), func() []codetext.Part {
			if len(r.Questions) > 0 && !hasTooMany {
				return r.WithoutQuestions()
			}
			return r.Whole()
		})
	case !v.item.Entry.Read:
		v.code.Set(0, func() []codetext.Part { return []codetext.Part{{Title: "Reading what it asks…"}} })
	default:
		asks := v.item.Asks
		v.code.Set(0, func() []codetext.Part {
			return []codetext.Part{{Title: "As its records have it", Text: asks.Text}}
		})
		v.panel.Hidden = asks.Text == ""
	}
	if r != nil && len(r.Questions) > 0 && !v.form.tooMany && len(r.WithoutQuestions()) == 0 {
		v.panel.Hidden = true
	}
	v.codeChanged()
}

func (v *requestView) codeChanged() {
	text := ""
	if v.has && v.item.Request != nil && !v.panel.Hidden {
		text = sizeText(v.code, v.item.Request.Size())
	}
	v.size.Set(text, map[bool]fyne.ThemeColorName{true: widgets.ColorMuted, false: widgets.ColorWaiting}[v.code.IsEndSeen()])
	v.size.Hidden = text == ""
	v.enable()
	if v.content != nil {
		v.laidOut()
	}
}

// hide removes the request from the view.
func (v *requestView) hide() {
	if !v.has {
		return
	}
	v.has, v.armed = false, false
	v.askReason(false)
	v.item = answer.Asked{}
	v.form.set(nil)
	v.content.Hide()
	v.below.Hide()
	v.enable()
	v.laidOut()
}

// arm lets the request be answered once it has been visible for answer.VisibleFor.
func (v *requestView) arm() {
	v.armed = false
	v.arms++
	number := v.arms
	v.ui.after(answer.VisibleFor, func() {
		v.ui.post(func() {
			if number == v.arms && v.has {
				v.armed = true
				v.enable()
			}
		})
	})
}

// enable shows the buttons that the request has, and enables those that can be used now.
func (v *requestView) enable() {
	r := v.item.Request
	ready := r != nil && v.isReady()
	isQuestion := r != nil && len(r.Questions) > 0
	v.allow.Hidden = r == nil || !r.CanAllow && (isQuestion && v.reply == nil || !isQuestion && !r.CanDeny) || v.ui.options.Answers.Policy() == settings.AnswerNone
	v.deny.Hidden = r == nil || !r.CanDeny && (isQuestion || !r.CanAllow) || v.ui.options.Answers.Policy() == settings.AnswerNone
	v.allow.SetEnabled(ready && (r.CanAllow || v.reply != nil))
	v.deny.SetEnabled(ready && r.CanDeny)
	v.message.Hidden = !v.denying
	v.formBox.Hidden = !isQuestion
	v.form.enable(ready && r.CanReply)
	v.nameKeys()
	importance := widget.HighImportance
	if r != nil && len(r.Dangers) > 0 {
		importance = widget.DangerImportance
	}
	if v.allow.Importance != importance {
		v.allow.Importance = importance
		v.allow.Refresh()
	}
}

// nameKeys shows the texts of the buttons, with their keys where the keys answer.
func (v *requestView) nameKeys() {
	allow, deny := "Allow once", "Deny"
	allowKey, denyKey := " (A)", " (D)"
	if v.sure {
		allow, allowKey = "Yes, allow it once", " (Y)"
	}
	if v.reply != nil {
		allow = "Yes, answer: " + present.Cut(present.Short(v.reply[0][0]), optionCells)
	}
	switch r := v.item.Request; {
	case v.denying:
		deny, denyKey = "Send the denial", " (Enter)"
	case r != nil && r.CanExplain:
		deny += "…"
	}
	if v.ui.scope == listing.NeedsYou {
		allow += allowKey
		deny += denyKey
	}
	if v.allow.Text != allow {
		v.allow.SetText(allow)
	}
	if v.deny.Text != deny {
		v.deny.SetText(deny)
	}
}

// setSure asks the user once more, or no longer.
func (v *requestView) setSure(sure bool) {
	v.sure = sure
	if !sure {
		v.reply = nil
	}
	v.nameKeys()
	if v.rule.Hidden == sure { // below the buttons, so that these stay where they are
		v.rule.Hidden = !sure
		v.laidOut()
	}
}

// allowIt allows the request. One that one key does not allow needs a second key or click, with sure set, after that time: the first one
// only asks for it.
func (v *requestView) allowIt(sure bool) {
	r := v.item.Request
	switch {
	case r == nil || sure != v.sure:
	case v.reply != nil:
		v.decide(adapters.Decision{Verdict: adapters.Reply, Answers: v.reply, SecondLook: true})
	case sure || r.OneKey && v.code.IsEndSeen() || !r.CanAllow || !v.isReady():
		v.decide(adapters.Decision{Verdict: adapters.AllowOnce, SecondLook: sure})
	default:
		v.setSure(true)
		v.arm()
		v.enable()
	}
}

// replyWith answers the questions of the request. Where a program speaks for the agent, it asks once more, as for a request that one key does not allow.
func (v *requestView) replyWith(answers [][]string) {
	r := v.item.Request
	if r == nil || !r.SureReply || !r.CanReply || !v.isReady() {
		v.decide(adapters.Decision{Verdict: adapters.Reply, Answers: answers})
		return
	}
	v.reply = answers
	v.setSure(true)
	v.arm()
	v.enable()
}

// denyIt denies the request. Where its agent takes a message, the first call asks for it.
func (v *requestView) denyIt() {
	if r := v.item.Request; r != nil && r.CanDeny && r.CanExplain && !v.denying && v.isReady() {
		v.askReason(true)
		return
	}
	v.decide(adapters.Decision{Verdict: adapters.Deny, Message: present.When(v.denying, v.message.Text)})
}

// askReason shows or hides the line for the message with a denial. It moves the focus there and back.
func (v *requestView) askReason(on bool) {
	if v.denying == on {
		return
	}
	v.denying = on
	v.enable()
	v.content.Refresh()
	v.laidOut()
	switch u := v.ui; {
	case on:
		v.setSure(false)
		u.host.Focus(v.message)
	case u.window.Canvas().Focused() == fyne.Focusable(v.message):
		u.host.Focus(u.sessions.list)
	}
}

// opened is called when the view's page is shown: a request that appeared while it was hidden must be seen first.
func (v *requestView) opened() {
	if v.has {
		v.setSure(false)
		v.arm()
		v.enable()
	}
}

// isReady reports whether the request is visible, has been long enough to be answered, and is not being answered.
func (v *requestView) isReady() bool {
	return v.has && v.armed && v.ui.sessions.panes.showsDetails() && v.ui.sessions.detail.changes == nil && v.code.IsReady() && !v.ui.isAnswering(v.item.Ref())
}

// delayEarly starts that time again if the request can't be answered yet. It is called for each key and click that would
// answer: without it, the repeats of a key that the user holds down would answer the request as soon as it can be
// answered.
func (v *requestView) delayEarly() {
	if v.has && !v.isReady() {
		v.arm()
	}
}

// decide answers the request that is shown, if it may be answered now.
func (v *requestView) decide(d adapters.Decision) {
	v.delayEarly()
	v.enable()
	r := v.item.Request
	if r == nil || !v.isReady() || d.Verdict == adapters.AllowOnce && !r.CanAllow || d.Verdict == adapters.Deny && !r.CanDeny || d.Verdict == adapters.Reply && !r.CanReply {
		return
	}
	v.setSure(false)
	v.ui.answer(v.item, d)
}
