package cli

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"rollcall/adapters"
	"rollcall/app"
	"rollcall/app/owned/launch"
	"rollcall/app/present"
)

// followLimit is the time for which launch waits until the agent lists its session, or fails.
const followLimit = 3 * time.Second

// follow prints what a started agent does, until it lists its session or has ended, for
// followLimit at most.
func (c *launchCommand) follow(l *launch.Launches, core *app.Core, s *launch.Started) error {
	for _, w := range s.Warnings {
		c.warn(w.Error())
	}
	r := s.Record
	c.printf("started %s, process %d\n", r.ID, s.PID)
	if err := c.flush(); err != nil {
		return err
	}
	wait, cancel := context.WithTimeout(c.ctx, followLimit)
	if c.wait {
		wait, cancel = context.WithCancel(c.ctx)
	}
	defer cancel()
	talk := shownConversation{launchCommand: c, core: core, since: r.LaunchedAt}
	defer talk.end()
	ask := func(ctx context.Context, a adapters.Name) *app.Snapshot {
		snap := core.RefreshOne(ctx, a)
		talk.snap = snap
		return snap
	}
	settled, over := false, false
	var failed error
	l.Follow(wait, s, ask, func(p launch.Progress) {
		over = over || p.Stage == launch.Over
		settled = settled || over || p.Stage == launch.Listed
		failed = cmp.Or(c.printProgress(l, &p, &talk), failed)
		if p.Stage == launch.Listed && !c.wait {
			cancel()
		}
	})
	switch {
	case c.wait && !over:
		return c.goesOn(&r)
	case !settled:
		c.printf("it does not list its session yet; its log is %s\n", c.path(r.Log))
	}
	return failed
}

// printProgress prints what happened to a launch. It returns the error with which the agent ended.
func (c *launchCommand) printProgress(l *launch.Launches, p *launch.Progress, talk *shownConversation) error {
	if p.Err != nil {
		c.warn(p.Err.Error())
	}
	switch p.Stage {
	case launch.Continues:
		c.printf("the started process has ended; the agent continues as process %d\n", p.Record.Process.PID)
	case launch.Listed:
		c.printf("session %s; its log is %s\n", present.Line(p.Record.Session), c.path(p.Record.Log))
		_ = c.flush()
		if c.talk {
			talk.begin(&p.Record)
		}
	case launch.Over:
		talk.last(p)
		return c.ended(l, *p)
	}
	return nil
}

// shownConversation shows the conversation of a launched session, for launch --follow.
type shownConversation struct {
	*launchCommand
	core  *app.Core
	since time.Time     // older messages are not shown
	snap  *app.Snapshot // the latest answer of the agent
	over  chan struct{} // closed when the agent has ended; nil: nothing is shown
	done  chan struct{}
	began bool
}

// begin shows the session of a launch until end is called. Nothing else may be printed meanwhile.
func (t *shownConversation) begin(r *launch.Record) {
	of := func(s app.Session) bool {
		return s.Agent == r.Agent && (s.ID == r.Session || s.Launch != nil && s.Launch.ID == r.ID && !s.Launch.Unlisted)
	}
	if t.snap == nil || !slices.ContainsFunc(t.snap.Sessions(), of) { // the keeper may have found the session meanwhile
		t.snap = t.core.RefreshOne(t.ctx, r.Agent)
	}
	list := t.snap.Sessions()
	i := slices.IndexFunc(list, of)
	if i < 0 || t.over != nil {
		return
	}
	t.began = true
	t.over, t.done = make(chan struct{}), make(chan struct{})
	s := list[i]
	p := &peekPrinter{output: t.output, agent: s.Agent, shown: map[string]adapters.Message{}, now: time.Now, since: t.since}
	go func() {
		defer close(t.done)
		followLaunch(t.env, t.core, s, p, t.over)
	}()
}

// last shows what was not shown before the agent ended: the whole conversation if the agent ended before the
// conversation could be shown, or the end of the agent's output if the agent listed no session.
func (t *shownConversation) last(p *launch.Progress) {
	if t.talk && !t.began {
		t.begin(&p.Record)
	}
	t.end()
	if t.talk && !t.began && p.Output != "" {
		t.printf("%s\n", strings.TrimRight(present.Text(p.Output), "\n"))
	}
}

// end waits until the last messages were shown.
func (t *shownConversation) end() {
	if t.over == nil {
		return
	}
	close(t.over)
	<-t.done
	t.over = nil
	t.printf("\n")
}

// markReported records that the user has seen the end of a launch, so that the tray's next start does not notify of it.
func (e *env) markReported(l *launch.Launches, id string) {
	if err := l.MarkReported(context.WithoutCancel(e.ctx), id); err != nil {
		e.warn(err.Error())
	}
}

// ended reports the end of an agent that was just started. It returns an error if the
// agent failed.
func (c *launchCommand) ended(l *launch.Launches, p launch.Progress) error {
	c.markReported(l, p.Record.ID)
	if c.wait {
		return c.waited(p)
	}
	switch {
	case p.Unknown:
		c.printf("the agent has ended already, and its exit code is not known; its log is %s\n", c.path(p.Record.Log))
		return nil
	case p.Code == 0:
		c.printf("the agent has finished already; its log is %s\n", c.path(p.Record.Log))
		return nil
	}
	list, _ := c.open()
	why := present.Cut(present.Line(launch.Reason(launch.Find(list, p.Record.Agent), p.Output)), 1500)
	return fmt.Errorf("the agent ended at once with exit code %d: %s; its log is %s", p.Code, why, c.path(p.Record.Log))
}

// goesOn returns the error of a launch whose end --wait did not see: the command was interrupted, or no keeper runs and
// the agent continues in another process than the one that was started.
func (c *launchCommand) goesOn(r *launch.Record) error {
	if err := c.ctx.Err(); err != nil {
		return err
	}
	return &exitError{AgentUnseen, fmt.Errorf("%s continues in another process, and without a keeper its end cannot be waited for", r.ID)}
}

// waited reports the end of an agent that --wait has waited for. The exit code of the program reports the end too.
func (c *launchCommand) waited(p launch.Progress) error {
	took := time.Since(p.Record.LaunchedAt).Round(time.Second)
	log := c.path(p.Record.Log)
	switch {
	case p.Unknown:
		return &exitError{AgentUnseen, fmt.Errorf("%s ended after %s, and its exit code is not known; its log is %s", p.Record.ID, took, log)}
	case p.Signal != "":
		return &exitError{AgentFailed, fmt.Errorf("%s was ended by %s after %s; its log is %s", p.Record.ID, present.Line(p.Signal), took, log)}
	case p.Code != 0:
		return &exitError{AgentFailed, fmt.Errorf("%s ended with exit code %d after %s; its log is %s", p.Record.ID, p.Code, took, log)}
	}
	c.printf("%s ended with exit code 0 after %s; its log is %s\n", p.Record.ID, took, log)
	return nil
}
