package agentspage

import (
	"context"
	"slices"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/widget"

	"rollcall/app"
	"rollcall/app/describe"
	"rollcall/app/present"
	"rollcall/app/ui/widgets"
)

// Window is what the introduction needs of the window.
type Window struct {
	*widgets.Host
	Test         func(ctx context.Context) error  // shows a notification; nil: the page does not offer that
	TrayHint     func(ctx context.Context) string // returns a text about how the tray's icon becomes visible; empty: it is. It may be nil.
	ShowSessions func()
	ShowSettings func()
}

// Introduction is the page that the first window shows: what was found, what is never touched, and whether the desktop shows
// notifications and the tray's icon. It is used on Fyne's goroutine only.
type Introduction struct {
	Content *fyne.Container
	Done    *widgets.Button // leads to the sessions
	window  Window
	found   *fyne.Container
	shown   string // the text that found shows
	test    *widgets.Button
	result  *fyne.Container // of the test notification
	hint    *fyne.Container // how the tray's icon becomes visible
}

// neverTouched answers what users ask before they let a program read the files of their agents.
var neverTouched = []string{
	"The files and settings of your agents are read, never written, and no hooks are needed.",
	"Sessions are not copied: the agents are asked each time.",
	"Nothing is stopped, answered or removed unless you say so.",
	"Nothing is sent anywhere, and no port is opened, unless you configure it.",
}

// NewIntroduction returns the page, which shows no agents yet.
func NewIntroduction(w Window) *Introduction {
	p := &Introduction{window: w, found: widgets.Rows(-4), result: container.NewStack(), hint: widgets.Rows(2)}
	rows := []fyne.CanvasObject{
		widgets.Headline("Welcome to Rollcall"),
		widgets.Paragraph("Here and in the tray you see which of your coding agents works, which needs you and which is done.", widget.MediumImportance),
		widgets.NewHeading("Found on this machine"), p.found,
		widgets.NewHeading("What Rollcall never does"),
	}
	never := widgets.Rows(-4)
	for _, text := range neverTouched {
		never.Add(widgets.Sentence("done", widgets.ColorGood, text))
	}
	rows = append(rows, never)
	if w.Test != nil {
		p.test = w.NewButton("Send a test notification", nil, p.try)
		rows = append(rows, widgets.NewHeading("Notifications"),
			widgets.Paragraph("Rollcall notifies you when an agent needs you, and when its process really ends. The settings add other notifications, or turn some off.", widget.MediumImportance),
			widgets.Inset(widgets.Flow(p.test)), p.result)
	}
	p.Done = w.NewPrimaryButton("Show my sessions", widget.HighImportance, w.ShowSessions)
	more := w.NewButton("Settings…", nil, w.ShowSettings)
	p.Content = container.NewBorder(nil, widgets.Footer(widgets.Inset(widgets.Flow(p.Done, more))), nil, nil, widgets.Page(widgets.Rows(2, append(rows, p.hint)...)))
	return p
}

// Look reads how the tray's icon becomes visible. It returns at once.
func (p *Introduction) Look() {
	if p.window.TrayHint == nil {
		return
	}
	widgets.InBackground(p.window.Context, p.window.Host, func(ctx context.Context) (string, error) { return p.window.TrayHint(ctx), nil }, func(text string, _ error) {
		p.hint.Objects = nil
		if text != "" {
			p.hint.Objects = []fyne.CanvasObject{widgets.NewHeading("The icon in the tray"), widgets.Warning(text)}
		}
		p.Content.Refresh()
	})
}

// Show shows which agents a snapshot has, and where they were found.
func (p *Introduction) Show(s *app.Snapshot) {
	var missing, texts []string
	var rows []fyne.CanvasObject
	for _, h := range slices.Concat(s.Adapters, s.LeftOut.Adapters) {
		if h.State == app.Absent {
			missing = append(missing, present.AgentName(h.Name))
			continue
		}
		icon, state, color := stateText(h)
		if h.State == app.OK {
			state = describe.Found(s, &h)
		}
		if h.State == app.Failed {
			state = "could not be read completely: the page Agents has the reason"
		}
		rows = append(rows, widgets.Sentence(icon, color, present.AgentName(h.Name)+": "+state))
		texts = append(texts, string(h.Name), state)
	}
	switch {
	case len(rows) == 0 && describe.Pending(s):
		rows = append(rows, widgets.Hint("Looking for agents…"))
	case len(rows) == 0:
		rows = append(rows, widgets.Hint("No coding agent was found yet. The page New agent shows how to install one; it is found as soon as it has run."))
	case len(missing) > 0:
		rows = append(rows, widgets.Hint("Not found: "+present.Join(missing)+"."))
	}
	if shown := strings.Join(append(texts, missing...), "\n"); p.shown != shown || len(p.found.Objects) == 0 {
		p.shown = shown
		p.found.Objects = rows
		p.Content.Refresh()
	}
}

// try shows a test notification. It returns at once.
func (p *Introduction) try() {
	p.test.Disable()
	p.say(widgets.Hint("Asking the desktop…"))
	widgets.InBackground(p.window.Context, p.window.Host, func(ctx context.Context) (struct{}, error) { return struct{}{}, p.window.Test(ctx) }, func(_ struct{}, err error) {
		p.test.Enable()
		if err != nil {
			p.say(widgets.Failure(present.Sentence(present.Error(err))))
			return
		}
		p.say(widgets.Success("The desktop has accepted the notification. If you don't see it, “do not disturb” may be on."))
	})
}

func (p *Introduction) say(o fyne.CanvasObject) {
	p.result.Objects = []fyne.CanvasObject{o}
	p.Content.Refresh()
}
