package cli

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"rollcall/app/present"
	"rollcall/app/self/uninstall"
)

// uninstallJSON is the JSON document of uninstall --purge. Empty fields are left out.
type uninstallJSON struct {
	Schema   int          `json:"schema"`
	Items    []purgedJSON `json:"items"`
	Problems []string     `json:"problems,omitempty"`
}

type purgedJSON struct {
	Path    string `json:"path"`
	What    string `json:"what"`
	Files   int    `json:"files"`
	Bytes   int64  `json:"bytes"`
	Removed bool   `json:"removed,omitempty"`
	Error   string `json:"error,omitempty"`
}

type uninstallCommand struct {
	*env
	purge, dryRun, yes, asJSON, force bool
}

func newUninstall(e *env) *cobra.Command {
	c := &uninstallCommand{env: e}
	return command(&cobra.Command{
		Use:   "uninstall --purge",
		Short: "Remove Rollcall's settings, state and login entries",
		Long: `Remove what Rollcall left in your folders: its state, settings and caches, and what
starts it at login. It shows everything and asks first. Sessions of agents, their
files and the worktrees of launches are not touched. It removes nothing while a
launch or a timer of another machine or container with the same home folder is kept.

The program itself is removed by the package manager or installer that installed it.`,
		Args: noArgs,
		RunE: withoutArgs(c.run),
	},
		withFlag(&c.purge, "purge", "remove state, settings and login entries"),
		dryRunFlag(&c.dryRun),
		yesFlag(&c.yes),
		withFlag(&c.force, "force", "also remove what another machine or container keeps here, such as one that is gone"),
		withFlag(&c.asJSON, "json", "print JSON, schema 1; without --yes nothing is removed"),
	)
}

func (c *uninstallCommand) run() error {
	if !c.purge {
		return usageError("uninstall needs --purge, which removes settings, state and login entries (--dry-run shows them)\n" +
			"  the program itself is removed by the package manager or installer that installed it")
	}
	items, err := uninstall.Plan()
	if err != nil {
		return err
	}
	busy := c.busy()
	remove := !c.dryRun && (c.yes || !c.asJSON) && len(items) > 0
	if remove && busy != nil && c.yes {
		return busy
	}
	if c.asJSON {
		return c.runJSON(items, busy, remove)
	}
	if len(items) == 0 {
		c.printf("nothing to remove\n")
		return nil
	}
	for _, i := range items {
		c.printf("%s  %s, %s\n  %s\n", c.path(i.Path), plural(i.Files, "file"), size(i.Bytes), present.Line(i.What))
	}
	if !remove {
		if busy != nil {
			c.warn(busy.Error())
		}
		return nil
	}
	if busy != nil {
		return busy
	}
	if err := c.confirm("Remove all of this? It can't be brought back.", c.yes, "nothing was removed"); err != nil {
		return err
	}
	if err := c.busy(); err != nil { // the user took time to answer
		return err
	}
	return c.remove(items, func(i int, err error) {
		if err != nil {
			c.warn(fmt.Sprintf("%s: not removed: %v", present.Line(items[i].Path), err))
		} else {
			c.printf("removed %s\n", c.path(items[i].Path))
		}
	})
}

// busy returns an error that gives the reason why nothing may be removed now: a process of Rollcall would lose its files, or write them again.
func (c *uninstallCommand) busy() error {
	running, err := uninstall.Running()
	if err != nil {
		return err
	}
	if len(running) > 0 {
		return fmt.Errorf("Rollcall's %s runs: quit it first", strings.Join(running, " and its ")) //nolint:staticcheck // a name
	}
	if err := c.keptElsewhere(); err != nil && !c.force {
		return err
	}
	if c.deps.Keeper == nil {
		return nil
	}
	s, isRunning, err := c.keeperStatus(c.ctx)
	switch {
	case err != nil:
		return err
	case s.Launches > 0:
		return fmt.Errorf("%d of Rollcall's launches still run: rollcall stop ID ends one", s.Launches)
	case s.Fuses > 0 || s.Hooks > 0:
		return errors.New("timers are set or hooks are due: rollcall fuse list shows timers, rollcall fuse cancel FOLDER removes one")
	case isRunning:
		return fmt.Errorf("the keeper runs as process %d: it ends one minute after its last task; if a webhook is set, or systemd started the keeper, stop it first", s.PID)
	}
	return nil
}

// keptElsewhere returns an error if a launch or a timer belongs to another machine or container that shares the home folder. The processes of that
// machine are not visible here. It ignores records that can't be read, since keeperStatus reports them.
func (c *uninstallCommand) keptElsewhere() error {
	if l, err := c.launches(); err == nil {
		list, _ := l.List()
		for i := range list {
			if r := &list[i]; r.Foreign() {
				return fmt.Errorf("a launch of %s in %s runs on %s, which shares this home folder: stop it there; if %[3]s is gone, use --force",
					present.AgentName(r.Agent), c.path(r.Dir), present.Line(r.Host))
			}
		}
	}
	if f, err := c.deps.Fuses(); err == nil {
		list, _ := f.List()
		for i := range list {
			if x := &list[i]; x.Foreign() && !x.Fired() {
				return fmt.Errorf("a timer of %s, which shares this home folder, is set for %s: rollcall fuse cancel FOLDER removes it; if %[1]s is gone, --force does too",
					present.Line(x.Host), c.path(x.Path))
			}
		}
	}
	return nil
}

// remove removes the items, and calls done for each.
func (c *uninstallCommand) remove(items []uninstall.Item, done func(i int, err error)) error {
	failed := 0
	for i := range items {
		err := items[i].Remove()
		if err != nil {
			failed++
		}
		done(i, err)
	}
	if failed == 0 {
		return nil
	}
	return cmp.Or(c.flush(), fmt.Errorf("%d of %d not removed", failed, len(items)))
}

func (c *uninstallCommand) runJSON(items []uninstall.Item, busy error, remove bool) error {
	d := uninstallJSON{Schema: schema, Items: each(items, func(i *uninstall.Item) purgedJSON {
		return purgedJSON{Path: i.Path, What: i.What, Files: i.Files, Bytes: i.Bytes}
	})}
	if busy != nil {
		d.Problems = append(d.Problems, busy.Error())
	}
	var err error
	if remove {
		err = c.remove(items, func(i int, err error) {
			d.Items[i].Removed = err == nil
			d.Items[i].Error = errorText(err)
		})
	}
	return cmp.Or(c.json(d), err)
}
