package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"rollcall/app"
	"rollcall/app/present"
)

type stopCommand struct {
	*env
	idle, dryRun, yes bool
}

func newStop(e *env) *cobra.Command {
	c := &stopCommand{env: e}
	return command(&cobra.Command{
		Use:        "stop ID",
		SuggestFor: []string{"kill", "end"},
		Short:      "Stop a session: its gateway or its own process ends it",
		Long: `Stop the session with this id (a unique prefix is enough).

A session that runs on a gateway is stopped by the gateway. A session with its
own process is first asked to end in the agent's way, then terminated, then killed.
Each step is shown with its time limit, and so are the processes below the agent's,
which end with it. A process that also hosts other sessions is never signalled, nor
is one below which another session runs. If another agent or home names the same
process, both sessions are shown and you are asked; --idle stops neither.`,
		Args: func(cmd *cobra.Command, args []string) error {
			if c.idle && len(args) > 0 {
				return usageError("use --idle or an id, not both\n  see: %s --help", cmd.CommandPath())
			}
			if c.idle {
				return nil
			}
			return oneID(cmd, args)
		},
		RunE: func(_ *cobra.Command, args []string) error {
			if c.idle {
				return c.stopIdle()
			}
			return c.stop(args[0])
		},
	},
		withFlag(&c.idle, "idle", "stop every idle session whose process hosts no other session, after asking"),
		dryRunFlag(&c.dryRun),
		withFlag(&c.yes, "yes,y", "don't ask: with --idle, and where other sessions end with it"),
	)
}

// stop stops the session with this id.
func (c *stopCommand) stop(id string) error {
	s, _, core, err := c.find(id, false)
	if err != nil {
		return err
	}
	plan, err := core.PlanStop(c.ctx, s)
	if err != nil {
		return c.sessionError(Failure, &s, err)
	}
	c.print(plan)
	if c.dryRun {
		return nil
	}
	if question := plan.AsksAgain(); question != "" {
		if err := c.confirm(question, c.yes, "nothing was done"); err != nil {
			return err
		}
	}
	return c.carryOut(core, plan)
}

// stopIdle shows all idle sessions that can be stopped, asks, and stops them.
func (c *stopCommand) stopIdle() error {
	core, snap, err := c.refreshShown()
	if err != nil {
		return err
	}
	c.warnFailed(snap)
	plans := core.PlanStopAllIdle(c.ctx, snap, func(s *app.Session, err error) { c.warn(c.sessionError(Failure, s, err).Error()) })
	if err := c.ctx.Err(); err != nil {
		return err
	}
	for _, plan := range plans {
		c.print(plan)
	}
	if len(plans) == 0 {
		c.printf("no idle session that could be stopped\n")
		return nil
	}
	if c.dryRun {
		return nil
	}
	if err := c.confirm(fmt.Sprintf("Stop %s?", plural(len(plans), "idle session")), c.yes, "nothing was done"); err != nil {
		return err
	}
	return c.stopAll(core, plans)
}

// stopAll stops one session after the other. It leaves alone those that have begun to
// work since they were shown.
func (c *stopCommand) stopAll(core *app.Core, plans []*app.StopPlan) error {
	failed := 0
	for _, plan := range plans {
		now, err := core.PlanStopIdle(c.ctx, plan.Session)
		if err == nil {
			c.printf("%s\n", present.Line(plan.Session.ID))
			err = c.carryOut(core, now)
		} else {
			err = c.sessionError(Failure, &plan.Session, err)
		}
		if c.ctx.Err() != nil {
			return c.ctx.Err()
		}
		if err != nil {
			failed++
			c.warn(err.Error())
		}
	}
	return someFailed(failed, len(plans), "session", "not stopped")
}

// carryOut stops one session and prints each step before it is taken.
func (c *stopCommand) carryOut(core *app.Core, plan *app.StopPlan) error {
	if err := c.flush(); err != nil {
		return err
	}
	r, err := core.Stop(c.ctx, plan, func(step app.StopStep) {
		c.printf("  %s, %s to end…\n", step.Signal, step.Grace)
		_ = c.flush()
	})
	if err != nil {
		return c.sessionError(Failure, &plan.Session, err)
	}
	for _, p := range r.Rest {
		c.printf("  ended what it left: %d %s\n", p.PID, present.Line(p.Comm))
	}
	c.printf("%s\n", present.StoppedBy(r.By, plan.Through, r.Took))
	if launched := plan.Session.Launch; launched != nil {
		l, err := c.launches()
		if err != nil {
			c.warn(err.Error())
			return nil
		}
		c.markReported(l, launched.ID)
	}
	return nil
}

// print shows what a stop will do.
func (c *stopCommand) print(p *app.StopPlan) {
	s := &p.Session
	c.printf("%s %s  %s  %s\n", present.AgentName(s.Agent), present.Line(s.ID), c.path(s.CWD), present.Status(s.Session))
	if p.Through != "" {
		c.printf("  stopped through %s\n", present.Line(p.Through))
		return
	}
	for _, line := range present.Tree(p.Process, p.Tree, p.Commands) {
		c.printf("  %s\n", line)
	}
	for _, o := range p.Also {
		c.printf("  ends with it: %s  %s\n", present.Line(o.ID), present.Status(o.Session))
	}
	for _, name := range p.Unasked {
		c.printf("  %s could not be asked: another of its sessions may end with it\n", present.AgentName(name))
	}
	steps := make([]string, len(p.Steps))
	for i, step := range p.Steps {
		steps[i] = fmt.Sprintf("%s (%s)", step.Signal, step.Grace)
	}
	c.printf("  %s\n", strings.Join(steps, ", then "))
}
