// Package cli is the command line: list, status, doctor and version, for people
// (a table that fits the terminal) and for scripts (--json, schema 1). What it
// prints as JSON, and its exit codes, are promises.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"rollcall/adapters"
	"rollcall/app"
	"rollcall/app/fuse"
	"rollcall/app/launch"
	"rollcall/app/present"
	"rollcall/app/settings"
	"rollcall/proc"
)

// The exit codes. Codes will be added; an unknown one is a failure.
const (
	Done        = 0
	Failure     = 1
	Usage       = 2 // wrong usage; also an id that fits several sessions
	Incomplete  = 3 // some adapter failed, and --strict was given
	NoSession   = 4
	Locked      = 10 // the folder is locked, or in use
	Interrupted = 130
)

// Streams are where the program reads and writes.
type Streams struct {
	Out, Err io.Writer
	// In is a terminal with somebody to ask; nil: there is nobody.
	In io.Reader
	// Width is the number of cells in a row of the terminal that Out is; 0: Out
	// is no terminal.
	Width int
	// Color says whether Out understands colours.
	Color bool
}

// Version says which program this is.
type Version struct {
	Version string // "0.1.0", "(devel)"
	Commit  string // empty where not known
	Date    string // of the commit, RFC 3339; empty where not known
	Build   string // "desktop" or "headless"
}

// Deps are what the commands work with.
type Deps struct {
	// Adapters and Table are made by Open, only by the commands that need them.
	Open    func() ([]adapters.Adapter, proc.Lister)
	Version Version
	Getenv  func(string) string
	// Launches opens what Rollcall keeps of its launches; nil: nothing.
	Launches func() (*launch.Launches, error)
	// Settings returns the user's settings, and what is wrong with them; nil:
	// there are none.
	Settings func() (settings.Settings, error)
	// Fuses opens the fuses; nil: there are none.
	Fuses func() (*fuse.Fuses, error)
	Log   *slog.Logger // nil: discard
	// Tray is `rollcall` without a sub-command, and returns when ctx is done;
	// nil: this build has none.
	Tray func(ctx context.Context) error
	// Window is `rollcall window`; nil: this build has none.
	Window func(ctx context.Context, o WindowOptions) error
	// Limit is how long an adapter may take; 0: the core's.
	Limit time.Duration
}

// WindowOptions are what `rollcall window` was asked for.
type WindowOptions struct {
	Session string // id of the session to show; empty: none
	Launch  bool   // open at the launch page
}

// command is one run of the program.
type command struct {
	ctx     context.Context
	deps    Deps
	streams Streams
	color   string
	opened  bool            // the launches
	out     strings.Builder // written at once, so that nothing is half there
}

// exitError carries an exit code; its text, if any, is the message.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string { return e.err.Error() }
func (e *exitError) Unwrap() error { return e.err }

func wrong(format string, args ...any) error {
	return &exitError{Usage, fmt.Errorf(format, args...)}
}

// Execute runs the program with args (without its own name) and returns its exit
// code. Messages go to Err, one line each; nothing but the result goes to Out.
// When ctx ends, commands stop and Interrupted is returned; a tray or window
// that ends because ctx did is Done.
func Execute(ctx context.Context, args []string, streams Streams, deps Deps) int {
	if deps.Getenv == nil {
		deps.Getenv = func(string) string { return "" }
	}
	cobra.MousetrapHelpText = "" // Windows: a click on the program starts the tray, not a lecture
	c := &command{ctx: ctx, deps: deps, streams: streams}
	root := c.root()
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if err == nil {
		err = c.flush()
	}
	return c.exitCode(err)
}

// flush hands the result over. A reader that has enough (head) is no failure.
func (c *command) flush() error {
	if c.out.Len() == 0 {
		return nil
	}
	_, err := io.WriteString(c.streams.Out, c.out.String())
	if errors.Is(err, syscall.EPIPE) || errors.Is(err, io.ErrClosedPipe) {
		return nil
	}
	return err
}

func (c *command) exitCode(err error) int {
	var known *exitError
	switch {
	case err == nil:
		return Done
	case errors.Is(err, context.Canceled) && c.ctx.Err() != nil:
		return Interrupted
	case errors.As(err, &known):
		if known.err != nil {
			c.complain(known.Error())
		}
		return known.code
	}
	c.complain(err.Error())
	return Failure
}

// complain prints a message for the user, safe for a terminal.
func (c *command) complain(text string) {
	for i, line := range strings.Split(text, "\n") {
		if i == 0 {
			line = "rollcall: " + line
		}
		indent := line[:len(line)-len(strings.TrimLeft(line, " "))]
		fmt.Fprintln(c.streams.Err, indent+present.Line(line))
	}
}

func (c *command) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "rollcall",
		Short: "Calls the roll of the coding agents on this machine",
		Long: `Rollcall asks Claude Code, Codex and their like, each time anew, which of their
sessions work, which wait for you and which are done.

Without a command it starts the tray icon.`,
		SilenceErrors:              true,
		SilenceUsage:               true,
		SuggestionsMinimumDistance: 2,
		Args:                       c.noCommand,
		RunE:                       c.tray,
	}
	root.SetOut(&c.out)
	root.SetErr(c.streams.Err)
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return wrong("%w\n  see: %s --help", err, cmd.CommandPath())
	})
	root.PersistentFlags().StringVar(&c.color, "color", "auto", "colours: auto, always or never")
	root.PersistentPreRunE = func(*cobra.Command, []string) error { return c.setColor() }
	root.AddCommand(c.listCommand(), c.statusCommand(), c.stopCommand(), c.peekCommand(), c.worktreeCommand(), c.pruneCommand(), c.doctorCommand(), c.versionCommand(), c.windowCommand())
	root.AddCommand(c.launchCommand(), c.resumeCommand(), c.lockCommand(), c.unlockCommand(), c.locksCommand(), c.fuseCommand(), c.watchCommand(), c.compareCommand())
	root.CompletionOptions.HiddenDefaultCmd = true
	return root
}

// noCommand is what an unknown first word gets.
func (c *command) noCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	msg := fmt.Sprintf("unknown command %q", args[0])
	if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
		msg += fmt.Sprintf("; did you mean %q?", near[0])
	}
	return wrong("%s\n  see: rollcall --help", msg)
}

func (c *command) tray(cmd *cobra.Command, _ []string) error {
	if c.deps.Tray == nil {
		if err := cmd.Help(); err != nil {
			return err
		}
		return errors.Join(c.flush(), wrong("this build has no tray; use one of the commands above"))
	}
	return ended(c.ctx, c.deps.Tray(c.ctx))
}

func (c *command) windowCommand() *cobra.Command {
	var o WindowOptions
	cmd := &cobra.Command{
		Use:   "window",
		Short: "Open the window",
		Args:  noArgs,
		RunE: func(*cobra.Command, []string) error {
			if c.deps.Window == nil {
				return wrong("this build has no window")
			}
			return ended(c.ctx, c.deps.Window(c.ctx, o))
		},
	}
	cmd.Flags().StringVar(&o.Session, "session", "", "show the session with this `id`")
	cmd.Flags().BoolVar(&o.Launch, "launch", false, "open at the launch page")
	cmd.Hidden = c.deps.Window == nil
	return cmd
}

// ended says how a part that runs until it is told to stop came to its end.
func ended(ctx context.Context, err error) error {
	if ctx.Err() != nil && (errors.Is(err, context.Canceled) || errors.Is(err, context.Cause(ctx))) {
		return nil
	}
	return err
}

func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return wrong("%s takes no argument, got %q\n  see: %s --help", cmd.CommandPath(), args[0], cmd.CommandPath())
	}
	return nil
}

func (c *command) setColor() error {
	switch c.color {
	case "always":
		c.streams.Color = true
	case "never":
		c.streams.Color = false
	case "auto":
		if c.deps.Getenv("NO_COLOR") != "" || c.deps.Getenv("TERM") == "dumb" {
			c.streams.Color = false
		}
	default:
		return wrong("--color is auto, always or never, not %q", c.color)
	}
	return nil
}

// settings are the user's settings, as far as they could be understood.
func (c *command) settings() (settings.Settings, error) {
	if c.deps.Settings == nil {
		return settings.Settings{}, nil
	}
	return c.deps.Settings()
}

// core makes a core over all adapters.
func (c *command) core(since time.Duration, totals bool) (*app.Core, error) {
	cfg, err := c.config(since, totals, "")
	if err != nil {
		return nil, err
	}
	return app.New(cfg), nil
}

// config is a core's over the adapter with this name; empty: over all.
func (c *command) config(since time.Duration, totals bool, only adapters.Name) (app.Config, error) {
	list, table := c.deps.Open()
	if _, err := c.settings(); err != nil {
		c.complain(err.Error())
	}
	if only != "" {
		var names []string
		var kept []adapters.Adapter
		for _, a := range list {
			names = append(names, string(a.Name()))
			if a.Name() == only {
				kept = append(kept, a)
			}
		}
		if kept == nil {
			return app.Config{}, wrong("--agent is one of %s, not %q", strings.Join(names, ", "), only)
		}
		list = kept
	}
	cfg := app.Config{Adapters: list, Table: table, Since: since, Totals: totals, Limit: c.deps.Limit, Log: c.deps.Log}
	if l, err := c.launches(); err == nil {
		cfg.Launches = l
	}
	return cfg, nil
}

// failures tells of each adapter that failed, in one line; with strict some make
// the command fail.
func (c *command) failures(snap *app.Snapshot, strict bool) error {
	failed := false
	for _, h := range snap.Adapters {
		if h.State != app.Failed {
			continue
		}
		failed = true
		line := string(h.Name) + ": not everything could be read"
		if len(h.Problems) > 0 {
			line = string(h.Name) + ": " + h.Problems[0]
		}
		if n := len(h.Problems) - 1; n > 0 {
			line += fmt.Sprintf(" (and %d more: rollcall doctor)", n)
		}
		c.complain(line)
	}
	if failed && strict {
		return &exitError{code: Incomplete}
	}
	return nil
}
