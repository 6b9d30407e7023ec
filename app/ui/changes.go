package ui

import (
	"context"
	"slices"
	"strings"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"github.com/dustin/go-humanize/english"

	"rollcall/app"
	"rollcall/app/owned/worktree"
	"rollcall/app/present"
	"rollcall/app/ui/widgets"
)

// changesView shows what changed in the git repository of a session since it began, in place of its details. Git is asked only when the user opens it.
type changesView struct {
	stage  *widgets.Stage
	scroll *container.Scroll
	code   *widgets.Code
	cancel context.CancelFunc
}

// showChanges shows what changed in the folder of a session.
func (d *detailPane) showChanges(s *app.Session) {
	d.leaveChanges()
	u, v := d.ui, &changesView{stage: widgets.NewStage(), code: d.ui.host.NewCode()}
	var ctx context.Context
	ctx, v.cancel = context.WithCancel(u.ctx)
	d.changes = v
	v.scroll = container.NewVScroll(widgets.Pad(0, 12, 8, 8, v.code.Content))
	v.scroll.OnScrolled = func(fyne.Position) { v.look() }
	v.code.Changed = func() {
		v.scroll.Refresh()
		v.look()
	}
	back := u.host.NewButton("Back to the session", widgets.PlainIcon("back"), func() { d.leaveChanges() })
	again := u.host.NewButton("Compare again", widgets.PlainIcon("refresh"), func() { d.showChanges(d.session) })
	buttons := widgets.Flow(back, again)
	if group := launchGroup(s); group != "" {
		buttons.Add(u.host.NewButton("Compare its group", widgets.PlainIcon("list"), func() { u.showComparison(s.CWD, group) }))
	}
	d.stage.Show(widgets.Border(widgets.Pad(8, 4, 10, 10, buttons), nil, nil, v.stage.Content))
	u.host.Focus(nil) // Page keys scroll, and Esc goes back
	v.stage.Say(widgets.Message{Busy: true, Title: "Comparing the files…", Text: "Git reads " + short(s.CWD) + "."})
	folder, since := s.CWD, s.StartedAt
	widgets.InBackground(ctx, u.host, func(ctx context.Context) (*worktree.Changes, error) {
		return worktree.ChangesSince(ctx, folder, since, true)
	}, func(c *worktree.Changes, err error) { v.show(c, since, err) })
}

// leaveChanges shows the session again. It reports whether it showed what changed.
func (d *detailPane) leaveChanges() bool {
	v := d.changes
	if v != nil {
		v.cancel()
		d.changes = nil
		d.stage.Show(d.both)
		d.request.opened()
	}
	return v != nil
}

// show shows what git answered.
func (v *changesView) show(c *worktree.Changes, since time.Time, err error) {
	switch {
	case err != nil:
		v.stage.Say(widgets.Trouble("What changed is not known", errorText(err)))
	case len(c.Files) == 0 && len(c.Commits) == 0:
		v.stage.Say(widgets.Message{Icon: "done", Color: widgets.ColorMuted, Title: "Nothing changed", Text: sentence(comparedWith(c, since)) + "."})
	default:
		v.code.Set(len(c.Diff), func() []widgets.CodePart { return changesParts(c, since) })
		v.stage.Show(container.New(widgets.Layout{Arrange: func(_ []fyne.CanvasObject, size fyne.Size) {
			v.scroll.Resize(size)
			v.look()
		}, Least: func([]fyne.CanvasObject) fyne.Size { return v.scroll.MinSize() }}, v.scroll))
	}
}

// look draws the rows that are in sight.
func (v *changesView) look() {
	v.code.SetSight(v.scroll.Offset.Y, v.scroll.Offset.Y+v.scroll.Size().Height)
}

// page scrolls by almost the height of the view.
func (v *changesView) page(step float32) {
	v.scroll.ScrollToOffset(fyne.NewPos(0, v.scroll.Offset.Y+step*0.9*v.scroll.Size().Height))
	v.look()
}

// comparedWith returns with which commit the files were compared, and why.
func comparedWith(c *worktree.Changes, since time.Time) string {
	text := "compared with " + present.Begin(c.From, 10) + ", which was checked out when the session began"
	switch {
	case c.From == "":
		text = "nothing was committed when the session began"
	case since.IsZero():
		text = "compared with the last commit: when the session began is not known"
	}
	return text + when(c.Note != "", ": "+present.Line(c.Note))
}

// changesParts returns the sums, the commits, the files and the difference. Their texts are an agent's.
func changesParts(c *worktree.Changes, since time.Time) []widgets.CodePart {
	sums := short(c.Tree) + when(c.Branch != "", " · "+present.Line(c.Branch)) + "\n" + comparedWith(c, since) + "\n" +
		english.Plural(len(c.Commits), "commit", "commits") + when(c.More, " and more") + " · " + c.Stat.String()
	if open := c.Unfinished(); len(open) > 0 {
		sums += "\nnot finished: " + strings.Join(open, ", ")
	}
	var commits, files, large []string
	for _, x := range c.Commits {
		commits = append(commits, present.Begin(x.ID, 10)+"  "+x.At.Local().Format("2 Jan 15:04")+"  "+present.Line(x.Subject))
	}
	for _, f := range c.Files {
		files = append(files, f.String()+"  "+when(f.From != "", present.Line(f.From)+" → ")+present.Line(f.Path)+when(f.Untracked, "  untracked"))
	}
	if c.Unlisted > 0 {
		files = append(files, "and "+english.Plural(c.Unlisted, "more untracked file", "more untracked files"))
	}
	for _, path := range c.LeftOut {
		large = append(large, present.Line(path))
	}
	parts := []widgets.CodePart{{Title: "Since the session began", Text: sums}, {Title: "Commits", Text: strings.Join(commits, "\n")}, {Title: "Files", Text: strings.Join(files, "\n")},
		{Title: "Difference", Text: present.Output(c.Diff), Diff: true}, {Title: "Too large to show here", Text: strings.Join(large, "\n")}}
	return slices.DeleteFunc(parts, func(p widgets.CodePart) bool { return p.Text == "" })
}
