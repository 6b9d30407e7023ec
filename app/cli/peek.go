package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"rollcall/adapters"
	"rollcall/app/present"
)

// maxPeek bounds how many messages are asked for at once.
const maxPeek = 10_000

type peekOptions struct {
	n      int
	follow bool
	json   bool
}

func (c *command) peekCommand() *cobra.Command {
	var o peekOptions
	cmd := &cobra.Command{
		Use:   "peek ID",
		Short: "Show the last messages of a session",
		Long: `Show the last messages of the session with this id, or with the only id that
begins so: what you and the agent said, and each call of a tool in one line
("+" done, ">" running or waiting for you, "x" failed).

With --follow new messages are printed as they come, until the session ends.

With --json each message is one line. A later line with the same key takes the
place of the earlier one: a call ended, or a text grew.`,
		Example: `  rollcall peek 9830e65d
  rollcall peek 9830e65d -n 100 --json
  rollcall peek 9830e65d --follow`,
		Args: oneID,
		RunE: func(_ *cobra.Command, args []string) error {
			if o.n < 1 || o.n > maxPeek {
				return wrong("-n is a number from 1 to %d, not %d", maxPeek, o.n)
			}
			return c.peek(args[0], o)
		},
	}
	f := cmd.Flags()
	f.IntVarP(&o.n, "count", "n", 20, "how `many` messages")
	f.BoolVarP(&o.follow, "follow", "f", false, "print new messages as they come")
	f.BoolVar(&o.json, "json", false, "print one JSON object a line for each message")
	return cmd
}

func (c *command) peek(id string, o peekOptions) error {
	s, _, core, err := c.find(id, false)
	if err != nil {
		return err
	}
	p := &peekPrinter{command: c, json: o.json, agent: s.Agent, shown: map[string]adapters.Message{}, now: time.Now}
	if o.follow {
		return c.followSession(core, s, p, o.n)
	}
	messages, err := core.Peek(c.ctx, s, o.n)
	if c.ctx.Err() != nil {
		return c.ctx.Err()
	}
	for _, m := range messages {
		if err := p.message(m); err != nil {
			return err
		}
	}
	if err != nil {
		return errorsAfter(p.hand(), err)
	}
	if len(messages) == 0 {
		c.complain("nothing said yet")
	}
	return nil
}

// messageJSON is a message as --json prints it. Its keys are promises.
type messageJSON struct {
	Key   string             `json:"key"`
	Role  adapters.Role      `json:"role"`
	Tool  string             `json:"tool,omitempty"`
	State adapters.ToolState `json:"state,omitempty"`
	Text  string             `json:"text"`
	At    string             `json:"at,omitempty"`
}

// peekPrinter prints messages once, and of those that change what is new.
type peekPrinter struct {
	*command
	json  bool
	agent adapters.Name
	shown map[string]adapters.Message
	now   func() time.Time
	last  adapters.Role // printed last, "" for none
}

// errReaderGone ends the printing: nobody reads it any more.
var errReaderGone = errors.New("nobody reads the output any more")

// hand hands over what was printed so far.
func (p *peekPrinter) hand() error {
	text := p.out.String()
	p.out.Reset()
	_, err := io.WriteString(p.streams.Out, text)
	if errors.Is(err, syscall.EPIPE) || errors.Is(err, io.ErrClosedPipe) {
		return errReaderGone
	}
	return err
}

// message prints a message, or what is new of it.
func (p *peekPrinter) message(m adapters.Message) error {
	before, again := p.shown[m.Key]
	if again && before.Text == m.Text && before.State == m.State {
		return nil
	}
	p.shown[m.Key] = m
	switch {
	case p.json:
		return p.asJSON(m)
	case m.Role == adapters.FromTool:
		p.toolLine(m)
	case m.Role == adapters.FromNote:
		p.row(m.At, "* "+present.Line(m.Text), "33")
	case again && strings.HasPrefix(m.Text, before.Text):
		p.text(m.Text[len(before.Text):])
	default:
		p.spoken(m)
	}
	p.last = m.Role
	return nil
}

// forget keeps memory small: what is older than these messages doesn't change.
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

func (p *peekPrinter) asJSON(m adapters.Message) error {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(messageJSON{Key: m.Key, Role: m.Role, Tool: m.Tool, State: m.State, Text: m.Text, At: timestamp(m.At)})
	if err != nil {
		return fmt.Errorf("write JSON: %w", err)
	}
	escapeInvisible(&p.out, []byte(b.String()))
	return nil
}

// spoken prints what somebody said, below who and when.
func (p *peekPrinter) spoken(m adapters.Message) {
	if p.last != "" {
		p.out.WriteByte('\n')
	}
	code := "1;36"
	if m.Role == adapters.FromUser {
		code = "1;32"
	}
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

// clock is a time of day where that is enough, with two spaces behind it; empty
// if the time isn't known.
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

func (p *peekPrinter) colored(text, code string) string {
	if !p.streams.Color || text == "" || code == "" {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}
