package settingspage

import (
	"context"
	"strings"

	"fyne.io/fyne/v2"

	"rollcall/app/describe"
	"rollcall/app/present"
	"rollcall/app/settings"
	"rollcall/app/ui/widgets"
)

// named returns the list of the agents that the user named, with buttons that add, change and remove one.
func (p *Page) named() []fyne.CanvasObject {
	newButton := p.window.NewButton("Add an agent…", nil, func() { p.editNamed(nil) })
	list := p.list(settings.Edit{}, "None.", func(s *settings.Settings, add func(string, ...fyne.CanvasObject)) {
		for _, n := range s.Named {
			add(describe.NamedAgent(&n), p.window.NewButton("Edit…", nil, func() { p.editNamed(&n) }), p.window.NewButton("Remove", nil, func() { p.removeNamed(n.Name) }))
		}
	})
	return []fyne.CanvasObject{widgets.NewHeading("Other agents"), list, widgets.Inset(widgets.Flow(newButton)),
		widgets.Hint("An agent that Rollcall does not read is seen by its program, started, stopped and told about. A new name counts for the window and the tray when they start the next time.")}
}

func (p *Page) removeNamed(name string) {
	live := p.window.Live
	widgets.InBackground(p.window.Context, p.window.Host, func(context.Context) (struct{}, error) {
		return struct{}{}, settings.ChangeNamed(live.Path(), name, nil)
	}, func(_ struct{}, err error) {
		if err != nil {
			p.problem.Set(present.Error(err))
			p.Content.Refresh()
			return
		}
		p.Look()
	})
}

// editNamed shows the form for an entry; nil: a new one.
func (p *Page) editNamed(old *settings.NamedAgent) {
	n := settings.NamedAgent{}
	title, action, name := "Add an agent", "Add", ""
	if old != nil {
		n = *old
		title, action, name = "Change "+old.Name, "Save", old.Name
	}
	form := p.window.NewForm(title, action, "The agent was not saved: ")
	var fields []fyne.CanvasObject
	field := func(label, example string, lines int, text string) *widgets.Entry {
		e := form.NewTextArea(example, lines)
		e.SetText(text)
		fields = append(fields, widgets.NamedLong(label, e))
		return e
	}
	several := func(list []string) string { return strings.Join(list, "\n") }
	called := field("Name", "aider", 1, n.Name)
	program := field("Program, if not the name", "aider", 2, several(n.Program))
	launch := field("Arguments of a launch", "--message\n{prompt}", 3, several(n.Launch))
	resume := field("Arguments of a resume", "--restore-chat-history", 2, several(n.Resume))
	working := field("Title while it works", "^Working", 1, n.TitleWorking)
	waiting := field("Title while it waits", `\?$`, 1, n.TitleWaiting)
	rows := field("Program for rows", "/home/me/bin/rows.py", 2, several(n.Rows))
	requests := field("Program for requests", "/home/me/bin/rows.py\nrequests", 2, several(n.Requests))
	answer := field("Program for answers", "/home/me/bin/rows.py\nanswer", 2, several(n.Answer))
	form.Ready = func() bool { return strings.TrimSpace(called.Text) != "" }
	live := p.window.Live
	form.Submit = func() func(context.Context) error {
		n := settings.NamedAgent{Name: strings.TrimSpace(called.Text), Program: present.NonEmptyLines(program.Text), Launch: present.NonEmptyLines(launch.Text), Resume: present.NonEmptyLines(resume.Text),
			TitleWorking: strings.TrimSpace(working.Text), TitleWaiting: strings.TrimSpace(waiting.Text), Rows: present.NonEmptyLines(rows.Text),
			Requests: present.NonEmptyLines(requests.Text), Answer: present.NonEmptyLines(answer.Text)}
		return func(context.Context) error {
			err := settings.ChangeNamed(live.Path(), name, &n)
			if err == nil {
				p.Look()
			}
			return err
		}
	}
	form.Open(widgets.Hint("Several programs, and the arguments, have a line each. The titles are patterns of the terminal's. See “Other agents” in docs/settings.md."), fields...)
}
