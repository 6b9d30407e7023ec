package ui

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"rollcall/adapters"
	"rollcall/app/launch"
	"rollcall/app/present"
)

// launchForm is what the user asked for. It holds no widget, so it may leave the
// UI goroutine.
type launchForm struct {
	dir          string
	members      []launch.Member
	prompt       string
	promptFile   string // read when the launch is made; empty: prompt counts
	terminal     bool
	spec, group  string
	files        []string
	onCreate     string
	onComplete   string
	keepEnv      bool
	force        bool
	resume       string // the session to go on with
	defaultGroup string // the name of a group that the user gave none
}

// lacks says what is missing before anything can be prepared, in words for the
// user.
func (f *launchForm) lacks() string {
	switch {
	case f.dir == "":
		return "Choose a folder."
	case len(f.members) == 0:
		return "Choose an agent."
	case f.terminal && len(f.members) > 1:
		return "Only one agent fits into a terminal: choose one, or launch them in the background."
	case !f.terminal && strings.TrimSpace(f.prompt) == "" && f.promptFile == "":
		return "In the background it needs to know what to do: write a prompt, or launch it in a terminal."
	}
	return ""
}

// request is the launch that the form asks for. It reads the prompt's file.
func (f *launchForm) request() (launch.Request, error) {
	req := launch.Request{Group: f.group, Spec: expandHome(f.spec), KeepEnv: f.keepEnv, Force: f.force}
	req.Task = adapters.Task{Dir: f.dir, Prompt: f.prompt, Terminal: f.terminal, Resume: f.resume}
	if f.promptFile != "" {
		text, err := readPrompt(expandHome(f.promptFile))
		if err != nil {
			return req, err
		}
		req.Task.Prompt = text
	}
	if len(f.members) == 1 {
		req.Task.Model, req.Task.Mode = f.members[0].Model, f.members[0].Mode
	} else if req.Group == "" {
		req.Group = f.defaultGroup
	}
	for _, file := range f.files {
		req.Files = append(req.Files, expandHome(file))
	}
	for _, h := range []launch.Hook{{When: launch.OnCreate, Command: f.onCreate}, {When: launch.OnComplete, Command: f.onComplete}} {
		if h.Command != "" {
			req.Hooks = append(req.Hooks, h)
		}
	}
	return req, nil
}

// maxPromptFile is far above what agents take.
const maxPromptFile = 4 << 20

func readPrompt(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", fmt.Errorf("the prompt: %w", err)
	}
	defer func() { _ = f.Close() }()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return "", errors.Join(fmt.Errorf("the prompt: %s is no file", path), err)
	}
	text, err := io.ReadAll(io.LimitReader(f, maxPromptFile+1))
	if err == nil && len(text) > maxPromptFile {
		err = errors.New("larger than the 4 MB that make sense")
	}
	if err != nil {
		return "", fmt.Errorf("the prompt: %s: %w", path, err)
	}
	return string(text), nil
}

// expandHome is a path with ~ as the user's home, and absolute.
func expandHome(path string) string {
	path = strings.TrimSpace(path)
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

// prepared is a form that could be carried out: one launch or a group.
type prepared struct {
	form  launchForm
	plan  *launch.Plan
	group *launch.Group
}

func (p *prepared) plans() []*launch.Plan {
	if p.group != nil {
		return p.group.Plans()
	}
	return []*launch.Plan{p.plan}
}

// prepare checks all that can be checked before anything is made. It looks for
// programs and reads files, so it is not for the UI goroutine.
func (u *UI) prepare(ctx context.Context, f launchForm) (*prepared, error) {
	req, err := f.request()
	if err != nil {
		return nil, err
	}
	p := &prepared{form: f}
	if len(f.members) == 1 {
		a := u.adapter(f.members[0].Agent)
		if a == nil {
			return nil, fmt.Errorf("no agent %q", f.members[0].Agent)
		}
		p.plan, err = launch.Prepare(a, req, u.environ())
		return p, err
	}
	m := &launch.Matrix{Request: req, Members: f.members}
	if err := launch.CheckMembers(f.members); err != nil {
		return nil, err
	}
	p.group, err = launch.PrepareGroup(ctx, m, u.adapter, u.environ())
	return p, err
}

// adapter finds an agent; nil: there is none of that name.
func (u *UI) adapter(name adapters.Name) adapters.Adapter {
	for _, a := range u.options.Agents {
		if a.Name() == name {
			return a
		}
	}
	return nil
}

// modes are the permission modes of an agent.
func (u *UI) modes(name adapters.Name) []adapters.Mode {
	if l, ok := u.adapter(name).(adapters.Launcher); ok {
		return l.Modes()
	}
	return nil
}

// unsafeModes are the modes of a form that skip all questions, in words.
func (u *UI) unsafeModes(f *launchForm) []string {
	var out []string
	for _, member := range f.members {
		for _, m := range u.modes(member.Agent) {
			if text := fmt.Sprintf("%s in mode %s %s.", present.AgentName(member.Agent), m.Name, m.Says); m.Name == member.Mode && m.Unsafe && !slices.Contains(out, text) {
				out = append(out, text)
			}
		}
	}
	return out
}

// terminalCommand is Rollcall's own command line that carries a form out in a
// terminal. promptFile holds the prompt; empty: there is none.
func terminalCommand(program string, f *launchForm, promptFile string) []string {
	m := f.members[0]
	argv := []string{program, "launch", string(m.Agent), "--terminal", "--cwd", f.dir}
	if f.resume != "" {
		argv = []string{program, "resume", f.resume, "--terminal"}
	}
	add := func(flag, value string) {
		if value != "" {
			argv = append(argv, flag+"="+value)
		}
	}
	add("--prompt-file", promptFile)
	add("--model", m.Model)
	add("--mode", m.Mode)
	add("--spec", expandHome(f.spec))
	for _, file := range f.files {
		add("--file", expandHome(file))
	}
	add("--group", f.group)
	add("--on-create", f.onCreate)
	add("--on-complete", f.onComplete)
	if f.keepEnv {
		argv = append(argv, "--keep-env")
	}
	if f.force {
		argv = append(argv, "--force")
	}
	if m.Mode != "" {
		argv = append(argv, "--yes") // the window has asked
	}
	return argv
}
