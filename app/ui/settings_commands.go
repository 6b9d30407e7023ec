package ui

import (
	"strings"

	"fyne.io/fyne/v2"

	"rollcall/app/settings"
	"rollcall/app/ui/widgets"
)

// commands returns the fields of the commands for the terminal and the editor.
func (p *settingsPage) commands() []fyne.CanvasObject {
	return []fyne.CanvasObject{
		widgets.NewHeading("Terminal and editor"),
		p.command("Terminal", "terminal", "kitty --directory {folder} {command}", func(s *settings.Settings) settings.Command { return s.Terminal }),
		p.command("Editor", "editor", "code {folder}", func(s *settings.Settings) settings.Command { return s.Editor }),
		widgets.Hint("Without a command the first terminal and editor that are installed are used. {folder} is the folder, {command} the program that the terminal runs."),
	}
}

// command returns a field with a command. An empty field is the default.
func (p *settingsPage) command(name, key, example string, get func(*settings.Settings) settings.Command) fyne.CanvasObject {
	shown := ""
	entry := p.ui.host.NewEntry(example, nil)
	save := p.ui.host.NewButton("Save "+strings.ToLower(name), nil, func() {
		e := settings.Edit{Key: key}
		if text := strings.TrimSpace(entry.Text); text != "" {
			e.Value = text
		}
		p.change(e)
	})
	p.fields = append(p.fields, settingsField{settings.Edit{Key: key}, func(s *settings.Settings) { fillText(entry, &shown, string(get(s))) }})
	return widgets.NamedLong(name, widgets.Border(nil, nil, save, entry))
}
