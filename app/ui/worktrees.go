package ui

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"
	"github.com/dustin/go-humanize/english"

	"rollcall/app"
	"rollcall/app/describe"
	"rollcall/app/owned/worktree"
	"rollcall/app/present"
	"rollcall/app/ui/widgets"
)

// errNoWorktree is the error for a group whose worktrees were removed.
var errNoWorktree = errors.New("the group has no worktree any more")

// worktreePlans holds the plans for removing the worktrees of a group.
type worktreePlans struct {
	repo  *worktree.Repo
	plans []worktree.Plan
}

// showWorktrees offers to remove the worktrees of a group. dir is a folder in the group's repository.
func (u *UI) showWorktrees(dir, group string) {
	s := u.host.NewSheet("Clean up group "+present.Cut(present.Short(group), 60), 640)
	widgets.Load(s, "Reading the worktrees…", func(ctx context.Context) (worktreePlans, error) { return u.planWorktrees(ctx, dir, group) },
		func(p worktreePlans) { u.offerWorktrees(s, p) })
}

func (u *UI) planWorktrees(ctx context.Context, dir, group string) (w worktreePlans, err error) {
	w.repo, err = worktree.Open(ctx, dir)
	if err != nil {
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
		text := "Remove " + english.Plural(len(checked), "worktree", "worktrees")
		return text + present.When(slices.ContainsFunc(checked, func(i *widgets.CheckItem) bool { return len(w.plans[i.Index].Loses) > 0 }), " and lose work")
	}
	c.Act = func(ctx context.Context, i *widgets.CheckItem) (string, error) {
		// The row showed the user what would be lost, so losing it is allowed.
		got, err := w.repo.Remove(ctx, &w.plans[i.Index], u.occupants, worktree.Consent{Losing: true, Unsure: true})
		return describe.RemovedWorktree(&w.plans[i.Index], got), err
	}
	for i := range w.plans {
		p := &w.plans[i]
		importance := widget.LowImportance
		if len(p.Loses) > 0 && len(p.Never) == 0 {
			importance = widget.WarningImportance
		}
		c.Add(present.CutStart(present.Short(p.Path), 80), describe.WorktreePlan(p), importance, len(p.Never) == 0 && len(p.Loses) == 0 && len(p.Doubts) == 0, len(p.Never) == 0)
	}
	c.Ask(widgets.Hint("A worktree is removed together with its branch. Worktrees with work that exists nowhere else are not selected."))
}

// comparison is the state of a group's worktrees and the sessions in them.
type comparison struct {
	worktree.Comparison
	snapshot *app.Snapshot
}

// showComparison compares the results of a group. dir is a folder in the group's repository.
func (u *UI) showComparison(dir, group string) {
	s := u.host.NewSheet("Group "+present.Cut(present.Short(group), 60), 860)
	u.compare(s, dir, group)
}

func (u *UI) compare(s *widgets.Sheet, dir, group string) {
	widgets.Load(s, "Comparing the worktrees…", func(ctx context.Context) (c comparison, err error) {
		repo, err := worktree.Open(ctx, dir)
		if err != nil {
			return c, err
		}
		c.Comparison, err = repo.Compare(ctx, group)
		if err == nil && len(c.Tries) == 0 {
			err = errNoWorktree
		}
		c.snapshot = u.core.Refresh(ctx)
		return c, err
	}, func(c comparison) {
		s.ShowResult([]fyne.CanvasObject{c.table()}, u.host.NewButton("Refresh", nil, func() { u.compare(s, dir, group) }),
			u.host.NewButton("Clean up…", nil, func() { u.showWorktrees(dir, group) }))
	})
}

// maxCompared is the largest number of files that a comparison shows.
const maxCompared = 200

// table returns a table with a column for each worktree.
func (c *comparison) table() fyne.CanvasObject {
	grid := container.NewGridWithColumns(len(c.Tries) + 1)
	tries := c.Columns(c.snapshot)
	add := func(name string, value func(i int) (string, fyne.ThemeColorName)) {
		grid.Add(widgets.NewLine(name, widgets.ColorMuted, theme.SizeNameText, fyne.TextStyle{}))
		for i := range tries {
			text, color := value(i)
			grid.Add(widgets.NewLine(present.Line(present.Begin(text, describe.MaxText)), color, theme.SizeNameText, fyne.TextStyle{Bold: name == ""}))
		}
	}
	plain := func(name string, value func(i int) string) {
		add(name, func(i int) (string, fyne.ThemeColorName) { return value(i), theme.ColorNameForeground })
	}
	plain("", func(i int) string { return tries[i].Suffix })
	add("Status", func(i int) (string, fyne.ThemeColorName) {
		if tries[i].Session == nil {
			return "no session", widgets.ColorMuted
		}
		return present.Status(tries[i].Session.Session), statusColor(&tries[i].Session.Session)
	})
	plain("Model", func(i int) string { return tries[i].Model() })
	plain("Tokens", func(i int) string { return tries[i].Tokens() })
	plain("Commits", func(i int) string { return fmt.Sprint(tries[i].Commits) })
	add("Changed", func(i int) (string, fyne.ThemeColorName) {
		if tries[i].Err != nil {
			return tries[i].Changed(), widgets.ColorBad
		}
		return tries[i].Changed(), theme.ColorNameForeground
	})
	plain("New files", func(i int) string { return fmt.Sprint(tries[i].Untracked) })
	for _, r := range c.Rows[:min(len(c.Rows), maxCompared)] {
		plain(present.Line(present.Begin(filepath.ToSlash(r.Path), describe.MaxText)), func(i int) string { return r.Stats[i].String() })
	}
	box := widgets.Rows(4, widgets.Inset(grid))
	if more := len(c.Rows) - maxCompared; more > 0 {
		box.Add(widgets.Hint(fmt.Sprintf("and %s more", english.Plural(more, "file", "files"))))
	}
	if c.Base.Name != "" {
		box.Add(widgets.Hint("Compared with " + present.Short(c.Base.Name) + ", including changes that are not committed."))
	}
	return box
}
