package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"rollcall/adapters"
	"rollcall/app"
	"rollcall/app/present"
	"rollcall/app/worktree"
	"rollcall/proc"
)

type cleanOptions struct {
	repo, group             string
	all, dryRun, force, yes bool
}

func (c *command) worktreeCleanCommand() *cobra.Command {
	var o cleanOptions
	cmd := &cobra.Command{
		Use:   "clean [NAME…]",
		Short: "Remove worktrees of launches, unless work would be lost",
		Long: `Remove worktrees of launches together with their branches: those named (by
folder, path or branch), those of a group, or all.

One with changes, untracked files, or commits that are in no other branch and in
no remote is kept, and what would be lost is said; --force removes it all the
same. One that a session or process works in, or that is
locked, is never removed. Ignored files, such as what a build made, go with it.`,
		RunE: func(_ *cobra.Command, args []string) error {
			if err := o.check(args); err != nil {
				return err
			}
			return c.worktreeClean(args, o)
		},
	}
	cmd.Flags().StringVar(&o.repo, "repo", "", "the repository that this `folder` is in; without it the current one")
	cmd.Flags().StringVar(&o.group, "group", "", "all worktrees of this launch `group`")
	cmd.Flags().BoolVar(&o.all, "all", false, "all worktrees of launches")
	cmd.Flags().BoolVarP(&o.dryRun, "dry-run", "n", false, "show what would be done, do nothing")
	cmd.Flags().BoolVar(&o.force, "force", false, "also those with work that would be lost")
	cmd.Flags().BoolVarP(&o.yes, "yes", "y", false, "don't ask")
	return cmd
}

// check wants exactly one way of naming worktrees.
func (o *cleanOptions) check(names []string) error {
	ways := 0
	for _, given := range []bool{len(names) > 0, o.group != "", o.all} {
		if given {
			ways++
		}
	}
	if ways != 1 {
		return wrong("worktree clean takes names of worktrees, or --group, or --all\n  see: rollcall worktree list")
	}
	return nil
}

func (c *command) worktreeClean(names []string, o cleanOptions) error {
	repo, err := c.openRepo(o.repo)
	if err != nil {
		return err
	}
	who, err := c.occupants()
	if err != nil {
		return err
	}
	found := make([]bool, len(names))
	plans, err := repo.Plan(c.ctx, who, func(w worktree.Worktree) bool { return o.wants(w, names, found) })
	if err != nil {
		return err
	}
	if i := slices.Index(found, false); i >= 0 {
		return fmt.Errorf("no worktree of a launch is named %s\n  see: rollcall worktree list", names[i])
	}
	// A doubt is for somebody who is asked to decide.
	agreed := worktree.Consent{Losing: o.force, Unsure: o.force || !o.yes}
	var remove []*worktree.Plan
	for i := range plans {
		c.printCleaning(&plans[i], agreed)
		if plans[i].Removable(agreed) {
			remove = append(remove, &plans[i])
		}
	}
	kept := len(plans) - len(remove)
	if len(remove) == 0 {
		fmt.Fprintln(&c.out, "no worktree to remove")
	} else if !o.dryRun {
		if err := c.confirmRemoval(fmt.Sprintf("Remove %s?", plural(len(remove), "worktree")), o.yes); err != nil {
			return err
		}
		if err := c.removeWorktrees(repo, remove, who, agreed); err != nil {
			return err
		}
	}
	if kept > 0 && len(names) > 0 && !o.dryRun { // with --all and --group to keep some is the point
		return errorsAfter(c.flushNow(), fmt.Errorf("%d of %s kept", kept, plural(len(plans), "worktree")))
	}
	return nil
}

// wants says whether the worktree is meant, and notes by which name.
func (o *cleanOptions) wants(w worktree.Worktree, names []string, found []bool) bool {
	if o.all || o.group != "" {
		return o.all || w.Group == o.group
	}
	wanted := false
	for i, name := range names {
		path, _ := filepath.Abs(name)
		if name == w.Name || name == w.Branch || name == w.Own || filepath.Clean(name) == w.Path || path == w.Path {
			wanted, found[i] = true, true
		}
	}
	return wanted
}

func (c *command) printCleaning(p *worktree.Plan, agreed worktree.Consent) {
	out := &c.out
	fmt.Fprintf(out, "%s\n", c.home(present.Line(p.Path)))
	for _, reason := range p.Never {
		fmt.Fprintf(out, "  kept: %s\n", present.Line(reason))
	}
	if len(p.Never) > 0 {
		return
	}
	loses := present.Line(strings.Join(p.Loses, ", "))
	if !p.Removable(agreed) {
		for _, d := range p.Doubts {
			fmt.Fprintf(out, "  %s: %s\n", ifelse(agreed.Unsure, "also", "kept"), present.Line(d))
		}
		if loses != "" {
			fmt.Fprintf(out, "  kept: it would lose %s\n", loses)
		}
		return
	}
	what := "its folder"
	if p.Gone {
		what = "git's record of it (its folder is gone already)"
	}
	if p.OwnCommit != "" {
		what += " and the branch " + present.Line(p.Own)
	}
	fmt.Fprintf(out, "  removes %s\n", what)
	if p.Ignored.Files > 0 {
		fmt.Fprintf(out, "  with %s of ignored files\n", humanize.IBytes(uint64(max(p.Ignored.Bytes, 0))))
	}
	if loses != "" {
		fmt.Fprintf(out, "  LOSES %s\n", loses)
	}
	for _, d := range p.Doubts {
		fmt.Fprintf(out, "  although %s\n", present.Line(d))
	}
}

// removeWorktrees removes one after the other; a failure does not stop the others.
func (c *command) removeWorktrees(repo *worktree.Repo, plans []*worktree.Plan, who worktree.Occupants, agreed worktree.Consent) error {
	failed := 0
	for _, p := range plans {
		got, err := repo.Remove(c.ctx, p, who, agreed)
		if c.ctx.Err() != nil {
			return c.ctx.Err()
		}
		path := present.Line(p.Path)
		if err != nil {
			failed++
			c.complain(path + ": " + err.Error())
			continue
		}
		fmt.Fprintf(&c.out, "removed %s\n", c.home(path))
		switch {
		case got.Kept != "":
			fmt.Fprintf(&c.out, "  kept the branch %s: %s\n", present.Line(p.Own), present.Line(got.Kept))
		case got.Branch != "" && p.Lost > 0:
			fmt.Fprintf(&c.out, "  brings the branch back: git branch %s %s\n", present.Line(got.Branch), got.Commit)
		}
		if p.Branch == "" && p.Head != "" && p.Lost > 0 {
			fmt.Fprintf(&c.out, "  it was at the commit %s\n", p.Head)
		}
		if err := c.flushNow(); err != nil {
			return err
		}
	}
	if failed > 0 {
		return fmt.Errorf("%d of %s not removed", failed, plural(len(plans), "worktree"))
	}
	return nil
}

// occupants finds the sessions and processes that work in some folder.
func (c *command) occupants() (worktree.Occupants, error) {
	_, table := c.deps.Open()
	core, err := c.core(0, false)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context) ([]worktree.Occupant, error) {
		snap := core.Refresh(ctx)
		out, err := sessionsAtWork(snap)
		processes, tableErr := processesAtWork(ctx, table)
		return append(out, processes...), errors.Join(err, tableErr, ctx.Err())
	}, nil
}

// sessionsAtWork are the live sessions of this machine with their folders. Some
// have no process in it: that of Codex's daemon, for one.
func sessionsAtWork(snap *app.Snapshot) ([]worktree.Occupant, error) {
	var out []worktree.Occupant
	for i := range snap.Sessions {
		s := &snap.Sessions[i]
		if s.Live() && s.Remote == "" && s.CWD != "" {
			out = append(out, worktree.Occupant{Folder: s.CWD,
				Who: fmt.Sprintf("%s %s (%s)", present.AgentName(s.Agent), present.Line(begin(s.ID, 8)), present.Status(s.Session))})
		}
	}
	var errs []error
	for _, name := range failedAdapters(snap) {
		errs = append(errs, fmt.Errorf("not everything of %s could be read", name))
	}
	return out, errors.Join(errs...)
}

// failedAdapters are those whose sessions are not all known.
func failedAdapters(snap *app.Snapshot) []adapters.Name {
	var out []adapters.Name
	for _, h := range snap.Adapters {
		if h.State != app.OK && h.State != app.Absent {
			out = append(out, h.Name)
		}
	}
	return out
}

func processesAtWork(ctx context.Context, table proc.Lister) ([]worktree.Occupant, error) {
	if table == nil {
		return nil, errors.New("there is no process table")
	}
	return worktree.Processes(table)(ctx)
}

// confirmRemoval is confirm for what removes.
func (c *command) confirmRemoval(question string, yes bool) error {
	err := c.confirm(question, yes)
	var no *exitError
	if errors.As(err, &no) && no.code == Failure {
		return &exitError{Failure, errors.New("nothing was removed")}
	}
	return err
}
