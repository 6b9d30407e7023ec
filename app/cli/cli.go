// Package cli is the command line: it prints for people (text that fits the terminal) and for scripts (--json, schema 1).
// The JSON output and the exit codes are a stable interface. Each sub-command is in a file with its name, or in the file
// of a related sub-command.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"rollcall/adapters"
	"rollcall/app/machine"
	"rollcall/app/owned/fuse"
	"rollcall/app/owned/keep"
	"rollcall/app/owned/launch"
	"rollcall/app/owned/marks"
	"rollcall/app/owned/told"
	"rollcall/app/settings"
	"rollcall/app/store/quiet"
	"rollcall/proc"
)

// Streams holds the standard streams of the program.
type Streams struct {
	Out, Err io.Writer
	// In is the terminal from which answers to questions are read; nil: there is none.
	In io.Reader
	// Width is the number of cells in a row of the terminal that Out is; 0: Out
	// is no terminal.
	Width int
	// Color reports whether Out can show colours.
	Color bool
}

// Version describes this build of the program.
type Version struct {
	Version string // "0.1.0", "(devel)"
	Commit  string // empty where not known
	Date    string // of the commit, RFC 3339; empty where not known
	Build   string // "desktop" or "headless"
}

// Deps holds what the commands need from their caller.
type Deps struct {
	// Open returns the adapters and the process table. It is called at most once, by
	// the commands that need them.
	Open    func() ([]adapters.Adapter, proc.Lister)
	Version Version
	// WithoutCache makes Open return adapters that do not store what they read.
	WithoutCache func()
	Getenv       func(string) string
	// Launches opens the records of Rollcall's launches.
	Launches func() (*launch.Launches, error)
	// Settings returns the user's settings, and what is wrong with them.
	Settings func() (settings.Settings, error)
	// Live returns the user's settings for a process that follows their changes.
	Live func() (*settings.Live, error)
	// Quiet opens the state of do not disturb.
	Quiet func() (*quiet.Quiet, error)
	// Acting is called with the id of a session that the user is about to end, or whose turn; nil: nothing is called.
	Acting func(session string)
	// Marks opens the user's names for sessions.
	Marks func() (*marks.Marks, error)
	// Told opens the limits that agents told the status line.
	Told func() (*told.Limits, error)
	// Machines opens the user's other machines, and the folder of those that machine add keeps.
	Machines func() (*machine.Machines, *machine.Kept, error)
	// Fuses opens the fuses.
	Fuses func() (*fuse.Fuses, error)
	// Keep runs the keeper until it ends by itself or ctx is done: `rollcall keep`; nil: this build has none.
	Keep func(ctx context.Context) error
	// Keeper talks to the keeper, and starts it; nil: there is none.
	Keeper *keep.Client
	Log    *slog.Logger // nil: discard
	// Tray runs the tray until ctx is done: `rollcall` without a sub-command; nil:
	// this build has none.
	Tray func(ctx context.Context) error
	// Window runs the window until ctx is done: `rollcall window`; nil: this build
	// has none.
	Window func(ctx context.Context, o WindowOptions) error
	// LookPath finds the programs of agents; nil: launch.LookPath.
	LookPath func(name string) (string, error)
	// Limit is the time that an adapter may take; 0: the core's default.
	Limit time.Duration
	// Leave ends the program with an exit code while a command still runs: it may
	// wait for something that never comes.
	Leave func(code int)
}

// Execute runs the program with args (without its own name) and returns its exit
// code. Messages go to Err, one line each; only the result goes to Out. When ctx ends,
// commands stop and Execute returns Interrupted, or Done for a tray or window.
func Execute(ctx context.Context, args []string, streams Streams, deps Deps) int {
	e := newEnv(ctx, streams, deps)
	cobra.MousetrapHelpText = "" // on Windows, a click on the program starts the tray: cobra must not show its notice about command line tools
	root := newRoot(e)
	root.SetArgs(args)
	stop := e.leaveWhenInterrupted()
	defer stop()
	err := root.ExecuteContext(ctx)
	if err == nil {
		err = e.flush()
	}
	return e.exitCode(err)
}

// Commands returns the tree of all commands, with those that only the desktop build has, for documents that are made from
// it. The commands must not be run.
func Commands() *cobra.Command {
	return newRoot(newEnv(context.Background(), Streams{Out: io.Discard, Err: io.Discard}, Deps{
		Tray:   func(context.Context) error { return nil },
		Window: func(context.Context, WindowOptions) error { return nil },
	}))
}

func newRoot(e *env) *cobra.Command {
	root := &cobra.Command{
		Use:   "rollcall",
		Short: "Shows the sessions of the coding agents on this machine",
		Long: `Rollcall asks Claude Code, Codex and other coding agents which of their sessions
work, which wait for you and which are done. It asks them again each time.

Without a command it starts the tray icon.`,
		SilenceErrors:              true,
		SilenceUsage:               true,
		SuggestionsMinimumDistance: 2,
		Args:                       noCommand,
	}
	// Cobra's own version flag is not used: its template links text/template, which keeps the linker from dropping unused methods.
	version := root.Flags().Bool("version", false, "show the version")
	root.RunE = func(cmd *cobra.Command, _ []string) error {
		if *version {
			e.printf("%s\n", versionAsJSON(e.deps.Version))
			return nil
		}
		return runTray(e, cmd)
	}
	root.SetOut(&e.out)
	root.SetErr(e.streams.Err)
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return usageError("%s\n  see: %s --help", flagMistake(err), cmd.CommandPath())
	})
	color := root.PersistentFlags().String("color", "auto", "colours: auto, always or never")
	noCache := root.PersistentFlags().Bool("no-cache", false, "read the agents' files without the cache of earlier reads")
	root.PersistentPreRunE = func(cmd *cobra.Command, _ []string) error {
		if *noCache {
			e.deps.WithoutCache()
		}
		e.undoes.Store(slices.Contains(undoing, cmd.CommandPath()))
		return e.setColor(*color)
	}
	addGroups(e, root)
	forwardCommands(e, root)
	refuseUnknownTopics(root)
	addCompletionCommand(root)
	addCompletions(e, root)
	return root
}

// addGroups adds all commands below their headings in the help of the program.
func addGroups(e *env, root *cobra.Command) {
	for _, g := range []struct {
		id, title string
		commands  []func(*env) *cobra.Command
	}{
		{"see", "See", []func(*env) *cobra.Command{newList, newStatus, newPeek, newChanges, newPending, newSearch, newUsage, newTop, newWatch, newBar, newLogs, newCompare, newWindow}},
		{"act", "Act", []func(*env) *cobra.Command{newAnswer, newSend, newContinue, newInterrupt, newStop, newFocus, newMark, newRename}},
		{"launch", "Launch", []func(*env) *cobra.Command{newLaunch, newResume, newWorktree, newHook}},
		{"keep", "Keep order", []func(*env) *cobra.Command{newLock, newUnlock, newLocks, newFuse, newOrphans, newPrune, newDND}},
		{"set", "Set up", []func(*env) *cobra.Command{newDoctor, newStatusLine, newAgent, newMachine, newAutostart, newMetrics, newKeep, newVersion, newUninstall}},
	} {
		root.AddGroup(&cobra.Group{ID: g.id, Title: g.title + ":"})
		for _, add := range g.commands {
			cmd := add(e)
			cmd.GroupID = g.id
			root.AddCommand(cmd)
		}
	}
	root.SetHelpCommandGroupID("set")
	root.SetCompletionCommandGroupID("set")
}

// flagMistake returns what is wrong with a flag, in words of the user.
func flagMistake(err error) string {
	if wrong, ok := errors.AsType[*pflag.InvalidValueError](err); ok && wrong.GetFlag().Value.Type() == "duration" {
		return fmt.Sprintf("--%s takes a time such as 30m, 1h or 1h30m, not %q", wrong.GetFlag().Name, wrong.GetValue())
	}
	return err.Error()
}

// refuseUnknownTopics makes `rollcall help` fail for a command that does not exist. Cobra's default
// help command shows the help of the program and succeeds.
func refuseUnknownTopics(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	cmd, _, _ := root.Find([]string{"help"}) // no error: the line above created the command
	cmd.Short = "Show the help of a command"
	cmd.Long, cmd.Run = "", nil
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		topic, rest, err := root.Find(args)
		if err != nil || len(rest) > 0 {
			return noCommand(topic, rest)
		}
		return topic.Help()
	}
}

// noCommand returns the error for a word that is not a sub-command of cmd.
func noCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	msg := fmt.Sprintf("unknown command %q", args[0])
	if cmd.HasParent() {
		msg += " for " + cmd.CommandPath()
	}
	if near := suggestions(cmd, args[0]); len(near) > 0 {
		msg += fmt.Sprintf("; did you mean %q?", near[0])
	}
	return usageError("%s\n  see: %s --help", msg, cmd.CommandPath())
}

// suggestions returns the sub-commands of cmd that a user may have meant with typed. The first ones are those that
// have the name typed in other programs.
func suggestions(cmd *cobra.Command, typed string) []string {
	var out []string
	for _, sub := range cmd.Commands() {
		if slices.Contains(sub.SuggestFor, typed) && sub.IsAvailableCommand() {
			out = append(out, sub.Name())
		}
	}
	return append(out, cmd.SuggestionsFor(typed)...)
}

func runTray(e *env, cmd *cobra.Command) error {
	if e.deps.Tray == nil {
		if err := cmd.Help(); err != nil {
			return err
		}
		return errors.Join(e.flush(), usageError("this build has no tray; use one of the commands above"))
	}
	return endError(e.ctx, e.deps.Tray(e.ctx))
}

// endError returns the error of a tray or window that ended with err; nil if it ended
// because ctx did.
func endError(ctx context.Context, err error) error {
	if ctx.Err() != nil && (errors.Is(err, context.Canceled) || errors.Is(err, context.Cause(ctx))) {
		return nil
	}
	return err
}
