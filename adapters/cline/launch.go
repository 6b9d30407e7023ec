package cline

import (
	"errors"
	"strconv"
	"strings"

	"rollcall/adapters"
	"rollcall/adapters/internal/agentproc"
	"rollcall/proc"
)

// Modes implements adapters.Launcher. Without an option Cline approves everything itself.
func (a *Adapter) Modes() []adapters.Mode {
	return []adapters.Mode{
		{Name: "ask", Says: "asks before it uses tools; refuses them in the background"},
		{Name: "plan", Says: "makes a plan and changes nothing"},
		{Name: "auto-approve", Says: "does everything without asking", Unsafe: true},
	}
}

// ownProcess has a run host its session itself, also where a hub runs: its process can then be watched and interrupted. The variable was
// read in the program of 3.0.65.
const ownProcess = "CLINE_SESSION_BACKEND_MODE=local"

// Command implements adapters.Launcher (3.0.65). In the background Cline reads the prompt from standard input. It chooses the id
// of a new session itself.
func (a *Adapter) Command(program string, t adapters.Task) (adapters.Command, error) {
	c := adapters.Command{Path: program, Session: t.Resume, Args: []string{"--auto-approve", strconv.FormatBool(t.Mode == "auto-approve")}}
	if err := agentproc.UseHome(&c, dataIn(t.Home), rootOf(a.Env, a.Home).data, dataVariable, ""); err != nil {
		return c, err
	}
	if t.Mode == "plan" {
		c.Args = append(c.Args, "--plan")
	}
	c.Option("--model", t.Model)
	switch {
	case t.Terminal:
		c.Args = append(c.Args, "--tui")
		c.Option("--id", t.Resume)
		if isWord := !strings.ContainsAny(t.Prompt, " \t\n"); t.Prompt != "" && (isWord || strings.HasPrefix(t.Prompt, "-")) { // it would be taken for a command, or an option
			t.Prompt = " " + t.Prompt
		}
		if t.Prompt != "" {
			c.Args = append(c.Args, t.Prompt)
		}
	case t.Resume != "":
		return c, errors.New("a session of Cline can be resumed in a terminal only: use --terminal")
	default:
		c.Stdin, c.Set = t.Prompt, append(c.Set, ownProcess)
	}
	return c, nil
}

// EndBy implements adapters.Ender. Cline 3.0.65 ignores a termination; an interrupt ends a run, and a terminal at the second one. The
// hub is never signalled: that would end the sessions of all its terminals.
func (a *Adapter) EndBy(s adapters.Session) ([]proc.Signal, error) {
	if s.Shared {
		return nil, errors.New("the hub of Cline hosts it with other sessions and is not ended; close the session " + s.Where())
	}
	return []proc.Signal{proc.Interrupt, proc.Interrupt}, nil
}
