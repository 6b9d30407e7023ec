package cli

import (
	"slices"
	"strings"

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

func jsonFlag(cmd *cobra.Command, on *bool) {
	cmd.Flags().BoolVar(on, "json", false, "print JSON, schema 1")
}

func strictFlag(cmd *cobra.Command, on *bool) {
	cmd.Flags().BoolVar(on, "strict", false, "exit with 3 when some agent could not be asked")
}

func dryRunFlag(cmd *cobra.Command, on *bool) {
	cmd.Flags().BoolVarP(on, "dry-run", "n", false, "show what would be done, do nothing")
}

func yesFlag(cmd *cobra.Command, on *bool) {
	cmd.Flags().BoolVarP(on, "yes", "y", false, "don't ask")
}

func repoFlag(cmd *cobra.Command, dir *string) {
	cmd.Flags().StringVar(dir, "repo", "", "a `folder` in the repository (default: the current folder)")
}

// newGroup returns a command that only has sub-commands.
func newGroup(use, short, long string, sub ...*cobra.Command) *cobra.Command {
	cmd := &cobra.Command{
		Use: use, Short: short, Long: long,
		Args: noCommand, SuggestionsMinimumDistance: 2,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(sub...)
	return cmd
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
