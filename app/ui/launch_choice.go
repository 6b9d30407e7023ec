package ui

import (
	"cmp"
	"errors"
	"os/exec"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/widget"

	"rollcall/adapters"
	"rollcall/app/launch"
	"rollcall/app/present"
)

// agentChoice is an agent's line on the launch page: whether it is launched, and
// with which models and mode.
type agentChoice struct {
	name    adapters.Name
	check   *checkBox
	model   *formEntry
	mode    *choice
	says    *widget.Label // what the mode means
	missing *selectText   // how it is installed
	copy    *button
	fields  *fyne.Container
	absent  *fyne.Container
	content *fyne.Container
	install string
}

// defaultMode stands for no mode of the user's choice.
const defaultMode = "its usual mode"

func newAgentChoice(u *UI, a adapters.Adapter, l adapters.Launcher, changed func()) *agentChoice {
	c := &agentChoice{name: a.Name()}
	c.check = newCheck(u, present.AgentName(c.name), func(bool) { c.showFields(); changed() })
	c.model = newFormEntry(u, "its usual model", func(string) { changed() })
	options := []string{defaultMode}
	for _, m := range l.Modes() {
		options = append(options, m.Name)
	}
	c.says = paragraph("", widget.LowImportance)
	c.mode = newChoice(u, options, func(name string) { c.explain(l.Modes(), name); changed() })
	c.mode.Selected = defaultMode
	if len(options) == 1 {
		c.mode.Disable()
	}
	c.missing = newSelectText("")
	c.missing.Importance = widget.LowImportance
	c.copy = newButton("Copy", plainIcon("copy"), u.typedKey, func() { u.copyText(c.copy, c.install) })
	c.fields = container.New(layout.NewGridLayoutWithColumns(2), c.model, c.mode)
	c.absent = border(nil, nil, container.NewVBox(c.copy), c.missing)
	line := container.New(beside(choiceWidth), c.check, container.NewStack(c.fields, c.absent))
	c.content = container.New(layout.NewCustomPaddedVBoxLayout(-2), line,
		container.New(layout.NewCustomPaddedLayout(0, 0, choiceWidth, 0), c.says))
	c.says.Hide()
	c.absent.Hide()
	c.showFields()
	return c
}

// showFields shows the model and the mode of an agent that is chosen.
func (c *agentChoice) showFields() {
	c.fields.Hidden = !c.check.Checked || c.install != ""
	c.says.Hidden = c.fields.Hidden || c.says.Text == ""
	c.content.Refresh()
}

func (c *agentChoice) explain(modes []adapters.Mode, name string) {
	text, importance := "", widget.LowImportance
	for _, m := range modes {
		if m.Name == name {
			text = m.Name + ": it " + m.Says + "."
			if m.Unsafe {
				importance = widget.DangerImportance
			}
		}
	}
	c.says.Importance = importance
	c.says.SetText(text)
	c.showFields()
}

// set shows whether the agent is installed.
func (c *agentChoice) set(install string) {
	c.install = install
	if install != "" {
		c.check.Checked = false
		c.check.Disable()
		c.missing.SetText("not installed: " + install)
	} else {
		c.check.Enable()
	}
	c.absent.Hidden = install == ""
	c.check.Refresh()
	c.showFields()
}

// members are the launches of the agent: one for each model, which commas
// separate.
func (c *agentChoice) members() []launch.Member {
	if !c.check.Checked || c.install != "" {
		return nil
	}
	mode := c.mode.Selected
	if mode == defaultMode {
		mode = ""
	}
	var out []launch.Member
	for _, model := range strings.Split(c.model.Text, ",") {
		if model = strings.TrimSpace(model); model != "" {
			out = append(out, launch.Member{Agent: c.name, Model: model, Mode: mode})
		}
	}
	if out == nil {
		out = []launch.Member{{Agent: c.name, Mode: mode}}
	}
	return out
}

// installs says of each agent that can be launched how it is installed; empty:
// it is. It searches the PATH.
func installs(list []adapters.Adapter) map[adapters.Name]string {
	out := make(map[adapters.Name]string, len(list))
	for _, a := range list {
		l, ok := a.(adapters.Launcher)
		if !ok {
			continue
		}
		_, err := l.Program(exec.LookPath)
		var missing *adapters.NotInstalledError
		switch {
		case errors.As(err, &missing):
			out[a.Name()] = cmp.Or(missing.Install, missing.Error())
		case err != nil:
			out[a.Name()] = short(err.Error())
		default:
			out[a.Name()] = ""
		}
	}
	return out
}

// beside puts the second object behind the first, which gets a column of that
// width.
type beside float32

const (
	choiceWidth = 150
	besidePad   = 6 // at the right, as labels have it
)

// Layout implements fyne.Layout.
func (b beside) Layout(objects []fyne.CanvasObject, size fyne.Size) {
	width := float32(b)
	objects[0].Resize(fyne.NewSize(width, objects[0].MinSize().Height))
	objects[0].Move(fyne.NewPos(0, 0))
	objects[1].Resize(fyne.NewSize(size.Width-width-besidePad, size.Height))
	objects[1].Move(fyne.NewPos(width, 0))
}

// MinSize implements fyne.Layout.
func (b beside) MinSize(objects []fyne.CanvasObject) fyne.Size {
	first, second := objects[0].MinSize(), objects[1].MinSize()
	return fyne.NewSize(float32(b)+second.Width+besidePad, max(first.Height, second.Height))
}
