package settingspage

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"fyne.io/fyne/v2"

	"rollcall/adapters"
	"rollcall/app/control/answer"
	"rollcall/app/present"
	"rollcall/app/settings"
	"rollcall/app/ui/widgets"
)

// field is a field of the page.
type field struct {
	edit settings.Edit                // without a value; no key: nothing is reset
	fill func(set *settings.Settings) // shows the value of the settings
}

// Name is a field of the page with its name.
type Name struct {
	Text  string
	Field fyne.Focusable
}

// notification returns the edit for a key of the table notifications, without a value.
func notification(key string) settings.Edit { return settings.Edit{Table: "notifications", Key: key} }

// add adds a field to the page. fill shows the value of the settings in it.
func (p *Page) add(e settings.Edit, fill func(*settings.Settings)) {
	p.fields = append(p.fields, field{e, fill})
}

// set writes a value; an empty text means the default.
func (p *Page) set(e settings.Edit, value any) {
	if value != "" {
		e.Value = value
	}
	p.change(e)
}

// setList writes a list; an empty list means the default.
func setList[L ~[]E, E any](p *Page, e settings.Edit, list L) {
	if len(list) > 0 {
		e.Value = list
	}
	p.change(e)
}

// list returns what the file has of something, a line for each with its buttons, which fill adds. Where there is nothing, it says none.
func (p *Page) list(e settings.Edit, none string, fill func(s *settings.Settings, add func(text string, buttons ...fyne.CanvasObject))) *fyne.Container {
	list := widgets.Rows(4)
	p.add(e, func(s *settings.Settings) {
		list.Objects = nil
		fill(s, func(text string, buttons ...fyne.CanvasObject) {
			list.Add(widgets.Border(nil, nil, widgets.Columns(6, buttons...), widgets.NewSelectText(text)))
		})
		if none != "" && len(list.Objects) == 0 {
			list.Add(widgets.Hint(none))
		}
		list.Refresh()
	})
	return list
}

// newRemoveButton returns a button that removes x from a list of the file.
func newRemoveButton[L ~[]E, E comparable](p *Page, e settings.Edit, list L, x E) *widgets.Button {
	return p.window.NewButton("Remove", nil, func() {
		setList(p, e, slices.DeleteFunc(slices.Clone(list), func(other E) bool { return other == x }))
	})
}

// option is an option of a field: its name on the page, and its value in the file.
type option struct{ name, value string }

// valueWidth is the width of a field with a choice: a short value in a field as wide as the page looks like a text that is missing.
const valueWidth = 220

// choice returns a field with a choice. The first option is the default.
func (p *Page) choice(name string, e settings.Edit, options ...option) fyne.CanvasObject {
	var names, values []string
	for _, o := range options {
		names, values = append(names, o.name), append(values, o.value)
	}
	var field *widgets.Choice[string]
	field = widgets.NewChoice(p.window.Host, names, values, 0, func() {
		if !p.filling {
			p.set(e, field.Value())
		}
	})
	p.Names = append(p.Names, Name{name, field.List})
	field.List.Selected = "" // until the file has been read
	p.add(e, func(s *settings.Settings) {
		names, values := slices.Clone(names), slices.Clone(values)
		value := cmp.Or(s.Text(e), values[0])
		if !slices.Contains(values, value) { // the user wrote it into the file
			names, values = append(names, value), append(values, value)
		}
		field.Offer(names[1:], values[1:])
		field.List.SetSelectedIndex(slices.Index(values, value))
	})
	return widgets.NamedLong(name, widgets.Widest(valueWidth, field.List))
}

// check returns a check box of the notifications.
func (p *Page) check(text, key string) fyne.CanvasObject {
	e := notification(key)
	box := p.window.NewCheckBox(text, func(on bool) { p.set(e, on) })
	p.Names = append(p.Names, Name{text, box})
	p.add(e, func(s *settings.Settings) { box.Fill(s.Text(e) == "true") })
	return box
}

// text adds a field for a text. It is passed to save when the field loses the focus or the user presses Enter, if it was changed. The field is filled only when
// the text of the settings has changed: otherwise the user may be typing.
func (p *Page) text(e settings.Edit, field *widgets.Entry, get func(*settings.Settings) string, save func(text string)) {
	shown := ""
	field.Left = func() {
		if field.Text != shown {
			shown = field.Text
			save(strings.TrimSpace(field.Text))
		}
	}
	field.OnSubmitted = func(string) { field.Left() }
	p.add(e, func(s *settings.Settings) {
		if text := get(s); text != shown {
			shown = text
			field.SetText(text)
		}
	})
}

// command returns a field for a command. An empty field means the default.
func (p *Page) command(name string, e settings.Edit, example string) fyne.CanvasObject {
	entry := p.window.NewEntry(example, nil)
	p.text(e, entry, func(s *settings.Settings) string { return s.Text(e) }, func(text string) { p.set(e, text) })
	return widgets.NamedLong(name, entry)
}

// kinds are the kinds of notifications, by their keys.
var kinds = []option{{"A session needs permission", "permission"}, {"A session asks you", "question"}, {"A turn is over", "reply"},
	{"A turn failed, or a process died", "failed"}, {"A rate limit is reached", "limit"}, {"An agent's process ended", "ended"}}

// notifications returns the fields for what the user is notified of, and when.
func (p *Page) notifications() []fyne.CanvasObject {
	rows := []fyne.CanvasObject{widgets.NewHeading("Notifications")}
	for _, k := range kinds {
		manners := []option{{"On", "on"}, {"On, with a sound", "sound"}, {"Off", "off"}}
		if k.value == "reply" {
			manners = append(manners, option{"On, when no command runs", string(settings.WhenNothingRuns)})
		}
		rows = append(rows, p.choice(k.name, notification(k.value), manners...))
	}
	mute, e := p.window.NewTextArea("~/scratch (one folder per line)", 3, nil), notification("mute")
	p.text(e, mute, func(s *settings.Settings) string { return strings.Join(s.Notifications.Mute, "\n") },
		func(text string) { setList(p, e, present.NonEmptyLines(text)) })
	return append(rows,
		p.choice("Shortest turn with a notification", notification("reply_after"), option{"30 seconds", "30s"}, option{"Every turn", "0s"}, option{"1 minute", "1m"}, option{"5 minutes", "5m"}),
		p.choice("Remind me of a wait after", notification("remind_after"), option{"Never", "0s"}, option{"5 minutes", "5m"}, option{"10 minutes", "10m"}, option{"30 minutes", "30m"}, option{"1 hour", "1h"}),
		p.choice("Headless sessions (SDKs, scripts)", settings.Edit{Key: "headless"}, option{"A number in the menu", "fold"}, option{"Not in the menu", "quiet"}, option{"Like all others", "show"}),
		p.choice("Waits that share a notification", notification("together"), option{"Within 2 seconds", "2s"}, option{"Within 10 seconds", "10s"}, option{"Never", "0s"}),
		p.check("Also notify of sessions whose terminal has the focus", "when_focused"),
		widgets.NamedLong("Muted folders", mute), p.sounds())
}

// sounds returns the field for the sounds of notifications. What is wrong with a line is said as of any mistake in the file.
func (p *Page) sounds() fyne.CanvasObject {
	area := p.window.NewTextArea("permission = bell\ncodex = ~/sounds/codex.oga", 3, nil)
	p.text(notification("sounds"), area, func(s *settings.Settings) string {
		var lines []string
		for _, of := range slices.Sorted(maps.Keys(s.Notifications.Sounds)) {
			lines = append(lines, of+" = "+s.Notifications.Sounds[of])
		}
		return strings.Join(lines, "\n")
	}, func(text string) {
		e, list := notification("sounds"), map[string]string{}
		for _, line := range present.NonEmptyLines(text) {
			of, sound, _ := strings.Cut(line, "=")
			list[strings.TrimSpace(of)] = strings.TrimSpace(sound)
		}
		if len(list) > 0 {
			e.Value = list
		}
		p.change(e)
	})
	return widgets.NamedLong("Sounds by kind or agent (Linux)", area)
}

// away returns the fields for what Rollcall does when a session has waited for a long time.
func (p *Page) away() []fyne.CanvasObject {
	return []fyne.CanvasObject{
		widgets.NewHeading("While you are away"),
		p.choice("After a wait of", notification("on_wait_after"), option{"2 minutes", "2m"}, option{"At once", "0s"}, option{"5 minutes", "5m"}, option{"15 minutes", "15m"}, option{"1 hour", "1h"}),
		p.command("Run a command", notification("on_wait"), "curl -d \"$ROLLCALL_SUMMARY\" ntfy.sh/my-topic"),
		p.check("Send a message to the webhook", "on_wait_webhook"),
	}
}

// agents returns a check box for each agent. A checked box means that the agent's sessions are shown.
func (p *Page) agents() []fyne.CanvasObject {
	var leftOut []string // the agents that the file leaves out
	e, boxes := settings.Edit{Key: "leave_out_agents"}, widgets.Flow()
	p.add(e, func(s *settings.Settings) {
		leftOut = nil
		for _, name := range s.LeftOutAgents {
			leftOut = append(leftOut, string(name))
		}
	})
	for _, d := range adapters.Known() {
		name := string(d.Name)
		box := p.window.NewCheckBox(present.AgentName(d.Name), func(shown bool) {
			leftOut = slices.DeleteFunc(slices.Clone(leftOut), func(other string) bool { return other == name })
			if !shown {
				leftOut = append(leftOut, name)
			}
			setList(p, e, leftOut)
		})
		boxes.Add(box)
		p.add(e, func(*settings.Settings) { box.Fill(!slices.Contains(leftOut, name)) })
	}
	return []fyne.CanvasObject{
		widgets.NewHeading("Agents shown"), boxes, widgets.Inset(widgets.Flow(p.window.NewButton("Show all agents", nil, func() { p.change(e) }))),
		widgets.Hint("The others are left out of the list, the tray, notifications and rollcall list. Sessions that Rollcall launched are shown even so, and folders in which left-out agents work still count as in use."),
	}
}

// homes returns for each agent its further homes, with buttons that add and remove one.
func (p *Page) homes() []fyne.CanvasObject {
	rows := []fyne.CanvasObject{widgets.NewHeading("Further homes")}
	for _, d := range adapters.Described() {
		rows = append(rows, p.homesOf(d.Name))
	}
	return append(rows, widgets.Hint("Homes of your environment and of running agents are read anyway. rollcall doctor names a home that does not exist or cannot be read."))
}

// homesOf returns the field of one agent's homes.
func (p *Page) homesOf(agent adapters.Name) fyne.CanvasObject {
	e := settings.Edit{Table: "homes", Key: string(agent)}
	var homes settings.Homes // those in the file
	add := p.window.NewBrowseButton(func(path string) {
		if !slices.ContainsFunc(homes, func(h settings.Home) bool { return h.Path == path }) {
			setList(p, e, append(slices.Clone(homes), settings.Home{Path: path}))
		}
	}, func(text string) { p.problem.Set(text) })
	add.SetText("Add folder…")
	list := p.list(e, "", func(s *settings.Settings, add func(string, ...fyne.CanvasObject)) {
		homes = s.Homes[agent]
		for _, home := range homes {
			add(present.When(home.Name != "", home.Name+" · ")+present.Short(home.Path), newRemoveButton(p, e, homes, home))
		}
	})
	return widgets.NamedLong(present.AgentName(agent), widgets.Rows(4, list, widgets.Flow(add)))
}

// commands returns the fields of the commands for the terminal and the editor.
func (p *Page) commands() []fyne.CanvasObject {
	return []fyne.CanvasObject{
		widgets.NewHeading("Terminal and editor"),
		p.command("Terminal", settings.Edit{Key: "terminal"}, "kitty --directory {folder} {command}"),
		p.command("Editor", settings.Edit{Key: "editor"}, "code {folder}"),
		widgets.Hint("Without a command the first terminal and editor that are installed are used. {folder} is the folder, {command} the program that the terminal runs."),
	}
}

// oneKey returns the list of the commands that the user entered, with buttons that remove one.
func (p *Page) oneKey() fyne.CanvasObject {
	e := settings.Edit{Table: "answering", Key: "one_key"}
	list := p.list(e, "None. After you allowed a command with two keys, the window offers to enter it.", func(s *settings.Settings, add func(string, ...fyne.CanvasObject)) {
		for _, o := range s.Answering.OneKey {
			add(o.Command+" · "+present.Short(o.Folder), newRemoveButton(p, e, s.Answering.OneKey, o))
		}
	})
	return widgets.NamedLong("Commands that one key allows", widgets.Rows(4, list, widgets.Hint(present.Sentence(answer.OneKeyRule)+". "+answer.OneKeyMeaning)))
}
