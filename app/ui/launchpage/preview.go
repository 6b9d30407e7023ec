package launchpage

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/widget"

	"rollcall/app/describe"
	"rollcall/app/present"
	"rollcall/app/ui/widgets"
	"rollcall/bounded"
)

// preview shows the command of a form while the user fills it in. It is used on Fyne's goroutine only; the checks,
// which read files and search the PATH, run on another.
type preview struct {
	window  *Window
	content *fyne.Container
	caution *fyne.Container // warnings, which are shown beside the button that launches
	command *widgets.SelectText
	warning *widgets.SelectText
	notes   *widgets.SelectText
	copy    *widgets.Button
	extend  *widgets.Button // extends the timers of the folder

	extending fyne.CanvasObject // contains extend

	resized  func()    // called when the height may have changed
	cancel   func()    // ends the preparation of an earlier form
	asking   bool      // a form is being prepared, or is about to be
	commands string    // the text that the copy button copies
	shown    *prepared // the form whose command is shown; nil: there is no command
}

// pause is the time for which the preview waits for the next key.
const pause = 150 * time.Millisecond

func newPreview(w *Window) *preview {
	p := &preview{window: w, command: widgets.NewCode(""), notes: widgets.NewSelectText(""), resized: func() {}, cancel: func() {}}
	p.notes.Importance = widget.LowImportance
	p.warning = widgets.NewSelectText("")
	p.warning.Importance = widget.WarningImportance
	p.extend = w.NewButton("Extend the timer by 1 hour", nil, p.extendTimers)
	p.copy = w.NewButton("Copy command", widgets.PlainIcon("copy"), func() { w.Copy(p.copy, p.commands) })
	p.content = widgets.Rows(-2, widgets.Inset(widgets.NewPanel(3, 3, 6, 6, p.command)), p.notes)
	p.extending = widgets.Inset(widgets.Flow(p.extend))
	p.caution = widgets.Rows(6, p.warning, p.extending)
	p.caution.Hide()
	p.instead("", widget.LowImportance)
	return p
}

// instead shows a text instead of a command: a hint, or with DangerImportance why there is no command.
func (p *preview) instead(text string, importance widget.Importance) {
	p.cancel()
	p.asking = false
	p.set(text, "", "", importance)
}

func (p *preview) set(text, notes, commands string, importance widget.Importance) {
	p.commands = commands
	p.copy.SetEnabled(commands != "")
	p.command.TextStyle.Monospace = commands != ""
	p.command.Wrapping = map[bool]fyne.TextWrap{true: fyne.TextWrapBreak, false: fyne.TextWrapWord}[commands != ""]
	if p.command.Importance != importance {
		p.command.Importance = importance
		p.command.Refresh()
	}
	p.command.SetText(text)
	p.notes.SetText(notes)
	p.notes.Hidden = notes == ""
	p.showWarnings(commands != "")
	p.content.Refresh()
	p.resized()
}

// showWarnings shows the warnings of the form whose command is shown, or none if there is no command.
func (p *preview) showWarnings(isCommand bool) {
	if !isCommand {
		p.shown = nil
	}
	var warnings []string
	timers := 0
	if p.shown != nil {
		warnings, timers = p.shown.warnings, len(p.shown.timers)
	}
	p.warning.SetText(strings.Join(warnings, "\n"))
	p.warning.Hidden = len(warnings) == 0
	widgets.SetVisible(p.extending, timers > 0)
	p.caution.Hidden = p.warning.Hidden
	p.caution.Refresh()
}

// extendTimers extends the timers of the folder by an hour, on another goroutine, and then shows the form again.
func (p *preview) extendTimers() {
	if p.shown == nil {
		return
	}
	got := p.shown
	p.extend.SetEnabled(false)
	widgets.InBackground(p.window.Context, p.window.Host, func(ctx context.Context) (launchForm, error) {
		var err error
		for _, x := range got.timers {
			_, e := p.window.Fuses.Extend(ctx, x.Path, time.Hour)
			err = errors.Join(err, e)
		}
		return got.form, err
	}, func(f launchForm, err error) {
		p.extend.SetEnabled(true)
		if err != nil {
			p.instead("The timer was not extended: "+present.Error(err), widget.DangerImportance)
			return
		}
		p.show(f)
	})
}

// show prepares a form once it has not changed for pause, and then shows its command.
func (p *preview) show(f launchForm) {
	p.cancel()
	ctx, cancel := context.WithCancel(p.window.Context)
	p.cancel = cancel
	if p.commands == "" {
		p.set("Checking…", "", "", widget.LowImportance)
	}
	p.asking = true
	widgets.InBackground(ctx, p.window.Host, func(ctx context.Context) (*prepared, error) {
		if bounded.Wait(ctx, pause) != nil {
			return nil, ctx.Err()
		}
		return p.window.prepare(ctx, f)
	}, p.answer)
}

func (p *preview) answer(got *prepared, err error) {
	p.asking = false
	if err != nil {
		p.instead(present.Error(err), widget.DangerImportance)
		return
	}
	var lines []string
	for _, plan := range got.plans() {
		lines = append(lines, plan.Shell())
	}
	if got.there != nil {
		lines = append(lines, got.there.Shell(got.form.Terminal))
	}
	commands := strings.Join(lines, "\n")
	p.shown = got
	p.set(present.Cut(present.Text(present.Begin(commands, maxCommands)), 4000), strings.Join(planNotes(got), "\n"), commands, widget.MediumImportance)
}

// maxCommands is the number of bytes of the commands that are cleaned for the screen: a prompt may be long.
const maxCommands = 32 << 10

// planNotes returns what the user should know in addition to the command line.
func planNotes(p *prepared) []string {
	var notes []string
	if p.group != nil {
		notes = append(notes, "Each agent works in its own git worktree next to the repository, in group "+present.Line(p.group.Name)+".")
	}
	if p.there != nil {
		notes = append(notes, "Rollcall on "+present.Short(p.there.Machine)+" launches it, with its own settings, and refuses what it cannot do.")
	}
	if p.form.Terminal {
		notes = append(notes, "The command runs in a new terminal. Closing the terminal ends the agent.")
	}
	if len(p.left) > 0 {
		notes = append(notes, "Removed from its environment, as your settings say: "+present.Short(strings.Join(p.left, ", "))+".")
	}
	for _, plan := range p.plans() {
		for _, n := range describe.EnvironmentNotes(plan) {
			if !slices.Contains(notes, n) {
				notes = append(notes, n)
			}
		}
	}
	return notes
}
