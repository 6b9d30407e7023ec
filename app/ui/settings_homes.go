package ui

import (
	"slices"

	"fyne.io/fyne/v2"

	"rollcall/adapters"
	"rollcall/app/present"
	"rollcall/app/settings"
	"rollcall/app/ui/widgets"
)

const tableHomes = "homes"

// homes returns for each agent its further homes, with buttons that add and remove one.
func (p *settingsPage) homes() []fyne.CanvasObject {
	rows := []fyne.CanvasObject{widgets.NewHeading("Further homes")}
	for _, d := range adapters.Described() {
		rows = append(rows, p.homesOf(d.Name))
	}
	return append(rows, widgets.Hint("Homes of your environment and of running agents are read anyway. rollcall doctor names a home that does not exist or cannot be read."))
}

// homesOf returns the field of one agent's homes.
func (p *settingsPage) homesOf(agent adapters.Name) fyne.CanvasObject {
	edit := settings.Edit{Table: tableHomes, Key: string(agent)}
	var homes []string // as the file has them
	save := func(list []string) {
		e := edit
		if len(list) > 0 {
			e.Value = list
		}
		p.change(e)
	}
	list := widgets.Rows(4)
	add := newBrowseButton(p.ui.host, func(path string) {
		if !slices.Contains(homes, path) {
			save(append(slices.Clone(homes), path))
		}
	}, func(text string) { p.problem.Set(text) })
	add.SetText("Add folder…")
	p.fields = append(p.fields, settingsField{edit, func(s *settings.Settings) {
		homes = s.Homes[agent]
		list.Objects = nil
		for _, home := range homes {
			remove := p.ui.host.NewButton("Remove", nil, func() {
				save(slices.DeleteFunc(slices.Clone(homes), func(path string) bool { return path == home }))
			})
			list.Add(widgets.Border(nil, nil, remove, widgets.NewSelectText(short(home))))
		}
		list.Refresh()
	}})
	return widgets.NamedLong(present.AgentName(agent), widgets.Rows(4, list, widgets.Flow(add)))
}
