package cli

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"rollcall/app/fuse"
	"rollcall/app/present"
)

func (c *command) fuses() (*fuse.Fuses, error) {
	if c.deps.Fuses == nil {
		return nil, errors.New("this build keeps no fuses")
	}
	return c.deps.Fuses()
}

func (c *command) fuseCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "fuse",
		Short: "Set timers of folders, for what a session left running there",
		Long: `A fuse is a timer of a folder. When it expires, while the tray runs or at its
next start, a script of yours runs in the folder, a webhook is told, or both.
There is one fuse per folder, and it is never overwritten.`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(c.fuseSetCommand(), c.fuseExtendCommand(), c.fuseCancelCommand(), c.fuseListCommand())
	return cmd
}

func (c *command) fuseSetCommand() *cobra.Command {
	var x fuse.Fuse
	var in time.Duration
	cmd := &cobra.Command{
		Use:     "set FOLDER",
		Short:   "Set a fuse",
		Example: `  rollcall fuse set . --in 30m --note "test cluster" --script 'make cluster-down'`,
		Args:    oneFolder,
		RunE: func(_ *cobra.Command, args []string) error {
			f, err := c.fuses()
			if err != nil {
				return err
			}
			if x.Script == "" && x.Webhook == "" {
				return wrong("a fuse needs something to do: --script, --webhook or both")
			}
			x.Path = args[0]
			set, err := f.Set(c.ctx, x, in)
			if err != nil {
				return err
			}
			fmt.Fprintf(&c.out, "%s: expires at %s, in %s\n", c.home(present.Line(set.Path)), clock(set.Expires), in)
			return nil
		},
	}
	cmd.Flags().DurationVar(&in, "in", fuse.Default, "when it expires")
	cmd.Flags().StringVar(&x.Note, "note", "", "what it is for")
	cmd.Flags().StringVar(&x.Script, "script", "", "a `command` to run in the folder, 2 minutes at most")
	cmd.Flags().StringVar(&x.Webhook, "webhook", "", "an `address` to post to")
	return cmd
}

func (c *command) fuseExtendCommand() *cobra.Command {
	var by time.Duration
	cmd := &cobra.Command{
		Use:   "extend FOLDER",
		Short: "Let a fuse burn longer",
		Args:  oneFolder,
		RunE: func(_ *cobra.Command, args []string) error {
			f, err := c.fuses()
			if err != nil {
				return err
			}
			x, err := f.Extend(c.ctx, args[0], by)
			if err != nil {
				return err
			}
			fmt.Fprintf(&c.out, "%s: expires at %s\n", c.home(present.Line(x.Path)), clock(x.Expires))
			return nil
		},
	}
	cmd.Flags().DurationVar(&by, "by", fuse.Default, "how much longer")
	return cmd
}

func (c *command) fuseCancelCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "cancel FOLDER",
		Short: "Put a fuse out",
		Args:  oneFolder,
		RunE: func(_ *cobra.Command, args []string) error {
			f, err := c.fuses()
			if err != nil {
				return err
			}
			x, err := f.Cancel(c.ctx, args[0])
			if err != nil {
				return err
			}
			fmt.Fprintf(&c.out, "%s: put out\n", c.home(present.Line(x.Path)))
			return nil
		},
	}
}

func (c *command) fuseListCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the fuses that burn, and those that fired in the last 24 hours",
		Args:  noArgs,
		RunE: func(*cobra.Command, []string) error {
			f, err := c.fuses()
			if err != nil {
				return err
			}
			list, err := f.List()
			if asJSON {
				return errors.Join(err, c.printJSON(fusesAsJSON(list)))
			}
			if len(list) == 0 {
				fmt.Fprintln(&c.out, "no fuse burns")
			}
			for i := range list {
				c.printFuse(&list[i])
			}
			return err
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON, schema 1")
	return cmd
}

func (c *command) printFuse(x *fuse.Fuse) {
	state := "expires at " + clock(x.Expires)
	switch {
	case x.Fired() && len(x.Results) > 0:
		state = "fired at " + clock(x.FiredAt) + ": " + present.Line(strings.Join(x.Results, "; "))
	case x.Fired():
		state = "fired at " + clock(x.FiredAt)
	case time.Now().After(x.Expires):
		state = "overdue since " + clock(x.Expires) + ": it fires once the tray runs"
	}
	fmt.Fprintf(&c.out, "%s\n  %s\n", c.home(present.Line(x.Path)), state)
	for name, value := range map[string]string{"note": x.Note, "script": x.Script} {
		if value != "" {
			fmt.Fprintf(&c.out, "  %s: %s\n", name, c.prompt(value))
		}
	}
	if x.Webhook != "" {
		fmt.Fprintln(&c.out, "  tells a webhook")
	}
}

func clock(t time.Time) string { return t.Local().Format("2006-01-02 15:04:05") }

type fuseDocument struct {
	Schema int        `json:"schema"`
	Fuses  []fuseJSON `json:"fuses"`
}

type fuseJSON struct {
	Path    string   `json:"path"`
	Note    string   `json:"note,omitempty"`
	Script  string   `json:"script,omitempty"`
	SetAt   string   `json:"set_at"`
	Expires string   `json:"expires"`
	FiredAt string   `json:"fired_at,omitempty"`
	Results []string `json:"results,omitempty"`
}

func fuseAsJSON(x *fuse.Fuse) fuseJSON {
	return fuseJSON{Path: x.Path, Note: x.Note, Script: x.Script, SetAt: timestamp(x.SetAt), Expires: timestamp(x.Expires),
		FiredAt: timestamp(x.FiredAt), Results: x.Results}
}

func fusesAsJSON(list []fuse.Fuse) fuseDocument {
	d := fuseDocument{Schema: schema, Fuses: []fuseJSON{}}
	for i := range list {
		d.Fuses = append(d.Fuses, fuseAsJSON(&list[i]))
	}
	return d
}
