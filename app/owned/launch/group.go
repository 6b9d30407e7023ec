package launch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"rollcall/adapters"
	"rollcall/app"
	"rollcall/app/owned/worktree"
	"rollcall/app/store/lock"
)

// Group is a matrix whose launches were all checked.
type Group struct {
	Name    string
	Members []Member
	Plans   []*Plan // one for each member, in a worktree that Start creates
	repo    *worktree.Repo
	places  []worktree.Created
}

// PrepareGroup checks all launches of a matrix: the agents, their modes, the prompt and the repository. It creates
// nothing.
func PrepareGroup(ctx context.Context, m *Matrix, agents []adapters.Adapter, env []string) (*Group, error) {
	git, err := worktree.FindGit()
	if err != nil {
		return nil, err
	}
	g := &Group{Name: cmp.Or(m.Request.Group, worktree.NewGroup()), Members: m.Members}
	g.repo, err = git.Open(ctx, m.Request.Task.Dir)
	if err != nil {
		return nil, fmt.Errorf("a group needs a git repository, in which each launch gets a worktree: %w", err)
	}
	slots := make([]worktree.Slot, len(m.Members))
	for i, member := range m.Members {
		slots[i] = worktree.Slot{Agent: member.Agent, Model: member.Model}
	}
	g.places, err = g.repo.Place(ctx, g.Name, worktree.Suffixes(slots), m.Worktree)
	if err != nil {
		return nil, err
	}
	for i, member := range m.Members {
		req := m.Request
		req.Group = g.Name
		req.Branch = g.places[i].Branch
		req.Task.Dir = g.places[i].Folder
		req.Task.Model, req.Task.Mode = member.Model, member.Mode
		a := Find(agents, member.Agent)
		if a == nil {
			return nil, fmt.Errorf("%s: no agent %q", member.label(), member.Agent)
		}
		p, err := prepare(a, req, env)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", member.label(), err)
		}
		g.Plans = append(g.Plans, p)
	}
	return g, nil
}

// Warnings returns the warnings about a group, one line each: changes in the source repository that are not committed, which
// its worktrees lack, and a live session of the snapshot that works in the repository.
func (g *Group) Warnings(ctx context.Context, snap *app.Snapshot) (out []string) {
	changed, untracked, err := g.repo.Uncommitted(ctx)
	switch {
	case err != nil:
		out = append(out, fmt.Sprintf("it is not known whether %s has uncommitted changes: %v", lock.Shown(g.repo.Main), err))
	case changed+untracked > 0:
		out = append(out, fmt.Sprintf("%s has work that is not committed (%s): the agent does not get it; commit it first if it is needed",
			lock.Shown(g.repo.Main), counted(changed, untracked)))
	}
	if err := Occupied(snap, "")(g.repo.Main); err != nil {
		out = append(out, err.Error()+"; what it changes there is not in the worktree")
	}
	return out
}

func counted(changed, untracked int) string {
	var parts []string
	if changed > 0 {
		parts = append(parts, fmt.Sprintf("%d changed", changed))
	}
	if untracked > 0 {
		parts = append(parts, fmt.Sprintf("%d untracked", untracked))
	}
	return strings.Join(parts, ", ")
}

func (m *Member) label() string {
	if m.Model == "" {
		return string(m.Agent)
	}
	return string(m.Agent) + " " + m.Model
}

// GroupResult is the result of one launch of a group.
type GroupResult struct {
	Member  Member
	Folder  string // working folder of the agent in its worktree
	Branch  string
	Started *Started // nil if Err is set
	Err     error
}

// Start creates a worktree for each launch, all or none, and starts the launches. If one cannot be started, the others
// still are; its worktree remains and can be cleaned up. Start calls progress, which may be nil, with each result.
func (g *Group) Start(ctx context.Context, l *Launches, progress func(GroupResult)) ([]GroupResult, error) {
	if err := g.repo.Create(ctx, g.places); err != nil {
		return nil, err
	}
	if err := l.recordWorktrees(g.repo.Main, g.places); err != nil {
		return nil, errors.Join(fmt.Errorf("cannot record the worktrees: %w", err), g.repo.Undo(ctx, g.places))
	}
	results := make([]GroupResult, len(g.Plans))
	for i, p := range g.Plans {
		r := &results[i]
		*r = GroupResult{Member: g.Members[i], Folder: p.Request.Task.Dir, Branch: p.Request.Branch}
		p.Request.Task.Dir, r.Err = lock.RealPath(r.Folder)
		if r.Err == nil {
			r.Started, r.Err = l.Start(ctx, p, nil)
		}
		if progress != nil {
			progress(*r)
		}
	}
	return results, nil
}

// Failed returns the joined errors of the launches that were not started.
func Failed(results []GroupResult) error {
	var errs []error
	for i := range results {
		if r := &results[i]; r.Err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", r.Member.label(), r.Err))
		}
	}
	return errors.Join(errs...)
}
