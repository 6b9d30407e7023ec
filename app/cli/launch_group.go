package cli

import (
	"os"
	"strings"

	"rollcall/adapters"
	"rollcall/app/launch"
	"rollcall/app/present"
)

// members reads AGENT[=MODEL] arguments.
func (c *launchCommand) members(args []string) []launch.Member {
	var out []launch.Member
	for _, a := range args {
		agent, model, ok := strings.Cut(a, "=")
		if !ok {
			model = c.model
		}
		out = append(out, launch.Member{Agent: adapters.Name(agent), Model: model, Mode: c.mode})
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
		m := &launch.Matrix{Request: req, Members: c.members(args)}
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
	return launch.LoadMatrix(c.ctx, c.matrix, &c.Options)
}

// group starts several agents, each in a worktree of its own.
func (c *launchCommand) group(args []string) error {
	if c.Terminal {
		return usageError("--terminal starts one agent only")
	}
	m, err := c.readMatrix(args)
	if err != nil {
		return err
	}
	list, _ := c.open()
	g, err := launch.PrepareGroup(c.ctx, m, list, os.Environ())
	if err != nil {
		return err
	}
	c.printf("group %s\n", g.Name)
	for i, p := range g.Plans {
		c.print(p)
		if err := c.confirmUnsafe(list, m.Members[i]); err != nil {
			return err
		}
	}
	if c.dryRun {
		return nil
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
				r.Started.Child.PID(), c.path(r.Folder))
			for _, w := range r.Started.Warnings {
				c.warn(w.Error())
			}
		}
		_ = c.flush()
	})
	if err != nil {
		return err
	}
	c.printf("to compare their results: rollcall compare %s\n", g.Name)
	return launch.Failed(results)
}
