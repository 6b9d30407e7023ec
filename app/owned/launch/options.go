package launch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"rollcall/adapters"
	"rollcall/app/settings"
	"rollcall/proc"
)

// Options holds the options of a launch as the user gave them, as flags or in the window's form.
type Options struct {
	Dir        string
	Prompt     string
	PromptFile string // replaces Prompt
	Pipes      bool   // PromptFile may be a descriptor; see ReadPromptFile
	Terminal   bool
	Answerable bool   // see adapters.Task; launches in a terminal are answerable where the setting "answering" permits it
	Resume     string // session to resume
	Home       string // the home of the agent, see adapters.Task
	Group      string
	Spec       string
	Files      []string
	OnCreate   string // commands for Hook
	OnComplete string
	RetryHooks bool // see Hook.Again
	KeepEnv    bool
	Force      bool
	Defaults   Defaults
}

// Defaults holds the values that launches use for what the user did not choose. They come from the settings.
type Defaults struct {
	agent    adapters.Name
	agents   map[adapters.Name]settings.Agent
	leaveOut []string
	noAnswer bool // the setting "answering" is off
}

// DefaultsOf returns the defaults of the settings.
func DefaultsOf(s settings.Settings) Defaults {
	return Defaults{s.DefaultAgent, s.Agents, s.LeaveOut, s.Answering.Requests == settings.AnswerNone}
}

// Member returns the default model and mode of an agent; for an empty name those of the default agent, which may be empty
// too.
func (d *Defaults) Member(agent adapters.Name) Member {
	agent = cmp.Or(agent, d.agent)
	a := d.agents[agent]
	return Member{agent, a.Model, a.Mode}
}

// Environment returns the environment of a launch: the caller's without the variables that launches do not inherit. It also
// returns the names of the variables that it left out.
func (d *Defaults) Environment(env []string) (kept, left []string) {
	for _, name := range d.leaveOut {
		if isSet(env, name) {
			left = append(left, name)
		}
	}
	return proc.ChildEnv(env, d.leaveOut, nil), left
}

// Request returns the launch that the options ask for. It reads PromptFile.
func (o *Options) Request(ctx context.Context) (req Request, err error) {
	req.Task = adapters.Task{Prompt: o.Prompt, Terminal: o.Terminal, Resume: o.Resume, Home: o.Home}
	o.override(&req)
	if err := o.checkAnswerable(&req); err != nil {
		return req, err
	}
	if o.PromptFile != "" {
		req.Task.Prompt, err = ReadPromptFile(ctx, Path(o.PromptFile), o.Pipes)
		if err != nil {
			err = fmt.Errorf("the prompt: %w", err)
		}
	}
	return req, err
}

// checkAnswerable returns an error for a launch that asks to be answerable although it can't be.
func (o *Options) checkAnswerable(req *Request) error {
	switch {
	case !o.Answerable && !req.Task.Answerable || req.Task.Terminal && !o.Answerable:
		return nil
	case req.Task.Terminal:
		return errors.New("a launch in a terminal is answered there: leave out --answerable")
	case o.Defaults.noAnswer:
		return errors.New("the setting answering is \"off\", so nothing could be answered: leave out --answerable, or change the setting in config.toml")
	}
	return nil
}

// override copies the options other than the prompt to req. It adds files to those of req and replaces everything else.
func (o *Options) override(req *Request) {
	req.Task.Dir = cmp.Or(o.Dir, req.Task.Dir)
	req.Group = cmp.Or(o.Group, req.Group)
	req.Spec = cmp.Or(Path(o.Spec), req.Spec)
	req.KeepEnv, req.Force = o.KeepEnv, o.Force
	req.Task.Answerable = req.Task.Answerable || o.Answerable || req.Task.Terminal && !o.Defaults.noAnswer
	for _, f := range o.Files {
		req.Files = append(req.Files, Path(f))
	}
	for _, h := range []Hook{{When: OnCreate, Command: o.OnCreate}, {When: OnComplete, Command: o.OnComplete}} {
		if h.Command != "" {
			req.Hooks = append(slices.DeleteFunc(req.Hooks, func(old Hook) bool { return old.When == h.When }), h)
		}
	}
	for i := range req.Hooks {
		req.Hooks[i].Again = o.RetryHooks
	}
}

// Path returns the absolute path. A leading ~ is the user's home folder.
func Path(path string) string {
	if path == "" {
		return ""
	}
	path = settings.ExpandHome(path)
	if abs, err := filepath.Abs(path); err == nil {
		return abs
	}
	return path
}

// Find returns the adapter with this name, or nil.
func Find(list []adapters.Adapter, name adapters.Name) adapters.Adapter {
	for _, a := range list {
		if a.Name() == name {
			return a
		}
	}
	return nil
}

// Modes returns the permission modes of an agent.
func Modes(list []adapters.Adapter, name adapters.Name) []adapters.Mode {
	if l, ok := Find(list, name).(adapters.Launcher); ok {
		return l.Modes()
	}
	return nil
}

// UnsafeMode is a permission mode in which an agent never asks.
type UnsafeMode struct {
	Agent adapters.Name
	adapters.Mode
}

// UnsafeModes returns the unsafe modes that the members name, each once. The user must confirm them before the launch.
func UnsafeModes(list []adapters.Adapter, members []Member) (out []UnsafeMode) {
	for _, member := range members {
		if member.Mode == "" { // an agent may have to run its program to say its modes
			continue
		}
		for _, m := range Modes(list, member.Agent) {
			if u := (UnsafeMode{member.Agent, m}); m.Unsafe && m.Name == member.Mode && !slices.Contains(out, u) {
				out = append(out, u)
			}
		}
	}
	return out
}

// Installs returns for each agent that can be launched the command that installs it, or an empty string if it is
// installed. look finds programs.
func Installs(list []adapters.Adapter, look func(name string) (string, error)) map[adapters.Name]string {
	out := make(map[adapters.Name]string, len(list))
	for _, a := range list {
		l, ok := a.(adapters.Launcher)
		if !ok {
			continue
		}
		_, err := l.Program(look)
		var missing *adapters.NotInstalledError
		switch {
		case errors.As(err, &missing):
			out[a.Name()] = cmp.Or(missing.Install, missing.Error())
		case err != nil:
			out[a.Name()] = err.Error()
		default:
			out[a.Name()] = ""
		}
	}
	return out
}
