package launch

import (
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"unicode"

	"rollcall/adapters"
	"rollcall/app/store/lock"
	"rollcall/proc"
)

// Request is a launch that the user requests.
type Request struct {
	Task  adapters.Task
	Group string
	Spec  string // path of a file that is appended to the prompt
	Files []string
	Hooks []Hook
	// Branch is the branch of the launch's worktree, if it has one.
	Branch string
	// Force starts the agent even if the folder is locked or occupied.
	Force bool
	// KeepEnv leaves the variables in place that the agent's adapter would drop.
	KeepEnv bool
	// Look finds the agent's program; nil: LookPath.
	Look func(name string) (string, error) `json:"-"`
}

func (r *Request) lookPath(name string) (string, error) {
	if r.Look != nil {
		return r.Look(name)
	}
	return LookPath(name)
}

// Plan is a launch that was checked and can be started. The user sees it first.
type Plan struct {
	Agent   adapters.Name
	Request Request
	Command adapters.Command
	Env     []string // the whole environment except Variable
	Dropped []string // variables of the caller's environment that are missing from Env

	talk   adapters.Piped // of an agent that is launched with a pipe
	prompt string         // with everything that the request adds to it
}

// Prepare finds the agent's program and builds the command. env is the caller's environment. It writes nothing.
func Prepare(a adapters.Adapter, req Request, env []string) (*Plan, error) {
	// A session's folder comes from what its agent wrote. Resolved against
	// Rollcall's own working directory, a relative one would name another folder.
	if req.Task.Resume != "" && !filepath.IsAbs(req.Task.Dir) {
		return nil, fmt.Errorf("resume %s: the agent recorded the folder %s, which is not an absolute path; resume the session in the agent itself, in the right folder",
			req.Task.Resume, lock.Shown(req.Task.Dir))
	}
	if req.Task.Resume != "" {
		if err := checkFolder(&req.Task); err != nil {
			return nil, err
		}
	}
	dir, err := lock.RealPath(req.Task.Dir)
	if err != nil {
		return nil, err
	}
	req.Task.Dir = dir
	return prepare(a, req, env)
}

// prepare does the work of Prepare, for a folder that may not exist yet.
func prepare(a adapters.Adapter, req Request, env []string) (_ *Plan, err error) {
	launcher, ok := a.(adapters.Launcher)
	if d, _ := adapters.Describe(a.Name()); !ok && d.Unread {
		return nil, fmt.Errorf("%s: Rollcall does not know how it is started: add launch to its [[agent]] in config.toml, such as launch = [\"--message\", \"{prompt}\"]", a.Name())
	}
	if !ok {
		return nil, fmt.Errorf("%s: Rollcall cannot launch this agent", a.Name())
	}
	if err := CheckMember(a, Member{Agent: a.Name(), Model: req.Task.Model, Mode: req.Task.Mode}); err != nil {
		return nil, err
	}
	if err := CheckID(req.Task.Resume); err != nil {
		return nil, err
	}
	task := req.Task
	task.Prompt, err = compose(&req)
	if err != nil {
		return nil, err
	}
	if strings.TrimSpace(task.Prompt) == "" && !task.Terminal {
		return nil, errors.New("a launch in the background needs a prompt")
	}
	if err := checkPiped(a, &task); err != nil {
		return nil, err
	}
	program, err := launcher.Program(req.lookPath)
	if err != nil {
		return nil, err
	}
	p := &Plan{Agent: a.Name(), Request: req}
	p.Command, err = launcher.Command(program, task)
	if err != nil {
		return nil, err
	}
	if p.Command.Pipe {
		p.talk, _ = a.(adapters.Piped)
		p.prompt = task.Prompt
	}
	drop := p.Command.Drop
	if req.KeepEnv {
		drop = nil
	}
	for _, name := range drop {
		if isSet(env, name) {
			p.Dropped = append(p.Dropped, name)
		}
	}
	p.Env = withHelpers(proc.ChildEnv(env, slices.Concat(drop, p.Command.Unset), nil), p.Command.Path)
	return p, nil
}

// checkPiped returns an error for a launch in the background that asks to be answerable, if the agent does not support that.
func checkPiped(a adapters.Adapter, t *adapters.Task) error {
	if t.Terminal || !t.Answerable {
		return nil
	}
	if _, ok := a.(adapters.Piped); !ok {
		return fmt.Errorf("%s: a launch in the background can't be answered: launch it in a terminal, or without --answerable", a.Name())
	}
	if runtime.GOOS == "windows" {
		return fmt.Errorf("%s: a launch in the background can't be answered on Windows: launch it in a terminal, or without --answerable", a.Name())
	}
	return nil
}

func isSet(env []string, name string) bool {
	return slices.ContainsFunc(env, func(e string) bool { return strings.HasPrefix(e, name+"=") && len(e) > len(name)+1 })
}

// ValueError reports a model or permission mode with which an agent can't be launched.
type ValueError struct {
	Key   string // "model" or "mode"
	Agent adapters.Name
	Must  string // `must be one of plan, edit, not "x"`
}

func (e *ValueError) Error() string { return fmt.Sprintf("%s of %s %s", e.Key, e.Agent, e.Must) }

// CheckMember returns a *ValueError if an agent does not have the mode of a member, or could take the name of the model for an option.
func CheckMember(a adapters.Adapter, m Member) error {
	if strings.HasPrefix(m.Model, "-") || strings.TrimSpace(m.Model) != m.Model || strings.ContainsFunc(m.Model, unicode.IsControl) {
		return &ValueError{"model", m.Agent, fmt.Sprintf("must be the name of a model, not %q: without a hyphen at its beginning, spaces around it or control characters", m.Model)}
	}
	launcher, ok := a.(adapters.Launcher)
	if !ok || m.Mode == "" { // an agent may have to run its program to say its modes
		return nil
	}
	var names []string
	for _, mode := range launcher.Modes() {
		names = append(names, mode.Name)
	}
	switch {
	case slices.Contains(names, m.Mode):
		return nil
	case names == nil:
		return &ValueError{"mode", m.Agent, "must be left out: this agent has no permission modes"}
	}
	return &ValueError{"mode", m.Agent, fmt.Sprintf("must be one of %s, not %q", strings.Join(names, ", "), m.Mode)}
}

// childEnv returns the whole environment of the process of a launch.
func (p *Plan) childEnv(id string) []string {
	set := map[string]string{Variable: id}
	if dir := p.Request.Task.Dir; runtime.GOOS != "windows" && filepath.IsAbs(dir) {
		set["PWD"] = dir // as a shell does: OpenCode works in the folder that PWD names (1.18.33)
	}
	for _, v := range p.Command.Set {
		name, value, _ := strings.Cut(v, "=")
		set[name] = value
	}
	if secret := p.Command.Secret; !secret.IsZero() {
		set[secret.Name] = secret.Value
	}
	return proc.ChildEnv(p.Env, nil, set)
}
