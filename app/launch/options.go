package launch

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"rollcall/adapters"
)

// Options are the options of a launch as the user gave them, as flags or in the window's form.
type Options struct {
	Dir        string
	Prompt     string
	PromptFile string // replaces Prompt
	Pipes      bool   // PromptFile may be a pipe; see ReadPromptFile
	Terminal   bool
	Resume     string // session to resume
	Group      string
	Spec       string
	Files      []string
	OnCreate   string // commands for Hook
	OnComplete string
	RetryHooks bool // see Hook.Again
	KeepEnv    bool
	Force      bool
}

// Request returns the launch that the options ask for. It reads PromptFile.
func (o *Options) Request(ctx context.Context) (req Request, err error) {
	req.Task = adapters.Task{Prompt: o.Prompt, Terminal: o.Terminal, Resume: o.Resume}
	o.override(&req)
	if o.PromptFile != "" {
		if req.Task.Prompt, err = ReadPromptFile(ctx, Path(o.PromptFile), o.Pipes); err != nil {
			err = fmt.Errorf("the prompt: %w", err)
		}
	}
	return req, err
}

// override copies the options other than the prompt to req. It adds files to those of req and replaces everything else.
func (o *Options) override(req *Request) {
	req.Task.Dir, req.Group, req.Spec = cmp.Or(o.Dir, req.Task.Dir), cmp.Or(o.Group, req.Group), cmp.Or(Path(o.Spec), req.Spec)
	req.KeepEnv, req.Force = o.KeepEnv, o.Force
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
	if rest, ok := strings.CutPrefix(path, "~"); ok && (rest == "" || os.IsPathSeparator(rest[0])) {
		if home, err := os.UserHomeDir(); err == nil {
			return home + rest
		}
	}
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

// UnsafeModes returns the unsafe modes of the members, each once. The user must confirm them before the launch.
func UnsafeModes(list []adapters.Adapter, members []Member) (out []UnsafeMode) {
	for _, member := range members {
		for _, m := range Modes(list, member.Agent) {
			if u := (UnsafeMode{member.Agent, m}); m.Unsafe && m.Name == member.Mode && !slices.Contains(out, u) {
				out = append(out, u)
			}
		}
	}
	return out
}
