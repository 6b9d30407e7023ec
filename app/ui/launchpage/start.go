package launchpage

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/widget"

	"rollcall/app"
	"rollcall/app/listing"
	"rollcall/app/owned/launch"
	"rollcall/app/present"
	"rollcall/app/store"
	"rollcall/app/store/lock"
	"rollcall/app/ui/widgets"
)

// runForm launches a form, on another goroutine, and then calls ended with a function that creates the card of the launch, or with the reason against it.
func (p *Page) runForm(f launchForm, ended func(card func() *launchRun, err error)) {
	widgets.InBackground(p.window.Context, p.window.Host, func(ctx context.Context) (func() *launchRun, error) { return p.launchNow(ctx, f) }, ended)
}

// launchNow launches a form. It returns a function that creates the card of the launch and must be called on Fyne's goroutine.
func (p *Page) launchNow(ctx context.Context, f launchForm) (func() *launchRun, error) {
	w := &p.window
	if w.Launches == nil && f.machine == "" {
		return nil, store.ErrNoFolder
	}
	got, err := w.prepare(ctx, f)
	switch {
	case err != nil:
		return nil, err
	case got.group != nil:
		return func() *launchRun { return p.newGroupRun(got) }, nil
	case got.there != nil && !f.Terminal:
		said, err := got.there.Start(ctx, w.Machines)
		return func() *launchRun {
			return p.newOpenedRun(got.title(), "Started on "+present.Short(f.machine)+". The session is listed as soon as the agent there has stored it.", said)
		}, err
	}
	occupied := launch.Occupied(w.Core.Refresh(ctx), f.Resume)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if f.Terminal {
		name, err := w.launchInTerminal(got, occupied)
		return func() *launchRun {
			return p.newOpenedRun(got.title(), "Opened in "+present.Short(name)+". The session is listed as soon as the agent has stored it.", "")
		}, err
	}
	started, err := w.Launches.Start(ctx, got.plan, occupied)
	return func() *launchRun {
		rec := &started.Record
		return p.newRun(runTitle(rec.Agent, rec.Model, rec.Dir), "").follow(started)
	}, err
}

// title returns the title of the card of a launch of one agent.
func (p *prepared) title() string {
	m := p.form.members[0]
	return runTitle(m.Agent, m.Model, p.form.Dir) + present.When(p.there != nil, " on "+present.Short(p.form.machine))
}

// launchInTerminal opens a terminal that runs Rollcall, which checks everything again. launchInTerminal also checks
// whether the folder is free: a terminal that closes at once would not let the user read the error.
func (w *Window) launchInTerminal(p *prepared, occupied func(string) error) (string, error) {
	if w.Program == "" {
		return "", errors.New("the program of Rollcall was not found; copy the command and run it in a terminal")
	}
	if p.there != nil {
		home, err := os.UserHomeDir()
		if err != nil {
			home = "/"
		}
		return w.OpenTerminal(home, append([]string{w.Program}, p.there.Command(true)...))
	}
	dir := p.plan.Request.Task.Dir
	if !p.form.Force {
		if err := w.Launches.Locks().Free(&lock.Lock{Path: dir, Kind: lock.Auto}, false, occupied); err != nil {
			return "", err
		}
	}
	file, err := launch.StorePrompt(w.Context, p.plan.Request.Task.Prompt)
	if err != nil {
		return "", err
	}
	name, err := w.OpenTerminal(dir, p.form.TerminalCommand(w.Program, p.form.members[0], file))
	if err != nil && file != "" {
		err = errors.Join(err, os.RemoveAll(filepath.Dir(file)))
	}
	return name, err
}

// refusal shows why something was not launched. For a folder in use, it offers to show who uses it and to launch anyway.
type refusal struct {
	window  *Window
	content *fyne.Container
}

func newRefusal(w *Window) *refusal {
	r := &refusal{window: w, content: container.NewStack()}
	r.content.Hide()
	return r
}

func (r *refusal) hide() { r.content.Hide() }

// show shows err. again launches despite it, and apart launches in a worktree of its own; apart may be nil.
func (r *refusal) show(err error, again, apart func()) {
	var locked *lock.HeldError
	var occupied *launch.OccupiedError
	sentence := widgets.Failure("Not launched: " + present.Error(err))
	var actions []fyne.CanvasObject
	var there *app.CommandError // of Rollcall on another machine
	if errors.As(err, &locked) || errors.As(err, &occupied) || errors.As(err, &there) && there.Code == app.FolderInUse {
		sentence = widgets.Warning(r.window.whoWorks(err) + ". Two agents in one folder can overwrite each other's work.")
		if apart != nil {
			actions = append(actions, r.window.NewPrimaryButton("Launch in a worktree", widget.HighImportance, apart))
		}
		actions = append(actions, r.window.NewPrimaryButton("Launch anyway", widget.WarningImportance, again))
	}
	session := ""
	switch {
	case occupied != nil:
		session = occupied.Session.ID
	case locked != nil:
		session = locked.By.Session
	}
	if session != "" {
		actions = append(actions, r.window.showSessionButton(session))
	}
	if locked != nil && locked.By.Kind == lock.Manual {
		actions = append(actions, r.window.NewButton("Show locks", nil, func() { r.window.CloseSheet(); r.window.ShowLocks() }))
	}
	body := widgets.Rows(2, sentence)
	if len(actions) > 0 {
		body.Add(widgets.Pad(0, 4, 26, 0, widgets.Flow(actions...)))
	}
	r.content.Objects = []fyne.CanvasObject{widgets.Inset(widgets.NewPanel(4, 4, 8, 8, body))}
	r.content.Show()
	r.content.Refresh()
}

// whoWorks returns who uses a folder, for people: the topic of the session, or the error in its own words if the session is not listed.
func (w *Window) whoWorks(err error) string {
	var locked *lock.HeldError
	if errors.As(err, &locked) && locked.By.Session != "" {
		v := w.View()
		if k, ok := listing.Match(v, locked.By.Session); ok {
			s := v.ByKey[k]
			err = &launch.OccupiedError{Path: s.CWD, Session: *s}
		}
	}
	return present.Error(err)
}

// showSessionButton returns a button that shows a session in the list.
func (w *Window) showSessionButton(id string) *widgets.Button {
	return w.NewButton("Show session", nil, func() { w.CloseSheet(); w.Show(id) })
}

// confirmUnsafe asks before it launches agents in modes without permission prompts.
func (w *Window) confirmUnsafe(f *launchForm, launchIt func()) {
	risks := launch.UnsafeModes(w.Agents, f.members)
	if len(risks) == 0 {
		launchIt()
		return
	}
	s := w.NewSheet("Launch without permission prompts?", widgets.SheetWidth)
	body := make([]fyne.CanvasObject, 0, len(risks)+1)
	for _, r := range risks {
		body = append(body, widgets.Warning(present.Short(fmt.Sprintf("%s in mode %s %s.", present.AgentName(r.Agent), r.Name, r.Says))))
	}
	body = append(body, widgets.Paragraph("It can then run any command and change any file that you can, in "+
		present.Cut(present.Short(f.Dir), 200)+" and elsewhere, without asking.", widget.MediumImportance))
	s.Confirm(body, w.NewPrimaryButton("Launch", widget.DangerImportance, func() { s.Close(); launchIt() }))
}
