package qwen

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"rollcall/adapters"
	"rollcall/adapters/internal/agentfile"
	"rollcall/adapters/internal/kit"
)

var (
	_ adapters.Answerer = (*Adapter)(nil)
	_ adapters.Prompter = (*Adapter)(nil)
)

// remote holds the files of a terminal of Qwen Code that was started with --json-file and --input-file: it writes its events into one, and
// takes prompts and answers from the other (0.24.4). Neither file interrupts a turn, nor answers a question.
type remote struct{ events, input string }

const (
	remoteLimit = 8 * time.Second       // for an answer: the terminal looks at its file twice a second
	remotePause = 50 * time.Millisecond // between two looks at the events
	maxEvents   = 16 << 20              // of the events that are read, from their end
	maxInput    = 64 << 20              // of the file with prompts and answers

	remotePrefix = "rollcall-qwen-" // of the folders with such files
	remoteAge    = 7 * 24 * time.Hour
)

var errNoRemote = errors.New("this Qwen Code was not started with --json-file and --input-file")

// remoteOf returns the files of the process that has a session.
func (a *Adapter) remoteOf(s *adapters.Session) (remote, error) {
	row, err := a.Table.Find(s.Process.PID)
	if err != nil || row.Identity != s.Process || s.Parent != "" {
		return remote{}, errNoRemote
	}
	p := a.inspect(row)
	if p == nil || !filepath.IsAbs(p.remote.events) || !filepath.IsAbs(p.remote.input) {
		return remote{}, errNoRemote
	}
	return p.remote, nil
}

// read calls seen with the events of a terminal and their places in the file, the newest first, until seen returns false.
func (r remote) read(ctx context.Context, seen func(event []byte, at int64) bool) error {
	f, info, err := agentfile.OpenUntouched(r.events)
	if err != nil {
		return err
	}
	defer f.Close()
	b := agentfile.Backward(f, info.Size(), 0).WithContext(ctx)
	defer b.Close()
	for size := 0; size < maxEvents; {
		event, at, err := b.Prev()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case errors.Is(err, agentfile.ErrTooLong):
			continue
		case err != nil:
			return err
		case !seen(event, at):
			return nil
		}
		size += len(event)
	}
	return nil
}

// Pending implements adapters.Answerer for a terminal that was started with the two files.
func (a *Adapter) Pending(ctx context.Context, s adapters.Session) ([]adapters.Request, error) {
	if s.Status != adapters.Waiting {
		return nil, nil
	}
	r, err := a.remoteOf(&s)
	switch {
	case err != nil:
		return nil, fmt.Errorf("%w: %w", adapters.ErrAnswerElsewhere, err)
	case s.WaitingFor == adapters.ForQuestion:
		return nil, fmt.Errorf("%w: Qwen Code takes the answer to a question %s only", adapters.ErrAnswerElsewhere, s.Where())
	}
	list, err := a.pending(ctx, r, &s)
	if err != nil {
		return nil, adapters.AsProblem(r.events, err)
	}
	return list, nil
}

// pending returns the requests of the calls that are open in the file of a session and that the terminal has not reported as decided.
func (a *Adapter) pending(ctx context.Context, r remote, s *adapters.Session) ([]adapters.Request, error) {
	info, err := os.Stat(s.Files[0])
	if err != nil {
		return nil, err
	}
	f, err := a.transcripts.Read(ctx, s.Files[0], info, false)
	if err != nil {
		return nil, err
	}
	var list []adapters.Request
	var decided []string
	open := len(f.calls)
	err = r.read(ctx, func(event []byte, _ int64) bool {
		switch typeOf(event) {
		case "control_response":
			decided = append(decided, agentfile.String(agentfile.Get(event, "response", "request_id")))
		case "control_request":
			id, asked := agentfile.String(agentfile.Get(event, "request_id")), agentfile.Get(event, "request")
			called := agentfile.String(agentfile.Get(asked, "tool_use_id"))
			if slices.ContainsFunc(f.calls, func(c call) bool { return c.id == called }) {
				open--
				if !slices.Contains(decided, id) {
					list = append(list, request(s, id, asked))
				}
			}
		}
		return open > 0
	})
	slices.Reverse(list)
	return list, err
}

// request returns a request with everything that the tool gets.
func request(s *adapters.Session, id string, asked []byte) adapters.Request {
	tool, input := agentfile.String(agentfile.Get(asked, "tool_name")), agentfile.Get(asked, "input")
	r := adapters.Request{Agent: Name, Session: s.ID, ID: id, Kind: adapters.AsksPermission, Folder: s.CWD, Where: "Qwen Code",
		CanAllow: tool != questionTool, CanDeny: true, Text: tool + "\n" + string(input)}
	var members map[string]json.RawMessage
	if json.Unmarshal(input, &members) == nil && tool == shellTool && kit.IsPlainCommand(members) {
		r.Kind, r.Text = adapters.AsksCommand, agentfile.String(members["command"])
	}
	return r
}

// line is a line of the input file. Qwen Code ignores By: it shows Rollcall whose of two answers came first.
type line struct {
	Type    string `json:"type"`
	Text    string `json:"text,omitempty"`
	Request string `json:"request_id,omitempty"`
	Allowed *bool  `json:"allowed,omitempty"`
	By      string `json:"by,omitempty"`
}

// write appends a line to the input file, which must be the user's own.
func (r remote) write(l *line) error {
	f, info, err := agentfile.OpenUntouched(r.input)
	if err != nil {
		return err
	}
	_ = f.Close()
	if !agentfile.OwnedByUser(info) || info.Size() > maxInput {
		return fmt.Errorf("%w: the file %s belongs to another user or is too large", adapters.ErrNotAllowed, r.input)
	}
	text, err := json.Marshal(l)
	if err != nil {
		return err
	}
	out, err := os.OpenFile(r.input, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	if now, statErr := out.Stat(); statErr != nil || !os.SameFile(info, now) {
		_ = out.Close()
		return fmt.Errorf("%w: the file %s was replaced", adapters.ErrNotAllowed, r.input)
	}
	_, err = out.Write(append(text, '\n'))
	return errors.Join(err, out.Close())
}

// Answer implements adapters.Answerer. The terminal reports each decision, whoever made it.
func (a *Adapter) Answer(ctx context.Context, s adapters.Session, shown adapters.Request, d adapters.Decision) (adapters.Result, error) {
	var none adapters.Result
	if err := d.Check(&shown); err != nil {
		return none, err
	}
	ctx, cancel := context.WithTimeout(ctx, remoteLimit)
	defer cancel()
	r, err := a.remoteOf(&s)
	if err != nil {
		return none, fmt.Errorf("%w: %w", adapters.ErrAnswerElsewhere, err)
	}
	list, err := a.pending(ctx, r, &s)
	if err != nil {
		return none, adapters.AsProblem(r.events, err)
	}
	asked, err := adapters.Match(list, &shown)
	if err != nil {
		return none, err
	}
	allowed, by := d.Verdict == adapters.AllowOnce, kit.New()
	if err := r.write(&line{Type: "confirmation_response", Request: asked.ID, Allowed: &allowed, By: by}); err != nil {
		return none, err
	}
	accepted := false
	err = r.until(ctx, func(event []byte, _ int64) (found, more bool) {
		response := agentfile.Get(event, "response")
		if typeOf(event) == "control_response" && agentfile.String(agentfile.Get(response, "request_id")) == asked.ID {
			found, accepted = true, string(agentfile.Text(agentfile.Get(response, "subtype"))) == "success" && agentfile.True(agentfile.Get(response, "response", "allowed")) == allowed
		}
		if !found && !allowed && a.isDenied(ctx, &s) { // 0.24.4 reports no denial: it ends the turn
			found, accepted = true, true
		}
		return found, !accepted && agentfile.String(agentfile.Get(event, "request_id")) != asked.ID
	})
	switch {
	case err != nil:
		return none, fmt.Errorf("%w: %w", adapters.ErrUnconfirmed, err)
	case !accepted || !r.isFirst(asked.ID, by):
		return none, adapters.ErrNotPending
	}
	return adapters.Result{Confirmed: true, Evidence: "Qwen Code reports the decision on " + kit.PlainWord(asked.ID)}, nil
}

// isDenied reports whether the file of a session shows that a call was denied, or interrupted, and none is open.
func (a *Adapter) isDenied(ctx context.Context, s *adapters.Session) bool {
	info, err := os.Stat(s.Files[0])
	if err != nil {
		return false
	}
	f, err := a.transcripts.Read(ctx, s.Files[0], info, false)
	return err == nil && len(f.calls) == 0 && f.turn.outcome == adapters.Interrupted
}

func typeOf(event []byte) string { return string(agentfile.Text(agentfile.Get(event, "type"))) }

// until reads the events again and again until seen has found one. seen is called as by read.
func (r remote) until(ctx context.Context, seen func(event []byte, at int64) (found, more bool)) error {
	for found := false; !found; {
		if err := kit.Wait(ctx, remotePause); err != nil {
			return err
		}
		if err := r.read(ctx, func(event []byte, at int64) bool {
			one, more := seen(event, at)
			found = found || one
			return more
		}); err != nil {
			return err
		}
	}
	return nil
}

// isFirst reports whether the line that by names is the first answer to a request in the input file.
func (r remote) isFirst(id, by string) bool {
	data, _, err := agentfile.ReadSmall(r.input, maxInput)
	for text := range bytes.Lines(data) {
		if agentfile.String(agentfile.Get(text, "request_id")) == id {
			return agentfile.String(agentfile.Get(text, "by")) == by
		}
	}
	return err != nil // what the terminal reported is all that is known
}

// Send implements adapters.Prompter for a terminal that was started with the two files.
func (a *Adapter) Send(ctx context.Context, s adapters.Session, prompt string) error {
	if s.Status != adapters.Idle {
		return adapters.ErrBusy
	}
	return a.submit(ctx, &s, prompt)
}

// Queue implements adapters.Prompter. A terminal that works begins with the prompt after its turn.
func (a *Adapter) Queue(ctx context.Context, s adapters.Session, prompt string) error {
	return a.submit(ctx, &s, prompt)
}

// submit gives a terminal a prompt. One that is idle reports the prompt when it begins with it.
func (a *Adapter) submit(ctx context.Context, s *adapters.Session, prompt string) error {
	ctx, cancel := context.WithTimeout(ctx, remoteLimit)
	defer cancel()
	r, err := a.remoteOf(s)
	if err != nil {
		return err
	}
	before, err := os.Stat(r.events)
	if err == nil {
		err = r.write(&line{Type: "submit", Text: prompt})
	}
	if err != nil || s.Status != adapters.Idle {
		return err
	}
	err = r.until(ctx, func(event []byte, at int64) (found, more bool) {
		found = at >= before.Size() && typeOf(event) == "user"
		return found, !found && at > before.Size()
	})
	if err != nil {
		return fmt.Errorf("%w: Qwen Code has not begun with the prompt: %w", adapters.ErrUnconfirmed, err)
	}
	return nil
}

// make makes the files for a terminal, in a folder of their own below the temporary one, and removes those of terminals that wrote nothing for a week.
func (r remote) make(now time.Time) error {
	dir := filepath.Dir(r.events)
	old, _ := filepath.Glob(filepath.Join(filepath.Dir(dir), remotePrefix+"*"))
	for _, path := range old {
		if info, err := os.Stat(filepath.Join(path, filepath.Base(r.events))); err == nil && agentfile.OwnedByUser(info) && now.Sub(info.ModTime()) > remoteAge {
			_ = os.RemoveAll(path)
		}
	}
	err := os.Mkdir(dir, 0o700)
	for _, path := range []string{r.events, r.input} {
		if err == nil {
			err = os.WriteFile(path, nil, 0o600)
		}
	}
	return err
}
