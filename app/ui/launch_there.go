package ui

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"rollcall/app"
	"rollcall/app/owned/launch"
	"rollcall/app/present"
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

// launchThere launches a form on its machine. It returns a function that creates the card of the launch and must be called on Fyne's goroutine.
func (u *UI) launchThere(ctx context.Context, f *launchForm) (func() *launchRun, error) {
	p, err := u.prepareThere(ctx, f)
	if err != nil {
		return nil, err
	}
	title := runTitle(f.members[0].Agent, f.members[0].Model, f.Dir) + " on " + short(f.machine)
	if f.Terminal {
		if u.options.Program == "" {
			return nil, errors.New("the program of Rollcall was not found; copy the command and run it in a terminal")
		}
		home, err := os.UserHomeDir()
		if err != nil {
			home = "/"
		}
		name, err := u.system.openTerminal(home, append([]string{u.options.Program}, p.there.command(true)...))
		return func() *launchRun {
			return newOpenedRun(u, title, "Opened in "+short(name)+". The session is listed as soon as the agent has stored it.", "")
		}, err
	}
	words := append(append([]string{p.there.verb, "--prompt=-"}, p.there.flags...), "--", p.there.target)
	said, err := u.options.Machines.Command(ctx, f.machine, strings.NewReader(p.there.prompt), words...)
	return func() *launchRun {
		return newOpenedRun(u, title, "Started on "+short(f.machine)+". The session is listed as soon as the agent there has stored it.", said)
	}, err
}

// isInUse reports whether a command on another machine refused because the folder there is locked or in use.
func isInUse(err error) bool {
	var failed *app.CommandError
	return errors.As(err, &failed) && failed.Code == app.FolderInUse
}

// thisMachine is the first option in the list of machines.
const thisMachine = "This machine"

// offerMachines offers these machines for a launch. It reports whether something changed.
func offerMachines(p *pick, list []app.MachineHealth) bool {
	var names []string
	for _, m := range list {
		names = append(names, m.Name)
	}
	return p.offer(names, names)
}

// folderThere returns the folder that a form names. A folder on another machine stays as the user wrote it.
func folderThere(machine, text string) string {
	if text = strings.TrimSpace(text); machine != "" {
		return text
	}
	return launch.Path(text)
}

// whyNoResumeThere returns the reason why the window cannot resume a session of another machine; nil: it can.
func (u *UI) whyNoResumeThere(s *app.Session) error {
	switch {
	case u.options.Machines == nil:
		return errors.New("other machines are not known here")
	case s.Stale != nil:
		return errors.New(s.Stale.Reason)
	case s.Remote != s.Machine || s.Container != "":
		return fmt.Errorf("it runs on %s", present.Line(machineOf(s)))
	}
	there := *s // as Rollcall on that machine lists it
	there.Machine, there.Remote, there.ID = "", "", s.IDThere()
	return launch.CheckResume(&there)
}
