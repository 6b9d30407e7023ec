package ui

import (
	"slices"

	"fyne.io/fyne/v2"

	"rollcall/adapters"
	"rollcall/app"
	"rollcall/app/settings"
	"rollcall/app/ui/widgets"
)

// homeField selects the account of a launch of one agent: one of the agent's homes. It is hidden where there is no choice.
type homeField struct {
	content fyne.CanvasObject
	choice  *widgets.Select
	agent   adapters.Name
	homes   settings.Homes // those that can be chosen, in the order of the options after the first
}

// ownAccount is the option for the home that the environment names.
const ownAccount = "the account of your environment"

func newHomeField(h *widgets.Host, changed func()) *homeField {
	f := &homeField{choice: h.NewSelect([]string{ownAccount}, func(string) { changed() })}
	f.choice.Selected = ownAccount
	f.content = widgets.Named("Account", f.choice)
	f.content.Hide()
	return f
}

// home returns the path of the chosen home; empty: that of the environment.
func (f *homeField) home() string {
	if i := f.choice.SelectedIndex(); !f.content.(*fyne.Container).Hidden && i > 0 {
		return f.homes[i-1].Path
	}
	return ""
}

// show offers the homes of an agent. It reports whether the field has become visible or hidden.
func (f *homeField) show(agent adapters.Name, homes settings.Homes) bool {
	if agent != f.agent || !slices.Equal(homes, f.homes) {
		f.agent, f.homes = agent, homes
		options, names := []string{ownAccount}, map[string]int{}
		for _, h := range homes {
			names[h.Name]++
		}
		for _, h := range homes {
			name := short(h.Name)
			if names[h.Name] > 1 {
				name += " · " + short(h.Path)
			}
			options = append(options, name)
		}
		f.choice.Options, f.choice.Selected = options, ownAccount
		f.choice.Refresh()
	}
	hidden := len(homes) == 0
	if f.content.Visible() == !hidden {
		return false
	}
	widgets.SetVisible(f.content, !hidden)
	return true
}

// showHomes offers the homes of the agent of a form that launches one on this machine.
func (p *launchPage) showHomes(f *launchForm) {
	var agent adapters.Name
	var homes settings.Homes
	if len(f.members) == 1 && f.machine == "" && p.ui.options.Live != nil {
		agent = f.members[0].Agent
		set, _ := p.ui.options.Live.Get()
		used := app.HomesOf(p.ui.core.Snapshot().Own, agent)
		if len(used) > 1 || len(set.Homes[agent]) > 0 {
			homes = set.Accounts(agent, used)
		}
	}
	if p.home.show(agent, homes) {
		p.content.Refresh()
	}
	f.Home = p.home.home()
}
