package cli

import (
	"cmp"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"rollcall/adapters"
	"rollcall/app"
	"rollcall/app/present"
	"rollcall/app/store/quiet"
)

// markCommand changes what the user noted about a session.
type markCommand struct {
	*env
	name                string
	snooze              time.Duration
	until               string
	pin, unpin          bool
	hide, show, wake    bool
	mute, unmute        bool
	snoozed             bool // until a time, or until it changes
	untilTime, markedAt time.Time
}

func newMark(e *env) *cobra.Command {
	c := &markCommand{env: e}
	return command(&cobra.Command{
		Use:        "mark ID",
		SuggestFor: []string{"pin", "hide", "snooze", "mute", "unpin", "unmute"},
		Short:      "Pin, hide, snooze, mute or name a session",
		Long: `Note something about the session with this id (a unique prefix is enough). Without a
flag, print what is noted. A pinned session comes first among those with its status.
A hidden or snoozed one is left out of the table of list, and folded in the menu and
the window, but not while it needs you. A snooze ends at its time, or before when the
session changes: its status, its outcome or its turn. A muted session has no
notifications. Rollcall keeps the notes by the session's id, also after its end; the
agent's files stay as they are.`,
		Example: `  rollcall mark 0198 --pin --name "Ship the parser"
  rollcall mark 0198 --snooze 2h
  rollcall mark 0198 --until change
  rollcall mark 0198 --show --wake --unmute`,
		Args: markArgs,
		RunE: func(cmd *cobra.Command, args []string) error { return c.run(cmd, args[0]) },
	},
		withFlag(&c.pin, "pin", "list it first among the sessions with its status"),
		withFlag(&c.unpin, "unpin", "don't"),
		withFlag(&c.hide, "hide", "leave it out of lists, unless it needs you; rollcall list --hidden shows it"),
		withFlag(&c.show, "show", "list it again"),
		withFlag(&c.snooze, "snooze", "hide it for a time such as 2h, or until it changes before"),
		withFlag(&c.until, "until", "hide it until a `time` such as 18:00, or a day and a time as \"YYYY-MM-DD 09:00\", or until it changes before; change: only until it changes"),
		withFlag(&c.wake, "wake", "end its snooze"),
		withFlag(&c.mute, "mute", "send no notification about it"),
		withFlag(&c.unmute, "unmute", "send notifications about it again"),
		withFlag(&c.name, "name", "call it by this name; an empty one removes the name"),
	)
}

// markArgs checks that mark has one id, and no two flags that contradict each other.
func markArgs(cmd *cobra.Command, args []string) error {
	for _, flags := range [][]string{{"pin", "unpin"}, {"hide", "show"}, {"snooze", "until", "wake"}, {"mute", "unmute"}} {
		if err := oneOf(flags...)(cmd, nil); err != nil {
			return err
		}
	}
	return oneID(cmd, args)
}

func (c *markCommand) run(cmd *cobra.Command, id string) error {
	c.markedAt = time.Now()
	if err := c.readSnooze(cmd); err != nil {
		return err
	}
	named := cmd.Flags().Changed("name")
	s, err := c.mark(id, func(s *app.Session, m *app.Mark) error { return c.change(s, m, named) })
	if err != nil {
		return err
	}
	words := ifelse(s.Name != "", " is called “"+present.Line(s.Name)+"”", "")
	if marks := markWords(&s); marks != nil {
		words += ifelse(words != "", " and", "") + " is " + strings.Join(marks, ", ")
	}
	c.printf("%s%s\n", present.Line(s.ID), cmp.Or(words, " has no mark"))
	return nil
}

// readSnooze reads until when the session is snoozed.
func (c *markCommand) readSnooze(cmd *cobra.Command) error {
	var err error
	switch {
	case cmd.Flags().Changed("snooze") && c.snooze <= 0:
		return usageError("--snooze must be a time such as 30m or 2h; until it changes: --until change")
	case c.snooze > 0:
		c.snoozed, c.untilTime = true, c.markedAt.Add(c.snooze)
	case cmd.Flags().Changed("until") && c.until != "change":
		c.snoozed = true
		c.untilTime, err = quiet.ParseUntil(c.until, c.markedAt)
	default:
		c.snoozed = c.until == "change"
	}
	if err != nil {
		return usageError("--until: %w", err)
	}
	return nil
}

// change applies the flags to the mark of a session.
func (c *markCommand) change(s *app.Session, m *app.Mark, named bool) error {
	if c.snoozed {
		z, err := app.NewSnooze(s, c.markedAt, c.untilTime)
		if err != nil {
			return err
		}
		m.Snooze = z
	}
	if c.wake {
		m.Snooze = app.Snooze{}
	}
	if named {
		m.Name = c.name
	}
	m.Pinned = (m.Pinned || c.pin) && !c.unpin
	m.Hidden = (m.Hidden || c.hide) && !c.show
	m.Muted = (m.Muted || c.mute) && !c.unmute
	return nil
}

// mark changes the user's notes about the session with this id, and returns the session with them. Nothing is changed if change returns an error.
func (e *env) mark(id string, change func(*app.Session, *app.Mark) error) (app.Session, error) {
	m, err := e.deps.Marks()
	if err != nil {
		return app.Session{}, err
	}
	s, _, _, err := e.find(id, false)
	if err != nil {
		return s, err
	}
	if err := s.CanMark(); err != nil {
		return s, err
	}
	var refused error
	err = m.Change(e.ctx, s.Agent, s.ID, func(mark *app.Mark) {
		changed := *mark
		refused = change(&s, &changed)
		if refused == nil {
			*mark = changed
			s.SetMark(changed, time.Now())
		}
	})
	return s, cmp.Or(refused, err)
}

// markWords returns what the user noted about a session, in words, without the name.
func markWords(s *app.Session) (words []string) {
	until := ""
	if !s.SnoozedUntil.IsZero() {
		until = clock(s.SnoozedUntil) + " or "
	}
	for _, w := range []struct {
		is   bool
		word string
	}{
		{s.Pinned, "pinned"}, {s.Hidden, "hidden" + ifelse(s.Status == adapters.Waiting, " once it does not need you", "")},
		{s.Snoozed, "snoozed until " + until + "it changes"}, {s.Muted, "muted"},
	} {
		if w.is {
			words = append(words, w.word)
		}
	}
	return words
}
