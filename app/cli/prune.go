package cli

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"rollcall/adapters"
	"rollcall/app/cleanup"
	"rollcall/app/cleanup/trash"
	"rollcall/app/launch"
	"rollcall/app/present"
)

// pruneJSON is what prune prints as JSON. Empty fields are left out.
type pruneJSON struct {
	Schema     int         `json:"schema"`
	At         string      `json:"at"`
	Items      []pruneItem `json:"items"`
	TotalBytes int64       `json:"total_bytes"`
	Problems   []string    `json:"problems,omitempty"` // what could not be judged, and was left alone
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

type pruneOptions struct{ dryRun, yes, json bool }

func (c *command) pruneCommand() *cobra.Command {
	var o pruneOptions
	cmd := &cobra.Command{
		Use:   "prune",
		Short: "Remove leftovers that nothing living needs",
		Long: `Remove files of sessions and launches that are no more: records, logs and locks
of launches that have ended, and what OrgLoop/agentctl left behind. What a live
process or session may still need is kept, and the agents' own files are never
touched. What is removed goes to the trash, where there is one.`,
		Args: noArgs,
		RunE: func(*cobra.Command, []string) error { return c.prune(o) },
	}
	cmd.Flags().BoolVarP(&o.dryRun, "dry-run", "n", false, "show what would be removed, do nothing")
	cmd.Flags().BoolVarP(&o.yes, "yes", "y", false, "don't ask")
	cmd.Flags().BoolVar(&o.json, "json", false, "print JSON, schema 1; without --yes nothing is removed")
	return cmd
}

func (c *command) prune(o pruneOptions) error {
	cleaner, err := c.cleaner()
	if err != nil {
		return err
	}
	items, problems := cleaner.Scan(c.ctx)
	if err := c.ctx.Err(); err != nil {
		return err
	}
	if o.json {
		return c.pruneAsJSON(cleaner, items, problems, o)
	}
	for _, p := range adapters.Problems(problems) {
		c.complain(p.Error())
	}
	if len(items) == 0 {
		fmt.Fprintln(&c.out, "nothing to remove")
		return nil
	}
	c.printItems(items)
	if o.dryRun {
		return nil
	}
	if err := c.confirmRemoval(fmt.Sprintf("Remove %s?", plural(len(items), "file")), o.yes); err != nil {
		return err
	}
	results, err := c.removeItems(items)
	if err != nil {
		return err
	}
	return c.printRemoved(results)
}

// removeItems removes what was shown. Somebody thought about it meanwhile: the
// sessions are asked anew.
func (c *command) removeItems(items []cleanup.Item) ([]cleanup.Result, error) {
	cleaner, err := c.cleaner()
	if err != nil {
		return nil, err
	}
	return cleaner.Remove(c.ctx, items), nil
}

// cleaner knows all leftovers, in the light of the sessions that are live now.
func (c *command) cleaner() (*cleanup.Cleaner, error) {
	home := c.deps.Getenv("HOME")
	if home == "" {
		var err error
		if home, err = os.UserHomeDir(); err != nil {
			return nil, err
		}
	}
	_, table := c.deps.Open()
	if table == nil {
		return nil, errors.New("there is no process table, so nothing can be called stale")
	}
	core, err := c.core(0, false)
	if err != nil {
		return nil, err
	}
	snap := core.Refresh(c.ctx)
	if err := c.ctx.Err(); err != nil {
		return nil, err
	}
	sessions := cleanup.Sessions{Live: map[string]bool{}, Unknown: failedAdapters(snap)}
	for i := range snap.Sessions {
		if snap.Sessions[i].Live() {
			sessions.Live[snap.Sessions[i].ID] = true
		}
	}
	sources := []cleanup.Source{&cleanup.Agentctl{Home: home, Table: table, Sessions: sessions}}
	if l, err := c.launches(); err == nil {
		sources = append(sources, launch.Leftovers{Launches: l})
	}
	return &cleanup.Cleaner{Home: home, Trash: trash.New(home, c.deps.Getenv), Sources: sources}, nil
}

func (c *command) printItems(items []cleanup.Item) {
	var total int64
	for _, it := range items {
		total += it.Size
		fmt.Fprintf(&c.out, "%s  %s\n", c.home(present.Line(it.Path)), size(it.Size))
		fmt.Fprintf(&c.out, "  %s: %s\n", present.Line(it.Kind), present.Line(it.Why))
	}
	fmt.Fprintf(&c.out, "%s, %s\n", plural(len(items), "file"), size(total))
}

func size(bytes int64) string { return humanize.IBytes(uint64(max(bytes, 0))) }

func (c *command) printRemoved(results []cleanup.Result) error {
	failed := 0
	for _, r := range results {
		path := c.home(present.Line(r.Path))
		switch {
		case r.Err != nil:
			failed++
			c.complain(fmt.Sprintf("%s: not removed: %v", present.Line(r.Path), r.Err))
		default:
			fmt.Fprintf(&c.out, "removed %s: %s\n", path, cmp.Or(c.home(present.Line(r.Where)), "deleted"))
		}
	}
	if err := c.flushNow(); err != nil || failed == 0 {
		return err
	}
	if c.ctx.Err() != nil {
		return c.ctx.Err()
	}
	return fmt.Errorf("%d of %s not removed", failed, plural(len(results), "file"))
}

// pruneAsJSON prints the items; with --yes also what became of them.
func (c *command) pruneAsJSON(cleaner *cleanup.Cleaner, items []cleanup.Item, problems error, o pruneOptions) error {
	d := pruneJSON{Schema: schema, At: timestamp(time.Now()), Items: []pruneItem{}}
	for _, p := range adapters.Problems(problems) {
		d.Problems = append(d.Problems, p.Error())
	}
	for _, it := range items {
		d.TotalBytes += it.Size
		d.Items = append(d.Items, pruneItem{Path: it.Path, Kind: it.Kind, Why: it.Why, Bytes: it.Size, ModifiedAt: timestamp(it.Modified)})
	}
	failed := 0
	if o.yes && !o.dryRun {
		for i, r := range cleaner.Remove(c.ctx, items) {
			if r.Err != nil {
				failed++
				d.Items[i].Error = r.Err.Error()
			} else {
				d.Items[i].Removed, d.Items[i].Where = true, r.Where
			}
		}
	}
	if err := c.printJSON(d); err != nil {
		return err
	}
	if failed > 0 {
		return errorsAfter(c.flushNow(), fmt.Errorf("%d of %s not removed", failed, plural(len(items), "file")))
	}
	return nil
}
