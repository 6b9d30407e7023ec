package launch

import (
	"context"
	"errors"
	"io"
	"strings"

	"rollcall/app"
	"rollcall/app/store"
)

// TerminalCommand returns the command line of Rollcall at program that launches a member in a terminal. promptFile has the prompt; empty: there is none.
func (o *Options) TerminalCommand(program string, m Member, promptFile string) []string {
	argv := []string{program, "launch", string(m.Agent), "--terminal"}
	if o.Resume != "" {
		argv = []string{program, "resume", o.Resume, "--terminal"}
	}
	return append(argv, o.flags(m, promptFile, o.Resume == "")...)
}

// flags returns the flags of Rollcall's command line for the launch of a member. If own is set, they also say that the model and the mode are empty: the
// caller has its own values, and the defaults of the settings must not replace them.
func (o *Options) flags(m Member, promptFile string, own bool) (words []string) {
	type flag struct {
		word  string
		given bool
	}
	flags := []flag{
		{"--cwd=" + o.Dir, o.Resume == ""},
		{"--prompt-file=" + promptFile, promptFile != ""},
		{"--model=" + m.Model, own || m.Model != ""},
		{"--mode=" + m.Mode, own || m.Mode != ""},
		{"--home=" + o.Home, o.Home != "" && o.Resume == ""}, // a session is resumed in its own
		{"--spec=" + Path(o.Spec), o.Spec != ""},
	}
	for _, file := range o.Files {
		flags = append(flags, flag{"--file=" + Path(file), file != ""})
	}
	flags = append(flags, []flag{
		{"--group=" + o.Group, o.Group != ""},
		{"--on-create=" + o.OnCreate, o.OnCreate != ""},
		{"--on-complete=" + o.OnComplete, o.OnComplete != ""},
		{"--retry-hooks", o.RetryHooks},
		{"--keep-env", o.KeepEnv},
		{"--force", o.Force},
		{"--yes", m.Mode != ""}, // the user has already confirmed the mode
	}...)
	for _, f := range flags {
		if f.given {
			words = append(words, f.word)
		}
	}
	return words
}

// Machines runs commands of Rollcall on other machines; *machine.Machines is one.
type Machines interface {
	// Command runs a command on the machine with this name, with in as its standard input, and returns what it printed, cleaned. The error of a
	// command that failed there is an *app.CommandError.
	Command(ctx context.Context, name string, in io.Reader, args ...string) (string, error)
}

// There is a launch on another machine, which runs the same command of Rollcall. That machine checks what only it knows.
type There struct {
	Machine string
	prompt  string
	verb    string
	flags   []string // without the prompt
	target  string   // the agent of a launch, or the id of a session to resume
}

// maxTerminalPrompt is the largest prompt for a terminal on another machine: it is part of the command line.
const maxTerminalPrompt = 64 << 10

// PrepareThere returns the launch of a member on a machine. It reads PromptFile.
func (o *Options) PrepareThere(ctx context.Context, m Member, machine string) (*There, error) {
	req, err := o.Request(ctx)
	if err != nil {
		return nil, err
	}
	if o.Terminal && len(req.Task.Prompt) > maxTerminalPrompt {
		return nil, errors.New("the prompt is too long for a terminal on another machine; launch it in the background")
	}
	t := &There{machine, req.Task.Prompt, "launch", o.flags(m, "", false), string(m.Agent)}
	if o.Resume != "" {
		t.verb, t.target = "resume", strings.TrimPrefix(o.Resume, app.MachineID(machine, ""))
	}
	return t, nil
}

// Shell returns the command that starts the same launch from a shell of this machine.
func (t *There) Shell(terminal bool) string {
	words := []string{"rollcall"}
	for _, word := range t.Command(terminal) {
		words = append(words, store.Quote(word))
	}
	return strings.Join(words, " ")
}

// Command returns the arguments of Rollcall on this machine.
func (t *There) Command(terminal bool) []string {
	words := append([]string{t.verb, "--machine=" + t.Machine}, t.flags...)
	if t.prompt != "" {
		words = append(words, "--prompt="+t.prompt)
	}
	if terminal {
		words = append(words, "--terminal")
	}
	return append(words, "--", t.target)
}

// Start starts a launch in the background of its machine, and returns what Rollcall there printed.
func (t *There) Start(ctx context.Context, m Machines) (string, error) {
	words := append(append([]string{t.verb, "--prompt=-"}, t.flags...), "--", t.target)
	return m.Command(ctx, t.Machine, strings.NewReader(t.prompt), words...)
}
