package cli

import (
	"cmp"
	"context"
	"errors"
	"os"
	"strings"
	"sync"

	"rollcall/adapters"
	"rollcall/app"
	"rollcall/app/owned/launch"
	"rollcall/app/owned/worktree"
	"rollcall/app/present"
)

// members reads AGENT[=MODEL] arguments. Without any it returns the default agent.
func (c *launchCommand) members(args []string) []launch.Member {
	if len(args) == 0 {
		args = []string{string(c.Defaults.Member("").Agent)}
	}
	var out []launch.Member
	for _, a := range args {
		agent, model, ok := strings.Cut(a, "=")
		m := c.Defaults.Member(agentNamed(agent))
		if ok || c.ownModel {
			m.Model = ifelse(ok, model, c.model)
		}
		if c.ownMode {
			m.Mode = c.mode
		}
		out = append(out, m)
	}
	return out
}

// readMatrix returns the matrix that the arguments and flags ask for.
func (c *launchCommand) readMatrix(args []string) (*launch.Matrix, error) {
	if c.matrix == "" {
		req, err := c.request()
		if err != nil {
			return nil, err
		}
		m := &launch.Matrix{Request: req, Members: c.members(args), Worktree: worktree.Wanted{Branch: c.branch, Base: c.baseBranch}}
		list, _ := c.open()
		if err := c.check(list, &req, m.Members...); err != nil {
			return nil, err
		}
		return m, launch.CheckMembers(m.Members)
	}
	if len(args) > 0 || c.Prompt != "" || c.PromptFile != "" || c.model != "" || c.mode != "" {
		return nil, usageError("a matrix file contains the agents, models, modes and the prompt: leave out the arguments and flags for them")
	}
	c.KeepEnv = c.KeepEnv || c.settings().Launch.KeepEnv
	m, err := launch.LoadMatrix(c.ctx, c.matrix, &c.Options)
	if _, mistake := errors.AsType[*launch.MatrixError](err); mistake {
		err = usageError("%w", err)
	}
	if err != nil {
		return nil, err
	}
	m.Worktree = worktree.Wanted{Branch: cmp.Or(c.branch, m.Worktree.Branch), Base: cmp.Or(c.baseBranch, m.Worktree.Base)}
	for i := range m.Members {
		x := &m.Members[i]
		d := c.Defaults.Member(x.Agent)
		x.Model, x.Mode = cmp.Or(x.Model, d.Model), cmp.Or(x.Mode, d.Mode)
	}
	list, _ := c.open()
	err = c.check(list, &m.Request, m.Members...)
	if _, usage := errors.AsType[*exitError](err); usage {
		err = usageError("%s: %w", c.matrix, err)
	}
	return m, err
}

// warnWorktrees reports what the worktrees of a group will lack.
func (c *launchCommand) warnWorktrees(g *launch.Group) error {
	_, snap, err := c.refresh(0, false)
	if err != nil {
		return err
	}
	for _, w := range g.Warnings(c.ctx, snap) {
		c.warn("warning: " + w)
	}
	return nil
}

// group starts agents, each in a separate worktree.
func (c *launchCommand) group(args []string) error {
	switch {
	case c.Terminal && len(args) == 1:
		return usageError("--terminal cannot start an agent in a new worktree: omit --terminal, or --worktree, --branch and --base-branch")
	case c.Terminal:
		return usageError("--terminal starts one agent only")
	}
	m, err := c.readMatrix(args)
	if err != nil {
		return err
	}
	list, _ := c.open()
	env, left := c.Defaults.Environment(os.Environ())
	g, err := launch.PrepareGroup(c.ctx, m, list, env)
	if err != nil {
		return err
	}
	c.printf("group %s\n", g.Name)
	for i, p := range g.Plans {
		c.print(p, left)
		if err := c.confirmUnsafe(list, m.Members[i]); err != nil {
			return err
		}
	}
	if err := c.warnWorktrees(g); err != nil || c.dryRun {
		return err
	}
	l, err := c.launches()
	if err != nil {
		return err
	}
	if err := c.flush(); err != nil {
		return err
	}
	results, err := g.Start(c.ctx, l, func(r launch.GroupResult) {
		if r.Err != nil {
			c.printf("%s: not started\n", present.AgentName(r.Member.Agent))
		} else {
			c.printf("%s: started %s, process %d, in %s\n", present.AgentName(r.Member.Agent), r.Started.Record.ID,
				r.Started.PID, c.path(r.Folder))
			for _, w := range r.Started.Warnings {
				c.warn(w.Error())
			}
		}
		_ = c.flush()
	})
	if err != nil {
		return err
	}
	return c.started(l, g.Name, results)
}

// started prints how to compare the results, and waits for them with --wait. Its error names the members that were not
// started.
func (c *launchCommand) started(l *launch.Launches, group string, results []launch.GroupResult) error {
	if len(results) > 1 {
		c.printf("to compare their results: rollcall compare %s\n", group)
	} else {
		c.printf("its branch is %s; to see what it changed: rollcall compare %s\n", results[0].Branch, group)
	}
	if c.wait {
		failed := launch.Failed(results)
		if failed != nil {
			c.warn(failed.Error()) // printed here, since the error below may replace it
		}
		if err := c.waitForAll(l, results); err != nil || failed == nil {
			return err
		}
		return &exitError{code: Failure}
	}
	return launch.Failed(results)
}

// waitForAll waits for the launches of a group that were started. Its error has the exit code AgentFailed if one failed,
// else AgentUnseen if the code of one is not known.
func (c *launchCommand) waitForAll(l *launch.Launches, results []launch.GroupResult) error {
	if err := c.flush(); err != nil {
		return err
	}
	code, unseen := Done, false
	var ending sync.Mutex
	var waiting sync.WaitGroup
	core := c.core(0, false)
	ask := func(ctx context.Context, a adapters.Name) *app.Snapshot { return core.RefreshOne(ctx, a) }
	for i := range results {
		s := results[i].Started
		if s == nil {
			continue
		}
		waiting.Go(func() {
			over := false
			l.Follow(c.ctx, s, ask, func(p launch.Progress) {
				if p.Stage != launch.Over {
					return
				}
				ending.Lock()
				defer ending.Unlock()
				over = true
				c.markReported(l, p.Record.ID)
				if failed, ok := errors.AsType[*exitError](c.waited(p)); ok {
					c.warn(failed.Error())
					if code != AgentFailed {
						code = failed.code
					}
				}
				_ = c.flush()
			})
			ending.Lock()
			defer ending.Unlock()
			unseen = unseen || !over
		})
	}
	waiting.Wait()
	switch {
	case c.ctx.Err() != nil:
		return c.ctx.Err()
	case code != Done:
		return &exitError{code: code}
	case unseen: // see goesOn
		return &exitError{AgentUnseen, errors.New("an agent continues in another process, and without a keeper its end cannot be waited for")}
	}
	return nil
}
