package ui

import (
	"context"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/widget"

	"rollcall/adapters"
	"rollcall/app"
	"rollcall/app/present"
	"rollcall/app/ui/facts"
	"rollcall/app/ui/widgets"
)

// composer is the field below a conversation that sends the session a prompt, or one line that says why it takes none. It is used on Fyne's goroutine only.
type composer struct {
	ui      *UI
	content *fyne.Container
	entry   *widgets.Entry
	send    *widgets.Button
	field   *fyne.Container
	note    *widgets.Line // why there is no field, or how the last prompt ended
	why     string        // why there is no field; empty: there is one
	session app.Session
	busy    bool
}

func newComposer(u *UI) *composer {
	c := &composer{ui: u, note: widgets.NewCaption("")}
	c.entry = u.host.NewTextArea("", 1, func(text string) {
		c.entry.SetMinRowsVisible(min(max(strings.Count(text, "\n")+1, 1), 5))
		c.enable()
	})
	c.entry.Enter = c.submit
	c.send = u.host.NewButton("Send", nil, c.submit)
	c.field = widgets.Border(nil, nil, c.send, c.entry)
	c.content = widgets.Rows(0, widget.NewSeparator(), widgets.Pad(8, 8, 14, 14, widgets.Rows(4, c.note, c.field)))
	return c
}

// show shows the field for a session. What was typed stays while the session is the same.
func (c *composer) show(s *app.Session) {
	if fresh := c.session.ID != s.ID || c.session.Agent != s.Agent; fresh {
		c.busy = false
		c.entry.SetText("")
		c.note.Set("", widgets.ColorMuted)
	}
	c.session = *s
	hint, text := "Send a prompt… (Enter; Shift+Enter for a new line)", "Send"
	if s.Status != adapters.Idle {
		hint, text = "Queue a prompt for after this turn…", "Queue"
	}
	if c.entry.PlaceHolder != hint {
		c.entry.SetPlaceHolder(hint)
		c.send.SetText(text)
	}
	why := c.ui.options.Answers.WhyNoPrompt(s)
	widgets.SetVisible(c.field, why == "")
	if why != "" || c.note.Text() == c.why {
		c.note.Set(why, widgets.ColorMuted)
	}
	c.why = why
	c.enable()
	if hidden := c.note.Text() == ""; c.note.Hidden != hidden {
		c.note.Hidden = hidden
		c.content.Refresh()
	}
}

func (c *composer) enable() { c.send.SetEnabled(!c.busy && strings.TrimSpace(c.entry.Text) != "") }

// submit sends what was typed. It returns at once.
func (c *composer) submit() {
	if c.send.Disabled() {
		return
	}
	s, text := c.session, c.entry.Text
	queue := s.Status != adapters.Idle
	c.busy = true
	c.enable()
	c.say("Sending…", widgets.ColorMuted)
	go func() {
		ctx, cancel := context.WithTimeout(c.ui.ctx, answerWait)
		defer cancel()
		err := c.ui.options.Answers.Send(ctx, s.Agent, s.ID, text, queue)
		c.ui.post(func() { c.sent(&s, text, queue, err) })
	}()
}

// sent shows how a prompt ended. If another session is shown by now, an error is shown above the list.
func (c *composer) sent(s *app.Session, text string, queue bool, err error) {
	if c.session.ID != s.ID || c.session.Agent != s.Agent {
		if err != nil {
			c.ui.notify("The prompt was not accepted: " + present.Error(err))
		}
		return
	}
	c.busy = false
	switch {
	case err != nil:
		c.say("The prompt was not accepted: "+present.Error(err), widgets.ColorBad)
	case queue:
		c.say("The agent begins with the prompt when the turn is over.", widgets.ColorGood)
	default:
		c.say("The session has the prompt.", widgets.ColorGood)
	}
	if err == nil && c.entry.Text == text {
		c.entry.SetText("")
	}
	c.enable()
}

func (c *composer) say(text string, color fyne.ThemeColorName) {
	c.note.Set(text, color)
	c.note.Hidden = false
	c.content.Refresh()
}

// showInterrupt asks for confirmation, and then ends the turn of a session. The session continues to run.
func (u *UI) showInterrupt(s app.Session) {
	sheet := u.host.NewSheet("Interrupt this turn?", widgets.SheetWidth)
	sheet.Confirm([]fyne.CanvasObject{facts.Line(&s), widgets.Paragraph("The agent stops what it does, and the session waits for your next prompt. No process is ended.", widget.MediumImportance)},
		u.host.NewPrimaryButton("Interrupt", widget.WarningImportance, func() {
			widgets.Run(sheet, "Interrupting…", "The turn was not interrupted: ", func(ctx context.Context, _ func(string)) (struct{}, error) {
				return struct{}{}, u.options.Answers.Interrupt(ctx, s.Agent, s.ID)
			}, func(struct{}) {
				if sheet.IsOpen() {
					sheet.ShowResult([]fyne.CanvasObject{facts.Line(&s), widgets.Success("The turn is over. The session waits for your next prompt.")})
				}
			})
		}))
}
