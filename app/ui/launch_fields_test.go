package ui

import (
	"cmp"
	"slices"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"

	"rollcall/adapters"
	"rollcall/app/present"
	"rollcall/app/ui/widgets"
	"rollcall/internal/uitest"
)

// launchFields are the parts of the launch page.
type launchFields struct {
	content                  *fyne.Container
	scroll                   *container.Scroll
	runs                     *fyne.Container // cards of launches
	folder, prompt           *widgets.Entry
	group, files, onComplete *widgets.Entry
	machine, home            *widgets.Select
	agents                   []adapters.Adapter
	choices                  []*choiceFields
	browse, advanced         *widgets.Button
	terminal, apart          *widgets.CheckBox
	keepEnv, retryHooks      *widgets.CheckBox
	command, notes, warning  *widgets.SelectText
	extend, start, copy      *widgets.Button
	caution, refused         *fyne.Container
}

// choiceFields are the parts of an agent's row.
type choiceFields struct {
	check *widgets.CheckBox
	model *widgets.Entry
	mode  *widgets.Select
	copy  *widgets.Button
}

// launchPage finds the parts of the launch page, also those that are hidden.
func (w *window) launchPage() *launchFields {
	w.t.Helper()
	p := &launchFields{content: w.ui.launch.Content}
	p.scroll = uitest.All[*container.Scroll](p.content)[0]
	form := p.scroll.Content.(*fyne.Container)
	for len(form.Objects) == 1 {
		form = form.Objects[0].(*fyne.Container)
	}
	p.runs = form.Objects[0].(*fyne.Container)
	entries, boxes, buttons := map[string]*widgets.Entry{}, map[string]*widgets.CheckBox{}, map[string]*widgets.Button{}
	for _, e := range uitest.All[*widgets.Entry](p.content) {
		name, _, _ := strings.Cut(e.PlaceHolder, " (")
		entries[name] = e
	}
	for _, b := range uitest.All[*widgets.CheckBox](p.content) {
		boxes[b.Text] = b
	}
	for _, b := range uitest.All[*widgets.Button](p.content) {
		buttons[b.Text] = b
	}
	p.folder, p.prompt = entries["/home/me/project"], entries["Find out why the parser test fails once in twenty runs, and fix the cause."]
	p.group, p.files, p.onComplete = entries["parser-port"], entries["docs/api.md"], entries["make test"]
	p.terminal, p.apart = boxes["In a terminal, not in the background"], boxes["In a git worktree of its own"]
	p.keepEnv, p.retryHooks = boxes["Keep variables that are removed by default"], boxes["Retry a hook with a lost result (can run twice)"]
	p.browse, p.advanced = buttons["Browse…"], buttons["Advanced"]
	p.extend, p.copy = buttons["Extend the timer by 1 hour"], buttons["Copy command"]
	for _, s := range uitest.All[*widgets.Select](p.content) {
		switch s.Options[0] {
		case "This machine":
			p.machine = s
		case "the account of your environment":
			p.home = s
		}
	}
	texts := uitest.All[*widgets.SelectText](form.Objects[len(form.Objects)-1])
	p.command, p.notes = texts[0], texts[1]
	bar := uitest.All[*fyne.Container](p.content.Objects[slices.IndexFunc(p.content.Objects, func(o fyne.CanvasObject) bool { return o != fyne.CanvasObject(p.scroll) })])
	rows := bar[slices.IndexFunc(bar, func(c *fyne.Container) bool { return len(c.Objects) == 3 })]
	p.caution, p.refused = rows.Objects[0].(*fyne.Container), rows.Objects[1].(*fyne.Container)
	p.warning = uitest.All[*widgets.SelectText](p.caution)[0]
	p.start = uitest.All[*widgets.Button](rows.Objects[2])[0]
	p.agents = w.ui.options.Agents
	p.findChoices()
	return p
}

// findChoices finds the rows of the agents, which are shown as soon as it is known which are installed.
func (p *launchFields) findChoices() {
	p.choices = nil
	for _, a := range p.agents {
		for _, box := range uitest.All[*widgets.CheckBox](p.content) {
			if box.Text == present.AgentName(a.Name()) {
				p.choices = append(p.choices, p.choiceOf(box))
			}
		}
	}
}

// choiceOf returns the row of an agent whose box is check.
func (p *launchFields) choiceOf(check *widgets.CheckBox) *choiceFields {
	c := &choiceFields{check: check}
	all := uitest.Inside(p.content)
	for _, o := range all[slices.Index(all, fyne.CanvasObject(check)):] {
		switch o := o.(type) {
		case *widgets.Entry:
			c.model = cmp.Or(c.model, o)
		case *widgets.Select:
			c.mode = cmp.Or(c.mode, o)
		case *widgets.Button:
			c.copy = cmp.Or(c.copy, o)
		}
	}
	return c
}

// shows reports whether the page shows a text.
func (p *launchFields) shows(text string) bool { return slices.Contains(shownTexts(p.content), text) }

// asked reports whether it is known which agents are installed.
func (p *launchFields) asked() bool {
	p.findChoices()
	return p.command.Text != "Looking for agents…"
}

// busy reports whether a launch is being started.
func (p *launchFields) busy() bool { return p.start.Text == "Launching…" }

// launch presses the button.
func (p *launchFields) launch() { p.start.OnTapped() }
