package cli

import (
	"time"

	"github.com/spf13/cobra"

	"rollcall/app"
	"rollcall/app/owned/fuse"
	"rollcall/app/present"
	"rollcall/app/store/quiet"
)

type continueCommand struct {
	*env
	atReset, cancel bool
	at, prompt      string
}

func newContinue(e *env) *cobra.Command {
	c := &continueCommand{env: e, prompt: fuse.Prompt}
	return command(&cobra.Command{
		Use:   "continue ID (--at-reset | --at TIME)",
		Short: "Continue a session that reached a limit, once the limit is reset",
		Long: `Give the session with this id (a unique prefix is enough), whose last turn ended at
a limit of its provider, a prompt at a later time: once, and only if the session
was not used until then. A session that is open gets the prompt through its agent; one that
has stopped is resumed in the background. The keeper does this (rollcall keep).

--at-reset takes the time that the agent has recorded with its failure. Timers and what
came of them are listed by "rollcall fuse list" and on the window's page Locks & timers.`,
		Example: `  rollcall continue 9830e65d --at-reset
  rollcall continue 9830e65d --at 15:05 -p "go on with the tests"
  rollcall continue 9830e65d --cancel`,
		Args: oneID,
		RunE: with(e.deps.Fuses, func(f *fuse.Fuses, args []string) error { return c.run(f, args[0]) }),
	},
		withFlag(&c.atReset, "at-reset", "at the time of the reset that the agent has recorded, and a minute"),
		withFlag(&c.at, "at", "at this `TIME`, such as 15:05, or a day and a time as \"YYYY-MM-DD 09:00\""),
		withFlag(&c.prompt, "prompt,p", "the prompt's `TEXT`"),
		withFlag(&c.cancel, "cancel", "do not continue it"),
	)
}

func (c *continueCommand) run(f *fuse.Fuses, id string) error {
	if count(c.atReset, c.at != "", c.cancel) != 1 {
		return usageError("say when: --at-reset or --at TIME, or --cancel\n  see: rollcall continue --help")
	}
	s, _, core, err := c.find(id, false)
	if err != nil {
		return err
	}
	if c.cancel {
		if _, err := f.CancelContinue(c.ctx, s.ID); err != nil {
			return err
		}
		c.printf("%s is not continued\n", present.Line(s.ID))
		return nil
	}
	if err := fuse.CheckContinue(&s, c.answers(core).TakesPrompts(&s)); err != nil {
		return c.sessionError(Failure, &s, err)
	}
	at, err := c.time(&s)
	if err != nil {
		return err
	}
	x, err := f.SetContinue(c.ctx, &s, c.prompt, at)
	if err != nil {
		return err
	}
	c.printf("%s is continued at %s, unless it is used before; rollcall continue %s --cancel prevents it\n", present.Line(s.ID), clock(x.Expires), present.Line(s.ID))
	return nil
}

// time returns when the session is continued.
func (c *continueCommand) time(s *app.Session) (time.Time, error) {
	if c.at == "" {
		at, err := fuse.AtReset(s, time.Now())
		if err != nil {
			err = c.sessionError(Failure, s, err)
		}
		return at, err
	}
	at, err := quiet.ParseUntil(c.at, time.Now())
	if err != nil {
		return at, usageError("--at: %w", err)
	}
	return at, nil
}
