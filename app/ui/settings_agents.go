package ui

import (
	"slices"

	"fyne.io/fyne/v2"

	"rollcall/adapters"
	"rollcall/app/present"
	"rollcall/app/settings"
	"rollcall/app/ui/widgets"
)

const keyLeftOut = "leave_out_agents"

// agents returns a check box for each agent: whether its sessions are shown.
func (p *settingsPage) agents() []fyne.CanvasObject {
	var leftOut []adapters.Name // as the file has them
	boxes := widgets.Flow()
	var fill []func()
	for _, d := range adapters.Described() {
		box := p.ui.host.NewCheckBox(present.AgentName(d.Name), nil)
		box.OnChanged = func(shown bool) {
			if p.filling {
				return
			}
			leftOut = slices.DeleteFunc(slices.Clone(leftOut), func(name adapters.Name) bool { return name == d.Name })
			if !shown {
				leftOut = append(leftOut, d.Name)
			}
			e := settings.Edit{Key: keyLeftOut}
			var names []string
			for _, name := range leftOut {
				names = append(names, string(name))
			}
			if len(names) > 0 {
				e.Value = names
			}
			p.change(e)
		}
		boxes.Add(box)
		fill = append(fill, func() { box.SetChecked(!slices.Contains(leftOut, d.Name)) })
	}
	p.fields = append(p.fields, settingsField{settings.Edit{Key: keyLeftOut}, func(s *settings.Settings) {
		leftOut = s.LeftOutAgents
		for _, f := range fill {
			f()
		}
	}})
	all := p.ui.host.NewButton("Show all agents", nil, func() { p.change(settings.Edit{Key: keyLeftOut}) })
	return []fyne.CanvasObject{
		widgets.NewHeading("Agents shown"), boxes, widgets.Flow(all),
		widgets.Hint("The others are left out of the list, the tray, notifications and rollcall list. What Rollcall launched stays shown, and folders in which they work still count as in use."),
	}
}
