package worktree

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// The ways in which a worktree is not removed, told apart with errors.Is.
var (
	// ErrLosesWork: something in it is nowhere else, or that can't be told, and
	// the user did not agree to it.
	ErrLosesWork = errors.New("work would be lost")
	// ErrInUse: somebody works in it, it is locked, or it can't be looked at.
	// No consent makes a difference.
	ErrInUse = errors.New("not removable")
	// ErrChanged: it isn't what it was when it was shown.
	ErrChanged = errors.New("changed since it was shown")
)

// Occupant is a session or process, and the folder that it works in.
type Occupant struct {
	Folder string
	Who    string // "claude-code 9830e65d, working", "pid 1234 node"
}

// Occupants finds who works where. With an error beside them, the occupants are
// right and the error says who could not be asked.
type Occupants func(ctx context.Context) ([]Occupant, error)

// Plan says what a removal of one worktree comes to, before it is done.
type Plan struct {
	Entry
	// Never are the reasons for which it isn't removed, whatever is asked.
	Never []string
	// Loses is what would be lost with it, and Doubts what could not be known.
	Loses  []string
	Doubts []string
}

// Consent is what the user agreed to, having seen the plan.
type Consent struct {
	Losing bool // what the plan says is lost
	Unsure bool // that not everything is known
}

// Removable says whether Remove will do it.
func (p *Plan) Removable(c Consent) bool {
	return len(p.Never) == 0 && (c.Losing || len(p.Loses) == 0) && (c.Unsure || len(p.Doubts) == 0)
}

// Plan makes the plans for the worktrees that want says yes to, in git's order.
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

// judge decides about one worktree.
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
	if e.Err != nil {
		p.Never = append(p.Never, "it could not be looked at: "+e.Err.Error())
	}
	if e.Gone && missing(filepath.Dir(e.Path)) {
		p.Never = append(p.Never, "not even "+filepath.Dir(e.Path)+" is there: is a disk not mounted?")
	}
	for _, o := range occupants {
		if !e.Gone && within(o.Folder, e.Path) {
			p.Never = append(p.Never, o.Who+" works in it")
		}
	}
	if occupantsErr != nil && !e.Gone {
		p.Doubts = append(p.Doubts, "whether somebody works in it is not known: "+occupantsErr.Error())
	}
	return p
}

// Removed says what became of a worktree.
type Removed struct {
	// Branch is its own branch when that was deleted, and Commit where it stood:
	// git branch <Branch> <Commit> brings it back, until git collects garbage.
	Branch, Commit string
	// Kept says why the branch was kept; empty if it wasn't, or there was none.
	Kept string
}

// Remove removes the worktree of a plan that was shown, and its own branch. It
// looks again right before, and does nothing when that finds more to lose than
// was shown. Its errors wrap ErrLosesWork, ErrInUse or ErrChanged; after any
// other git itself has failed, and the branch is still there.
func (r *Repo) Remove(ctx context.Context, shown *Plan, who Occupants, agreed Consent) (Removed, error) {
	again, err := r.Plan(ctx, who, func(w Worktree) bool { return w.Path == shown.Path })
	if err != nil {
		return Removed{}, err
	}
	if len(again) != 1 {
		return Removed{}, fmt.Errorf("%w: git does not list it any more", ErrChanged)
	}
	p := &again[0]
	if err := p.allows(shown, agreed); err != nil {
		return Removed{}, err
	}
	args := []string{"worktree", "remove"}
	if len(p.Loses) > 0 { // without it git looks once more itself
		args = append(args, "--force")
	}
	if err := r.git.change(ctx, r.at, append(args, p.Path)...); err != nil {
		return Removed{}, fmt.Errorf("remove %s: %w", p.Path, err)
	}
	return r.removeBranch(ctx, p), nil
}

// allows says whether what was found now may be removed, and is what was shown.
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

// removeBranch deletes the worktree's own branch, unless it moved or is checked
// out in another worktree.
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
	return Removed{Branch: p.Own, Commit: p.OwnCommit}
}
