package cli

import (
	"errors"

	"github.com/spf13/cobra"

	"rollcall/app/owned/launch"
	"rollcall/app/present"
	"rollcall/app/store/lock"
)

func newLock(e *env) *cobra.Command {
	k := lock.Lock{Kind: lock.Manual}
	return command(&cobra.Command{
		Use:   "lock FOLDER",
		Short: "Keep launches out of a folder until it is unlocked",
		Long: `Lock a folder by hand: launches into it, into a folder above it or below it are
refused, with the name and reason of whoever locked it, until it is unlocked.`,
		Args: oneFolder,
		RunE: with(e.launches, func(l *launch.Launches, args []string) error {
			k.Path = args[0]
			taken, err := l.Locks().Take(e.ctx, k, false, nil)
			if err != nil {
				return folderError(err)
			}
			e.printf("locked %s\n", e.path(taken.Path))
			return nil
		}),
	},
		withFlag(&k.By, "by", "who holds it (default: your user name)"),
		withFlag(&k.Reason, "reason", "the reason, shown when a launch is refused"),
	)
}

func newUnlock(e *env) *cobra.Command {
	return &cobra.Command{
		Use:   "unlock FOLDER",
		Short: "Remove a lock that was made by hand",
		Long: `Remove the lock of a folder that was made by hand. The lock of a launch ends with
the launch: stop the session to remove it. If the launch ran on another machine or
in another container with the same home folder, unlock removes its lock too, since that
machine may not exist any more: first make sure that the launch has ended.`,
		Args: oneFolder,
		RunE: with(e.launches, func(l *launch.Launches, args []string) error {
			if err := l.Locks().Unlock(e.ctx, args[0]); err != nil {
				return err
			}
			e.printf("unlocked %s\n", e.path(args[0]))
			return nil
		}),
	}
}

func newLocks(e *env) *cobra.Command {
	var asJSON bool
	return command(&cobra.Command{
		Use:   "locks",
		Short: "List the locked folders, who holds them and why",
		Args:  noArgs,
		RunE:  with(e.launches, func(l *launch.Launches, _ []string) error { return printLocks(e, l, asJSON) }),
	},
		jsonFlag(&asJSON),
	)
}

func printLocks(e *env, l *launch.Launches, asJSON bool) error {
	if _, err := l.Locks().Sweep(e.ctx); err != nil {
		e.warn(err.Error())
	}
	list, err := l.Locks().List()
	if asJSON {
		return errors.Join(err, e.json(locksDocument{Schema: schema, Locks: each(list, lockAsJSON)}))
	}
	if len(list) == 0 {
		e.printf("no folder is locked\n")
	}
	for _, k := range list {
		e.printf("%s\n  %s, since %s\n", e.path(k.Path), present.Line(k.Holder()), clock(k.Since))
	}
	return err
}

// lockList returns the locks, for a document about sessions.
func lockList(e *env) []lockJSON {
	l, err := e.launches()
	if err != nil {
		return nil
	}
	list, err := l.Locks().List()
	if err != nil {
		e.warn(err.Error())
	}
	return each(list, lockAsJSON)
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

func lockAsJSON(k *lock.Lock) lockJSON {
	return lockJSON{Path: k.Path, Kind: k.Kind, By: ifelse(k.Kind == lock.Auto, k.Agent, k.By), Reason: k.Reason, PID: k.Owner.PID, Session: k.Session, Since: timestamp(k.Since)}
}
