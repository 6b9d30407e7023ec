package cli

import (
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"rollcall/app/machine"
	"rollcall/app/present"
	"rollcall/app/store"
)

func newAgent(e *env) *cobra.Command {
	return newGroup("agent", "Test a program that lists an agent's sessions",
		"An entry [[agent]] with rows in the settings names a program that lists the sessions of\nan agent that Rollcall does not read: see docs/adapters-of-others.md.", newAgentTest(e))
}

func newAgentTest(e *env) *cobra.Command {
	requests := false
	return command(&cobra.Command{
		Use:   "test [--requests] COMMAND...",
		Short: "Run such a program, and say what of it holds",
		Long: `Run a program as the setting rows of an [[agent]] does, several times, and say for each
promise of docs/adapters-of-others.md whether it holds, with the row that breaks it.
Give the program by its absolute path. With --requests it is run as the setting
requests does.`,
		Example: "  rollcall agent test ~/bin/droid_rows.py",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 || !filepath.IsAbs(args[0]) {
				return usageError("agent test needs the absolute path of a program: rollcall agent test /home/me/bin/rows")
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error { return e.testProgram(args, requests) },
	},
		withFlag(&requests, "requests", "the program lists requests, not sessions"),
		func(cmd *cobra.Command) { cmd.Flags().SetInterspersed(false) }, // the rest is the program's command line
	)
}

// testProgram runs a program and prints which promises hold.
func (e *env) testProgram(command []string, requests bool) error {
	state, err := store.StatePath()
	if err != nil {
		return err
	}
	p := &machine.Program{Agent: "agent", Command: command, Dir: state}
	var list []machine.Promise
	if requests {
		list, err = p.TestRequests(e.ctx)
	} else {
		_, table := e.open()
		list, err = p.Test(e.ctx, table)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", command[0], err)
	}
	broken := 0
	for _, promise := range list {
		if promise.Broken != "" {
			broken++
			e.printf("! %s: %s\n", promise.Name, present.Line(promise.Broken))
			continue
		}
		e.printf("+ %s\n", promise.Name)
	}
	if broken > 0 {
		return fmt.Errorf("%s of %d do not hold", plural(broken, "promise"), len(list))
	}
	e.printf("all %d promises hold\n", len(list))
	return nil
}
