package ui

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"rollcall/app/owned/launch"
	"rollcall/app/present"
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
	if f.machine != "" {
		return u.launchThere(ctx, &f)
	}
	if u.options.Launches == nil {
		return nil, errNoState
	}
	p, err := u.prepare(ctx, f)
	if err != nil {
		return nil, err
	}
	if p.group != nil {
		return func() *launchRun { return newGroupRun(u, p) }, nil
	}
	occupied := launch.Occupied(u.core.Refresh(ctx), f.Resume)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if f.Terminal {
		name, err := u.launchInTerminal(p, occupied)
		return func() *launchRun {
			agent := present.AgentName(p.plan.Agent)
			return newOpenedRun(u, agent+" in "+short(p.form.Dir), "Opened in "+short(name)+". The session is listed as soon as "+agent+" has stored it.", "")
		}, err
	}
	started, err := u.options.Launches.Start(ctx, p.plan, occupied)
	return func() *launchRun { return newAgentRun(u, started) }, err
}

// launchInTerminal opens a terminal that runs Rollcall, which checks everything again. launchInTerminal also checks
// whether the folder is free: a terminal that closes at once would not let the user read the error.
func (u *UI) launchInTerminal(p *prepared, occupied func(string) error) (string, error) {
	if u.options.Program == "" {
		return "", errors.New("the program of Rollcall was not found; copy the command and run it in a terminal")
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
