package ui

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"rollcall/app"
	"rollcall/app/owned/launch"
	"rollcall/app/store"
)

// Machines runs commands of Rollcall on other machines; *machine.Machines is one.
type Machines interface {
	// Command runs a command on the machine with this name, with in as its standard input, and returns what it printed, cleaned. The error of a
	// command that failed there is an *app.CommandError.
	Command(ctx context.Context, name string, in io.Reader, args ...string) (string, error)
}

// there is a launch on another machine, which runs the same command of Rollcall.
type there struct {
	machine string
	prompt  string
	verb    string
	flags   []string // without the prompt
	target  string   // the agent of a launch, or the id of a session to resume
}

// maxTerminalPrompt is the largest prompt for a terminal on another machine: it is part of the command line.
const maxTerminalPrompt = 64 << 10

// prepareThere returns the launch of a form on its machine. Facts that only that machine knows are checked there, at the launch.
func (u *UI) prepareThere(ctx context.Context, f *launchForm) (*prepared, error) {
	if u.options.Machines == nil {
		return nil, errors.New("other machines are not known here; start Rollcall again")
	}
	if len(f.members) != 1 {
		return nil, errors.New("on another machine one agent with one model can be launched at a time; choose one")
	}
	req, err := f.Request(ctx)
	if err != nil {
		return nil, err
	}
	m, prompt := f.members[0], req.Task.Prompt
	if f.Terminal && len(prompt) > maxTerminalPrompt {
		return nil, errors.New("the prompt is too long for a terminal on another machine; launch it in the background")
	}
	t := &there{machine: f.machine, prompt: prompt, verb: "launch", flags: f.flags(""), target: string(m.Agent)}
	if f.Resume != "" {
		t.verb, t.target = "resume", strings.TrimPrefix(f.Resume, app.MachineID(f.machine, ""))
	}
	p := &prepared{form: *f, there: t}
	for _, x := range u.core.Snapshot().Machines {
		if x.Name == f.machine && x.State == app.Failed && len(x.Problems) > 0 {
			p.warn(fmt.Errorf("%s: %s", x.Name, x.Problems[0]))
		}
	}
	return p, nil
}

// shell returns the command that starts the same launch from a shell of this machine.
func (t *there) shell(terminal bool) string {
	words := []string{"rollcall"}
	for _, word := range t.command(terminal) {
		words = append(words, store.Quote(word))
	}
	return strings.Join(words, " ")
}

// command returns the arguments of Rollcall on this machine.
func (t *there) command(terminal bool) []string {
	words := append([]string{t.verb, "--machine=" + t.machine}, t.flags...)
	if t.prompt != "" {
		words = append(words, "--prompt="+t.prompt)
	}
	if terminal {
		words = append(words, "--terminal")
	}
	return append(words, "--", t.target)
}

// start starts a launch in the background of its machine, and returns what Rollcall there printed.
func (t *there) start(ctx context.Context, m Machines) (string, error) {
	words := append(append([]string{t.verb, "--prompt=-"}, t.flags...), "--", t.target)
	return m.Command(ctx, t.machine, strings.NewReader(t.prompt), words...)
}

// thisMachine is the first option in the list of machines.
const thisMachine = "This machine"

// canResumeThere reports whether the window can resume a session of another machine.
func (u *UI) canResumeThere(s *app.Session) bool {
	there := *s // as Rollcall on that machine lists it
	there.Machine, there.Remote, there.ID = "", "", s.IDThere()
	return u.options.Machines != nil && s.Stale == nil && s.Remote == s.Machine && s.Container == "" && launch.CheckResume(&there) == nil
}
