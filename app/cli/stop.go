package cli

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"rollcall/adapters"
	"rollcall/app"
	"rollcall/app/present"
	"rollcall/proc"
)

type stopOptions struct{ idle, dryRun, yes bool }

func (c *command) stopCommand() *cobra.Command {
	var o stopOptions
	cmd := &cobra.Command{
		Use:   "stop ID",
		Short: "Stop a session: its gateway or its own process ends it",
		Long: `Stop the session with this id, or with the only id that begins so.

One that runs on a gateway is stopped by the gateway. One with a process of its
own is asked to end in the agent's graceful way, then terminated, then killed;
each step is shown with the time it is given, and so is what runs below it, which
ends with it. A process that hosts other sessions too is never signalled.`,
		Args: func(cmd *cobra.Command, args []string) error {
			if o.idle {
				return noArgs(cmd, args)
			}
			return oneID(cmd, args)
		},
		RunE: func(_ *cobra.Command, args []string) error {
			if o.idle {
				return c.stopIdle(o)
			}
			return c.stop(args[0], o)
		},
	}
	cmd.Flags().BoolVar(&o.idle, "idle", false, "stop every idle session with a process of its own, after asking")
	cmd.Flags().BoolVarP(&o.dryRun, "dry-run", "n", false, "show what would be done, do nothing")
	cmd.Flags().BoolVarP(&o.yes, "yes", "y", false, "with --idle: don't ask")
	return cmd
}

func (c *command) stop(id string, o stopOptions) error {
	s, _, core, err := c.find(id, false)
	if err != nil {
		return err
	}
	plan, err := core.PlanStop(c.ctx, s)
	if err != nil {
		return c.stopError(&s, err)
	}
	c.printPlan(plan)
	if o.dryRun {
		return nil
	}
	return c.carryOut(core, plan)
}

// carryOut stops one session and tells of each step as it is taken.
func (c *command) carryOut(core *app.Core, plan *app.StopPlan) error {
	if err := c.flushNow(); err != nil {
		return err
	}
	r, err := core.Stop(c.ctx, plan, func(step app.StopStep) {
		fmt.Fprintf(&c.out, "  %s, %s to end…\n", step.Signal, step.Grace)
		_ = c.flushNow()
	})
	if err != nil {
		return c.stopError(&plan.Session, err)
	}
	for _, p := range r.Rest {
		fmt.Fprintf(&c.out, "  ended what it left: %d %s\n", p.PID, present.Line(p.Comm))
	}
	how := "stopped by " + r.By.String()
	if plan.Through != "" {
		how = present.Line(plan.Through) + " stopped it"
	}
	fmt.Fprintf(&c.out, "%s after %s\n", how, r.Took.Round(10*time.Millisecond))
	return nil
}

// flushNow hands over what is there so far, for those who watch.
func (c *command) flushNow() error {
	err := c.flush()
	c.out.Reset()
	return err
}

// stopError says which session could not be stopped.
func (c *command) stopError(s *app.Session, err error) error {
	if c.ctx.Err() != nil {
		return c.ctx.Err()
	}
	code := Failure
	if errors.Is(err, app.ErrNoSession) {
		code = NoSession
	}
	return &exitError{code, fmt.Errorf("%s: %w", s.ID, err)}
}

// printPlan shows what a stop will do.
func (c *command) printPlan(p *app.StopPlan) {
	out := &c.out
	s := &p.Session
	fmt.Fprintf(out, "%s %s  %s  %s\n", present.AgentName(s.Agent), present.Line(s.ID), c.home(present.Line(s.CWD)), present.Status(s.Session))
	if p.Through != "" {
		fmt.Fprintf(out, "  asked of %s\n", present.Line(p.Through))
		return
	}
	for _, line := range treeLines(p) {
		fmt.Fprintf(out, "  %s\n", line)
	}
	for _, o := range p.Also {
		fmt.Fprintf(out, "  ends with it: %s  %s\n", present.Line(o.ID), present.Status(o.Session))
	}
	steps := make([]string, len(p.Steps))
	for i, step := range p.Steps {
		steps[i] = fmt.Sprintf("%s (%s)", step.Signal, step.Grace)
	}
	fmt.Fprintf(out, "  %s\n", strings.Join(steps, ", then "))
}

// treeLines are the processes of a plan, each below the one that started it.
func treeLines(p *app.StopPlan) []string {
	depth := map[int]int{p.Process.PID: 0}
	line := func(r proc.Process) string {
		return strings.Repeat("  ", depth[r.PID]) + fmt.Sprintf("%d %s", r.PID, present.Line(r.Comm))
	}
	lines := []string{line(p.Process)}
	below := map[int][]proc.Process{}
	for _, r := range p.Tree {
		below[r.PPID] = append(below[r.PPID], r)
	}
	var add func(pid int)
	add = func(pid int) {
		for _, r := range below[pid] {
			depth[r.PID] = depth[pid] + 1
			lines = append(lines, line(r))
			add(r.PID)
		}
	}
	add(p.Process.PID)
	return lines
}

// stopIdle stops all idle sessions that can be stopped, after showing them.
func (c *command) stopIdle(o stopOptions) error {
	core, err := c.core(0, false)
	if err != nil {
		return err
	}
	snap := core.Refresh(c.ctx)
	if err := c.ctx.Err(); err != nil {
		return err
	}
	_ = c.failures(snap, false)
	var plans []*app.StopPlan
	for _, s := range snap.Sessions {
		if s.Status != adapters.Idle || s.Parent != "" || s.Remote != "" || s.Shared {
			continue
		}
		plan, err := core.PlanStop(c.ctx, s)
		switch {
		case c.ctx.Err() != nil:
			return c.ctx.Err()
		case err != nil:
			c.complain(c.stopError(&s, err).Error())
		case plan.Session.Status == adapters.Idle:
			c.printPlan(plan)
			plans = append(plans, plan)
		}
	}
	if len(plans) == 0 {
		fmt.Fprintln(&c.out, "no idle session that could be stopped")
		return nil
	}
	if o.dryRun {
		return nil
	}
	if err := c.confirm(fmt.Sprintf("Stop %s?", plural(len(plans), "idle session")), o.yes); err != nil {
		return err
	}
	return c.stopAll(core, plans)
}

// stopAll stops one after the other. One that began to work since it was shown
// is left alone.
func (c *command) stopAll(core *app.Core, plans []*app.StopPlan) error {
	failed := 0
	for _, plan := range plans {
		again, err := core.PlanStop(c.ctx, plan.Session)
		if err == nil && again.Session.Status != adapters.Idle {
			err = fmt.Errorf("%w: it isn't idle any more (%s)", app.ErrMoved, present.Status(again.Session.Session))
		}
		if err == nil {
			fmt.Fprintf(&c.out, "%s\n", present.Line(plan.Session.ID))
			err = c.carryOut(core, again)
		} else {
			err = c.stopError(&plan.Session, err)
		}
		if c.ctx.Err() != nil {
			return c.ctx.Err()
		}
		if err != nil {
			failed++
			c.complain(err.Error())
		}
	}
	if failed > 0 {
		return fmt.Errorf("%d of %s not stopped", failed, plural(len(plans), "session"))
	}
	return nil
}

// confirm asks on the terminal. Without one only --yes will do.
func (c *command) confirm(question string, yes bool) error {
	if err := c.flushNow(); err != nil || yes {
		return err
	}
	if c.streams.In == nil {
		return wrong("nobody can be asked here: give --yes, or --dry-run to see what would be done")
	}
	fmt.Fprintf(c.streams.Err, "%s [y/N] ", question)
	answer := make(chan string, 1)
	go func() { // a read from a terminal can't be called off
		line, err := bufio.NewReader(c.streams.In).ReadString('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			line = ""
		}
		answer <- line
	}()
	select {
	case <-c.ctx.Done():
		return c.ctx.Err()
	case line := <-answer:
		switch strings.ToLower(strings.TrimSpace(line)) {
		case "y", "yes":
			return nil
		}
		return &exitError{Failure, errors.New("nothing was done")}
	}
}
