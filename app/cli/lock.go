package cli

import (
	"errors"
	"fmt"
	"os/user"

	"github.com/spf13/cobra"

	"rollcall/app/launch"
	"rollcall/app/lock"
	"rollcall/app/present"
)

// launches are what Rollcall started, and the folders it keeps. They are opened
// once, and what can't be read of them is told.
func (c *command) launches() (*launch.Launches, error) {
	if c.deps.Launches == nil {
		return nil, errors.New("this build keeps no launches")
	}
	l, err := c.deps.Launches()
	if err != nil {
		return nil, err
	}
	c.deps.Launches = func() (*launch.Launches, error) { return l, nil }
	if !c.opened {
		c.opened = true
		if _, err := l.List(); err != nil {
			c.complain(err.Error())
		}
	}
	return l, nil
}

// held gives the exit code of a locked or occupied folder to an error.
func held(err error) error {
	var locked *lock.HeldError
	var occupied *launch.OccupiedError
	if errors.As(err, &locked) || errors.As(err, &occupied) {
		return &exitError{Locked, err}
	}
	return err
}

func oneFolder(cmd *cobra.Command, args []string) error {
	if len(args) != 1 || args[0] == "" {
		return wrong("%s takes one folder\n  see: %s --help", cmd.Name(), cmd.CommandPath())
	}
	return nil
}

func (c *command) lockCommand() *cobra.Command {
	var by, reason string
	cmd := &cobra.Command{
		Use:   "lock FOLDER",
		Short: "Keep launches out of a folder until it is unlocked",
		Long: `Lock a folder by hand: launches into it, into a folder above it or below it are
refused, and say who holds it and why, until it is unlocked.`,
		Args: oneFolder,
		RunE: func(_ *cobra.Command, args []string) error {
			l, err := c.launches()
			if err != nil {
				return err
			}
			k, err := l.Locks().Take(c.ctx, lock.Lock{Path: args[0], Kind: lock.Manual, By: by, Reason: reason}, false, nil)
			if err != nil {
				return held(err)
			}
			fmt.Fprintf(&c.out, "locked %s\n", c.home(present.Line(k.Path)))
			return nil
		},
	}
	cmd.Flags().StringVar(&by, "by", userName(), "who holds it")
	cmd.Flags().StringVar(&reason, "reason", "", "why, for those who are refused")
	return cmd
}

func userName() string {
	if u, err := user.Current(); err == nil {
		return u.Username
	}
	return "you"
}

func (c *command) unlockCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "unlock FOLDER",
		Short: "Remove a lock that was made by hand",
		Long: `Remove the lock of a folder that was made by hand. The lock of a launch ends with
the launch: stop that.`,
		Args: oneFolder,
		RunE: func(_ *cobra.Command, args []string) error {
			l, err := c.launches()
			if err != nil {
				return err
			}
			if err := l.Locks().Unlock(c.ctx, args[0]); err != nil {
				return err
			}
			fmt.Fprintf(&c.out, "unlocked %s\n", c.home(present.Line(args[0])))
			return nil
		},
	}
}

func (c *command) locksCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "locks",
		Short: "List the locked folders, who holds them and why",
		Args:  noArgs,
		RunE: func(*cobra.Command, []string) error {
			l, err := c.launches()
			if err != nil {
				return err
			}
			if _, err := l.Locks().Sweep(c.ctx); err != nil {
				c.complain(err.Error())
			}
			list, err := l.Locks().List()
			if asJSON {
				return errors.Join(err, c.printJSON(locksDocument{Schema: schema, Locks: locksAsJSON(list)}))
			}
			if len(list) == 0 {
				fmt.Fprintln(&c.out, "no folder is locked")
			}
			for _, k := range list {
				fmt.Fprintf(&c.out, "%s\n  %s, since %s\n", c.home(present.Line(k.Path)), present.Line(k.Holder()), k.Since.Local().Format("2006-01-02 15:04:05"))
			}
			return err
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON, schema 1")
	return cmd
}

// lockList is the locks for a document about sessions.
func (c *command) lockList() []lockJSON {
	l, err := c.launches()
	if err != nil {
		return nil
	}
	list, err := l.Locks().List()
	if err != nil {
		c.complain(err.Error())
	}
	return locksAsJSON(list)
}

type locksDocument struct {
	Schema int        `json:"schema"`
	Locks  []lockJSON `json:"locks"`
}

type lockJSON struct {
	Path    string    `json:"path"`
	Kind    lock.Kind `json:"kind"`
	By      string    `json:"by,omitempty"`
	Reason  string    `json:"reason,omitempty"`
	PID     int       `json:"pid,omitempty"`
	Session string    `json:"session,omitempty"`
	Since   string    `json:"since"`
}

func locksAsJSON(list []lock.Lock) []lockJSON {
	out := make([]lockJSON, 0, len(list))
	for _, k := range list {
		by := k.By
		if k.Kind == lock.Auto {
			by = k.Agent
		}
		out = append(out, lockJSON{Path: k.Path, Kind: k.Kind, By: by, Reason: k.Reason, PID: k.Owner.PID, Session: k.Session, Since: timestamp(k.Since)})
	}
	return out
}
