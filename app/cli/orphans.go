package cli

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"rollcall/adapters"
	"rollcall/app"
	"rollcall/app/present"
	"rollcall/proc"
)

// orphansJSON is the JSON document of orphans. Empty fields are left out.
type orphansJSON struct {
	Schema   int             `json:"schema"`
	At       string          `json:"at"`
	Orphans  []orphanJSON    `json:"orphans"`
	NotAsked []adapters.Name `json:"not_asked,omitempty"` // agents whose sessions could not be read
}

type orphanJSON struct {
	Agent     adapters.Name       `json:"agent"`
	Session   string              `json:"session,omitempty"`
	Processes []orphanProcessJSON `json:"processes"`
	Ended     bool                `json:"ended,omitempty"`
	Error     string              `json:"error,omitempty"` // why it was not ended
}

type orphanProcessJSON struct {
	PID         int      `json:"pid"`
	Parent      int      `json:"parent"`
	Name        string   `json:"name"`
	Command     string   `json:"command,omitempty"`
	StartedAt   string   `json:"started_at"`
	MemoryBytes uint64   `json:"memory_bytes,omitempty"`
	Ports       []uint16 `json:"ports,omitempty"`
}

type orphansCommand struct {
	*env
	end, yes, asJSON bool
	core             *app.Core
	left             []app.LeftBehind
	notAsked         []adapters.Name
}

func newOrphans(e *env) *cobra.Command {
	c := &orphansCommand{env: e}
	return command(&cobra.Command{
		Use:        "orphans",
		SuggestFor: []string{"left", "leftovers", "zombies"},
		Short:      "List the processes that agents left behind, and end them",
		Long: `List processes that an agent started and that live on after its end: development
servers, watchers, MCP servers. Which agent started a process is read from the
environment that agents give to what they start (and Rollcall to what it launches),
so that those are listed of which it is certain. Processes with a terminal, such as
tmux, are never listed, nor those of an agent, of another user or of a container.

With --end each one is shown and you are asked; it is asked to end, with the
processes below it, and killed after 2 seconds. Look at the command first: a server
that an agent started may be in use by other programs now.`,
		Args: noArgs,
		RunE: withoutArgs(c.run),
	},
		withFlag(&c.end, "end", "end them, each after a question"),
		yesFlag(&c.yes),
		jsonFlag(&c.asJSON),
	)
}

func (c *orphansCommand) run() error {
	if c.end && c.asJSON && !c.yes {
		return usageError("--end with --json needs --yes: nothing can be asked")
	}
	c.core = c.env.core(0, false)
	var err error
	c.left, c.notAsked, err = c.core.LeftBehind(c.ctx)
	if err != nil {
		return err
	}
	if c.asJSON {
		return c.runJSON()
	}
	c.warnNotAsked(c.notAsked)
	if len(c.left) == 0 && len(c.notAsked) == 0 {
		c.printf("no agent left a process behind, as far as that can be known\n")
	}
	failed := 0
	for i := range c.left {
		c.print(&c.left[i])
		if !c.end {
			continue
		}
		if err := c.endOne(&c.left[i]); c.ctx.Err() != nil || isUsage(err) {
			return err
		} else if err != nil {
			failed++
			c.warn(err.Error())
		}
	}
	return c.result(failed)
}

// warnNotAsked says of which agents it is not known what they left behind.
func (e *env) warnNotAsked(names []adapters.Name) {
	for _, name := range names {
		e.warn(present.AgentName(name) + " could not be asked which of its sessions are over, so what these left behind is not listed (rollcall doctor)")
	}
}

// countLeftBehind sets how many processes the sessions left behind that are over, and says what is not known of it.
func (e *env) countLeftBehind(core *app.Core, sessions []app.Session) {
	unknown, err := core.CountLeftBehind(e.ctx, sessions)
	e.warnNotAsked(unknown)
	if err != nil && e.ctx.Err() == nil {
		e.warn("what the sessions left behind is not known: " + err.Error())
	}
}

// result returns the error of the command: what was not ended, or what is not known.
func (c *orphansCommand) result(failed int) error {
	if err := someFailed(failed, len(c.left), "orphan", "not ended"); err != nil {
		return err
	}
	if len(c.notAsked) > 0 {
		return c.incomplete(nil)
	}
	return nil
}

func isUsage(err error) bool {
	e, ok := errors.AsType[*exitError](err)
	return ok && e.code == Usage
}

// endOne asks about one process, and ends it.
func (c *orphansCommand) endOne(l *app.LeftBehind) error {
	root := l.Tree[0]
	below := ifelse(len(l.Tree) > 1, " and "+plural(len(l.Tree)-1, "process")+" below it", "")
	if err := c.confirm(fmt.Sprintf("End %d %s%s?", root.PID, present.Line(root.Comm), below), c.yes, fmt.Sprintf("%d was left alone", root.PID)); err != nil {
		return err
	}
	ended, err := c.core.EndLeftBehind(c.ctx, l)
	if err != nil {
		return err
	}
	c.printf("  ended %s\n", plural(len(ended), "process"))
	return c.flush()
}

// print prints one process with those below it, with what is known of each before its command line.
func (c *orphansCommand) print(l *app.LeftBehind) {
	c.printf("%s %s\n", present.AgentName(l.Agent), ifelse(l.Session != "", present.Line(l.Session), "(session not known)"))
	facts := map[proc.Identity]string{}
	for _, p := range l.Tree {
		facts[p.Identity] = "(" + strings.Join(c.facts(&p), ", ") + ") " + l.Commands[p.Identity]
	}
	for _, line := range present.Tree(l.Tree[0], l.Tree[1:], facts) {
		c.printf("  %s\n", line)
	}
}

// facts returns the age of a process, its memory and its ports, as far as they are known.
func (c *orphansCommand) facts(p *proc.Process) []string {
	words := []string{present.Since(p.Started, time.Now())}
	memory, ports := c.core.Uses(*p)
	if memory > 0 {
		words = append(words, size(int64(memory)))
	}
	for _, port := range ports {
		words = append(words, fmt.Sprintf("port %d", port))
	}
	return words
}

// runJSON prints the processes; with --end it ends them before, and prints what became of each.
func (c *orphansCommand) runJSON() error {
	d := orphansJSON{Schema: schema, At: timestamp(time.Now()), Orphans: []orphanJSON{}, NotAsked: c.notAsked}
	failed := 0
	for i := range c.left {
		l := &c.left[i]
		o := orphanJSON{Agent: l.Agent, Session: l.Session}
		for _, p := range l.Tree {
			memory, ports := c.core.Uses(p)
			o.Processes = append(o.Processes, orphanProcessJSON{PID: p.PID, Parent: p.PPID, Name: p.Comm, Command: l.Commands[p.Identity], StartedAt: timestamp(p.Started),
				MemoryBytes: memory, Ports: ports})
		}
		if c.end {
			_, err := c.core.EndLeftBehind(c.ctx, l)
			o.Ended = err == nil
			if err != nil {
				failed++
				o.Error = err.Error()
			}
		}
		d.Orphans = append(d.Orphans, o)
	}
	return cmp.Or(c.json(d), c.result(failed))
}
