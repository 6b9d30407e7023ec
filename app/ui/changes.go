package ui

import (
	"context"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"

	"rollcall/app"
	"rollcall/app/codetext"
	"rollcall/app/describe"
	"rollcall/app/listing"
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
	if group := listing.GroupOfLaunch(s); group != "" {
		buttons.Add(u.host.NewButton("Compare its group", widgets.PlainIcon("list"), func() { u.upkeep.Compare(s.CWD, group) }))
	}
	d.stage.Show(widgets.Border(widgets.Pad(8, 4, 10, 10, buttons), nil, nil, v.stage.Content))
	u.host.Focus(nil) // Page keys scroll, and Esc goes back
	v.stage.Say(widgets.Message{Busy: true, Title: "Comparing the files…", Text: "Git reads " + present.Short(s.CWD) + "."})
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
		v.stage.Say(widgets.Trouble("What changed is not known", present.Error(err)))
	case len(c.Files) == 0 && len(c.Commits) == 0:
		v.stage.Say(widgets.Message{Icon: "done", Color: widgets.ColorMuted, Title: "Nothing changed", Text: present.Sentence(describe.ComparedWith(c, since)) + "."})
	default:
		v.code.Set(len(c.Diff), func() []codetext.Part { return describe.Changes(c, since) })
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
