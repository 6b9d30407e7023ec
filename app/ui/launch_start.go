package ui

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"rollcall/adapters"
	"rollcall/app"
	"rollcall/app/launch"
	"rollcall/app/lock"
)

// carriedOut is told what became of a form, on the UI goroutine.
type carriedOut struct {
	launched func(*launchRun)
	refused  func(error)
	settled  func() // after either
}

// carryOut launches what a form asks for, off the UI goroutine.
func (u *UI) carryOut(f launchForm, then carriedOut) {
	go func() {
		run, err := u.launchNow(u.ctx, f)
		u.post(func() {
			if err != nil {
				then.refused(err)
			} else {
				run(then.launched)
			}
			then.settled()
		})
	}()
}

// launchNow makes the launch, and returns what shows it, to be called on the UI
// goroutine.
func (u *UI) launchNow(ctx context.Context, f launchForm) (func(show func(*launchRun)), error) {
	if u.options.Launches == nil {
		return nil, errors.New("launches can't be kept: where Rollcall's state lies is not known")
	}
	p, err := u.prepare(ctx, f)
	if err != nil {
		return nil, err
	}
	if p.group != nil {
		return func(show func(*launchRun)) { show(newGroupRun(u, p)) }, nil
	}
	occupied := launch.Occupied(u.core.Refresh(ctx), f.resume)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if f.terminal {
		name, err := u.launchInTerminal(p, occupied)
		return func(show func(*launchRun)) { show(newTerminalRun(u, p, name)) }, err
	}
	started, err := u.options.Launches.Start(ctx, p.plan, occupied)
	return func(show func(*launchRun)) { show(newAgentRun(u, started)) }, err
}

// launchInTerminal lets a terminal run Rollcall itself, which checks everything
// once more. Whether the folder is free is asked here as well: in a terminal that
// closes at once nobody could read the answer.
func (u *UI) launchInTerminal(p *prepared, occupied func(string) error) (string, error) {
	if u.options.Program == "" {
		return "", errors.New("where Rollcall's own program lies is not known")
	}
	dir := p.plan.Request.Task.Dir
	if !p.form.force {
		if err := u.free(dir, occupied); err != nil {
			return "", err
		}
	}
	file, err := u.keepPrompt(p.plan.Request.Task.Prompt)
	if err != nil {
		return "", err
	}
	name, err := u.system.openTerminal(dir, terminalCommand(u.options.Program, &p.form, file))
	if err != nil && file != "" {
		err = errors.Join(err, os.RemoveAll(filepath.Dir(file)))
	}
	return name, err
}

// free says who holds a folder.
func (u *UI) free(dir string, occupied func(string) error) error {
	locks, err := u.options.Launches.Locks().List()
	if err != nil {
		return fmt.Errorf("the locks can't be read: %w", err)
	}
	for _, k := range locks {
		if lock.Overlap(k.Path, dir) {
			return &lock.HeldError{Path: dir, By: k}
		}
	}
	return occupied(dir)
}

// promptFolder begins the names of the folders in which prompts wait for a
// terminal.
const promptFolder = "rollcall-prompt-"

// promptWait is how long a prompt waits for a terminal to start.
const promptWait = time.Minute

// keepPrompt writes a prompt where only the user can read it, until Rollcall in
// the terminal has. Empty for an empty prompt.
func (u *UI) keepPrompt(prompt string) (string, error) {
	sweepPrompts(time.Now())
	if prompt == "" {
		return "", nil
	}
	dir, err := os.MkdirTemp("", promptFolder)
	if err != nil {
		return "", err
	}
	file := filepath.Join(dir, "prompt")
	if err := os.WriteFile(file, []byte(prompt), 0o600); err != nil {
		return "", errors.Join(err, os.RemoveAll(dir))
	}
	go func() {
		select {
		case <-u.ctx.Done(): // the terminal may still be starting: the next launch sweeps
		case <-time.After(promptWait):
			_ = os.RemoveAll(dir)
		}
	}()
	return file, nil
}

// sweepPrompts removes the prompts that a window which was closed left behind.
func sweepPrompts(now time.Time) {
	old, _ := filepath.Glob(filepath.Join(os.TempDir(), promptFolder+"*"))
	for _, dir := range old {
		if info, err := os.Lstat(dir); err == nil && info.IsDir() && now.Sub(info.ModTime()) > promptWait {
			_ = os.RemoveAll(dir)
		}
	}
}

// asker is a core that can ask one agent anew; *app.Core is one.
type asker interface {
	RefreshOne(ctx context.Context, name adapters.Name, ids ...string) *app.Snapshot
}
