package ui

import (
	"context"
	"errors"
	"strings"

	"fyne.io/fyne/v2/widget"
	"github.com/dustin/go-humanize"

	"rollcall/app/present"
	"rollcall/app/ui/widgets"
	"rollcall/app/worktree"
)

// errNoWorktree means that a group has no worktree.
var errNoWorktree = errors.New("the group has no worktree any more")

// worktreePlans holds the plans for removing the worktrees of a group.
type worktreePlans struct {
	repo  *worktree.Repo
	plans []worktree.Plan
}

// showWorktrees offers to remove the worktrees of a group. dir is in its repository.
func (u *UI) showWorktrees(dir, group string) {
	s := u.host.NewSheet("Clean up group "+present.Cut(short(group), 60), 640)
	widgets.Load(s, "Reading the worktrees…", func(ctx context.Context) (worktreePlans, error) { return u.planWorktrees(ctx, dir, group) },
		func(p worktreePlans) { u.offerWorktrees(s, p) })
}

func openRepo(ctx context.Context, dir string) (*worktree.Repo, error) {
	git, err := worktree.FindGit()
	if err != nil {
		return nil, err
	}
	return git.Open(ctx, dir)
}

func (u *UI) planWorktrees(ctx context.Context, dir, group string) (w worktreePlans, err error) {
	if w.repo, err = openRepo(ctx, dir); err != nil {
		return w, err
	}
	if l := u.options.Launches; l != nil {
		w.repo.Made = l.CheckWorktree(w.repo.Main)
	}
	w.plans, err = w.repo.Plan(ctx, u.occupants, func(w worktree.Worktree) bool { return w.Group == group })
	if err == nil && len(w.plans) == 0 {
		err = errNoWorktree
	}
	return w, err
}

// occupants returns the sessions and processes that work in a folder.
func (u *UI) occupants(ctx context.Context) ([]worktree.Occupant, error) {
	return worktree.AtWork(u.core.Refresh, u.options.Table)(ctx)
}

func (u *UI) offerWorktrees(s *widgets.Sheet, w worktreePlans) {
	c := s.NewChecklist("removing…", "not removed: ")
	c.Label = func(checked []*widgets.CheckItem) string {
		text := "Remove worktrees"
		if len(checked) > 0 {
			text = "Remove " + count(len(checked), "worktree", "worktrees")
		}
		for _, i := range checked {
			if len(w.plans[i.Index].Loses) > 0 {
				return text + " and lose work"
			}
		}
		return text
	}
	c.Act = func(ctx context.Context, i *widgets.CheckItem) (string, error) {
		// The user has seen what would be lost: the row shows it.
		got, err := w.repo.Remove(ctx, &w.plans[i.Index], u.occupants, worktree.Consent{Losing: true, Unsure: true})
		return removedText(&w.plans[i.Index], got), err
	}
	for i := range w.plans {
		p := &w.plans[i]
		importance := widget.LowImportance
		if len(p.Loses) > 0 && len(p.Never) == 0 {
			importance = widget.WarningImportance
		}
		c.Add(short(p.Path), worktreeFacts(p), importance, len(p.Never) == 0 && len(p.Loses) == 0 && len(p.Doubts) == 0, len(p.Never) == 0)
	}
	c.Ask(widgets.Hint("A worktree is removed together with its branch. Worktrees with work that exists nowhere else are not selected."))
}

func worktreeFacts(p *worktree.Plan) string {
	var lines []string
	for _, reason := range p.Never {
		lines = append(lines, "cannot be removed: "+short(reason))
	}
	if len(p.Never) > 0 {
		return strings.Join(lines, "\n")
	}
	if len(p.Loses) > 0 {
		lines = append(lines, "loses "+short(strings.Join(p.Loses, ", ")))
	}
	for _, d := range p.Doubts {
		lines = append(lines, short(d))
	}
	if p.Ignored.Files > 0 {
		lines = append(lines, "with "+humanize.IBytes(uint64(max(p.Ignored.Bytes, 0)))+" of ignored files")
	}
	if len(lines) == 0 {
		return "loses no work"
	}
	return strings.Join(lines, "\n")
}

func removedText(p *worktree.Plan, got worktree.Removed) string {
	switch {
	case got.Kept != "":
		return "removed; its branch was kept: " + short(got.Kept)
	case got.Branch != "" && p.Lost > 0:
		return "removed; “git branch " + short(got.Branch) + " " + got.Commit + "” restores its commits"
	}
	return "removed"
}
