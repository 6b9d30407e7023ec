package ui

import (
	"os"
	"runtime"
	"slices"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/dialog"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"rollcall/adapters"
	"rollcall/app"
	"rollcall/app/present"
)

// launchable is an agent that the launch page can start.
type launchable struct {
	name    adapters.Name
	program string
	install string
}

var launchables = []launchable{
	{adapters.ClaudeCode, "claude", "npm install -g @anthropic-ai/claude-code"},
	{adapters.Codex, "codex", "npm install -g @openai/codex"},
}

// launchPage opens an agent in a terminal. It belongs to the UI goroutine.
type launchPage struct {
	ui      *UI
	content *fyne.Container
	folder  *widget.SelectEntry
	agent   *widget.RadioGroup
	missing *fyne.Container
	command *selectText
	open    *button
	copy    *button
	result  *widget.Label

	found   map[adapters.Name]string // where each program is
	asked   bool                     // found is known
	folders []string                 // recent ones
	touched bool                     // the user chose the folder
}

func newLaunchPage(u *UI) *launchPage {
	p := &launchPage{ui: u, found: make(map[adapters.Name]string)}
	p.folder = widget.NewSelectEntry(nil)
	p.folder.PlaceHolder = "The folder it shall work in"
	p.folder.OnChanged = func(string) { p.touched = true; p.showCommand() }
	p.agent = widget.NewRadioGroup(nil, func(string) { p.showCommand() })
	p.agent.Horizontal, p.agent.Required = true, true
	p.missing = container.New(layout.NewCustomPaddedVBoxLayout(6))
	p.command = newSelectText("")
	p.command.TextStyle.Monospace = true
	p.command.Wrapping = fyne.TextWrapBreak
	p.open = newButton("Open in a terminal", nil, u.typedKey, p.start)
	p.open.Importance = widget.HighImportance
	p.copy = newButton("Copy command", plainIcon("copy"), u.typedKey, func() { u.copyText(p.copy, p.commandLine()) })
	p.result = paragraph("", widget.MediumImportance)
	p.content = container.NewStack(container.NewVScroll(
		container.New(layout.NewCustomPaddedLayout(16, 16, 12, 12), container.New(&column{width: 620}, p.form()))))
	p.showCommand()
	return p
}

func (p *launchPage) form() fyne.CanvasObject {
	browse := newButton("Browse…", plainIcon("folder"), p.ui.typedKey, p.browse)
	title := paragraph("Launch an agent", widget.MediumImportance)
	title.TextStyle.Bold = true
	title.SizeName = theme.SizeNameSubHeadingText
	return container.New(layout.NewCustomPaddedVBoxLayout(2),
		title,
		paragraph("Rollcall opens it in a terminal of its own and leaves it to you: it shows up in the list once the agent lists it.", widget.LowImportance),
		label("Folder"),
		inset(border(nil, nil, browse, p.folder)),
		label("Agent"),
		p.agent,
		p.missing,
		label("Command"),
		inset(newPanel(container.New(layout.NewCustomPaddedLayout(3, 3, 6, 6), p.command))),
		container.New(layout.NewCustomPaddedLayout(10, 0, 6, 6), container.New(newFlow(6), p.open, p.copy)),
		p.result)
}

// label is a form's label, above what it names.
func label(text string) fyne.CanvasObject {
	return container.New(layout.NewCustomPaddedLayout(12, 2, 6, 6),
		newLine(text, theme.ColorNameForeground, theme.SizeNameText, fyne.TextStyle{Bold: true}))
}

func inset(o fyne.CanvasObject) fyne.CanvasObject {
	return container.New(layout.NewCustomPaddedLayout(0, 0, 6, 6), o)
}

// look finds out which agents are installed, off the UI goroutine.
func (p *launchPage) look() {
	go func() {
		found := make(map[adapters.Name]string)
		for _, l := range launchables {
			if path, err := p.ui.system.agentPath(l.program); err == nil {
				found[l.name] = path
			}
		}
		p.ui.post(func() { p.showAgents(found) })
	}()
}

func (p *launchPage) showAgents(found map[adapters.Name]string) {
	p.found, p.asked = found, true
	var options []string
	p.missing.RemoveAll()
	for _, l := range launchables {
		if found[l.name] != "" {
			options = append(options, present.AgentName(l.name))
			continue
		}
		p.missing.Add(p.installHint(l))
	}
	if !slices.Equal(p.agent.Options, options) {
		p.agent.Options = options
		p.agent.Refresh()
	}
	p.agent.Hidden = len(options) == 0
	if !slices.Contains(options, p.agent.Selected) {
		p.agent.Selected = ""
		if len(options) > 0 {
			p.agent.SetSelected(options[0])
		}
	}
	p.showCommand()
	p.content.Refresh()
}

func (p *launchPage) installHint(l launchable) fyne.CanvasObject {
	text := paragraph(present.AgentName(l.name)+" is not on the PATH. To install it: "+l.install, widget.LowImportance)
	var b *button
	b = newButton("Copy", plainIcon("copy"), p.ui.typedKey, func() { p.ui.copyText(b, l.install) })
	return container.New(layout.NewCustomPaddedLayout(0, 0, 0, 6), border(nil, nil, container.NewVBox(b), text))
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
		p.folder.SetText(shown[0])
		p.touched = false
	}
}

// recentFolders are the folders of sessions on this machine, the latest first.
func recentFolders(s *app.Snapshot, most int) []string {
	type used struct {
		folder string
		at     int64
	}
	latest := make(map[string]int64)
	for i := range s.Sessions {
		x := &s.Sessions[i]
		if x.CWD == "" || x.Remote != "" || x.Parent != "" {
			continue
		}
		if at := x.LastActivityAt.UnixNano(); at > latest[x.CWD] || latest[x.CWD] == 0 {
			latest[x.CWD] = at
		}
	}
	all := make([]used, 0, len(latest))
	for f, at := range latest {
		all = append(all, used{f, at})
	}
	slices.SortFunc(all, func(a, b used) int {
		if a.at != b.at {
			return int(min(max(b.at-a.at, -1), 1))
		}
		return strings.Compare(a.folder, b.folder)
	})
	var out []string
	for _, u := range all[:min(len(all), most)] {
		out = append(out, u.folder)
	}
	return out
}

func (p *launchPage) chosen() (launchable, bool) {
	for _, l := range launchables {
		if p.found[l.name] != "" && present.AgentName(l.name) == p.agent.Selected {
			return l, true
		}
	}
	return launchable{}, false
}

// chosenFolder is what stands in the field, with ~ as the user's home.
func (p *launchPage) chosenFolder() string {
	folder := strings.TrimSpace(p.folder.Text)
	if rest, ok := strings.CutPrefix(folder, "~"); ok && (rest == "" || os.IsPathSeparator(rest[0])) {
		if home, err := os.UserHomeDir(); err == nil {
			return home + rest
		}
	}
	return folder
}

func (p *launchPage) commandLine() string {
	l, ok := p.chosen()
	folder := p.chosenFolder()
	if !ok || folder == "" {
		return ""
	}
	if runtime.GOOS == "windows" {
		return `cd /d "` + folder + `" && ` + l.program
	}
	return inFolder(folder, []string{l.program})
}

func (p *launchPage) showCommand() {
	if p.open == nil {
		return // still being built
	}
	command := p.commandLine()
	setEnabled(p.open, command != "")
	setEnabled(p.copy, command != "")
	switch {
	case command != "":
	case !p.asked:
		command = "Looking for agents…"
	case len(p.found) == 0:
		command = "No agent is installed."
	default:
		command = "Choose a folder."
	}
	if p.command.Text != command {
		p.command.SetText(command)
	}
	p.say("", widget.MediumImportance)
}

func (p *launchPage) say(text string, importance widget.Importance) {
	p.result.Importance = importance
	p.result.SetText(text)
}

func (p *launchPage) browse() {
	dialog.ShowFolderOpen(func(uri fyne.ListableURI, err error) {
		switch {
		case err != nil:
			p.say("The folder could not be opened: "+short(err.Error()), widget.DangerImportance)
		case uri != nil:
			p.folder.SetText(uri.Path())
		}
	}, p.ui.window)
}

// start opens the terminal, off the UI goroutine.
func (p *launchPage) start() {
	l, ok := p.chosen()
	folder, program := p.chosenFolder(), p.found[l.name]
	if !ok || folder == "" {
		return
	}
	p.open.Disable()
	p.say("Opening…", widget.LowImportance)
	go func() {
		name, err := p.ui.system.openTerminal(folder, program)
		p.ui.post(func() {
			p.open.Enable()
			if err != nil {
				p.say("It could not be opened: "+short(err.Error()), widget.DangerImportance)
				return
			}
			p.say("Opened in "+short(name)+". It is listed once "+present.AgentName(l.name)+" lists it.", widget.SuccessImportance)
		})
	}()
}
