package cli

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"rollcall/adapters"
	"rollcall/app"
	"rollcall/app/owned/fuse"
	"rollcall/app/owned/keep"
	"rollcall/app/present"
	"rollcall/app/store/quiet"
)

type continueCommand struct {
	*env
	atReset, cancel bool
	at, prompt      string
}

func newContinue(e *env) *cobra.Command {
	c := &continueCommand{env: e}
	cmd := &cobra.Command{
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
		RunE: with(e.fuses, func(f *fuse.Fuses, args []string) error { return c.run(f, args[0]) }),
	}
	cmd.Flags().BoolVar(&c.atReset, "at-reset", false, "at the time of the reset that the agent has recorded, and a minute")
	cmd.Flags().StringVar(&c.at, "at", "", "at this `TIME`, such as 15:05, or a day and a time as \"YYYY-MM-DD 09:00\"")
	cmd.Flags().StringVarP(&c.prompt, "prompt", "p", "Continue.", "the prompt's `TEXT`")
	cmd.Flags().BoolVar(&c.cancel, "cancel", false, "do not continue it")
	return cmd
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
	if err := keep.StillAtLimit(&s, s.LastActivityAt); err != nil {
		return c.sessionError(Failure, &s, fmt.Errorf("cannot be continued later: %w", err))
	}
	if s.Status != adapters.Stopped && !c.answers(core).TakesPrompts(&s) {
		return c.sessionError(Failure, &s, errors.New("takes no prompts from here: close it, and it is resumed at that time"))
	}
	at, err := c.time(&s)
	if err != nil {
		return err
	}
	x, err := f.SetContinue(c.ctx, s.CWD, fuse.Continue{Agent: s.Agent, Session: s.ID, Prompt: c.prompt, Active: s.LastActivityAt}, at)
	if err != nil {
		return err
	}
	c.printf("%s is continued at %s, unless it is used before; rollcall continue %s --cancel prevents it\n", present.Line(s.ID), clock(x.Expires), present.Line(s.ID))
	return nil
}

// time returns when the session is continued.
func (c *continueCommand) time(s *app.Session) (time.Time, error) {
	if c.at != "" {
		at, err := quiet.ParseUntil(c.at, time.Now())
		if err != nil {
			return at, usageError("--at: %w", err)
		}
		return at, nil
	}
	at, ok := resetTime(s.Evidence, s.LastActivityAt)
	if !ok {
		return at, c.sessionError(Failure, s, fmt.Errorf("its agent has recorded no time at which the limit is reset; use --at TIME (%s)", present.Evidence(s.Session)))
	}
	at = at.Add(time.Minute) // clocks differ
	if !at.After(time.Now()) {
		return at, c.sessionError(Failure, s, fmt.Errorf("the limit was reset at %s; continue it now: rollcall send, or rollcall resume", clock(at)))
	}
	return at, nil
}

// The forms in which agents state the reset: "resets 3pm", "will reset at 3:05 pm (Europe/Berlin)", "try again at 3:51 PM", "try again in 1 day 2 hours 5 minutes",
// "limit reached|1760000000".
var (
	resetClock = regexp.MustCompile(`(?i)(?:resets?|try again)(?: at)? (\d{1,2})(?::(\d\d))? ?([ap])\.?m\b\.?(?: \(([A-Za-z_]+/[A-Za-z_/+-]+|UTC)\))?`)
	resetIn    = regexp.MustCompile(`(?i)try again in ((?:\d+ (?:day|hour|minute|second)s?[ ,.]*)+)`)
	resetPart  = regexp.MustCompile(`(?i)(\d+) (day|hour|minute|second)`)
	resetUnix  = regexp.MustCompile(`limit reached\|(\d{10})\b`)
)

// resetTime returns the time of the reset that a text states which was written at a time. ok is false if it states none in a form that is known.
func resetTime(text string, written time.Time) (at time.Time, ok bool) {
	if written.IsZero() {
		return at, false
	}
	if m := resetUnix.FindStringSubmatch(text); m != nil {
		seconds, err := strconv.ParseInt(m[1], 10, 64)
		return time.Unix(seconds, 0), err == nil
	}
	if m := resetIn.FindStringSubmatch(text); m != nil {
		at = written
		for _, part := range resetPart.FindAllStringSubmatch(m[1], -1) {
			n, err := strconv.Atoi(part[1])
			if err != nil || n > 1000 {
				return at, false
			}
			at = at.Add(time.Duration(n) * map[string]time.Duration{"day": 24 * time.Hour, "hour": time.Hour, "minute": time.Minute, "second": time.Second}[strings.ToLower(part[2])])
		}
		return at, true
	}
	m := resetClock.FindStringSubmatch(text)
	if m == nil {
		return at, false
	}
	zone := time.Local
	if m[4] != "" {
		named, err := time.LoadLocation(m[4])
		if err != nil {
			return at, false
		}
		zone = named
	}
	hour, _ := strconv.Atoi(m[1]) // digits
	minute, _ := strconv.Atoi("0" + m[2])
	if hour < 1 || hour > 12 || minute > 59 {
		return at, false
	}
	hour %= 12
	if strings.EqualFold(m[3], "p") {
		hour += 12
	}
	begin := written.In(zone)
	at = time.Date(begin.Year(), begin.Month(), begin.Day(), hour, minute, 0, 0, zone)
	if !at.After(begin) {
		at = time.Date(begin.Year(), begin.Month(), begin.Day()+1, hour, minute, 0, 0, zone)
	}
	return at, true
}
