package cli

import (
	"cmp"
	"fmt"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"rollcall/adapters"
	"rollcall/app"
	"rollcall/app/owned/cleanup"
	"rollcall/app/owned/launch"
	"rollcall/app/owned/marks"
	"rollcall/app/present"
)

// pruneJSON is the JSON document of prune. Empty fields are left out.
type pruneJSON struct {
	Schema     int         `json:"schema"`
	At         string      `json:"at"`
	Items      []pruneItem `json:"items"`
	TotalBytes int64       `json:"total_bytes"`
	Problems   []string    `json:"problems,omitempty"` // what could not be checked, and was kept
}

type pruneItem struct {
	Path       string `json:"path"`
	Kind       string `json:"kind"`
	Why        string `json:"why"`
	Bytes      int64  `json:"bytes"`
	ModifiedAt string `json:"modified_at,omitempty"`
	Removed    bool   `json:"removed,omitempty"`
	Where      string `json:"where,omitempty"` // in the trash
	Error      string `json:"error,omitempty"` // why it was not removed
}

type pruneCommand struct {
	*env
	dryRun, yes, asJSON bool
}

func newPrune(e *env) *cobra.Command {
	c := &pruneCommand{env: e}
	return command(&cobra.Command{
		Use:        "prune",
		SuggestFor: []string{"clean", "gc"},
		Short:      "Remove leftovers that no live session needs",
		Long: `Remove files of sessions and launches that have ended: records, logs and locks
of launches, your marks of sessions that are gone, and what OrgLoop/agentctl left behind. What a live process or session
may still need is kept, and the agents' own files are never touched. What is removed
goes to the trash, where there is one.`,
		Args: noArgs,
		RunE: withoutArgs(c.run),
	},
		withFlag(&c.dryRun, "dry-run,n", "show what would be removed, do nothing"),
		yesFlag(&c.yes),
		withFlag(&c.asJSON, "json", "print JSON, schema 1; without --yes nothing is removed"),
	)
}

func (c *pruneCommand) run() error {
	cleaner, err := c.cleaner()
	if err != nil {
		return err
	}
	items, problems := cleaner.Scan(c.ctx)
	if err := c.ctx.Err(); err != nil {
		return err
	}
	if c.asJSON {
		return c.runJSON(cleaner, items, problems)
	}
	for _, p := range adapters.Problems(problems) {
		c.warn(p.Error())
	}
	if len(items) == 0 {
		c.printf("nothing to remove\n")
		return nil
	}
	c.print(items)
	if c.dryRun {
		return nil
	}
	if err := c.confirm(fmt.Sprintf("Remove %s?", plural(len(items), "file")), c.yes, "nothing was removed"); err != nil {
		return err
	}
	// The user took time to answer, so the sessions are asked again.
	cleaner, err = c.cleaner()
	if err != nil {
		return err
	}
	return c.printRemoved(cleaner.Remove(c.ctx, items))
}

// cleaner returns a cleaner for the sessions that are live now.
func (c *pruneCommand) cleaner() (*cleanup.Cleaner, error) {
	_, table := c.open()
	_, snap, err := c.refresh(0, false)
	if err != nil {
		return nil, err
	}
	var sources []cleanup.Source
	if l, err := c.launches(); err == nil {
		sources = append(sources, launch.Leftovers{Launches: l})
	}
	if m, err := c.deps.Marks(); err == nil && m.Any() {
		_, all, err := c.refresh(app.All, false)
		if err != nil {
			return nil, err
		}
		sources = append(sources, marks.Leftovers{Marks: m, All: all})
	}
	return cleanup.New(c.getenv, table, snap, sources...)
}

// print shows what can be removed.
func (c *pruneCommand) print(items []cleanup.Item) {
	for _, it := range items {
		c.printf("%s  %s\n", c.path(it.Path), size(it.Size))
		c.printf("  %s: %s\n", present.Line(it.Kind), present.Line(it.Why))
	}
	c.printf("%s, %s\n", plural(len(items), "file"), size(totalSize(items)))
}

func totalSize(items []cleanup.Item) (bytes int64) {
	for i := range items {
		bytes += items[i].Size
	}
	return bytes
}

func size(bytes int64) string { return humanize.IBytes(uint64(max(bytes, 0))) }

// printRemoved shows what was removed. It returns an error if something was not.
func (c *pruneCommand) printRemoved(results []cleanup.Result) error {
	failed := 0
	for _, r := range results {
		if r.Err != nil {
			failed++
			c.warn(fmt.Sprintf("%s: not removed: %v", present.Line(r.Path), r.Err))
		} else {
			c.printf("removed %s: %s\n", c.path(r.Path), cmp.Or(c.path(r.Where), "deleted"))
		}
	}
	err := c.flush()
	if failed > 0 {
		err = cmp.Or(err, c.ctx.Err())
	}
	return cmp.Or(err, someFailed(failed, len(results), "file", "not removed"))
}

// runJSON prints the items; with --yes it removes them and prints the results.
func (c *pruneCommand) runJSON(cleaner *cleanup.Cleaner, items []cleanup.Item, problems error) error {
	d := pruneJSON{Schema: schema, At: timestamp(time.Now()), TotalBytes: totalSize(items), Items: each(items, func(it *cleanup.Item) pruneItem {
		return pruneItem{Path: it.Path, Kind: it.Kind, Why: it.Why, Bytes: it.Size, ModifiedAt: timestamp(it.Modified)}
	})}
	for _, p := range adapters.Problems(problems) {
		d.Problems = append(d.Problems, p.Error())
	}
	failed := 0
	if c.yes && !c.dryRun {
		for i, r := range cleaner.Remove(c.ctx, items) {
			if r.Err != nil {
				failed++
				d.Items[i].Error = r.Err.Error()
			} else {
				d.Items[i].Removed, d.Items[i].Where = true, r.Where
			}
		}
	}
	if err := c.json(d); err != nil {
		return err
	}
	return cmp.Or(c.flush(), someFailed(failed, len(items), "file", "not removed"))
}
