package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"rollcall/adapters"
	"rollcall/app"
	"rollcall/app/fuse"
	"rollcall/app/present"
	"rollcall/proc"
)

// eventJSON is one line of watch --json.
type eventJSON struct {
	Schema  int          `json:"schema"`
	Event   string       `json:"event"` // started, status, ended, fuse.set, fuse.changed, fuse.fired, fuse.cancelled
	At      string       `json:"at"`
	Session *sessionJSON `json:"session,omitempty"`
	Before  string       `json:"before,omitempty"` // the status that it had, with "status"
	Fuse    *fuseJSON    `json:"fuse,omitempty"`
}

func (c *command) watchCommand() *cobra.Command {
	var asJSON bool
	var agent string
	cmd := &cobra.Command{
		Use:   "watch",
		Short: "Tell what happens to sessions and fuses, as it happens",
		Long: `Tell what happens to the sessions from now on, one line each, until it is
interrupted: that one started, that its status changed, that its process ended;
and what happens to fuses.`,
		Args: noArgs,
		RunE: func(*cobra.Command, []string) error { return c.watch(asJSON, adapters.Name(agent)) },
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON document per line, schema 1")
	cmd.Flags().StringVar(&agent, "agent", "", "only sessions of this `agent`")
	return cmd
}

func (c *command) watch(asJSON bool, only adapters.Name) error {
	core, closeWatcher, err := c.runningCore(only)
	if err != nil {
		return err
	}
	defer closeWatcher()
	events := core.Events()
	defer events.Close()
	ctx, cancel := context.WithCancel(c.ctx)
	var running sync.WaitGroup
	defer running.Wait()
	defer cancel()
	var lines sync.Mutex
	tell := func(e eventJSON, text string) {
		lines.Lock()
		defer lines.Unlock()
		if c.tellEvent(asJSON, e, text) != nil {
			cancel() // nobody reads any more
		}
	}
	running.Go(func() { _ = core.Run(ctx) })
	context.AfterFunc(readerGone(ctx, c.streams.Out), cancel) // it may be long until the next line
	running.Go(func() { c.watchFuses(ctx, tell) })
	for {
		e, err := events.Next(ctx)
		if err != nil {
			return c.ctx.Err()
		}
		s := sessionAsJSON(&e.Session)
		line := eventJSON{Schema: schema, Event: string(e.Kind), At: timestamp(e.At), Session: &s}
		if e.Kind == app.Changed {
			line.Before = string(e.Before.Status)
		}
		tell(line, c.eventLine(&e))
	}
}

// runningCore is a core that is told of the ends of processes.
func (c *command) runningCore(only adapters.Name) (*app.Core, func(), error) {
	cfg, err := c.config(0, false, only)
	if err != nil {
		return nil, nil, err
	}
	release := func() {}
	if table, ok := cfg.Table.(*proc.Table); ok {
		if w, err := proc.NewWatcher(table); err != nil {
			c.complain("ends of processes are noticed on refresh only: " + err.Error())
		} else {
			cfg.Watch, release = w, func() { _ = w.Close() }
		}
	}
	return app.New(cfg), release, nil
}

func (c *command) eventLine(e *app.Event) string {
	s := &e.Session
	what := string(e.Kind)
	if e.Kind == app.Changed {
		what = present.Status(s.Session)
	}
	return fmt.Sprintf("%s  %-8s %s  %s  %s", e.At.Local().Format(time.TimeOnly), what, present.AgentName(s.Agent),
		present.Project(s.CWD), present.Cut(present.Topic(s.Session), 60))
}

// tellEvent prints one line at once.
func (c *command) tellEvent(asJSON bool, e eventJSON, text string) error {
	if !asJSON {
		fmt.Fprintln(&c.out, present.Line(text))
	} else {
		width := c.streams.Width
		c.streams.Width = 0 // a line each, on a terminal too
		err := c.printJSON(e)
		c.streams.Width = width
		if err != nil {
			return err
		}
	}
	_, err := io.WriteString(c.streams.Out, c.out.String())
	c.out.Reset()
	return err
}

// watchFuses tells what happens to fuses.
func (c *command) watchFuses(ctx context.Context, tell func(eventJSON, string)) {
	f, err := c.fuses()
	if err != nil {
		return
	}
	changes, err := f.Changes(ctx)
	if err != nil {
		c.complain("fuses are not watched: " + err.Error())
		return
	}
	known, _ := f.List()
	for {
		select {
		case <-ctx.Done():
			return
		case <-changes:
		}
		now, err := f.List()
		if err != nil && !errors.Is(err, context.Canceled) {
			c.complain(err.Error())
		}
		for _, e := range fuseEvents(known, now) {
			tell(e, fmt.Sprintf("%s  %s  %s", time.Now().Format(time.TimeOnly), e.Event, e.Fuse.Path))
		}
		known = now
	}
}

// fuseEvents says what happened between two lists.
func fuseEvents(before, after []fuse.Fuse) []eventJSON {
	var out []eventJSON
	add := func(what string, x *fuse.Fuse) {
		j := fuseAsJSON(x)
		out = append(out, eventJSON{Schema: schema, Event: "fuse." + what, At: timestamp(time.Now()), Fuse: &j})
	}
	find := func(list []fuse.Fuse, path string) *fuse.Fuse {
		i := slices.IndexFunc(list, func(x fuse.Fuse) bool { return x.Path == path })
		if i < 0 {
			return nil
		}
		return &list[i]
	}
	for i := range after {
		x, was := &after[i], find(before, after[i].Path)
		switch {
		case was == nil && x.Fired(), was != nil && !was.Fired() && x.Fired():
			add("fired", x)
		case was == nil || !was.SetAt.Equal(x.SetAt):
			add("set", x)
		case !was.Expires.Equal(x.Expires):
			add("changed", x)
		}
	}
	for i := range before {
		if x := &before[i]; !x.Fired() && find(after, x.Path) == nil {
			add("cancelled", x)
		}
	}
	return out
}
