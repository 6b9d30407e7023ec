package upkeep

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"
	"github.com/dustin/go-humanize/english"

	"rollcall/app"
	"rollcall/app/describe"
	"rollcall/app/owned/worktree"
	"rollcall/app/present"
	"rollcall/app/ui/facts"
	"rollcall/app/ui/widgets"
)

// errNoWorktree is the error for a group whose worktrees were removed.
var errNoWorktree = errors.New("the group has no worktree any more")

// showWorktrees offers to remove the worktrees of a group. dir is a folder in the group's repository.
func (p *Page) showWorktrees(dir, group string) {
	occupants := worktree.AtWork(p.window.Core.Refresh, p.window.Table)
	var repo *worktree.Repo
	(&widgets.Checklist[*worktree.Plan]{
		Reading: "Reading the worktrees…", Doing: "removing…", Failed: "not removed: ",
		Read: func(ctx context.Context) (plans []*worktree.Plan, _ []string, err error) {
			repo, err = worktree.Open(ctx, dir)
			if err != nil {
				return nil, nil, err
			}
			if l := p.window.Launches; l != nil {
				repo.Made = l.CheckWorktree(repo.Main)
			}
			list, err := repo.Plan(ctx, occupants, func(w worktree.Worktree) bool { return w.Group == group })
			if err == nil && len(list) == 0 {
				err = errNoWorktree
			}
			for i := range list {
				plans = append(plans, &list[i])
			}
			return plans, nil, err
		},
		Intro: []string{"A worktree is removed together with its branch. Worktrees with work that exists nowhere else are not selected."},
		Row: func(p *worktree.Plan) widgets.CheckRow {
			loses, never := len(p.Loses) > 0, len(p.Never) > 0
			return widgets.CheckRow{Text: present.CutStart(present.Short(p.Path), 80), State: describe.WorktreePlan(p), Warns: loses && !never, Checked: !never && !loses && len(p.Doubts) == 0, Disabled: never}
		},
		Label: func(checked []*worktree.Plan) string {
			text := "Remove " + english.Plural(len(checked), "worktree", "worktrees")
			return text + present.When(slices.ContainsFunc(checked, func(p *worktree.Plan) bool { return len(p.Loses) > 0 }), " and lose work")
		},
		Act: func(ctx context.Context, plan *worktree.Plan) (string, error) {
			// The row showed the user what would be lost, so losing it is allowed.
			got, err := repo.Remove(ctx, plan, occupants, worktree.Consent{Losing: true, Unsure: true})
			return describe.RemovedWorktree(plan, got), err
		},
	}).Open(p.window.Host, "Clean up group "+present.Cut(present.Short(group), 60), 640)
}

// comparison is the state of a group's worktrees and the sessions in them.
type comparison struct {
	worktree.Comparison
	snapshot *app.Snapshot
}

// Compare compares the results of a group. dir is a folder in the group's repository.
func (p *Page) Compare(dir, group string) {
	p.compare(p.window.NewSheet("Group "+present.Cut(present.Short(group), 60), 860), dir, group)
}

func (p *Page) compare(s *widgets.Sheet, dir, group string) {
	widgets.Load(s, "Comparing the worktrees…", func(ctx context.Context) (c comparison, err error) {
		repo, err := worktree.Open(ctx, dir)
		if err != nil {
			return c, err
		}
		c.Comparison, err = repo.Compare(ctx, group)
		if err == nil && len(c.Tries) == 0 {
			err = errNoWorktree
		}
		c.snapshot = p.window.Core.Refresh(ctx)
		return c, err
	}, func(c comparison) {
		s.ShowResult([]fyne.CanvasObject{c.table()}, p.window.NewButton("Refresh", nil, func() { p.compare(s, dir, group) }),
			p.window.NewButton("Clean up…", nil, func() { p.showWorktrees(dir, group) }))
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
		return present.Status(tries[i].Session.Session), facts.StatusColor(&tries[i].Session.Session)
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
