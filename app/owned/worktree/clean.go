package worktree

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"rollcall/app"
	"rollcall/app/present"
	"rollcall/app/store"
	"rollcall/proc"
)

// The reasons why Remove does not remove a worktree.
var (
	// ErrLosesWork is returned if work in the worktree would or might be lost and the user did not consent to the
	// loss.
	ErrLosesWork = errors.New("work would be lost")
	// ErrInUse is returned for a worktree that is in use, locked or unreadable, whatever the user agreed to.
	ErrInUse = errors.New("not removable")
	// ErrChanged is returned if the worktree has changed since the user saw the plan.
	ErrChanged = errors.New("changed since it was shown")
)

// Occupant is a session or process, and its working folder.
type Occupant struct {
	Folder string
	Who    string // "claude-code 9830e65d, working", "pid 1234 node"
}

// Occupants returns the sessions and processes of this machine. Its error reports those that could not be listed.
type Occupants func(ctx context.Context) ([]Occupant, error)

// Plan describes what the removal of one worktree would do.
type Plan struct {
	Entry
	// Never are the reasons why the worktree cannot be removed at all.
	Never []string
	// Loses is the work that would be lost. Doubts is what could not be determined.
	Loses  []string
	Doubts []string
}

// Consent holds what the user agreed to after seeing the plan.
type Consent struct {
	Losing bool // to lose the work in Plan.Loses
	Unsure bool // to remove the worktree despite Plan.Doubts
}

// Removable reports whether Remove would remove the worktree.
func (p *Plan) Removable(c Consent) bool {
	return len(p.Never) == 0 && (c.Losing || len(p.Loses) == 0) && (c.Unsure || len(p.Doubts) == 0)
}

// Plan returns the plans for the worktrees for which want returns true, in git's order.
func (r *Repo) Plan(ctx context.Context, who Occupants, want func(Worktree) bool) ([]Plan, error) {
	list, err := r.list(ctx, want)
	if err != nil || len(list) == 0 {
		return nil, err
	}
	occupants, occupantsErr := who(ctx)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	plans := make([]Plan, len(list))
	for i, e := range list {
		plans[i] = judge(e, occupants, occupantsErr)
	}
	return plans, nil
}

func judge(e Entry, occupants []Occupant, occupantsErr error) Plan {
	p := Plan{Entry: e, Loses: e.Losses()}
	if e.Main || e.Bare {
		p.Never = append(p.Never, "it is the repository itself")
	}
	if e.Locked {
		reason := "locked with git worktree lock"
		if e.Reason != "" {
			reason += ": " + e.Reason
		}
		p.Never = append(p.Never, reason)
	}
	if e.Misplaced != nil {
		p.Never = append(p.Never, e.Misplaced.Error())
	}
	if e.Err != nil {
		p.Never = append(p.Never, "its state cannot be read: "+e.Err.Error())
	}
	if e.Gone && store.Missing(filepath.Dir(e.Path)) {
		p.Never = append(p.Never, filepath.Dir(e.Path)+" does not exist: is a disk not mounted?")
	}
	for _, o := range occupants {
		if !e.Gone && within(o.Folder, e.Path) {
			p.Never = append(p.Never, o.Who+" works in it")
		}
	}
	if occupantsErr != nil && !e.Gone {
		p.Doubts = append(p.Doubts, "it may be in use: "+occupantsErr.Error())
	}
	return p
}

// Removed is the result of a removal.
type Removed struct {
	// Branch is the worktree's own branch if that was deleted, and Commit its last commit. The command
	// git branch <Branch> <Commit> restores it until git collects garbage.
	Branch, Commit string
	// Kept is the reason why the branch was kept; empty if it was deleted or there was none.
	Kept string
}

// Remove removes the worktree of a plan that the user saw, and its own branch. It makes the plan again first, and fails
// if more work would be lost than the user saw. Its errors wrap ErrLosesWork, ErrInUse or ErrChanged. After any other
// error git failed, and the branch still exists.
func (r *Repo) Remove(ctx context.Context, shown *Plan, who Occupants, agreed Consent) (Removed, error) {
	again, err := r.Plan(ctx, who, func(w Worktree) bool { return w.Path == shown.Path })
	if err != nil {
		return Removed{}, err
	}
	if len(again) != 1 {
		return Removed{}, fmt.Errorf("%w: git no longer lists it", ErrChanged)
	}
	p := &again[0]
	if err := p.allows(shown, agreed); err != nil {
		return Removed{}, err
	}
	if !p.Gone {
		if err := removeFolder(p.Path, p.folder); err != nil {
			return Removed{}, fmt.Errorf("remove %s: %w", p.Path, err)
		}
	}
	if err := r.unregister(ctx, p.Path); err != nil {
		return Removed{}, err
	}
	return r.removeBranch(ctx, p), nil
}

// unregister removes git's record of a worktree whose folder was removed, and checks that the record is gone.
func (r *Repo) unregister(ctx context.Context, path string) error {
	if !store.Missing(path) {
		return fmt.Errorf("%w: another process created %s again", ErrChanged, path)
	}
	// Without --force git removes only its record of a missing folder.
	if err := r.git.change(ctx, r.at, "worktree", "remove", path); err != nil {
		return fmt.Errorf("the folder %s is removed, but git's record of it is not; run git worktree prune: %w", path, err)
	}
	all, err := r.worktrees(ctx)
	if err != nil {
		return err
	}
	for _, w := range all {
		if w.Path == path {
			return fmt.Errorf("the folder %s is removed, but git still lists it; run git worktree prune", path)
		}
	}
	return nil
}

// allows returns an error if the worktree must not be removed or is not as the user saw it.
func (p *Plan) allows(shown *Plan, agreed Consent) error {
	switch {
	case len(p.Never) > 0:
		return fmt.Errorf("%w: %s", ErrInUse, strings.Join(p.Never, "; "))
	case !p.Removable(agreed):
		return fmt.Errorf("%w: %s", ErrLosesWork, strings.Join(append(p.Loses, p.Doubts...), ", "))
	case p.Head != shown.Head, p.Branch != shown.Branch, p.OwnCommit != shown.OwnCommit, p.Gone != shown.Gone:
		return fmt.Errorf("%w: it is at another commit", ErrChanged)
	case !slices.Equal(p.Loses, shown.Loses):
		return fmt.Errorf("%w: now it would lose %s", ErrChanged, strings.Join(p.Loses, ", "))
	}
	return nil
}

// removeBranch deletes the worktree's own branch, unless the branch moved or is checked out in another worktree.
func (r *Repo) removeBranch(ctx context.Context, p *Plan) Removed {
	if p.OwnCommit == "" {
		return Removed{}
	}
	all, err := r.worktrees(ctx)
	if err != nil {
		return Removed{Kept: err.Error()}
	}
	for _, w := range all {
		if w.Branch == p.Own {
			return Removed{Kept: "it is checked out in " + w.Path}
		}
	}
	if err := r.deleteBranch(ctx, p.Own, p.OwnCommit); err != nil {
		return Removed{Kept: err.Error()}
	}
	if now, err := r.commit(ctx, r.at, "refs/heads/"+p.Own); err != nil || now != "" {
		return Removed{Kept: "git did not delete it"}
	}
	return Removed{Branch: p.Own, Commit: p.OwnCommit}
}

// AtWork returns a function that lists the live sessions and processes of this machine with their working folders. Some
// sessions, such as those of Codex's daemon, have no process in their folder. refresh asks the agents. The error of
// that function reports what may be missing from the list.
func AtWork(refresh func(context.Context) *app.Snapshot, table proc.Lister) Occupants {
	return func(ctx context.Context) ([]Occupant, error) {
		snap := refresh(ctx)
		var out []Occupant
		for s := range snap.Known() {
			if s.Live() && s.HasLocalFolder() {
				who := fmt.Sprintf("%s %s (%s)", present.AgentName(s.Agent), present.Line(present.ShortID(&s.Session)), present.Status(s.Session))
				out = append(out, Occupant{Folder: s.CWD, Who: who})
			}
		}
		var errs []error
		for _, name := range snap.Incomplete() {
			errs = append(errs, fmt.Errorf("the sessions of %s could not all be read", name))
		}
		if table == nil {
			return out, errors.Join(append(errs, errors.New("the process table is not available"))...)
		}
		processes, err := inFolders(ctx, table)
		return append(out, processes...), errors.Join(append(errs, err, ctx.Err())...)
	}
}

// inFolders returns the processes of this machine with their working folders, except those of other users, whose folders
// cannot be read.
func inFolders(ctx context.Context, table proc.Lister) (out []Occupant, err error) {
	rows, err := table.List(ctx)
	for _, p := range rows {
		if ctx.Err() != nil {
			break
		}
		if folder, err := table.CWD(p.Identity); err == nil && folder != "" {
			out = append(out, Occupant{folder, fmt.Sprintf("process %d (%s)", p.PID, p.Comm)})
		}
	}
	return out, err
}
