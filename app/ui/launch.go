package ui

import (
	"slices"
	"strings"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/dialog"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"rollcall/adapters"
	"rollcall/app"
	"rollcall/app/present"
	"rollcall/app/worktree"
)

// launchPage starts agents, in the background or in a terminal, and shows what
// came of it. It belongs to the UI goroutine.
type launchPage struct {
	ui      *UI
	content *fyne.Container
	scroll  *container.Scroll
	folder  *suggestEntry
	agents  *fyne.Container
	choices []*agentChoice
	prompt  *formEntry
	file    *fileField // a prompt in a file, instead
	where   *radio
	more    *advanced
	preview *preview
	start   *button
	refused *refusal
	runs    *fyne.Container

	asked   bool     // which agents are installed is known
	folders []string // recent ones
	touched bool     // the user chose the folder
	filling bool     // the page itself writes into its fields
	busy    bool     // a launch is being made
	group   string   // the name of the next group
}

// Where an agent is launched.
const (
	inBackground = "in the background"
	inTerminal   = "in a terminal"
)

func newLaunchPage(u *UI) *launchPage {
	p := &launchPage{ui: u, group: worktree.NewGroup()}
	p.folder = newSuggestEntry(u, nil)
	p.folder.submit = p.launch
	p.folder.PlaceHolder = "The folder it shall work in"
	p.folder.OnChanged = func(string) { p.touched = p.touched || !p.filling; p.changed() }
	p.agents = container.New(layout.NewCustomPaddedVBoxLayout(4))
	for _, a := range u.options.Agents {
		if l, ok := a.(adapters.Launcher); ok {
			c := newAgentChoice(u, a, l, p.changed)
			p.choices = append(p.choices, c)
			p.agents.Add(c.content)
		}
	}
	p.prompt = newFormText(u, "What it is to do", 4, func(string) { p.changed() })
	p.prompt.submit = p.launch
	p.file = newFileField(u, "A file with the prompt", "Prompt from a file…", func() { p.showPrompt(); p.changed() })
	p.where = newRadio(u, []string{inBackground, inTerminal}, func(string) { p.changed() })
	p.more = newAdvanced(u, p.changed)
	p.preview = newPreview(u)
	p.start = newButton("Launch", nil, u.typedKey, p.launch)
	p.start.Importance = widget.HighImportance
	p.refused = newRefusal(u)
	p.runs = container.New(layout.NewCustomPaddedVBoxLayout(8))
	p.scroll = container.NewVScroll(container.New(layout.NewCustomPaddedLayout(16, 16, 12, 12), container.New(&column{width: 660}, p.form())))
	p.content = container.NewBorder(nil, p.bar(), nil, nil, p.scroll)
	p.changed()
	return p
}

func (p *launchPage) form() fyne.CanvasObject {
	browse := newButton("Browse…", plainIcon("folder"), p.ui.typedKey, p.browse)
	title := paragraph("Launch an agent", widget.MediumImportance)
	title.TextStyle.Bold = true
	title.SizeName = theme.SizeNameSubHeadingText
	where := container.New(layout.NewCustomPaddedLayout(6, 0, 0, 0), p.where)
	return container.New(layout.NewCustomPaddedVBoxLayout(2),
		p.runs, title,
		paragraph("It works on its own and is listed like every other session. Several agents get the same prompt, and a git worktree each.", widget.LowImportance),
		label("Folder"), inset(border(nil, nil, browse, p.folder)),
		label("Agents"), p.agents,
		label("Prompt"), inset(container.New(layout.NewCustomPaddedVBoxLayout(4), p.prompt, p.file.content)),
		where, p.more.content,
		label("What will run"), p.preview.content)
}

// bar stays in sight below the form.
func (p *launchPage) bar() fyne.CanvasObject {
	return container.New(layout.NewCustomPaddedVBoxLayout(0), widget.NewSeparator(),
		container.New(layout.NewCustomPaddedLayout(8, 8, 12, 12), container.New(&column{width: 660},
			container.New(layout.NewCustomPaddedVBoxLayout(8), p.refused.content, inset(container.New(newFlow(), p.start, p.preview.copy))))))
}

// label is a form's label, above what it names.
func label(text string) fyne.CanvasObject {
	return container.New(layout.NewCustomPaddedLayout(12, 2, 6, 6),
		newLine(text, theme.ColorNameForeground, theme.SizeNameText, fyne.TextStyle{Bold: true}))
}

func inset(o fyne.CanvasObject) *fyne.Container {
	return container.New(layout.NewCustomPaddedLayout(0, 0, 6, 6), o)
}

// look finds out which agents are installed, off the UI goroutine.
func (p *launchPage) look() {
	list := p.ui.options.Agents
	go func() {
		found := installs(list)
		p.ui.post(func() { p.showAgents(found) })
	}()
}

func (p *launchPage) showAgents(found map[adapters.Name]string) {
	first := !p.asked
	p.asked = true
	for _, c := range p.choices {
		c.set(found[c.name])
	}
	if first {
		for _, c := range p.choices {
			if c.install == "" {
				c.check.SetChecked(true)
				break
			}
		}
	}
	p.changed()
	p.content.Refresh()
}

// showPrompt shows the field for the prompt, unless the prompt is in a file.
func (p *launchPage) showPrompt() {
	p.prompt.Hidden = p.file.path() != ""
	p.content.Refresh()
}

// apply takes the folders of the latest sessions.
func (p *launchPage) apply(s *app.Snapshot) {
	folders := recentFolders(s, 12)
	if slices.Equal(folders, p.folders) {
		return
	}
	p.folders = folders
	shown := make([]string, 0, len(folders))
	for _, f := range folders {
		if present.Line(f) == f { // what can't be shown as it is can't be chosen by its name
			shown = append(shown, f)
		}
	}
	p.folder.SetOptions(shown)
	if !p.touched && p.folder.Text == "" && len(shown) > 0 {
		p.filling = true
		p.folder.SetText(shown[0])
		p.filling = false
	}
}

// recentFolders are the folders of sessions on this machine, the latest first.
func recentFolders(s *app.Snapshot, most int) []string {
	latest := make(map[string]time.Time)
	for i := range s.Sessions {
		x := &s.Sessions[i]
		if x.CWD == "" || x.Remote != "" || x.Parent != "" {
			continue
		}
		if at, ok := latest[x.CWD]; !ok || x.LastActivityAt.After(at) {
			latest[x.CWD] = x.LastActivityAt
		}
	}
	all := make([]string, 0, len(latest))
	for f := range latest {
		all = append(all, f)
	}
	slices.SortFunc(all, func(a, b string) int {
		if c := latest[b].Compare(latest[a]); c != 0 {
			return c
		}
		return strings.Compare(a, b)
	})
	return all[:min(len(all), most)]
}

// read is what the fields say now.
func (p *launchPage) read() launchForm {
	f := launchForm{dir: expandHome(p.folder.Text), prompt: p.prompt.Text, promptFile: p.file.path(),
		terminal: p.where.selected == inTerminal, defaultGroup: p.group}
	for _, c := range p.choices {
		f.members = append(f.members, c.members()...)
	}
	p.more.fill(&f)
	f.keepEnv = f.keepEnv || p.ui.options.KeepEnv
	return f
}

// changed brings the preview in line with the fields.
func (p *launchPage) changed() {
	if p.refused == nil || p.runs == nil {
		return // still being built
	}
	f := p.read()
	p.refused.hide()
	switch lacks := f.lacks(); {
	case p.ui.options.Launches == nil:
		p.preview.say("Launches can't be kept on this machine: where Rollcall's state lies is not known.")
	case !p.asked:
		p.preview.say("Looking for agents…")
	case lacks != "":
		p.preview.say(lacks)
	default:
		p.preview.show(f)
	}
	p.enable(&f)
}

// enable lets the user press Launch when there is something to launch.
func (p *launchPage) enable(f *launchForm) {
	setEnabled(p.start, p.ui.options.Launches != nil && p.asked && !p.busy && f.lacks() == "")
	text := "Launch"
	switch {
	case p.busy:
		text = "Launching…"
	case f.terminal:
		text = "Launch in a terminal"
	case len(f.members) > 1:
		text = "Launch " + count(len(f.members), "agent", "agents")
	}
	if p.start.Text != text {
		p.start.SetText(text)
		p.content.Refresh()
	}
}

func (p *launchPage) browse() {
	dialog.ShowFolderOpen(func(uri fyne.ListableURI, err error) {
		switch {
		case err != nil:
			p.preview.fail("The folder could not be opened: " + short(err.Error()))
		case uri != nil:
			p.folder.SetText(uri.Path())
		}
	}, p.ui.window)
}

// launch carries out what the fields say, after asking about what is unsafe.
func (p *launchPage) launch() {
	f := p.read()
	if p.start.Disabled() {
		return
	}
	p.ui.confirmUnsafe(&f, func() { p.carryOut(f) })
}

func (p *launchPage) carryOut(f launchForm) {
	p.busy = true
	p.refused.hide()
	p.enable(&f)
	p.ui.carryOut(f, carriedOut{
		launched: func(r *launchRun) {
			p.keep(r)
			p.scroll.ScrollToTop()
		},
		refused: func(err error) {
			p.refused.show(err, func() { f.force = true; p.carryOut(f) })
			p.content.Refresh()
		},
		settled: func() {
			p.busy, p.group = false, worktree.NewGroup()
			now := p.read()
			p.enable(&now)
		},
	})
}

// keep shows a launch on the page, above the form and the earlier ones.
func (p *launchPage) keep(r *launchRun) {
	card := container.New(layout.NewCustomPaddedLayout(0, 8, 6, 6), r.content)
	r.close.OnTapped = func() {
		p.runs.Remove(card)
		p.content.Refresh()
	}
	r.close.Show()
	p.runs.Objects = append([]fyne.CanvasObject{card}, p.runs.Objects[:min(len(p.runs.Objects), maxRuns)]...)
	p.content.Refresh()
}

// maxRuns is how many launches the page shows before the latest.
const maxRuns = 9
