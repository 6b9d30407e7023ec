package launchpage

import (
	"slices"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/widget"

	"rollcall/adapters"
	"rollcall/app"
	"rollcall/app/owned/launch"
	"rollcall/app/present"
	"rollcall/app/settings"
	"rollcall/app/ui/widgets"
)

// modeField selects the permission mode of an agent and explains it.
type modeField struct {
	*widgets.Choice[string]
	explanation *widget.Label
	modes       []adapters.Mode
}

// defaultMode is the option for the mode that the agent uses by default.
const defaultMode = "default mode"

// newModeField returns a field in which the default mode is selected.
func newModeField(h *widgets.Host, modes []adapters.Mode, changed func()) *modeField {
	f := &modeField{explanation: widgets.Hint(""), modes: modes}
	f.explanation.Hide()
	names, values := []string{defaultMode}, []string{""}
	for _, m := range modes {
		names, values = append(names, m.Name), append(values, m.Name)
	}
	f.Choice = widgets.NewChoice(h, names, values, 0, func() { f.explain(); changed() })
	return f
}

// preset selects a mode without reporting a change. It ignores a mode that the agent does not have.
func (f *modeField) preset(mode string) {
	if slices.ContainsFunc(f.modes, func(m adapters.Mode) bool { return m.Name == mode }) {
		f.List.Selected = mode
		f.explain()
	}
}

func (f *modeField) explain() {
	text := ""
	f.explanation.Importance = widget.LowImportance
	for _, m := range f.modes {
		if m.Name == f.List.Selected {
			text = m.Name + ": " + m.Says + "."
			if m.Unsafe {
				f.explanation.Importance = widget.DangerImportance
			}
		}
	}
	f.explanation.SetText(text)
	f.explanation.Hidden = text == ""
}

// isUnsafe reports whether the selected mode runs commands without asking.
func (f *modeField) isUnsafe() bool { return f.explanation.Importance == widget.DangerImportance }

// agentChoice is an agent's row on the launch page: whether it is launched, and with which models and mode.
type agentChoice struct {
	name    adapters.Name
	check   *widgets.CheckBox
	model   *widgets.Entry
	mode    *modeField
	missing *widgets.SelectText // text that tells the user how to install the agent
	copy    *widgets.Button
	fields  *fyne.Container
	absent  *fyne.Container
	content *fyne.Container
	install string // the command that installs it; empty: it is installed
}

const choiceWidth = 130

func newAgentChoice(w *Window, a adapters.Adapter, l adapters.Launcher, changed func()) *agentChoice {
	c := &agentChoice{name: a.Name(), missing: widgets.NewSelectText("")}
	c.check = w.NewCheckBox(present.AgentName(c.name), func(bool) { c.showFields(); changed() })
	c.model = w.NewEntry("default model", func(string) { changed() })
	c.mode = newModeField(w.Host, l.Modes(), func() { c.showFields(); changed() })
	if len(c.mode.modes) == 0 {
		c.mode.List.Disable()
	}
	c.missing.Importance = widget.LowImportance
	c.copy = w.NewButton("Copy", widgets.PlainIcon("copy"), func() { w.Copy(c.copy, c.install) })
	preset := w.Defaults.Member(c.name)
	c.model.Text = preset.Model
	c.mode.preset(preset.Mode)
	c.fields = container.NewGridWithColumns(2, widgets.Narrow(c.model), widgets.Narrow(c.mode.List))
	c.absent = widgets.Border(nil, nil, container.NewVBox(c.copy), c.missing)
	c.content = widgets.Rows(-2, widgets.Beside(choiceWidth, c.check, container.NewStack(c.fields, c.absent)),
		widgets.Pad(0, 0, choiceWidth, 0, c.mode.explanation))
	c.absent.Hide()
	c.showFields()
	return c
}

// showFields shows the fields of model and mode while the agent is chosen.
func (c *agentChoice) showFields() {
	c.fields.Hidden = !c.check.Checked || c.install != ""
	c.mode.explanation.Hidden = c.fields.Hidden || c.mode.explanation.Text == ""
	c.content.Refresh()
}

// set shows whether the agent is installed: install is the command that installs it, or empty.
func (c *agentChoice) set(install string) {
	c.install = install
	if install != "" {
		c.check.Checked = false
		c.check.Disable()
		c.missing.SetText("not installed: " + present.Short(install))
	} else {
		c.check.Enable()
	}
	c.absent.Hidden = install == ""
	c.check.Refresh()
	c.showFields()
}

// members returns the launches of the agent: one for each model. Commas separate models.
func (c *agentChoice) members() []launch.Member {
	if !c.check.Checked || c.install != "" {
		return nil
	}
	var out []launch.Member
	for _, model := range strings.Split(c.model.Text, ",") {
		model = strings.TrimSpace(model)
		if model != "" {
			out = append(out, launch.Member{Agent: c.name, Model: model, Mode: c.mode.Value()})
		}
	}
	if out == nil {
		out = []launch.Member{{Agent: c.name, Mode: c.mode.Value()}}
	}
	return out
}

// pick selects one of several values, or the default, which is its first option. It is hidden while there is only the default.
type pick struct {
	*widgets.Choice[string]
	content *fyne.Container
}

// newPick returns a field in which the default is selected.
func newPick(h *widgets.Host, first string, frame func(fyne.CanvasObject) *fyne.Container, changed func()) *pick {
	p := &pick{Choice: widgets.NewChoice(h, []string{first}, []string{""}, 0, changed)}
	p.content = frame(p.List)
	p.content.Hide()
	return p
}

// offer offers values with their names. It reports whether something changed.
func (p *pick) offer(names, values []string) bool {
	p.content.Hidden = len(values) == 0
	return p.Offer(names, values)
}

// ownAccount is the option for the home that the environment names.
const ownAccount = "the account of your environment"

// offerHomes offers the homes of an agent, which stand for accounts. It reports whether something changed.
func offerHomes(p *pick, homes settings.Homes) bool {
	var names, paths []string
	count := map[string]int{}
	for _, h := range homes {
		count[h.Name]++
	}
	for _, h := range homes {
		name := present.Short(h.Name)
		if count[h.Name] > 1 {
			name += " · " + present.Short(h.Path)
		}
		names, paths = append(names, name), append(paths, h.Path)
	}
	return p.offer(names, paths)
}

// showHomes offers the homes of the agent of a form that launches one on this machine.
func (p *Page) showHomes(f *launchForm) {
	var homes settings.Homes
	if len(f.members) == 1 && f.machine == "" && p.window.Live != nil {
		agent := f.members[0].Agent
		set, _ := p.window.Live.Get()
		used := app.HomesOf(p.window.Core.Snapshot().Own, agent)
		if len(used) > 1 || len(set.Homes[agent]) > 0 {
			homes = set.Accounts(agent, used)
		}
	}
	if offerHomes(p.home, homes) {
		p.Content.Refresh()
	}
	f.Home = p.home.Value()
}
