package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"

	"rollcall/adapters"
	"rollcall/app"
	"rollcall/app/machine"
	"rollcall/app/owned/launch"
	"rollcall/app/present"
	"rollcall/app/settings"
	"rollcall/proc"
)

// env holds what the sub-commands of one run share. Its methods open what a command
// needs, once.
type env struct {
	*output
	ctx      context.Context
	deps     Deps
	open     func() ([]adapters.Adapter, proc.Lister)
	launches func() (*launch.Launches, error)
	settings func() settings.Settings
	machines func() *machine.Machines
	undoes   atomic.Bool // the command undoes unfinished changes when it is interrupted
}

func newEnv(ctx context.Context, streams Streams, deps Deps) *env {
	if deps.Getenv == nil {
		deps.Getenv = func(string) string { return "" }
	}
	e := &env{output: &output{streams: streams, getenv: deps.Getenv}, ctx: ctx, deps: deps}
	e.open = sync.OnceValues(func() ([]adapters.Adapter, proc.Lister) { return deps.Open() })
	e.launches = sync.OnceValues(e.openLaunches)
	e.settings = sync.OnceValue(e.loadSettings)
	e.machines = sync.OnceValue(e.openMachines)
	return e
}

// openLaunches opens the records of the launches and reports those that can't be read.
func (e *env) openLaunches() (*launch.Launches, error) {
	l, err := e.deps.Launches()
	if err != nil {
		return nil, err
	}
	if _, err := l.List(); err != nil {
		e.warn(err.Error())
	}
	return l, nil
}

// with returns the RunE of a command that needs what open returns.
func with[T any](open func() (T, error), run func(opened T, args []string) error) func(*cobra.Command, []string) error {
	return func(_ *cobra.Command, args []string) error {
		opened, err := open()
		if err != nil {
			return err
		}
		return run(opened, args)
	}
}

// loadSettings returns the user's settings, as far as they can be used, and reports
// what is wrong with the rest.
func (e *env) loadSettings() settings.Settings {
	set, err := e.deps.Settings()
	if err != nil {
		e.warn(err.Error())
	}
	return set
}

// config returns the configuration of a core over the adapter with the name only;
// empty: over all adapters.
func (e *env) config(since time.Duration, totals bool, only adapters.Name) (app.Config, error) {
	list, table := e.open()
	set := e.settings()
	if only != "" {
		var names []string
		for _, a := range list {
			names = append(names, string(a.Name()))
		}
		i := slices.Index(names, string(only))
		if i < 0 {
			similar := ""
			if near := similarAgent(string(only)); near != "" {
				similar = " (did you mean " + near + "?)"
			}
			return app.Config{}, usageError("--agent must be one of %s, not %q%s", strings.Join(names, ", "), only, similar)
		}
		list = list[i : i+1]
	}
	cfg := app.Config{Adapters: list, Table: table, Since: since, Totals: totals, Limit: e.deps.Limit, Log: e.deps.Log, Account: set.NameAccount, Acting: e.deps.Acting, StalledAfter: set.Stalled}
	if l, err := e.launches(); err == nil {
		cfg.Launches = l
	}
	if m, err := e.deps.Marks(); err == nil {
		cfg.Marks = m
	}
	return cfg, nil
}

// leftOut returns the agents whose sessions are not shown: those that the settings leave out, or none if only names an agent, since the user
// asked for it.
func (e *env) leftOut(only string) []adapters.Name {
	if only != "" {
		return nil
	}
	return e.settings().LeftOutAgents
}

// core returns a core over all adapters.
func (e *env) core(since time.Duration, totals bool) *app.Core {
	cfg, _ := e.config(since, totals, "") // no error: no agent is named
	return app.New(cfg)
}

// refresh asks all adapters. Its error is the context's.
func (e *env) refresh(since time.Duration, totals bool) (*app.Core, *app.Snapshot, error) {
	core := e.core(since, totals)
	return core, core.Refresh(e.ctx), e.ctx.Err()
}

// refreshShown asks all adapters for live sessions, and leaves out what the settings leave out. Its error is the context's.
func (e *env) refreshShown() (*app.Core, *app.Snapshot, error) {
	cfg, _ := e.config(0, false, "") // no error: no agent is named
	core := app.New(cfg)
	core.LeaveOut(e.leftOut(""))
	return core, core.Refresh(e.ctx), e.ctx.Err()
}

// warnFailed prints a line for each adapter that failed, and reports whether one did.
func (e *env) warnFailed(snap *app.Snapshot) (failed bool) {
	for _, h := range snap.Adapters {
		if h.State != app.Failed {
			continue
		}
		failed = true
		e.warnProblems(string(h.Name), h.Problems, "rollcall doctor")
	}
	return e.warnMachines(snap) || failed
}

// warnProblems prints the first problem of an agent or machine, and the command that shows the others.
func (e *env) warnProblems(name string, problems []string, others string) {
	line := name + ": not everything could be read"
	if len(problems) > 0 {
		line = name + ": " + problems[0]
	}
	if n := len(problems) - 1; n > 0 {
		line += fmt.Sprintf(" (and %d more: %s)", n, others)
	}
	e.warn(line)
}

// find returns the session with this id, or the only session whose id has this prefix, and
// the core that found it. Its errors have exit codes.
func (e *env) find(id string, totals bool) (app.Session, *app.Snapshot, *app.Core, error) {
	core := e.core(app.All, totals)
	s, snap, err := core.Find(e.ctx, id)
	if e.ctx.Err() != nil {
		return s, snap, core, e.ctx.Err()
	}
	e.warnFailed(snap) // a session that was found is returned even if an adapter failed
	many, ambiguous := errors.AsType[*app.AmbiguousError](err)
	switch {
	case ambiguous:
		err = usageError("%s", listMatches(many))
	case errors.Is(err, app.ErrNoSession):
		err = &exitError{NoSession, fmt.Errorf("%w: %q%s", err, id, failedNote(snap))}
	}
	return s, snap, core, err
}

// failedNote returns a note that the session may belong to an agent that could not be
// asked; empty where all could.
func failedNote(snap *app.Snapshot) string {
	var failed []string
	for _, h := range snap.Adapters {
		if h.State == app.Failed {
			failed = append(failed, string(h.Name))
		}
	}
	if failed == nil {
		return ""
	}
	return " (not everything of " + strings.Join(failed, ", ") + " could be read)"
}

// listMatches lists the sessions whose ids begin with an ambiguous id.
func listMatches(e *app.AmbiguousError) string {
	const most = 20
	var b strings.Builder
	b.WriteString(e.Error() + ":")
	for i, s := range e.Matches {
		if i == most {
			fmt.Fprintf(&b, "\n  and %d more", len(e.Matches)-most)
			break
		}
		fmt.Fprintf(&b, "\n  %s  %s, %s, %s", s.ID, s.Agent, present.Status(s.Session), present.Project(s.CWD))
	}
	return b.String()
}

// confirm asks a question on the terminal, unless yes is set. Its error is declined
// when the answer is no; without a terminal only yes is accepted.
func (e *env) confirm(question string, yes bool, declined string) error {
	if err := e.flush(); err != nil || yes {
		return err
	}
	if e.streams.In == nil {
		return usageError("not a terminal: use --yes to confirm, or --dry-run to preview")
	}
	fmt.Fprintf(e.streams.Err, "%s [y/N] ", question)
	answer := make(chan string, 1)
	go func() { // a read from a terminal can't be cancelled
		line, err := bufio.NewReader(e.streams.In).ReadString('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			line = ""
		}
		answer <- line
	}()
	select {
	case <-e.ctx.Done():
		return e.ctx.Err()
	case line := <-answer:
		switch strings.ToLower(strings.TrimSpace(line)) {
		case "y", "yes":
			return nil
		}
		return errors.New(declined)
	}
}
