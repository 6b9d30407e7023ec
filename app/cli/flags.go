package cli

import (
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"rollcall/adapters"
)

// noArgs refuses arguments.
func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usageError("%s takes no argument, got %q\n  see: %s --help", cmd.CommandPath(), args[0], cmd.CommandPath())
	}
	return nil
}

// oneOf returns a check for commands that take no argument and one of some flags at most. Cobra's own check of flags that exclude each
// other, which shells use for completions, comes later, and its error is not one of wrong usage.
func oneOf(flags ...string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		given := slices.DeleteFunc(slices.Clone(flags), func(name string) bool { return !cmd.Flags().Changed(name) })
		if len(given) > 1 {
			return usageError("use --%s or --%s, not both\n  see: %s --help", given[0], given[1], cmd.CommandPath())
		}
		return noArgs(cmd, args)
	}
}

// count returns how many of ways are true.
func count(ways ...bool) (n int) {
	for _, given := range ways {
		if given {
			n++
		}
	}
	return n
}

// exactlyOne returns a check for commands that take one argument, described by what.
func exactlyOne(what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) != 1 || args[0] == "" {
			return usageError("%s takes %s\n  see: %s --help", cmd.Name(), what, cmd.CommandPath())
		}
		return nil
	}
}

var (
	oneID     = exactlyOne("one session id, or its beginning")
	oneName   = exactlyOne("one session id or its beginning, or its project or a part of its title")
	oneLaunch = exactlyOne("one launch id, or its beginning")
	oneFolder = exactlyOne("one folder")
)

// option adds something to a command, such as a flag.
type option func(*cobra.Command)

// command returns cmd with its options.
func command(cmd *cobra.Command, options ...option) *cobra.Command {
	for _, add := range options {
		add(cmd)
	}
	return cmd
}

// withFlag adds a flag that sets *into, whose value until then is the default. The name may have a letter after a comma: "dry-run,n".
func withFlag[T bool | string | int | time.Duration | []int | []string](into *T, name, says string) option {
	name, letter, _ := strings.Cut(name, ",")
	return func(cmd *cobra.Command) {
		f := cmd.Flags()
		switch into := any(into).(type) {
		case *bool:
			f.BoolVarP(into, name, letter, *into, says)
		case *string:
			f.StringVarP(into, name, letter, *into, says)
		case *int:
			f.IntVarP(into, name, letter, *into, says)
		case *time.Duration:
			f.DurationVarP(into, name, letter, *into, says)
		case *[]int:
			f.IntSliceVarP(into, name, letter, *into, says)
		case *[]string:
			f.StringArrayVarP(into, name, letter, *into, says)
		}
	}
}

// exclusive refuses flags that exclude each other, and tells shells, which complete only one of them.
func exclusive(names ...string) option {
	return func(cmd *cobra.Command) { cmd.MarkFlagsMutuallyExclusive(names...) }
}

// hidden leaves a flag out of the help.
func hidden(name string) option {
	return func(cmd *cobra.Command) { _ = cmd.Flags().MarkHidden(name) } // no error: the flag exists
}

// withCommands adds sub-commands.
func withCommands(sub ...*cobra.Command) option {
	return func(cmd *cobra.Command) { cmd.AddCommand(sub...) }
}

func jsonFlag(on *bool) option { return withFlag(on, "json", "print JSON, schema 1") }

func strictFlag(on *bool) option {
	return withFlag(on, "strict", "exit with 3 when some agent could not be asked")
}

func dryRunFlag(on *bool) option {
	return withFlag(on, "dry-run,n", "show what would be done, do nothing")
}

func yesFlag(on *bool) option { return withFlag(on, "yes,y", "don't ask") }

func repoFlag(dir *string) option {
	return withFlag(dir, "repo", "a `folder` in the repository (default: the current folder)")
}

func agentFlag(name *string) option {
	return withFlag(name, "agent", "only sessions of this `agent`: "+agentNames(func(adapters.Description) bool { return true }))
}

// withoutArgs returns the RunE of a command that has no arguments, or needs none of them.
func withoutArgs(run func() error) func(*cobra.Command, []string) error {
	return func(*cobra.Command, []string) error { return run() }
}

// withArg returns the RunE of a command with one argument.
func withArg(run func(arg string) error) func(*cobra.Command, []string) error {
	return func(_ *cobra.Command, args []string) error { return run(args[0]) }
}

// withArgs returns the RunE of a command with several arguments.
func withArgs(run func(args []string) error) func(*cobra.Command, []string) error {
	return func(_ *cobra.Command, args []string) error { return run(args) }
}

// newGroup returns a command that only has sub-commands.
func newGroup(use, short, long string, sub ...*cobra.Command) *cobra.Command {
	return command(&cobra.Command{
		Use: use, Short: short, Long: long,
		Args: noCommand, SuggestionsMinimumDistance: 2,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}, withCommands(sub...))
}

// agentNames returns the names of the agents for which wanted returns true, for help texts and
// messages.
func agentNames(wanted func(adapters.Description) bool) string {
	var names []string
	for _, d := range adapters.Known() {
		if wanted(d) {
			names = append(names, string(d.Name))
		}
	}
	return strings.Join(names, ", ")
}

func canLaunch(d adapters.Description) bool { return d.Can.Launch }

// unknownAgent returns the error for an agent that can't be launched because no adapter
// has that name.
func unknownAgent(name adapters.Name) error {
	similar := ""
	if near := similarAgent(string(name)); near != "" {
		similar = " (did you mean " + near + "?)"
	}
	return usageError("unknown agent %q%s; agents: %s", name, similar, agentNames(canLaunch))
}
