package launch

import (
	"context"
	"errors"
	"fmt"

	"rollcall/adapters"
	"rollcall/app/worktree"
)

// Group is a matrix that could be carried out.
type Group struct {
	Name    string
	Members []Member
	repo    *worktree.Repo
	plans   []*Plan
	names   []string // of the worktrees
	find    func(adapters.Name) adapters.Adapter
	env     []string
}

// PrepareGroup checks all launches of a matrix before anything is made: the
// agents, their modes, the prompt and the repository.
func PrepareGroup(ctx context.Context, m *Matrix, find func(adapters.Name) adapters.Adapter, env []string) (*Group, error) {
	git, err := worktree.FindGit()
	if err != nil {
		return nil, err
	}
	g := &Group{Name: m.Request.Group, Members: m.Members, find: find, env: env}
	if g.Name == "" {
		g.Name = worktree.NewGroup()
	}
	if g.repo, err = git.Open(ctx, m.Request.Task.Dir); err != nil {
		return nil, fmt.Errorf("a group needs a git repository, for a worktree each: %w", err)
	}
	slots := make([]worktree.Slot, len(m.Members))
	for i, member := range m.Members {
		slots[i] = worktree.Slot{Agent: member.Agent, Model: member.Model}
		p, err := g.plan(m.Request, member)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", member.label(), err)
		}
		g.plans = append(g.plans, p)
	}
	g.names = worktree.Suffixes(slots)
	return g, nil
}

func (m *Member) label() string {
	if m.Model == "" {
		return string(m.Agent)
	}
	return string(m.Agent) + " " + m.Model
}

func (g *Group) plan(req Request, m Member) (*Plan, error) {
	a := g.find(m.Agent)
	if a == nil {
		return nil, fmt.Errorf("no agent %q", m.Agent)
	}
	req.Group = g.Name
	req.Task.Model, req.Task.Mode = m.Model, m.Mode
	return Prepare(a, req, g.env)
}

// Plans are the launches as they would be, still in the repository's own folder.
func (g *Group) Plans() []*Plan { return g.plans }

// GroupResult is what came of one launch of a group.
type GroupResult struct {
	Member  Member
	Folder  string // of the worktree, where the agent works
	Branch  string
	Started *Started // nil: see Err
	Err     error
}

// Start makes a worktree for each launch, all or none, and starts them. One that
// can't be started does not keep the others from it; its worktree stays, empty,
// and can be cleaned. progress, which may be nil, is told of each.
func (g *Group) Start(ctx context.Context, l *Launches, progress func(GroupResult)) ([]GroupResult, error) {
	made, err := g.repo.Create(ctx, g.Name, g.names)
	if err != nil {
		return nil, err
	}
	results := make([]GroupResult, len(made))
	for i, w := range made {
		r := &results[i]
		*r = GroupResult{Member: g.Members[i], Folder: w.Folder, Branch: w.Branch}
		req := g.plans[i].Request
		req.Task.Dir, req.Branch = w.Folder, w.Branch
		p, err := g.plan(req, g.Members[i])
		if err == nil {
			r.Started, err = l.Start(ctx, p, nil)
		}
		r.Err = err
		if progress != nil {
			progress(*r)
		}
	}
	return results, nil
}

// Failed joins the errors of the launches that were not started.
func Failed(results []GroupResult) error {
	var errs []error
	for i := range results {
		if r := &results[i]; r.Err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", r.Member.label(), r.Err))
		}
	}
	return errors.Join(errs...)
}
