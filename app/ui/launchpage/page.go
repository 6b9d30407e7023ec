// Package launchpage has the page of the window that launches agents, and the sheet that resumes a session.
package launchpage

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/widget"
	"github.com/dustin/go-humanize/english"

	"rollcall/adapters"
	"rollcall/app"
	"rollcall/app/listing"
	"rollcall/app/owned/fuse"
	"rollcall/app/owned/launch"
	"rollcall/app/owned/worktree"
	"rollcall/app/present"
	"rollcall/app/settings"
	"rollcall/app/store"
	"rollcall/app/ui/widgets"
	"rollcall/proc"
)

// Core is the part of the core that this package requires.
type Core interface {
	// Snapshot returns the latest snapshot. It never blocks.
	Snapshot() *app.Snapshot
	// Refresh reads every agent, and returns when each has answered or failed.
	Refresh(ctx context.Context) *app.Snapshot
	// RefreshOne reads one agent, or only the sessions with these ids.
	RefreshOne(ctx context.Context, name adapters.Name, ids ...string) *app.Snapshot
}

// Window is what the page and the sheet need of the window.
type Window struct {
	*widgets.Host
	Core     Core
	Agents   []adapters.Adapter // those that implement adapters.Launcher can be launched
	Launches *launch.Launches   // nil: nothing is launched on this machine
	Fuses    *fuse.Fuses        // nil: there are no timers
	Machines launch.Machines    // nil: there are no other machines
	Table    proc.Lister        // nil: programs are not looked for beside the agents that run
	Live     *settings.Live     // nil: no accounts are offered
	Defaults launch.Defaults    // what the form begins with, and the variables that are left out
	KeepEnv  bool               // the settings keep the variables of all launches
	Program  string             // the path of Rollcall, for terminals to run
	Environ  func() []string    // returns the environment of launched agents
	// OpenTerminal opens a terminal that runs a program in a folder, and returns the terminal's name. It is called on another goroutine.
	OpenTerminal func(folder string, program []string) (string, error)
	View         func() *listing.View // returns the sessions that are listed
	Show         func(id string)      // shows a session
	ShowSessions func()
	ShowLocks    func()
	ShowGroup    func(name string)      // lists the sessions of a group of launches
	Compare      func(dir, name string) // compares the results of a group
}

// Title is the name of the page.
const Title = "New agent"

// Page launches agents, in the background or in a terminal, and shows their progress. It is used on Fyne's
// goroutine only.
type Page struct {
	Content   *fyne.Container
	window    Window
	scroll    *container.Scroll
	machine   *pick
	home      *pick // the account of a launch of one agent
	browse    *widgets.Button
	folder    *widgets.Entry
	agents    *fyne.Container
	choices   []*agentChoice
	prompt    *widgets.Entry
	promptBox fyne.CanvasObject
	file      *fileField // a file with the prompt, instead of the field
	terminal  *widgets.CheckBox
	apart     *widgets.CheckBox // a worktree for one agent
	absent    *widgets.Button   // shows the agents that are not installed
	folded    bool              // those agents are hidden
	more      *advanced
	preview   *preview
	start     *widgets.Button
	refused   *refusal
	runs      *fyne.Container

	asked     bool                     // it is known which agents are installed
	found     map[adapters.Name]string // the command that installs each agent; empty: it is installed
	folders   []string                 // folders of recent sessions
	suggested []string                 // those whose name can be shown
	touched   bool                     // the user chose the folder
	filling   bool                     // set while the page itself changes a field
	busy      bool                     // a launch is being started
	group     string                   // the name of the next group
}

// thisMachine is the first option in the list of machines.
const thisMachine = "This machine"

// inTerminal is the text of the box that launches in a terminal.
const inTerminal = "In a terminal, not in the background"

// New returns the page, which looks for agents when it is opened.
func New(w Window) *Page {
	p := &Page{window: w, group: worktree.NewGroup(), runs: widgets.Rows(8)}
	p.preview, p.refused = newPreview(&p.window), newRefusal(&p.window)
	typed := func(string) { p.changed() }
	p.machine = newPick(w.Host, thisMachine, func(o fyne.CanvasObject) *fyne.Container {
		return widgets.Rows(2, widgets.NewLabel("Machine"), widgets.Inset(o))
	}, p.machineChanged)
	p.home = newPick(w.Host, ownAccount, func(o fyne.CanvasObject) *fyne.Container { return widgets.Named("Account", o) }, p.changed)
	p.folder = w.NewEntry("/home/me/project", func(string) { p.touched = p.touched || !p.filling; p.changed() })
	w.Suggest(p.folder, func() []string { return p.suggested })
	p.folder.Submit = p.launch
	p.agents = widgets.Rows(4)
	for _, a := range w.Agents {
		if l, ok := a.(adapters.Launcher); ok {
			c := newAgentChoice(&p.window, a, l, p.changed)
			p.choices = append(p.choices, c)
		}
	}
	p.prompt = w.NewTextArea("Find out why the parser test fails once in twenty runs, and fix the cause.", 4, typed)
	p.prompt.Submit = p.launch
	p.promptBox = w.PassWheel(p.prompt)
	p.file = newFileField(w.Host, "/home/me/prompt.md", "Use a prompt file…", p.promptMoved)
	p.terminal = w.NewCheckBox(inTerminal, func(bool) { p.changed() })
	p.apart = w.NewCheckBox("In a git worktree of its own", func(bool) { p.changed() })
	p.absent, p.folded = w.NewFlatButton("", nil, func() { p.folded = !p.folded; p.showInstalled() }), true
	p.more = newAdvanced(&p.window, p.changed)
	p.start = w.NewPrimaryButton("Launch", widget.HighImportance, p.launch)
	p.scroll = widgets.Page(p.form())
	bar := widgets.Footer(widgets.Rows(8, p.preview.caution, p.refused.content, widgets.Inset(widgets.Flow(p.start, p.preview.copy))))
	p.Content = container.NewBorder(nil, bar, nil, nil, p.scroll)
	p.preview.resized = p.layOut
	p.changed()
	return p
}

func (p *Page) form() fyne.CanvasObject {
	p.browse = p.window.NewBrowseButton(p.folder.SetText, func(text string) { p.preview.instead(text, widget.DangerImportance) })
	return widgets.Rows(2,
		p.runs, widgets.Headline(Title),
		widgets.Hint("The session is listed like any other. If you choose several agents, each gets the same prompt and its own git worktree."),
		p.machine.content, widgets.NewLabel("Working folder"), widgets.Inset(widgets.Border(nil, nil, p.browse, p.folder)),
		widgets.NewLabel("Agents"), p.agents, p.home.content,
		widgets.NewLabel("Prompt"), widgets.Inset(widgets.Rows(4, p.promptBox, p.file.content)),
		p.terminal, p.apart, p.more.answerable, p.more.content,
		widgets.NewLabel("Command"), p.preview.content)
}

// layOut lays the bar out twice: the first call gives wrapped texts their width, from which the second one takes the height of the bar.
func (p *Page) layOut() {
	p.Content.Refresh()
	p.Content.Refresh()
}

// Look finds out which agents are installed, on another goroutine.
func (p *Page) Look() {
	list, look := p.window.Agents, p.window.lookPath()
	widgets.InBackground(p.window.Context, p.window.Host, func(context.Context) (map[adapters.Name]string, error) { return launch.Installs(list, look), nil },
		func(found map[adapters.Name]string, _ error) { p.showAgents(found) })
}

func (p *Page) showAgents(found map[adapters.Name]string) {
	first := !p.asked
	p.asked, p.found = true, found
	p.showInstalled()
	if c := p.firstChoice(); first && c != nil {
		c.check.SetChecked(true)
	}
	p.update()
	p.Content.Refresh()
}

// showInstalled shows which agents can be launched. On another machine all can be chosen, since only that machine knows which are installed.
func (p *Page) showInstalled() {
	var rows, absent []fyne.CanvasObject
	for _, c := range p.choices {
		install := ""
		if p.machine.Value() == "" {
			install = p.found[c.name]
		}
		if c.set(install); install != "" {
			absent = append(absent, c.content)
		} else {
			rows = append(rows, c.content)
		}
	}
	if absent != nil && rows != nil {
		p.absent.SetText(fmt.Sprintf("Not installed (%d)", len(absent)))
		p.absent.SetIcon(widgets.NewIcon(map[bool]string{true: "closed", false: "opened"}[p.folded], widgets.ColorMuted))
		rows = append(rows, container.NewHBox(p.absent))
	}
	if !p.folded || len(rows) == 0 {
		rows = append(rows, absent...)
	}
	p.agents.Objects = rows
	p.Content.Refresh()
}

// machineChanged shows the fields that apply to the chosen machine, and suggests a folder on it.
func (p *Page) machineChanged() {
	away := p.machine.Value() != ""
	p.browse.Hidden = away
	p.more.content.Hidden = away
	p.apart.Hidden = away
	p.more.answerable.Hidden = away
	p.filling = true
	p.folder.SetText("")
	p.filling = false
	p.touched = false
	p.folders = nil
	if p.asked {
		p.showInstalled()
	}
	p.Apply(p.window.Core.Snapshot())
	p.changed()
	p.Content.Refresh()
}

// firstChoice returns the agent that is chosen at first: the default agent if it is installed, or else the first
// installed one; nil: none is installed.
func (p *Page) firstChoice() (found *agentChoice) {
	for _, c := range p.choices {
		switch {
		case c.install != "":
		case c.name == p.window.Defaults.Member("").Agent:
			return c
		case found == nil:
			found = c
		}
	}
	return found
}

// Focus returns the widget that gets the focus.
func (p *Page) Focus() fyne.Focusable {
	if p.prompt.Hidden {
		return nil
	}
	return p.prompt
}

// promptMoved shows the field for the prompt, unless the prompt is in a file.
func (p *Page) promptMoved() {
	widgets.SetVisible(p.prompt, p.file.path() == "")
	p.Content.Refresh()
	p.changed()
}

// Apply lists the machines that can be chosen, and suggests the folders of the latest sessions.
func (p *Page) Apply(s *app.Snapshot) {
	var machines []string
	for _, m := range s.Machines {
		machines = append(machines, m.Name)
	}
	if p.window.Machines != nil && p.machine.offer(machines, machines) {
		p.Content.Refresh()
	}
	folders := launch.FoldersOn(s, p.machine.Value(), 12)
	if slices.Equal(folders, p.folders) {
		return
	}
	p.folders = folders
	p.suggested = nil
	for _, f := range folders {
		if present.Line(f) == f { // a folder whose name is shown changed could not be chosen
			p.suggested = append(p.suggested, f)
		}
	}
	if !p.touched && p.folder.Text == "" && len(p.suggested) > 0 {
		p.filling = true
		p.folder.SetText(p.suggested[0])
		p.filling = false
	}
}

// read returns the present values of the fields.
func (p *Page) read() launchForm {
	away := p.machine.Value()
	f := launchForm{machine: away, defaultGroup: p.group, Options: launch.Options{Dir: strings.TrimSpace(p.folder.Text), Prompt: p.prompt.Text,
		PromptFile: p.file.path(), Terminal: p.terminal.Checked}}
	for _, c := range p.choices {
		f.members = append(f.members, c.members()...)
	}
	if away == "" { // a folder on another machine stays as the user wrote it
		f.Dir = launch.Path(f.Dir)
		p.more.fill(&f)
		f.apart = p.apart.Checked && len(f.members) == 1
		f.KeepEnv = f.KeepEnv || p.window.KeepEnv
		f.Home = p.home.Value()
	}
	return f
}

// changed hides the error of the last attempt to launch, and shows the command for the fields as they are now.
func (p *Page) changed() {
	p.refused.hide()
	p.update()
}

// update shows the command for the fields as they are now.
func (p *Page) update() {
	f := p.read()
	p.showHomes(&f)
	switch missing := f.missing(); {
	case p.window.Launches == nil && f.machine == "":
		p.preview.instead("Agents cannot be launched: "+store.ErrNoFolder.Error()+".", widget.LowImportance)
	case !p.asked:
		p.preview.instead("Looking for agents…", widget.LowImportance)
	case missing != "":
		p.preview.instead(missing, widget.LowImportance)
	default:
		p.preview.show(f)
	}
	p.enable(&f)
}

// enable enables the Launch button if there is something to launch.
func (p *Page) enable(f *launchForm) {
	p.start.SetEnabled((p.window.Launches != nil || f.machine != "") && p.asked && !p.busy && f.missing() == "")
	text := "Launch"
	switch {
	case p.busy:
		text = "Launching…"
	case f.Terminal:
		text = "Launch in a terminal"
	case len(f.members) > 1:
		text = "Launch " + english.Plural(len(f.members), "agent", "agents")
	}
	if p.start.Text != text {
		p.start.SetText(text)
		p.Content.Refresh()
	}
}

// launch starts a launch with the values of the fields. It asks first about modes without permission prompts.
func (p *Page) launch() {
	f := p.read()
	if !p.start.Disabled() {
		p.window.confirmUnsafe(&f, func() { p.run(f) })
	}
}

func (p *Page) run(f launchForm) {
	p.busy = true
	p.refused.hide()
	p.enable(&f)
	p.runForm(f, func(card func() *launchRun, err error) {
		if err == nil {
			p.add(card())
			p.scroll.ScrollToTop()
		} else {
			p.refuse(f, err)
		}
		p.busy, p.group = false, worktree.NewGroup()
		now := p.read()
		p.enable(&now)
	})
}

// refuse shows why a form was not launched.
func (p *Page) refuse(f launchForm, err error) {
	var apart func()
	if f.machine == "" && len(f.members) == 1 && !f.Terminal && !f.apart {
		apart = func() { f.apart = true; p.run(f) }
	}
	p.preview.caution.Hide() // the refusal says it
	p.refused.show(err, func() { f.Force = true; p.run(f) }, apart)
	p.Content.Refresh()
}

// add shows a launch on the page, above the form and the earlier launches.
func (p *Page) add(r *launchRun) {
	card := widgets.Pad(0, 8, 0, 0, r.Content)
	r.close.OnTapped = func() {
		p.runs.Remove(card)
		p.Content.Refresh()
	}
	r.close.Show()
	p.runs.Objects = append([]fyne.CanvasObject{card}, p.runs.Objects[:min(len(p.runs.Objects), maxRuns)]...)
	p.Content.Refresh()
}

// maxRuns is the number of earlier launches that the page shows.
const maxRuns = 9
