package kit

import (
	"bytes"
	"slices"

	"rollcall/adapters"
)

// Launch is how an agent is started whose prompt goes to standard input in the background and to an argument in a terminal, with a session
// whose id is chosen for it, and which can be spoken to over the Agent Client Protocol.
type Launch struct {
	ACP
	Output string // the value of --output-format in the background
	Prompt string // the option with the prompt in a terminal
	// Mode adds the options for a permission mode.
	Mode func(c *adapters.Command, mode string)
	// Home makes the agent use a home; empty: its usual one.
	Home func(c *adapters.Command, home string) error
}

// Command implements adapters.Launcher.
func (l *Launch) Command(program string, t adapters.Task) (adapters.Command, error) {
	c := adapters.Command{Path: program, Session: t.Resume}
	answerable := t.Answerable && !t.Terminal
	switch {
	case answerable: // the protocol opens the session
		c.Args = []string{"--acp"}
		c.Stdin = l.Stdin(&t)
		c.Pipe = true
	case t.Resume != "":
		c.Args = []string{"--resume=" + t.Resume}
	default:
		c.Session = New()
		c.Option("--session-id", c.Session)
	}
	if !t.Terminal && !answerable {
		c.Option("--output-format", l.Output)
		c.Stdin = t.Prompt
	}
	c.Option("--model", t.Model)
	l.Mode(&c, t.Mode)
	if err := l.Home(&c, t.Home); err != nil {
		return c, err
	}
	if t.Terminal && t.Prompt != "" {
		c.Args = append(c.Args, l.Prompt+"="+t.Prompt)
	}
	return c, nil
}

// LastFailure returns the failure that the last line of an output states of which why returns one.
func LastFailure(output []byte, why func(line []byte) string) string {
	for _, line := range slices.Backward(bytes.Split(output, []byte("\n"))) {
		if text := why(line); text != "" {
			return text
		}
	}
	return ""
}
