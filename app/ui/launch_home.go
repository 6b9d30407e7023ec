package ui

import (
	"slices"

	"fyne.io/fyne/v2"

	"rollcall/app"
	"rollcall/app/settings"
	"rollcall/app/ui/widgets"
)

// pick selects one of several values, or the default, which is its first option. It is hidden while there is only the default.
type pick struct {
	content *fyne.Container
	choice  *widgets.Select
	values  []string // of the options after the first
}

// newPick returns a field in which the default is selected.
func newPick(h *widgets.Host, first string, frame func(fyne.CanvasObject) *fyne.Container, changed func()) *pick {
	p := &pick{choice: h.NewSelect([]string{first}, func(string) { changed() })}
	p.choice.Selected = first
	p.content = frame(p.choice)
	p.content.Hide()
	return p
}

// value returns the selected value; empty: the default.
func (p *pick) value() string {
	if i := p.choice.SelectedIndex(); i > 0 {
		return p.values[i-1]
	}
	return ""
}

// offer offers values with their names. It keeps the selection while its value is offered, and reports whether something changed.
func (p *pick) offer(names, values []string) bool {
	options := append([]string{p.choice.Options[0]}, names...)
	if slices.Equal(values, p.values) && slices.Equal(options, p.choice.Options) {
		return false
	}
	selected := 1 + slices.Index(values, p.value())
	p.choice.Options, p.values = options, values
	p.content.Hidden = len(values) == 0
	if name := options[selected]; name != p.choice.Selected {
		p.choice.SetSelected(name)
	}
	p.choice.Refresh()
	return true
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
		name := short(h.Name)
		if count[h.Name] > 1 {
			name += " · " + short(h.Path)
		}
		names, paths = append(names, name), append(paths, h.Path)
	}
	return p.offer(names, paths)
}

// showHomes offers the homes of the agent of a form that launches one on this machine.
func (p *launchPage) showHomes(f *launchForm) {
	var homes settings.Homes
	if len(f.members) == 1 && f.machine == "" && p.ui.options.Live != nil {
		agent := f.members[0].Agent
		set, _ := p.ui.options.Live.Get()
		used := app.HomesOf(p.ui.core.Snapshot().Own, agent)
		if len(used) > 1 || len(set.Homes[agent]) > 0 {
			homes = set.Accounts(agent, used)
		}
	}
	if offerHomes(p.home, homes) {
		p.content.Refresh()
	}
	f.Home = p.home.value()
}
