package cli

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"rollcall/adapters"
	"rollcall/app/machine"
	"rollcall/app/present"
)

// maxPeek is the largest number of messages that can be requested at once.
const maxPeek = 10_000

type peekCommand struct {
	*env
	count          int
	follow, asJSON bool
}

func newPeek(e *env) *cobra.Command {
	c := &peekCommand{env: e, count: 20}
	return command(&cobra.Command{
		Use:        "peek SESSION",
		SuggestFor: []string{"tail", "messages"},
		Short:      "Show the last messages of a session",
		Long: `Show the last messages of the session with this id (a unique prefix is
enough): what you and the agent said, and each call of a tool in one line
("+" done, ">" running or waiting for you, "x" failed).

With --follow new messages are printed as they come, until the session ends.

With --json each message is one line. A later line with the same key replaces the
earlier one: a call ended, or a text grew.`,
		Example: `  rollcall peek 9830e65d
  rollcall peek 9830e65d -n 100 --json
  rollcall peek 9830e65d --follow`,
		Args: oneName,
		RunE: func(_ *cobra.Command, args []string) error {
			if c.count < 1 || c.count > maxPeek {
				return usageError("-n must be a number from 1 to %d, not %d", maxPeek, c.count)
			}
			return c.run(args[0])
		},
	},
		withFlag(&c.count, "count,n", "how `many` messages"),
		withFlag(&c.follow, "follow,f", "print new messages as they come"),
		withFlag(&c.asJSON, "json", "print one JSON object per line for each message"),
	)
}

func (c *peekCommand) run(id string) error {
	s, _, core, err := c.findNamed(id, false)
	if err != nil {
		return err
	}
	p := &peekPrinter{output: c.output, asJSON: c.asJSON, agent: s.Agent, shown: map[string]adapters.Message{}, now: time.Now}
	if c.follow && !s.IsProcess() {
		return followSession(c.env, core, s, p, c.count)
	}
	messages, err := core.Peek(c.ctx, s, c.count)
	if c.ctx.Err() != nil {
		return c.ctx.Err()
	}
	for _, m := range messages {
		if err := p.message(m); err != nil {
			return err
		}
	}
	if err != nil {
		return cmp.Or(c.flush(), err)
	}
	switch {
	case len(messages) > 0:
	case s.IsProcess():
		c.warn(fmt.Sprintf("%s is open in process %d and has no session yet, so there are no messages", present.AgentName(s.Agent), s.Process.PID))
	default:
		c.warn("no messages yet")
	}
	return nil
}

// peekPrinter prints each message once, and the new part of a message that changed.
type peekPrinter struct {
	*output
	asJSON bool
	agent  adapters.Name
	shown  map[string]adapters.Message // by key
	now    func() time.Time
	last   adapters.Role // of the message printed last; empty: none was
	since  time.Time     // older messages are not printed
}

// message prints a message, or its new part.
func (p *peekPrinter) message(m adapters.Message) error {
	before, again := p.shown[m.Key]
	if again && before.Text == m.Text && before.State == m.State {
		return nil
	}
	p.shown[m.Key] = m
	switch {
	case !m.At.IsZero() && m.At.Before(p.since):
		return nil
	case p.asJSON:
		return p.encode(machine.MessageJSON{Key: m.Key, Role: m.Role, Tool: m.Tool, State: m.State, Text: m.Text, At: timestamp(m.At)}, false)
	case m.Role == adapters.FromTool:
		p.toolLine(m)
	case m.Role == adapters.FromNote:
		p.row(m.At, "* "+present.Line(m.Text), "33")
	case again && strings.HasPrefix(m.Text, before.Text):
		p.text(m.Text[len(before.Text):])
	default:
		p.speech(m)
	}
	p.last = m.Role
	return nil
}

// forget removes the printed messages that are not in messages from shown, once shown is large: such older messages do not change any more.
func (p *peekPrinter) forget(messages []adapters.Message) {
	if len(p.shown) < 4*len(messages)+1000 {
		return
	}
	kept := make(map[string]adapters.Message, len(messages))
	for _, m := range messages {
		if shown, ok := p.shown[m.Key]; ok {
			kept[m.Key] = shown
		}
	}
	p.shown = kept
}

// speech prints what the user or the agent said, below a line with the speaker and the
// time.
func (p *peekPrinter) speech(m adapters.Message) {
	if p.last != "" {
		p.out.WriteByte('\n')
	}
	code := ifelse(m.Role == adapters.FromUser, "1;32", "1;36")
	p.out.WriteString(p.colored(p.clock(m.At), "2") + p.colored(present.Speaker(m, p.agent), code) + "\n")
	p.text(m.Text)
}

const textIndent = "  "

func (p *peekPrinter) text(text string) {
	width := 0
	if p.streams.Width > 0 {
		width = max(p.streams.Width-len(textIndent), 10)
	}
	for _, line := range present.Wrap(present.Text(text), width) {
		p.out.WriteString(strings.TrimRight(textIndent+line, " ") + "\n")
	}
}

// toolLine prints a call in one line.
func (p *peekPrinter) toolLine(m adapters.Message) {
	sign, code := "?", ""
	switch m.State {
	case adapters.ToolDone:
		sign, code = "+", "2"
	case adapters.ToolRunning:
		sign, code = ">", "32"
	case adapters.ToolFailed:
		sign, code = "x", "31"
	}
	p.row(m.At, sign+" "+present.Tool(m)+"  "+present.Line(m.Text), code)
}

// row prints something in one line, cut to the terminal's width.
func (p *peekPrinter) row(at time.Time, text, code string) {
	if p.last == adapters.FromUser || p.last == adapters.FromAgent {
		p.out.WriteByte('\n')
	}
	width := p.streams.Width
	if width == 0 {
		width = 1000
	}
	clock := p.clock(at)
	line := present.Cut(strings.TrimRight(text, " "), max(width-len(clock), 10))
	p.out.WriteString(p.colored(clock, "2") + p.colored(line, code) + "\n")
}

// clock returns a time, of the last 12 hours without its date, and two spaces. It
// returns nothing if the time is not known.
func (p *peekPrinter) clock(at time.Time) string {
	if at.IsZero() {
		return ""
	}
	at = at.Local()
	if age := p.now().Sub(at); age > 12*time.Hour || age < -12*time.Hour {
		return at.Format("2006-01-02 15:04") + "  "
	}
	return at.Format(time.TimeOnly) + "  "
}
