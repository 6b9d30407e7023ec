package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"mvdan.cc/sh/v3/syntax"

	"rollcall/adapters"
	"rollcall/app/owned/script"
	"rollcall/app/present"
	"rollcall/app/self/executable"
)

const (
	maxStatusLine   = 1 << 20          // bytes of what an agent hands to its status line
	thenLimit       = 10 * time.Second // after which the user's own status line is ended
	separator       = " · "
	limitsNotKept   = "limits not kept: "
	maxStatusFolder = 40 // cells
)

type statusLineCommand struct {
	*env
	then string
}

func newStatusLine(e *env) *cobra.Command {
	c := &statusLineCommand{env: e}
	return command(&cobra.Command{
		Use:   "statusline",
		Short: "Be the status line of Claude Code, and keep the limits of your account that it is told",
		Long: `Claude Code runs the command of its setting statusLine and tells it how much of your
account's limits is used. As that command, rollcall prints one line and keeps the
limits, so that usage --limits, the menu and the window have those of every session.

Rollcall does not change the settings of agents. In a terminal, rollcall statusline
prints what to enter. A status line of your own goes on as before with --then: it gets
the same input, and its lines are shown in place of Rollcall's.`,
		Example: `  rollcall statusline
  rollcall statusline --then '~/.claude/statusline.sh'`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if c.streams.In != nil {
				return c.printSetting()
			}
			return c.run(cmd.InOrStdin())
		},
	},
		withFlag(&c.then, "then", "your own status line: a `command` that is shown in place of Rollcall's"),
	)
}

// printSetting prints what the user enters in the agent's settings.
func (c *statusLineCommand) printSetting() error {
	path, err := executable.StablePath()
	if err != nil {
		return err
	}
	words := []string{path, "statusline"}
	if c.then != "" {
		words = append(words, "--then", c.then)
	}
	for i := range words {
		words[i], err = syntax.Quote(words[i], syntax.LangPOSIX) // Claude Code runs it in a POSIX shell, on Windows in Git's
		if err != nil {
			return fmt.Errorf("--then: %w", err)
		}
	}
	entry, err := json.MarshalIndent(map[string]any{"statusLine": map[string]string{"type": "command", "command": strings.Join(words, " ")}}, "", "  ")
	if err != nil {
		return err
	}
	c.printf("Enter this in ~/.claude/settings.json, or in the settings.json of another home:\n\n%s\n", entry)
	return nil
}

func (c *statusLineCommand) run(in io.Reader) error {
	input, err := io.ReadAll(io.LimitReader(in, maxStatusLine))
	if err != nil {
		return err
	}
	line, kept := c.keep(input)
	if c.then == "" {
		c.printf("%s\n", strings.Join(append(line, kept...), separator))
		return nil
	}
	if err := script.Filter(c.ctx, c.then, bytes.NewReader(input), c.streams.Out, thenLimit); err != nil {
		kept = append(kept, c.then+": "+err.Error())
	}
	if len(kept) > 0 {
		c.printf("%s\n", present.Line(strings.Join(kept, separator)))
	}
	return nil
}

// keep stores the limits in what an agent handed over. It returns the parts of a status line, and what went wrong.
func (c *statusLineCommand) keep(input []byte) (parts, trouble []string) {
	agents, _ := c.open()
	why := adapters.ErrNotStatusLine
	for _, a := range agents {
		reader, ok := a.(adapters.StatusLiner)
		if !ok {
			continue
		}
		line, err := reader.StatusLine(input)
		if err != nil {
			why = err
			continue
		}
		if err := c.store(a.Name(), line.Limits); err != nil {
			trouble = append(trouble, limitsNotKept+present.Line(err.Error()))
		}
		return statusParts(&line, time.Now()), trouble
	}
	return nil, []string{limitsNotKept + present.Line(why.Error())}
}

func (c *statusLineCommand) store(agent adapters.Name, limits []adapters.Limit) error {
	told, err := c.deps.Told()
	if err != nil {
		return err
	}
	return told.Keep(agent, limits)
}

// statusParts returns what the line says: the model, the folder and the limits.
func statusParts(line *adapters.StatusLine, now time.Time) (parts []string) {
	if line.Model != "" {
		parts = append(parts, present.Line(line.Model))
	}
	if line.Folder != "" {
		parts = append(parts, present.Cut(present.Line(filepath.Base(line.Folder)), maxStatusFolder))
	}
	for i := range line.Limits {
		l := &line.Limits[i]
		text := present.LimitWindow(l) + " " + present.LimitUse(l, now)
		if reset := present.LimitReset(l, now); reset != "" {
			text += ", " + reset
		}
		parts = append(parts, text)
	}
	return parts
}
