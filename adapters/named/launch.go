package named

import (
	"fmt"
	"slices"
	"strings"

	"rollcall/adapters"
)

// launchable is an Adapter whose agent can be started with the arguments of the settings.
type launchable struct{ *Adapter }

var _ adapters.Launcher = (*launchable)(nil)

// entry returns the agent's entry in the settings.
func (a *launchable) entry() (*adapters.Unread, error) {
	u := a.claims.find(a.name)
	if u == nil || !u.CanLaunch() {
		return nil, fmt.Errorf("%s can't be started: config.toml no longer says how (launch in its [[agent]])", a.name)
	}
	return u, nil
}

// Program implements adapters.Launcher.
func (a *launchable) Program(look func(string) (string, error)) (string, error) {
	u, err := a.entry()
	if err != nil {
		return "", err
	}
	path, err := look(u.Programs[0])
	if err != nil {
		return "", &missing{u}
	}
	return path, nil
}

// missing reports that the program of an agent was not found.
type missing struct{ agent *adapters.Unread }

func (e *missing) Error() string {
	text := fmt.Sprintf("%s: the program %s was not found; is its folder in PATH?", e.agent.Name, e.agent.Programs[0])
	if e.agent.Source != "" {
		text += " To install it: " + e.agent.Source
	}
	return text
}

// Is reports whether target is adapters.ErrAbsent, for errors.Is.
func (e *missing) Is(target error) bool { return target == adapters.ErrAbsent }

// Modes implements adapters.Launcher: none is known.
func (a *launchable) Modes() []adapters.Mode { return nil }

// Command implements adapters.Launcher. In a terminal without a prompt the program gets no arguments.
func (a *launchable) Command(program string, t adapters.Task) (adapters.Command, error) {
	c := adapters.Command{Path: program}
	u, err := a.entry()
	if err != nil {
		return c, err
	}
	args := u.Launch
	switch {
	case t.Model != "":
		return c, fmt.Errorf("%s takes no model from Rollcall: add the option to launch in its [[agent]] in config.toml", a.name)
	case t.Resume != "" && u.Resume == nil:
		return c, fmt.Errorf("%s can't be resumed: add resume to its [[agent]] in config.toml", a.name)
	case t.Resume != "":
		args = u.Resume
	case u.Launch == nil:
		return c, fmt.Errorf("%s can't be started: add launch to its [[agent]] in config.toml", a.name)
	case t.Terminal && t.Prompt == "":
		return c, nil
	}
	return c, a.fill(&c, args, &t)
}

// fill sets the arguments with the prompt in its place, or else on standard input.
func (a *launchable) fill(c *adapters.Command, args []string, t *adapters.Task) error {
	named := slices.ContainsFunc(args, func(arg string) bool { return strings.Contains(arg, adapters.PromptPlaceholder) })
	for i, arg := range args {
		if arg == adapters.PromptPlaceholder && strings.HasPrefix(t.Prompt, "-") && (i == 0 || args[i-1] != "--") {
			return fmt.Errorf("the prompt begins with a hyphen, and %s could take it for an option: begin it with another character", a.name)
		}
		if arg != adapters.PromptPlaceholder || t.Prompt != "" {
			c.Args = append(c.Args, strings.ReplaceAll(arg, adapters.PromptPlaceholder, t.Prompt))
		}
	}
	switch {
	case named:
	case !t.Terminal:
		c.Stdin = t.Prompt
	case t.Prompt != "":
		return fmt.Errorf("%s takes its prompt from standard input, which a terminal does not have: add {prompt} to its [[agent]] in config.toml, or start it without a prompt", a.name)
	}
	return nil
}
