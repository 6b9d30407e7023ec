package ui

import (
	"context"
	"fmt"
	"path/filepath"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"

	"rollcall/app"
	"rollcall/app/present"
	"rollcall/app/ui/widgets"
	"rollcall/app/worktree"
)

// comparison is the state of a group's worktrees and the sessions in them.
type comparison struct {
	worktree.Comparison
	snapshot *app.Snapshot
}

// showComparison compares the results of a group. dir is in its repository.
func (u *UI) showComparison(dir, group string) {
	s := u.host.NewSheet("Group "+present.Cut(short(group), 60), 860)
	u.compare(s, dir, group)
}

func (u *UI) compare(s *widgets.Sheet, dir, group string) {
	widgets.Load(s, "Comparing the worktrees…", func(ctx context.Context) (c comparison, err error) {
		repo, err := openRepo(ctx, dir)
		if err != nil {
			return c, err
		}
		if c.Comparison, err = repo.Compare(ctx, group); err == nil && len(c.Tries) == 0 {
			err = errNoWorktree
		}
		c.snapshot = u.core.Refresh(ctx)
		return c, err
	}, func(c comparison) {
		s.ShowResult([]fyne.CanvasObject{c.table()}, s.NewButton("Refresh", func() { u.compare(s, dir, group) }),
			s.NewButton("Clean up…", func() { u.showWorktrees(dir, group) }))
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
			grid.Add(widgets.NewLine(present.Line(head(text, maxRowText)), color, theme.SizeNameText, fyne.TextStyle{Bold: name == ""}))
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
		plain(present.Line(head(filepath.ToSlash(r.Path), maxRowText)), func(i int) string { return r.Stats[i].String() })
	}
	box := widgets.Rows(4, widgets.Inset(grid))
	if more := len(c.Rows) - maxCompared; more > 0 {
		box.Add(widgets.Hint(fmt.Sprintf("and %s more", count(more, "file", "files"))))
	}
	if c.Base.Name != "" {
		box.Add(widgets.Hint("Compared with " + short(c.Base.Name) + ", including changes that are not committed."))
	}
	return box
}
