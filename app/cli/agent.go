package cli

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"rollcall/adapters"
	"rollcall/app/machine"
	"rollcall/app/present"
	"rollcall/app/store"
	"rollcall/proc"
)

func newAgent(e *env) *cobra.Command {
	return newGroup("agent", "Test a program that lists an agent's sessions",
		"An entry [[agent]] with rows in the settings names a program that lists the sessions of\nan agent that Rollcall does not read: see docs/adapters-of-others.md.", newAgentTest(e))
}

func newAgentTest(e *env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "test COMMAND...",
		Short: "Run such a program twice, and say what of it holds",
		Long: `Run a program as the setting rows of an [[agent]] does, twice, and say for each promise
of docs/adapters-of-others.md whether it holds, with the row that breaks it. Give the
program by its absolute path.`,
		Example: "  rollcall agent test ~/bin/droid_rows.py",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 || !filepath.IsAbs(args[0]) {
				return usageError("agent test needs the absolute path of a program: rollcall agent test /home/me/bin/rows")
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error { return e.testProgram(args) },
	}
	cmd.Flags().SetInterspersed(false)
	return cmd
}

// promises are what a program of rows promises, in the order in which they are told. Each returns the row that breaks it, with what to do; empty: it holds.
var promises = []struct {
	name  string
	holds func(table proc.Lister, r *adapters.ProgramRow) string
}{
	{"each row has a known status, with its evidence", func(_ proc.Lister, r *adapters.ProgramRow) string {
		if r.Session.Evidence == "" || strings.HasPrefix(r.Session.Evidence, "the Rollcall on its machine reports a status") {
			return "give it a status of docs/json.md, and the facts from which that follows as evidence"
		}
		return ""
	}},
	{"each live row names a process with its start time", func(_ proc.Lister, r *adapters.ProgramRow) string {
		if r.Session.Live() && r.Session.Status != adapters.Unknown && (r.PID == 0 || r.Start == 0) {
			return "add pid and pid_start, or list it as unknown or stopped"
		}
		return ""
	}},
	{"that process runs, and began then", func(table proc.Lister, r *adapters.ProgramRow) string {
		if r.PID == 0 || r.Start == 0 || !r.Session.Live() {
			return ""
		}
		switch p, err := table.Find(r.PID); {
		case errors.Is(err, proc.ErrGone):
			return fmt.Sprintf("process %d has ended: list the row as stopped", r.PID)
		case err == nil && p.Start != r.Start:
			return fmt.Sprintf("process %d began at %d, not %d: it is another one", r.PID, p.Start, r.Start)
		}
		return ""
	}},
	{"each folder is an absolute path", func(_ proc.Lister, r *adapters.ProgramRow) string {
		if r.Session.CWD != "" && !filepath.IsAbs(r.Session.CWD) {
			return fmt.Sprintf("%q is none", present.Cut(r.Session.CWD, 40))
		}
		return ""
	}},
}

// testProgram runs a program and prints which promises hold.
func (e *env) testProgram(command []string) error {
	state, err := store.StatePath()
	if err != nil {
		return err
	}
	_, table := e.open()
	p := &machine.Program{Agent: "agent", Command: command, Dir: state}
	rows, err := p.Rows(e.ctx)
	if err != nil {
		return fmt.Errorf("%s: %w", command[0], err)
	}
	e.printf("+ its list is complete in time: %s\n", plural(len(rows), "row"))
	broken := 0
	tell := func(name, why string) {
		if why != "" {
			broken++
			e.printf("! %s: %s\n", name, present.Line(why))
			return
		}
		e.printf("+ %s\n", name)
	}
	for _, promise := range promises {
		why := ""
		for i := range rows {
			if text := promise.holds(table, &rows[i]); text != "" && why == "" {
				why = "row " + strings.TrimPrefix(rows[i].Session.ID, "agent:") + ": " + text
			}
		}
		tell(promise.name, why)
	}
	again, err := p.Rows(e.ctx)
	if err != nil {
		return fmt.Errorf("%s: the second time: %w", command[0], err)
	}
	tell("a second run lists the same", difference(rows, again))
	if broken > 0 {
		return fmt.Errorf("%s of %d do not hold", plural(broken, "promise"), len(promises)+2)
	}
	e.printf("all %d promises hold\n", len(promises)+2)
	return nil
}

// difference returns which row one list has and the other has not; empty: none.
func difference(first, second []adapters.ProgramRow) string {
	for _, pair := range [][2][]adapters.ProgramRow{{first, second}, {second, first}} {
		for _, r := range pair[0] {
			if !slices.ContainsFunc(pair[1], func(o adapters.ProgramRow) bool { return o.Session.ID == r.Session.ID }) {
				return "only one of them has row " + strings.TrimPrefix(r.Session.ID, "agent:") + ": the answer must follow from the files, not from the question before"
			}
		}
	}
	return ""
}
