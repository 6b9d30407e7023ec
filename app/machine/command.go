package machine

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"rollcall/adapters"
	"rollcall/app"
	"rollcall/app/present"
	"rollcall/bounded"
)

// commandLimit is how long a command that has no other limit may take on another machine.
const commandLimit = 60 * time.Second

// maxOutput is the largest number of bytes that are read from such a command.
const maxOutput = 8 << 20

// Run runs a command of Rollcall on the machine, with in as its standard input, and copies what it prints to out and errs, a line at a time and cleaned: escape
// sequences of another machine never reach a terminal. It returns the command's own exit code. The error says why the command could not be run.
func (h *Host) Run(ctx context.Context, in io.Reader, out, errs io.Writer, args ...string) (code int, err error) {
	name, argv := h.rollcall(false, args...)
	cmd := h.command(ctx, name, argv)
	said := bounded.Tail{Max: maxTail}
	cleanOut, cleanErr := &cleaner{to: out}, &cleaner{to: errs}
	cmd.Stdin = in
	cmd.Stdout = cleanOut
	cmd.Stderr = io.MultiWriter(&said, cleanErr)
	if h.SSH != "" { // ssh's own messages are translated
		cleanErr.drop = func(line string) bool {
			return !strings.HasPrefix(line, "rollcall: ") && !strings.HasPrefix(line, "  ")
		}
	}
	err = cmd.Run()
	cleanOut.end()
	cleanErr.end()
	if ctx.Err() != nil {
		return 0, ctx.Err()
	}
	code = exitCode(err)
	if code == sshFailure && h.SSH != "" || code == noRollcall || code < 0 {
		return 0, h.reason(err, said.String())
	}
	return code, nil
}

// Terminal returns the program and arguments that run a command of Rollcall on the machine, on this terminal.
func (h *Host) Terminal(args ...string) (string, []string) { return h.rollcall(true, args...) }

// Output runs a command of Rollcall on the machine and returns what it printed. If the command fails, the error contains its message.
func (h *Host) Output(ctx context.Context, args ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, commandLimit)
	defer cancel()
	name, argv := h.rollcall(false, args...)
	return h.output(ctx, name, argv, nil)
}

// output runs a program and returns what it printed.
func (h *Host) output(ctx context.Context, name string, argv []string, in io.Reader) ([]byte, error) {
	cmd := h.command(ctx, name, argv)
	said, out := bounded.Tail{Max: maxTail}, bounded.Buffer{Max: maxOutput}
	cmd.Stdin = in
	cmd.Stdout = &out
	cmd.Stderr = &said
	err := cmd.Run()
	switch {
	case ctx.Err() != nil && errors.Is(ctx.Err(), context.DeadlineExceeded):
		return nil, failure("%s did not answer in time", present.Line(h.target()))
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case exitCode(err) != 0:
		return nil, h.reason(err, strings.TrimPrefix(said.String(), "rollcall: "))
	case out.IsFull():
		return nil, failure("%s printed more than 8 MB", present.Line(h.target()))
	}
	return out.Bytes(), nil
}

// cleaner writes whole lines of untrusted text to a terminal or file. It is not safe for concurrent use.
type cleaner struct {
	to   io.Writer
	drop func(line string) bool // nil: no line is dropped
	rest []byte
	err  error
}

// Write implements io.Writer.
func (c *cleaner) Write(p []byte) (int, error) {
	c.rest = append(c.rest, p...)
	for {
		text, rest, isWhole := bytes.Cut(c.rest, []byte("\n"))
		if !isWhole && len(text) < maxLine {
			return len(p), c.err
		}
		c.line(string(text))
		c.rest = rest
	}
}

func (c *cleaner) line(text string) {
	text = present.Output(strings.TrimSuffix(text, "\r"))
	if c.err == nil && (c.drop == nil || !c.drop(text)) {
		_, c.err = io.WriteString(c.to, text+"\n")
	}
}

// end writes the last line if it has no end of line.
func (c *cleaner) end() {
	if len(c.rest) > 0 {
		c.line(string(c.rest))
		c.rest = nil
	}
}

// launchLimit is how long a launch on another machine may take.
const launchLimit = 5 * time.Minute

// Command runs a command on the machine with this name, with in as its standard input, and returns what it printed, cleaned. The error of a command that failed
// there is an *app.CommandError, unless the Rollcall there does not know the command: then it is an *Error with Old set.
func (m *Machines) Command(ctx context.Context, name string, in io.Reader, args ...string) (string, error) {
	h, err := m.configured(name)
	if err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(ctx, launchLimit)
	defer cancel()
	out, errs := bounded.Buffer{Max: maxOutput}, bounded.Buffer{Max: maxOutput}
	code, err := h.Run(ctx, in, &out, &errs, args...)
	said := strings.TrimPrefix(strings.TrimSpace(errs.String()), "rollcall: ")
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return "", failure("%s did not answer in time", present.Line(h.target()))
	case err != nil:
		return "", err
	case code == usageCode && (strings.HasPrefix(said, "unknown flag") || strings.HasPrefix(said, "unknown command")):
		return "", h.tooOld()
	case code != 0:
		return "", &app.CommandError{Code: code, Text: cmp.Or(said, fmt.Sprintf("the command there ended with exit code %d", code))}
	}
	return strings.TrimSpace(out.String()), nil
}

// usageCode is the exit code of Rollcall for a command or flag that it does not know.
const usageCode = 2

// configured returns the machine with this name, or an error if it is no longer configured.
func (m *Machines) configured(name string) (*Host, error) {
	if h := m.Find(name); h != nil {
		return h, nil
	}
	return nil, failure("machine %s is no longer configured", name)
}

// MessageJSON is one line of peek --json.
type MessageJSON struct {
	Key   string             `json:"key"`
	Role  adapters.Role      `json:"role"`
	Tool  string             `json:"tool,omitempty"`
	State adapters.ToolState `json:"state,omitempty"`
	Text  string             `json:"text"`
	At    string             `json:"at,omitempty"`
}

// Peek implements app.Machines.
func (m *Machines) Peek(ctx context.Context, s app.Session, n int) ([]adapters.Message, error) {
	h, err := m.configured(s.Machine)
	if err != nil {
		return nil, err
	}
	text, err := h.Output(ctx, "peek", "--json", "-n", strconv.Itoa(n), "--", s.IDThere())
	if err != nil {
		return nil, err
	}
	var out []adapters.Message
	scan := bufio.NewScanner(bytes.NewReader(text))
	scan.Buffer(nil, maxOutput)
	for scan.Scan() && len(out) < n {
		var w MessageJSON
		if err := json.Unmarshal(scan.Bytes(), &w); err != nil {
			return out, failure("%s printed something other than messages: %s", s.Machine, present.Cut(oneLine(scan.Text()), 80))
		}
		if len(w.Text) > adapters.MaxText {
			w.Text = strings.ToValidUTF8(w.Text[:adapters.MaxText], "") + "…"
		}
		out = append(out, adapters.Message{Key: oneLine(w.Key), Role: w.Role, Tool: oneLine(w.Tool), State: w.State,
			Text: present.Text(w.Text), At: clockOf(w.At, 0)})
	}
	return out, nil
}

// Stop implements app.Machines.
func (m *Machines) Stop(ctx context.Context, s app.Session) error {
	h, err := m.configured(s.Machine)
	if err != nil {
		return err
	}
	_, err = h.Output(ctx, "stop", "--", s.IDThere())
	return err
}
