package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/dustin/go-humanize/english"
	"github.com/spf13/cobra"

	"rollcall/app"
	"rollcall/app/owned/keep"
	"rollcall/app/present"
	"rollcall/app/self/autostart"
	"rollcall/app/self/instance"
)

// keeperJSON is the JSON document of keep --status.
type keeperJSON struct {
	Schema  int    `json:"schema"`
	Running bool   `json:"running"`
	PID     int    `json:"pid,omitempty"`
	Version string `json:"version,omitempty"`
	Since   string `json:"since,omitempty"`
	keep.Kept
	Problems []string `json:"problems,omitempty"`
}

type keepCommand struct {
	*env
	status, asJSON, start, install, uninstall bool
}

func newKeep(e *env) *cobra.Command {
	c := &keepCommand{env: e}
	return command(&cobra.Command{
		Use:   "keep",
		Short: "Keep launches, hooks, fuses and the webhook; started by itself when needed",
		Long: `Keep what Rollcall owns: it is the parent of the agents that are launched in the
background, runs hooks and the scripts of fuses, calls the webhook, and removes
records a day after the end. One keeper runs for each user. Every command that
leaves something to keep starts it, and it ends one minute after nothing is left,
so you do not need to start it.`,
		Args: oneOf("status", "start", "install", "uninstall"),
		RunE: withoutArgs(c.run),
	},
		withFlag(&c.status, "status", "show whether a keeper runs, and what there is to keep"),
		withFlag(&c.asJSON, "json", "with --status: print JSON, schema 1"),
		withFlag(&c.start, "start", "start a keeper in the background, if none runs"),
		withFlag(&c.install, "install", "start the keeper at login"),
		withFlag(&c.uninstall, "uninstall", "don't start the keeper at login any more"),
		exclusive("status", "start", "install", "uninstall"),
	)
}

func (c *keepCommand) run() error {
	switch {
	case c.deps.Keep == nil || c.deps.Keeper == nil:
		return errors.New("this build has no keeper")
	case c.status:
		return c.showStatus()
	case c.asJSON:
		return usageError("--json needs --status")
	case c.start:
		return c.deps.Keeper.Ready(c.ctx)
	case c.install:
		return c.changeAutostart(autostart.Keeper, "wrote", autostart.Entry.On)
	case c.uninstall:
		return c.changeAutostart(autostart.Keeper, "removed", autostart.Entry.Off)
	}
	err := c.deps.Keep(c.ctx)
	if errors.Is(err, keep.ErrRunning) {
		c.warn("the keeper is running already; rollcall keep --status shows what it keeps")
		return nil
	}
	return endError(c.ctx, err)
}

// keeperStatus returns the status of the keeper. If no keeper runs, it returns the launches, hooks, fuses and records that a keeper would attend to.
func (e *env) keeperStatus(ctx context.Context) (s *keep.Status, running bool, err error) {
	s, err = e.deps.Keeper.Status(ctx)
	if err == nil {
		return s, true, nil
	}
	if !errors.Is(err, instance.ErrNotRunning) {
		return nil, false, err
	}
	l, err := e.launches()
	if err != nil {
		return nil, false, err
	}
	f, err := e.deps.Fuses()
	if err != nil {
		return nil, false, err
	}
	kept, err := keep.ToKeep(l, f)
	return &keep.Status{Kept: kept}, false, err
}

func (c *keepCommand) showStatus() error {
	s, running, err := c.keeperStatus(c.ctx)
	if err != nil {
		return err
	}
	if c.asJSON {
		return c.json(keeperJSON{Schema: schema, Running: running, PID: s.PID, Version: s.Version, Since: timestamp(s.Since),
			Kept: s.Kept, Problems: s.Troubles})
	}
	c.printf("%s\n", keeperText(s, running, time.Now()))
	for _, t := range s.Troubles {
		c.printf("problem: %s\n", present.Line(t))
	}
	return nil
}

// keeperText describes the keeper in one line.
func keeperText(s *keep.Status, running bool, now time.Time) string {
	kept := keptText(&s.Kept)
	switch {
	case running && kept == "":
		kept = "nothing to keep: it ends within a minute"
	case kept == "":
		return "not running, and nothing to keep"
	}
	if !running {
		return "not running, although there is something to keep: " + kept
	}
	return fmt.Sprintf("running as process %d since %s (%s), version %s; %s", s.PID, clock(s.Since), present.Since(s.Since, now),
		present.Line(s.Version), kept)
}

// keptText lists the launches, hooks, fuses and records that the keeper attends to.
func keptText(k *keep.Kept) string {
	var parts []string
	for _, p := range []struct {
		n         int
		one, many string
	}{{k.Launches, "launch", "launches"}, {k.Hooks, "hook", "hooks"}, {k.Fuses, "fuse", "fuses"}, {k.Records, "record", "records"}} {
		if p.n > 0 {
			parts = append(parts, english.Plural(p.n, p.one, p.many))
		}
	}
	if k.Webhook {
		parts = append(parts, "the webhook")
	}
	if k.Metrics {
		parts = append(parts, "the metrics")
	}
	if k.Messages > 0 {
		parts = append(parts, plural(k.Messages, "message")+" that the webhook has not accepted")
	}
	return strings.Join(parts, ", ")
}

// keeperCheck returns doctor's finding about the keeper.
func (c *doctorCommand) keeperCheck() (checkJSON, bool) {
	if c.deps.Keeper == nil {
		return checkJSON{}, false
	}
	check := checkJSON{Name: "keeper", State: string(app.OK)}
	s, running, err := c.keeperStatus(c.ctx)
	if err != nil {
		check.State, check.Detail = string(app.Failed), err.Error()
		return check, true
	}
	check.Detail = keeperText(s, running, time.Now())
	if !running && !s.IsNothing() || len(s.Troubles) > 0 {
		check.State = string(app.Failed)
		check.Detail = strings.Join(append([]string{check.Detail}, s.Troubles...), "; ")
	}
	return check, true
}
