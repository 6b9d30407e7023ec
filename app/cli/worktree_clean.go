package cli

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"rollcall/app/owned/worktree"
	"rollcall/app/present"
)

type cleanCommand struct {
	*env
	repo, group             string
	all, dryRun, force, yes bool
}

func newWorktreeClean(e *env) *cobra.Command {
	c := &cleanCommand{env: e}
	return command(&cobra.Command{
		Use:   "clean [NAME…]",
		Short: "Remove worktrees of launches, unless work would be lost",
		Long: `Remove worktrees of launches together with their branches: those named (by
folder, path or branch), those of a group, or all.

A worktree is kept if it has changes, untracked or ignored files, or commits that
are in no other branch and in no remote; what would be lost is shown. --force
removes it anyway. A worktree is never removed while a session or process works in
it, while it is locked, or if its folder is not where its launch made it.`,
		RunE: withArgs(c.run),
	},
		repoFlag(&c.repo),
		withFlag(&c.group, "group", "all worktrees of this launch `group`"),
		withFlag(&c.all, "all", "all worktrees of launches"),
		dryRunFlag(&c.dryRun),
		withFlag(&c.force, "force", "also remove worktrees with work that would be lost"),
		yesFlag(&c.yes),
	)
}

// check returns an error unless worktrees are named in exactly one way.
func (c *cleanCommand) check(names []string) error {
	if count(len(names) > 0, c.group != "", c.all) != 1 {
		return usageError("worktree clean takes names of worktrees, or --group, or --all\n  see: rollcall worktree list")
	}
	return nil
}

func (c *cleanCommand) run(names []string) error {
	if err := c.check(names); err != nil {
		return err
	}
	repo, err := worktree.Open(c.ctx, c.repo)
	if err != nil {
		return err
	}
	if l, err := c.launches(); err == nil {
		repo.Made = l.CheckWorktree(repo.Main)
	}
	_, table := c.open()
	who := worktree.AtWork(c.core(0, false).Refresh, table)
	found := make([]bool, len(names))
	plans, err := repo.Plan(c.ctx, who, func(w worktree.Worktree) bool { return c.wants(w, names, found) })
	if err != nil {
		return err
	}
	if i := slices.Index(found, false); i >= 0 {
		return fmt.Errorf("no worktree of a launch is named %s\n  see: rollcall worktree list", names[i])
	}
	// Without --yes the user is asked, and decides about the doubtful worktrees.
	agreed := worktree.Consent{Losing: c.force, Unsure: c.force || !c.yes}
	var remove []*worktree.Plan
	for i := range plans {
		c.print(&plans[i], agreed)
		if plans[i].Removable(agreed) {
			remove = append(remove, &plans[i])
		}
	}
	kept := len(plans) - len(remove)
	if len(remove) == 0 {
		c.printf("no worktree to remove\n")
	} else if !c.dryRun {
		if err := c.confirm(fmt.Sprintf("Remove %s?", plural(len(remove), "worktree")), c.yes, "nothing was removed"); err != nil {
			return err
		}
		if err := c.remove(repo, remove, who, agreed); err != nil {
			return err
		}
	}
	if kept > 0 && len(names) > 0 && !c.dryRun { // with --all and --group, keeping some is intended
		return cmp.Or(c.flush(), fmt.Errorf("%d of %s kept", kept, plural(len(plans), "worktree")))
	}
	return nil
}

// wants reports whether the worktree is to be removed, and marks its names in found.
func (c *cleanCommand) wants(w worktree.Worktree, names []string, found []bool) bool {
	if c.all || c.group != "" {
		return c.all || w.Group == c.group
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

// print shows what will be done with a worktree.
func (c *cleanCommand) print(p *worktree.Plan, agreed worktree.Consent) {
	c.printf("%s\n", c.path(p.Path))
	for _, reason := range p.Never {
		c.printf("  kept: %s\n", present.Line(reason))
	}
	if len(p.Never) > 0 {
		return
	}
	loses := present.Line(strings.Join(p.Loses, ", "))
	if !p.Removable(agreed) {
		for _, d := range p.Doubts {
			c.printf("  %s: %s\n", ifelse(agreed.Unsure, "also", "kept"), present.Line(d))
		}
		c.printIf(loses != "", "  kept: it would lose %s\n", loses)
		return
	}
	what := ifelse(p.Gone, "git's record of the worktree (its folder does not exist)", "its folder")
	if p.OwnCommit != "" {
		what += " and the branch " + present.Line(p.Own)
	}
	c.printf("  removes %s\n", what)
	c.printIf(p.Ignored.Files > 0, "  with %s of ignored files\n", size(p.Ignored.Bytes))
	c.printIf(loses != "", "  LOSES %s\n", loses)
	for _, d := range p.Doubts {
		c.printf("  although %s\n", present.Line(d))
	}
}

// remove removes one worktree after the other; a failure does not stop the others.
func (c *cleanCommand) remove(repo *worktree.Repo, plans []*worktree.Plan, who worktree.Occupants, agreed worktree.Consent) error {
	failed := 0
	for _, p := range plans {
		got, err := repo.Remove(c.ctx, p, who, agreed)
		if c.ctx.Err() != nil {
			return c.ctx.Err()
		}
		if err != nil {
			failed++
			c.warn(present.Line(p.Path) + ": " + err.Error())
			continue
		}
		c.printf("removed %s\n", c.path(p.Path))
		switch {
		case got.Kept != "":
			c.printf("  kept the branch %s: %s\n", present.Line(p.Own), present.Line(got.Kept))
		case got.Branch != "" && p.Lost > 0:
			c.printf("  to restore the branch: git branch %s %s\n", present.Line(got.Branch), got.Commit)
		}
		c.printIf(p.Branch == "" && p.Head != "" && p.Lost > 0, "  it was at the commit %s\n", p.Head)
		if err := c.flush(); err != nil {
			return err
		}
	}
	return someFailed(failed, len(plans), "worktree", "not removed")
}
