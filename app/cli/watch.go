package cli

import (
	"cmp"
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"rollcall/adapters"
	"rollcall/app"
	"rollcall/app/machine"
	"rollcall/app/owned/fuse"
	"rollcall/app/owned/keep"
	"rollcall/app/present"
	"rollcall/app/settings"
	"rollcall/proc"
)

// eventJSON is the JSON document of an event.
type eventJSON struct {
	Schema  int                  `json:"schema"`
	Event   string               `json:"event"` // started, status, ended, fuse.set, fuse.changed, fuse.fired, fuse.cancelled; with --snapshot also those of stream.go
	At      string               `json:"at"`
	Session *machine.SessionJSON `json:"session,omitempty"`
	Before  string               `json:"before,omitempty"` // the status before; with the event "status"
	Fuse    *fuseJSON            `json:"fuse,omitempty"`

	// With --snapshot only.
	Was     *machine.SessionJSON `json:"was,omitempty"`
	Process string               `json:"process,omitempty"`
	Removed *machine.RemovedJSON `json:"removed,omitempty"`
	Adapter *machine.AdapterJSON `json:"adapter,omitempty"`
	Hello   *machine.HelloJSON   `json:"hello,omitempty"`
}

type watchCommand struct {
	*env
	agent  string
	asJSON bool
	stream streamOptions

	lines  sync.Mutex // one event is printed at a time
	failed error      // of the output
}

func newWatch(e *env) *cobra.Command {
	c := &watchCommand{env: e}
	return command(&cobra.Command{
		Use:        "watch",
		SuggestFor: []string{"events", "follow"},
		Short:      "Print what happens to sessions and fuses, as it happens",
		Long: `Print what happens to the sessions from now on, until it is interrupted: one line
when a session starts, when its status changes and when its process ends, and one
when a fuse is set, changed, fired or cancelled.

With --json --snapshot it begins with the present state of every session and agent,
and continues with each row that changes and with heartbeats, so that a reader knows
at any time what list shows. Another machine's Rollcall reads this over ssh.`,
		Args: noArgs,
		RunE: withoutArgs(c.run),
	},
		withFlag(&c.asJSON, "json", "print one JSON document per line, schema 1"),
		withFlag(&c.agent, "agent", "only sessions of this `agent`"),
		c.stream.flags,
	)
}

func (c *watchCommand) run() error {
	if err := c.stream.check(c.asJSON); err != nil {
		return err
	}
	core, closeWatcher, err := c.runningCore()
	if err != nil {
		return err
	}
	defer closeWatcher()
	c.leaveOut(core, c.settings)
	events := core.Events()
	defer events.Close()
	ctx, cancel := context.WithCancel(c.ctx)
	var running sync.WaitGroup
	defer running.Wait()
	defer cancel()
	emit := func(e eventJSON, text string) {
		if c.emit(e, text) != nil {
			cancel() // the output is no longer read, or can't be written
		}
	}
	running.Go(func() { _ = core.Run(ctx) })
	set, changed := c.followSettings(ctx, core, &running)
	running.Go(func() { c.watchFuses(ctx, emit) })
	c.endWithReader(ctx, cancel)
	if c.stream.snapshot { // a stream lists the sessions of its own machine only
		c.streamTo(ctx, core, events, func(e eventJSON) { emit(e, "") })
		return c.result()
	}
	running.Go(func() { c.machines().Run(ctx, 0, core) })
	running.Go(func() { c.followMachines(ctx, set, changed) })
	c.printEvents(ctx, events, emit)
	return c.result()
}

// followSettings follows the settings until ctx is done: the agents that they leave out, and what the keeper needs of them. It returns the
// current settings, and a channel that receives when they have changed.
func (c *watchCommand) followSettings(ctx context.Context, core *app.Core, running *sync.WaitGroup) (set func() settings.Settings, changed <-chan struct{}) {
	set, changes, watch := c.liveSettings()
	leftOut := changes()
	keeper := changes()
	changed = changes()
	running.Go(func() { watch(ctx) })
	running.Go(func() { c.followLeftOut(ctx, core, set, leftOut) })
	running.Go(func() { c.attendKeeper(ctx, keeper) })
	return set, changed
}

// endWithReader calls end when the output is no longer read, and at the end of the standard input if that was asked for.
func (c *watchCommand) endWithReader(ctx context.Context, end func()) {
	context.AfterFunc(readerGone(ctx, c.streams.Out), end) // the next line may come late
	if c.stream.endWithStdin {
		go func() { // a read from the standard input can't be cancelled
			_, _ = io.Copy(io.Discard, os.Stdin)
			end()
		}()
	}
}

// emit prints an event. It returns the first error of the output.
func (c *watchCommand) emit(e eventJSON, text string) error {
	c.lines.Lock()
	defer c.lines.Unlock()
	c.failed = cmp.Or(c.failed, c.print(e, text))
	return c.failed
}

// result returns why watch ended; nil: nothing reads its output any more.
func (c *watchCommand) result() error {
	c.lines.Lock()
	defer c.lines.Unlock()
	return cmp.Or(ignoreReaderGone(c.failed), c.ctx.Err())
}

// leaveOut makes the core leave out the agents that the settings leave out, unless one agent was requested.
func (c *watchCommand) leaveOut(core *app.Core, set func() settings.Settings) {
	if c.agent == "" {
		core.LeaveOut(set().LeftOutAgents)
	}
}

// followLeftOut calls leaveOut at each change of the settings, until ctx is done.
func (c *watchCommand) followLeftOut(ctx context.Context, core *app.Core, set func() settings.Settings, changed <-chan struct{}) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-changed:
			c.leaveOut(core, set)
			core.Refresh(ctx) // the settings may name other home folders of agents
		}
	}
}

// printEvents calls emit for each event until ctx is done.
func (c *watchCommand) printEvents(ctx context.Context, events *app.Events, emit func(eventJSON, string)) {
	for {
		e, err := events.Next(ctx)
		if err != nil {
			return
		}
		if c.agent != "" && string(e.Session.Agent) != c.agent { // an event of an agent on another machine
			continue
		}
		emit(eventAsJSON(&e), eventLine(&e, c.streams.Width))
	}
}

func eventAsJSON(e *app.Event) eventJSON {
	s := sessionAsJSON(&e.Session)
	j := eventJSON{Schema: schema, Event: string(e.Kind), At: timestamp(e.At), Session: &s}
	if e.Kind == app.Changed {
		j.Before = string(e.Before.Status)
	}
	return j
}

// liveSettings returns three functions: set returns the current settings, changes returns a channel that receives when the settings
// have changed, and watch follows the settings file until its context is done. If the file can't be followed, set always returns the
// settings that were read first.
func (c *watchCommand) liveSettings() (set func() settings.Settings, changes func() <-chan struct{}, watch func(context.Context)) {
	if live, err := c.deps.Live(); err == nil { // the settings were read before, which reports an error
		return func() settings.Settings {
			now, _ := live.Get() // Get logs mistakes in the file
			return now
		}, live.Changes, live.Watch
	}
	return c.settings, func() <-chan struct{} { return nil }, func(context.Context) {}
}

// followMachines connects to the machines that the settings or machine add name, and follows changes of both, until ctx is done.
func (c *watchCommand) followMachines(ctx context.Context, set func() settings.Settings, changed <-chan struct{}) {
	said := ""
	_, kept, err := c.deps.Machines()
	if err != nil {
		said = err.Error() // openMachines has reported err
	}
	list := func() []settings.Machine { return set().Machines }
	_ = c.machines().Follow(ctx, machine.Sources{Settings: list, Changed: changed, Kept: kept, Report: func(err error) {
		if err != nil && err.Error() != said {
			c.warn(err.Error())
		}
		said = ""
	}})
}

// attendKeeper starts a keeper whenever none runs while there is something to keep or a webhook is set.
func (c *watchCommand) attendKeeper(ctx context.Context, changed <-chan struct{}) {
	if c.deps.Keeper == nil {
		return
	}
	l, err := c.launches()
	if err != nil {
		return
	}
	f, err := c.deps.Fuses()
	if err != nil {
		return
	}
	show := func(troubles []string) {
		for _, t := range troubles {
			c.warn(t)
		}
	}
	// c.settings() reads them once, and has reported what is wrong.
	_ = c.deps.Keeper.Attend(ctx, keep.Attendance{Launches: l, Fuses: f, Settings: c.deps.Settings, Changed: changed, Show: show})
}

// runningCore returns a core that notices the ends of processes at once.
func (c *watchCommand) runningCore() (*app.Core, func(), error) {
	cfg, err := c.config(c.stream.since, false, agentNamed(c.agent))
	if err != nil {
		return nil, nil, err
	}
	release := func() {}
	if table, ok := cfg.Table.(*proc.Table); ok {
		if w, err := proc.NewWatcher(table); err != nil {
			c.warn("ends of processes are noticed on refresh only: " + err.Error())
		} else {
			cfg.Watch, release = w, func() { _ = w.Close() }
		}
	}
	return app.New(cfg), release, nil
}

// eventLine describes an event in one line.
func eventLine(e *app.Event, width int) string {
	s := &e.Session
	what := string(e.Kind)
	if e.Kind == app.Changed {
		what = present.Status(s.Session)
	}
	project := present.Project(s.CWD)
	if s.Machine != "" {
		project += " @" + present.Line(s.Machine)
	}
	return watchLine(width, e.At, what, present.AgentName(s.Agent), project, present.Topic(s.Topic))
}

// watchLine returns a line of aligned columns for a terminal of width cells; 0: there is no terminal, and nothing is cut.
// The widths are fixed, since later events are not known. A text that is longer than its column shifts the rest of its
// line.
func watchLine(width int, at time.Time, what, agent, project, topic string) string {
	if width > 0 {
		project = present.Cut(project, watchProject)
	}
	line := strings.Join([]string{at.Local().Format(time.TimeOnly), pad(what, watchWhat), pad(agent, longestAgent()), pad(project, watchProject), topic}, "  ")
	line = strings.TrimRight(line, " ")
	if width > 0 {
		line = present.Cut(line, width)
	}
	return line
}

// The columns of watch: the statuses of sessions that are not suspended, and the names of most folders.
const (
	watchWhat    = 17 // "idle, interrupted"
	watchProject = 20
)

// longestAgent returns the width of the longest name of an agent.
func longestAgent() (width int) {
	for _, d := range adapters.Described() {
		width = max(width, present.Width(d.Title))
	}
	return width
}

// print prints one event at once, as JSON or as text.
func (c *watchCommand) print(e eventJSON, text string) error {
	if !c.asJSON {
		c.printf("%s\n", text)
	} else if err := c.encode(e, false); err != nil {
		return err
	}
	return c.write()
}

// watchFuses calls emit for each event of a fuse, until ctx is done.
func (c *watchCommand) watchFuses(ctx context.Context, emit func(eventJSON, string)) {
	f, err := c.deps.Fuses()
	if err != nil {
		return
	}
	changes, err := f.Changes(ctx)
	if err != nil {
		c.warn("fuses are not watched: " + err.Error())
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
			c.warn(err.Error())
		}
		for _, e := range fuseEvents(known, now) {
			emit(e, watchLine(c.streams.Width, time.Now(), e.Event, "", present.Project(e.Fuse.Path), c.path(e.Fuse.Path)))
		}
		known = now
	}
}

// fuseEvents returns the events of fuses between two lists.
func fuseEvents(before, after []fuse.Fuse) []eventJSON {
	var out []eventJSON
	add := func(what string, x *fuse.Fuse) {
		j := fuseAsJSON(x)
		out = append(out, eventJSON{Schema: schema, Event: "fuse." + what, At: timestamp(time.Now()), Fuse: &j})
	}
	was, is := map[string]*fuse.Fuse{}, map[string]bool{}
	for i := range before {
		was[before[i].FileName()] = &before[i]
	}
	for i := range after {
		x := &after[i]
		is[x.FileName()] = true
		switch was := was[x.FileName()]; {
		case x.Fired() && (was == nil || !was.Fired()):
			add("fired", x)
		case was == nil || !was.SetAt.Equal(x.SetAt):
			add("set", x)
		case !was.Expires.Equal(x.Expires):
			add("changed", x)
		}
	}
	for i := range before {
		if x := &before[i]; !x.Fired() && !is[x.FileName()] {
			add("cancelled", x)
		}
	}
	return out
}
