package ui

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"
	"github.com/dustin/go-humanize"

	"rollcall/app"
	"rollcall/app/present"
	"rollcall/app/worktree"
)

// showWorktrees offers to remove the worktrees of a group whose repository dir
// lies in.
func (u *UI) showWorktrees(dir, group string) {
	s := u.newSheet("Clean up group "+present.Cut(short(group), 60), 640)
	s.loading("Looking at the worktrees…")
	go func() {
		repo, plans, err := u.worktreePlans(s.ctx, dir, group)
		u.post(func() {
			switch {
			case s.ctx.Err() != nil:
			case err != nil:
				s.failed(short(err.Error()))
			case len(plans) == 0:
				s.failed("The group has no worktree any more.")
			default:
				s.offerWorktrees(repo, plans)
			}
		})
	}()
}

func (u *UI) worktreePlans(ctx context.Context, dir, group string) (*worktree.Repo, []worktree.Plan, error) {
	git, err := worktree.FindGit()
	if err != nil {
		return nil, nil, err
	}
	repo, err := git.Open(ctx, dir)
	if err != nil {
		return nil, nil, err
	}
	plans, err := repo.Plan(ctx, u.occupants, func(w worktree.Worktree) bool { return w.Group == group })
	return repo, plans, err
}

// occupants finds the sessions and processes that work in some folder.
func (u *UI) occupants(ctx context.Context) ([]worktree.Occupant, error) {
	snap := u.core.Refresh(ctx)
	out, err := sessionsAtWork(snap)
	if u.options.Table == nil {
		return out, errors.Join(err, errors.New("there is no process table"))
	}
	processes, tableErr := worktree.Processes(u.options.Table)(ctx)
	return append(out, processes...), errors.Join(err, tableErr, ctx.Err())
}

// sessionsAtWork are the live sessions of this machine with their folders. Some
// have no process in it: that of Codex's daemon, for one.
func sessionsAtWork(snap *app.Snapshot) ([]worktree.Occupant, error) {
	var out []worktree.Occupant
	for i := range snap.Sessions {
		s := &snap.Sessions[i]
		if s.Live() && s.Remote == "" && s.CWD != "" {
			out = append(out, worktree.Occupant{Folder: s.CWD, Who: present.AgentName(s.Agent) + " (" + present.Status(s.Session) + ")"})
		}
	}
	var errs []error
	for _, name := range failedAdapters(snap) {
		errs = append(errs, fmt.Errorf("not everything of %s could be read", name))
	}
	return out, errors.Join(errs...)
}

// worktreeRow is one worktree that may be removed.
type worktreeRow struct {
	plan    *worktree.Plan
	check   *checkBox
	result  *selectText
	content *fyne.Container
}

func (s *sheet) offerWorktrees(repo *worktree.Repo, plans []worktree.Plan) {
	rows := make([]*worktreeRow, len(plans))
	back, remove := s.button("Cancel", s.close), s.button("", nil)
	remove.Importance = widget.DangerImportance
	recount := func() {
		n, losing := 0, false
		for _, r := range rows {
			if r != nil && r.check.Checked {
				n, losing = n+1, losing || len(r.plan.Loses) > 0
			}
		}
		text := "Remove worktrees"
		if n > 0 {
			text = "Remove " + count(n, "worktree", "worktrees")
		}
		if losing {
			text += ", and lose the work"
		}
		remove.SetText(text)
		setEnabled(remove, n > 0)
		s.bottom.Refresh()
	}
	body := []fyne.CanvasObject{paragraph("A worktree is removed together with its branch. Those with work that exists nowhere else are not ticked.", widget.LowImportance)}
	for i := range plans {
		rows[i] = newWorktreeRow(s.ui, &plans[i], recount)
		body = append(body, rows[i].content)
	}
	remove.OnTapped = func() { s.removeWorktrees(repo, rows, remove, back) }
	s.show(body, back, remove)
	recount()
	s.focus(back)
}

func newWorktreeRow(u *UI, p *worktree.Plan, changed func()) *worktreeRow {
	r := &worktreeRow{plan: p, result: newSelectText(worktreeFacts(p))}
	r.check = newCheck(u, short(p.Path), func(bool) { changed() })
	r.check.Checked = len(p.Never) == 0 && len(p.Loses) == 0 && len(p.Doubts) == 0
	if len(p.Never) > 0 {
		r.check.Disable()
	}
	r.result.Importance = widget.LowImportance
	if len(p.Loses) > 0 && len(p.Never) == 0 {
		r.result.Importance = widget.WarningImportance
	}
	r.result.SizeName = theme.SizeNameCaptionText
	r.content = container.New(layout.NewCustomPaddedVBoxLayout(-6), r.check,
		container.New(layout.NewCustomPaddedLayout(0, 2, 24, 0), r.result))
	return r
}

func worktreeFacts(p *worktree.Plan) string {
	var lines []string
	for _, reason := range p.Never {
		lines = append(lines, "stays: "+short(reason))
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
		return "nothing in it is lost"
	}
	return strings.Join(lines, "\n")
}

// removeWorktrees removes the ticked ones, one after the other. What the row
// says is what was agreed to.
func (s *sheet) removeWorktrees(repo *worktree.Repo, rows []*worktreeRow, remove, back *button) {
	u := s.ui
	remove.Disable()
	back.SetText("Close")
	var chosen []*worktreeRow
	for _, r := range rows {
		r.check.Disable()
		if r.check.Checked {
			chosen = append(chosen, r)
		}
	}
	go func() {
		for _, r := range chosen {
			u.post(func() { r.result.SetText("removing…") })
			got, err := repo.Remove(u.ctx, r.plan, u.occupants, worktree.Consent{Losing: true, Unsure: true})
			u.post(func() {
				r.removed(got, err)
				if s.open() {
					s.fit()
				} else if err != nil {
					u.tell(short(r.plan.Path) + " was not removed: " + present.Cut(short(err.Error()), 400))
				}
			})
		}
		u.post(func() { remove.Hide(); s.bottom.Refresh() })
	}()
}

func (r *worktreeRow) removed(got worktree.Removed, err error) {
	text, importance := "removed", widget.SuccessImportance
	switch {
	case err != nil:
		text, importance = "not removed: "+present.Cut(short(err.Error()), 500), widget.DangerImportance
	case got.Kept != "":
		text += "; its branch stays: " + short(got.Kept)
	case got.Branch != "" && r.plan.Lost > 0:
		text += "; “git branch " + short(got.Branch) + " " + got.Commit + "” brings its commits back"
	}
	r.result.Importance = importance
	r.result.SetText(text)
}
