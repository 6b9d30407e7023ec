package launchpage

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"rollcall/app"
	"rollcall/app/owned/fuse"
	"rollcall/app/owned/launch"
	"rollcall/app/present"
	"rollcall/app/store/lock"
	"rollcall/proc"
)

// launchForm holds what the user entered in the launch form. It contains no widgets, so any goroutine may use it.
type launchForm struct {
	launch.Options
	members      []launch.Member
	defaultGroup string // the group's name if the user gave none
	machine      string // the other machine for the launch; empty: this one
	apart        bool   // a single agent gets a git worktree of its own, as several do
}

// missing returns what the user has to do before the form can be prepared; empty: nothing.
func (f *launchForm) missing() string {
	switch {
	case f.Dir == "":
		return "Choose a folder."
	case len(f.members) == 0:
		return "Choose an agent."
	case f.Terminal && f.apart:
		return "A terminal works in the folder itself. Launch in the background, or without a worktree."
	case f.Terminal && len(f.members) > 1:
		return "A terminal can run only one agent. Choose one agent, or launch in the background."
	case !f.Terminal && strings.TrimSpace(f.Prompt) == "" && f.PromptFile == "":
		return "A background launch needs a prompt. Write one, use a prompt file, or launch in a terminal."
	}
	return ""
}

// prepared is a form that was checked and can be launched: one launch or a group.
type prepared struct {
	form  launchForm
	plan  *launch.Plan
	group *launch.Group
	there *launch.There // the launch on another machine; nil: on this one
	left  []string      // variables that the settings leave out
	// warnings are sentences about what may go wrong in the folder. timers are the timers that the warnings are about.
	warnings []string
	timers   []fuse.Fuse
}

// plans returns the launches on this machine.
func (p *prepared) plans() []*launch.Plan {
	switch {
	case p.there != nil:
		return nil
	case p.group != nil:
		return p.group.Plans
	}
	return []*launch.Plan{p.plan}
}

// prepare checks everything that can be checked before a launch. It searches for programs and reads files, so it must
// not be called on Fyne's goroutine.
func (w *Window) prepare(ctx context.Context, f launchForm) (*prepared, error) {
	if f.machine != "" {
		return w.prepareThere(ctx, &f)
	}
	f.Defaults = w.Defaults
	req, err := f.Request(ctx)
	if err != nil {
		return nil, err
	}
	if f.Terminal { // Rollcall in the terminal decides whether the agent is answerable
		req.Task.Answerable = false
	}
	req.Look = w.lookPath()
	env, left := w.Defaults.Environment(w.Environ())
	p := &prepared{form: f, left: left}
	if len(f.members) == 1 && !f.apart {
		req.Task.Model, req.Task.Mode = f.members[0].Model, f.members[0].Mode
		a := launch.Find(w.Agents, f.members[0].Agent)
		if a == nil {
			return nil, fmt.Errorf("unknown agent %q", f.members[0].Agent)
		}
		p.plan, err = launch.Prepare(a, req, env)
		if err == nil {
			p.warn(launch.Occupied(w.Core.Snapshot(), f.Resume)(p.plan.Request.Task.Dir))
			p.findTimers(w, p.plan.Request.Task.Dir)
		}
		return p, err
	}
	req.Group = cmp.Or(req.Group, f.defaultGroup)
	m := &launch.Matrix{Request: req, Members: f.members}
	if err := launch.CheckMembers(f.members); err != nil {
		return nil, err
	}
	p.group, err = launch.PrepareGroup(ctx, m, w.Agents, env)
	if err == nil {
		for _, text := range p.group.Warnings(ctx, w.Core.Snapshot()) {
			p.warn(errors.New(text))
		}
	}
	return p, err
}

// warn adds a warning, unless err is nil.
func (p *prepared) warn(err error) {
	if err != nil {
		p.warnings = append(p.warnings, present.Error(err)+".")
	}
}

// findTimers adds the timers that may expire while an agent works in folder.
func (p *prepared) findTimers(w *Window, folder string) {
	if w.Fuses == nil {
		return
	}
	near, err := w.Fuses.Near(folder)
	p.warn(err)
	for _, x := range near {
		note := present.When(x.Note != "", " ("+present.Short(x.Note)+")")
		p.warnings = append(p.warnings, fmt.Sprintf("The timer of %s%s fires at %s, maybe while the agent works.", lock.Shown(x.Path), note, x.Expires.Local().Format("15:04:05")))
	}
	p.timers = near
}

// lookPath returns what finds the programs of agents: an agent that runs on this machine is installed.
func (w *Window) lookPath() func(name string) (string, error) {
	if w.Table == nil {
		return launch.LookPath
	}
	var running []proc.Identity
	for s := range w.Core.Snapshot().All() {
		if s.HasLocalFolder() && !s.Process.IsZero() {
			running = append(running, s.Process)
		}
	}
	return launch.LookBeside(w.Table, running)
}

// prepareThere returns the launch of a form on its machine. Facts that only that machine knows are checked there, at the launch.
func (w *Window) prepareThere(ctx context.Context, f *launchForm) (*prepared, error) {
	if w.Machines == nil {
		return nil, errors.New("other machines are not known here; start Rollcall again")
	}
	if len(f.members) != 1 {
		return nil, errors.New("on another machine one agent with one model can be launched at a time; choose one")
	}
	there, err := f.PrepareThere(ctx, f.members[0], f.machine)
	if err != nil {
		return nil, err
	}
	p := &prepared{form: *f, there: there}
	for _, x := range w.Core.Snapshot().Machines {
		if x.Name == f.machine && x.State == app.Failed && len(x.Problems) > 0 {
			p.warn(fmt.Errorf("%s: %s", x.Name, x.Problems[0]))
		}
	}
	return p, nil
}
