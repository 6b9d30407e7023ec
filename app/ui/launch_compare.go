package ui

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"
	"github.com/dustin/go-humanize"

	"rollcall/app"
	"rollcall/app/lock"
	"rollcall/app/present"
	"rollcall/app/worktree"
)

// showComparison sets the results of a group side by side. dir lies in the
// repository.
func (u *UI) showComparison(dir, group string) {
	s := u.newSheet("Group "+present.Cut(short(group), 60), 860)
	u.compare(s, dir, group)
}

func (u *UI) compare(s *sheet, dir, group string) {
	s.loading("Looking at the worktrees…")
	go func() {
		c, err := comparison(s.ctx, dir, group)
		snap := u.core.Refresh(s.ctx)
		u.post(func() {
			switch {
			case err != nil:
				s.failed(short(err.Error()))
			case len(c.Tries) == 0:
				s.failed("The group has no worktree any more.")
			default:
				again := s.button("Refresh", func() { u.compare(s, dir, group) })
				tidy := s.button("Clean up…", func() { u.showWorktrees(dir, group) })
				done := s.button("Close", s.close)
				s.show([]fyne.CanvasObject{comparisonTable(&c, snap)}, again, tidy, done)
				s.focus(done)
			}
		})
	}()
}

func comparison(ctx context.Context, dir, group string) (worktree.Comparison, error) {
	git, err := worktree.FindGit()
	if err != nil {
		return worktree.Comparison{}, err
	}
	repo, err := git.Open(ctx, dir)
	if err != nil {
		return worktree.Comparison{}, err
	}
	return repo.Compare(ctx, group)
}

// sessionIn is the session that works, or last worked, in a worktree.
func sessionIn(snap *app.Snapshot, e *worktree.Entry) *app.Session {
	for i := range snap.Sessions { // live ones first, the newest first
		s := &snap.Sessions[i]
		if s.Parent == "" && s.Remote == "" && s.CWD != "" && lock.Within(e.Path, s.CWD) {
			return s
		}
	}
	return nil
}

// maxCompared is how many files a comparison shows.
const maxCompared = 200

// comparisonTable has a column for each try.
func comparisonTable(c *worktree.Comparison, snap *app.Snapshot) fyne.CanvasObject {
	columns := len(c.Tries) + 1
	grid := container.New(layout.NewGridLayoutWithColumns(columns))
	add := func(name string, bold bool, value func(i int) (string, fyne.ThemeColorName)) {
		grid.Add(newLine(name, colorMuted, theme.SizeNameText, fyne.TextStyle{}))
		for i := range c.Tries {
			text, color := value(i)
			grid.Add(newLine(present.Line(head(text, maxRowText)), color, theme.SizeNameText, fyne.TextStyle{Bold: bold}))
		}
	}
	plain := func(f func(i int) string) func(int) (string, fyne.ThemeColorName) {
		return func(i int) (string, fyne.ThemeColorName) { return f(i), theme.ColorNameForeground }
	}
	sessions := make([]*app.Session, len(c.Tries))
	for i := range c.Tries {
		sessions[i] = sessionIn(snap, &c.Tries[i])
	}
	of := func(f func(*app.Session) string) func(int) string {
		return func(i int) string {
			if sessions[i] == nil {
				return "–"
			}
			return f(sessions[i])
		}
	}
	add("", true, plain(func(i int) string { return c.Tries[i].Suffix }))
	add("Status", false, func(i int) (string, fyne.ThemeColorName) {
		if sessions[i] == nil {
			return "no session", colorMuted
		}
		return present.Status(sessions[i].Session), statusColor(&sessions[i].Session)
	})
	add("Model", false, plain(of(func(s *app.Session) string { return cmp.Or(s.Model, "–") })))
	add("Tokens", false, plain(of(tokensShort)))
	add("Commits", false, plain(func(i int) string { return fmt.Sprint(c.Tries[i].Commits) }))
	add("Changed", false, func(i int) (string, fyne.ThemeColorName) { return changedIn(&c.Tries[i]) })
	add("New files", false, plain(func(i int) string { return fmt.Sprint(c.Tries[i].Untracked) }))
	for _, r := range c.Rows[:min(len(c.Rows), maxCompared)] {
		add(present.Line(head(filepath.ToSlash(r.Path), maxRowText)), false, plain(func(i int) string { return fileChange(r.Stats[i]) }))
	}
	box := container.New(layout.NewCustomPaddedVBoxLayout(4), inset(grid))
	if more := len(c.Rows) - maxCompared; more > 0 {
		box.Add(paragraph(fmt.Sprintf("and %s more", count(more, "file", "files")), widget.LowImportance))
	}
	if c.Base.Name != "" {
		box.Add(paragraph("Against "+short(c.Base.Name)+", committed or not.", widget.LowImportance))
	}
	return box
}

func tokensShort(s *app.Session) string {
	if s.Tokens == nil {
		return "–"
	}
	return fmt.Sprintf("%s in, %s out", humanize.Comma(s.Tokens.Input+s.Tokens.CacheRead+s.Tokens.CacheWrite), humanize.Comma(s.Tokens.Output))
}

func changedIn(e *worktree.Entry) (string, fyne.ThemeColorName) {
	if e.Err != nil {
		return e.Err.Error(), colorBad
	}
	return fmt.Sprintf("%s, +%d −%d", count(e.Stat.Files, "file", "files"), e.Stat.Insertions, e.Stat.Deletions), theme.ColorNameForeground
}

// fileChange is what a try did to one file.
func fileChange(f *worktree.FileStat) string {
	switch {
	case f == nil:
		return "·"
	case f.Binary:
		return "binary"
	}
	return fmt.Sprintf("+%d −%d", f.Insertions, f.Deletions)
}
