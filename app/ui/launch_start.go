package ui

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"rollcall/app/owned/launch"
	"rollcall/app/store/lock"
)

// formHandlers contains functions that are called on Fyne's goroutine: first launched or refused, then ended.
type formHandlers struct {
	launched func(*launchRun)
	refused  func(error)
	ended    func()
}

// errNoState is the error for a Rollcall without a folder in which it can store launches, locks and timers.
var errNoState = errors.New("there is no folder for Rollcall's own files; check that your home folder is set, and start Rollcall again")

// runForm launches a form, on another goroutine.
func (u *UI) runForm(f launchForm, then formHandlers) {
	go func() {
		run, err := u.launchNow(u.ctx, f)
		u.post(func() {
			if err != nil {
				then.refused(err)
			} else {
				then.launched(run())
			}
			then.ended()
		})
	}()
}

// launchNow launches a form. It returns a function that creates the card of the launch and must be called on Fyne's goroutine.
func (u *UI) launchNow(ctx context.Context, f launchForm) (func() *launchRun, error) {
	if u.options.Launches == nil && f.machine == "" {
		return nil, errNoState
	}
	p, err := u.prepare(ctx, f)
	switch {
	case err != nil:
		return nil, err
	case p.group != nil:
		return func() *launchRun { return newGroupRun(u, p) }, nil
	case p.there != nil && !f.Terminal:
		said, err := p.there.start(ctx, u.options.Machines)
		return func() *launchRun {
			return newOpenedRun(u, p.title(), "Started on "+short(f.machine)+". The session is listed as soon as the agent there has stored it.", said)
		}, err
	}
	occupied := launch.Occupied(u.core.Refresh(ctx), f.Resume)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if f.Terminal {
		name, err := u.launchInTerminal(p, occupied)
		return func() *launchRun {
			return newOpenedRun(u, p.title(), "Opened in "+short(name)+". The session is listed as soon as the agent has stored it.", "")
		}, err
	}
	started, err := u.options.Launches.Start(ctx, p.plan, occupied)
	return func() *launchRun { return newAgentRun(u, started) }, err
}

// title returns the title of the card of a launch of one agent.
func (p *prepared) title() string {
	m := p.form.members[0]
	return runTitle(m.Agent, m.Model, p.form.Dir) + when(p.there != nil, " on "+short(p.form.machine))
}

// launchInTerminal opens a terminal that runs Rollcall, which checks everything again. launchInTerminal also checks
// whether the folder is free: a terminal that closes at once would not let the user read the error.
func (u *UI) launchInTerminal(p *prepared, occupied func(string) error) (string, error) {
	if u.options.Program == "" {
		return "", errors.New("the program of Rollcall was not found; copy the command and run it in a terminal")
	}
	if p.there != nil {
		home, err := os.UserHomeDir()
		if err != nil {
			home = "/"
		}
		return u.system.openTerminal(home, append([]string{u.options.Program}, p.there.command(true)...))
	}
	dir := p.plan.Request.Task.Dir
	if !p.form.Force {
		if err := u.options.Launches.Locks().Free(&lock.Lock{Path: dir, Kind: lock.Auto}, false, occupied); err != nil {
			return "", err
		}
	}
	file, err := launch.StorePrompt(u.ctx, p.plan.Request.Task.Prompt)
	if err != nil {
		return "", err
	}
	name, err := u.system.openTerminal(dir, terminalCommand(u.options.Program, &p.form, file))
	if err != nil && file != "" {
		err = errors.Join(err, os.RemoveAll(filepath.Dir(file)))
	}
	return name, err
}
