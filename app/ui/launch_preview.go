package ui

import (
	"fmt"
	"strings"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/widget"
	"github.com/dustin/go-humanize"

	"rollcall/app/launch"
	"rollcall/app/present"
)

// preview shows what a form would run, as it is typed. It belongs to the UI
// goroutine; the checks, which read files and search the PATH, do not.
type preview struct {
	ui      *UI
	content *fyne.Container
	command *selectText
	notes   *selectText
	copy    *button

	resized  func()      // tells that the height may have changed
	wanted   *launchForm // what is to be prepared next; nil: nothing
	asking   bool        // a check is under way, or about to be
	commands string      // what is copied
}

// pause is how long the preview waits for the next key.
const pause = 150 * time.Millisecond

func newPreview(u *UI) *preview {
	p := &preview{ui: u, command: newSelectText(""), notes: newSelectText(""), resized: func() {}}
	p.command.TextStyle.Monospace = true
	p.command.Wrapping = fyne.TextWrapBreak
	p.notes.Importance = widget.LowImportance
	p.copy = newButton("Copy command", plainIcon("copy"), u.typedKey, func() { u.copyText(p.copy, p.commands) })
	p.content = container.New(layout.NewCustomPaddedVBoxLayout(-2),
		inset(newPanel(container.New(layout.NewCustomPaddedLayout(3, 3, 6, 6), p.command))), p.notes)
	p.say("")
	return p
}

// say shows a text in place of a command.
func (p *preview) say(text string) { p.set(text, "", "", widget.LowImportance) }

// fail shows why there is no command.
func (p *preview) fail(text string) { p.set(text, "", "", widget.DangerImportance) }

func (p *preview) set(text, notes, commands string, importance widget.Importance) {
	p.wanted, p.commands = nil, commands
	p.put(text, notes, importance)
}

func (p *preview) put(text, notes string, importance widget.Importance) {
	setEnabled(p.copy, p.commands != "")
	p.command.TextStyle.Monospace, p.command.Wrapping = p.commands != "", fyne.TextWrapWord
	if p.commands != "" {
		p.command.Wrapping = fyne.TextWrapBreak
	}
	if p.command.Text != text || p.command.Importance != importance {
		p.command.Importance = importance
		p.command.SetText(text)
	}
	if p.notes.Text != notes {
		p.notes.SetText(notes)
	}
	p.notes.Hidden = notes == ""
	p.content.Refresh()
	p.resized()
}

// show prepares a form, once it has not changed for a moment, and shows the
// command. Until then what was shown stays.
func (p *preview) show(f launchForm) {
	p.wanted = &f
	if p.commands == "" {
		p.put("Checking…", "", widget.LowImportance)
	}
	if p.asking {
		return
	}
	p.asking = true
	time.AfterFunc(pause, func() { p.ui.post(p.ask) })
}

// ask prepares what is wanted now, one form at a time.
func (p *preview) ask() {
	if p.wanted == nil {
		p.asking = false
		return
	}
	f := *p.wanted
	p.wanted = nil
	go func() {
		got, err := p.ui.prepare(p.ui.ctx, f)
		p.ui.post(func() { p.answer(got, err) })
	}()
}

func (p *preview) answer(got *prepared, err error) {
	if p.wanted != nil { // it has changed meanwhile
		time.AfterFunc(pause, func() { p.ui.post(p.ask) })
		return
	}
	p.asking = false
	if err != nil {
		p.commands = ""
		p.put(present.Cut(short(err.Error()), 1000), "", widget.DangerImportance)
		return
	}
	p.commands = strings.Join(commandLines(got), "\n")
	p.put(present.Cut(present.Text(head(p.commands, maxCommands)), 4000), strings.Join(planNotes(got), "\n"), widget.MediumImportance)
}

// maxCommands bounds what is cleaned to be shown, in bytes: a prompt may be long.
const maxCommands = 32 << 10

// commandLines are the commands of the plans, for a POSIX shell.
func commandLines(p *prepared) []string {
	var lines []string
	for _, plan := range p.plans() {
		lines = append(lines, inFolder(plan.Request.Task.Dir, append([]string{plan.Command.Path}, plan.Command.Args...)))
	}
	return lines
}

// planNotes say what a command line doesn't.
func planNotes(p *prepared) []string {
	var notes []string
	if p.group != nil {
		notes = append(notes, "Each works in a git worktree of its own, beside the repository, as group "+present.Line(p.group.Name)+".")
	}
	if p.form.terminal {
		notes = append(notes, "A terminal opens with it; closing the terminal ends it.")
	}
	said := map[string]bool{}
	for _, plan := range p.plans() {
		for _, n := range environmentNotes(plan) {
			if !said[n] {
				said[n] = true
				notes = append(notes, n)
			}
		}
	}
	return notes
}

func environmentNotes(plan *launch.Plan) []string {
	var notes []string
	if n := len(plan.Command.Stdin); n > 0 {
		notes = append(notes, fmt.Sprintf("The prompt (%s) goes to its standard input.", humanize.IBytes(uint64(n))))
	}
	if len(plan.Dropped) > 0 {
		why := ""
		if plan.Command.WhyDrop != "" {
			why = ": " + plan.Command.WhyDrop
		}
		notes = append(notes, "Left out of its environment: "+strings.Join(plan.Dropped, ", ")+short(why)+". “Advanced” can keep them.")
	}
	return notes
}
