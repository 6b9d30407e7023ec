package qwen

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"rollcall/adapters"
	"rollcall/adapters/internal/agentfile"
	"rollcall/adapters/internal/kit"
	"rollcall/bounded"
	"rollcall/proc"
)

// remote is a channel to a terminal of Qwen Code that was started with --json-file and --input-file: it writes its events into one, and
// takes prompts and answers from the other (0.24.4). Neither file interrupts a turn, nor answers a question.
type remote struct {
	a             *Adapter
	events, input string
}

const (
	remotePause = 50 * time.Millisecond // between two looks at the events
	maxEvents   = 16 << 20              // of the events that are read, from their end
	maxInput    = 64 << 20              // of the file with prompts and answers

	remotePrefix = "rollcall-qwen-" // of the folders with such files
	remoteAge    = 7 * 24 * time.Hour
)

var errNoRemote = errors.New("this Qwen Code takes no answers from outside: it was not launched in a terminal by Rollcall")

// remoteOf returns the files that the command line of a session's process names, if Rollcall made them. The command line is the agent's own word: with
// any other file, an answer would be written where the agent wants it. A process outside of the boundary names paths of another world.
func (a *Adapter) remoteOf(s *adapters.Session) (*remote, error) {
	args, err := a.Table.Args(s.Process)
	r := a.remoteIn(filepath.Dir(kit.Option(args, "--json-file")))
	if err != nil || r.events != kit.Option(args, "--json-file") || r.input != kit.Option(args, "--input-file") {
		return nil, errNoRemote
	}
	return r, cmp.Or(r.check(), proc.CheckBoundary(s.Process))
}

// check returns an error unless the files are the user's alone, in a folder such as Rollcall makes.
func (r *remote) check() error {
	dir := filepath.Dir(r.events)
	if !filepath.IsAbs(dir) || !strings.HasPrefix(filepath.Base(dir), remotePrefix) {
		return errNoRemote
	}
	for _, path := range []string{dir, r.events, r.input} {
		info, err := os.Lstat(path)
		switch {
		case err != nil:
			return err
		case info.IsDir() != (path == dir) || path != dir && !info.Mode().IsRegular() || !agentfile.IsPrivate(info):
			return fmt.Errorf("%w: %s is a link, or others can read or write it", adapters.ErrNotAllowed, path)
		}
	}
	return nil
}

// read calls seen with the events of a terminal, the newest first, until seen returns false. seen must not keep the event.
func (r *remote) read(ctx context.Context, seen func(event []byte) (more bool)) error {
	size := 0
	return kit.LinesFromEnd(ctx, r.events, func(event []byte) bool {
		size += len(event)
		return seen(event) && size < maxEvents
	})
}

// newest returns the newest event that is the one meant; nil: there is none.
func (r *remote) newest(ctx context.Context, isMeant func(event []byte) bool) (found []byte, err error) {
	err = r.read(ctx, func(event []byte) bool {
		if isMeant(event) {
			found = bytes.Clone(event)
		}
		return found == nil
	})
	return found, err
}

// await looks for the newest event that is the one meant, nil while there is none, until done returns true for it.
func (r *remote) await(ctx context.Context, isMeant, done func(event []byte) bool) error {
	for {
		if err := bounded.Wait(ctx, remotePause); err != nil {
			return err
		}
		if event, err := r.newest(ctx, isMeant); err != nil || done(event) {
			return err
		}
	}
}

// pending implements channel: it returns the requests of the calls that are open in the file of a session and that the terminal has not reported as decided.
func (r *remote) pending(ctx context.Context, s *adapters.Session) ([]adapters.Request, error) {
	if s.WaitingFor == adapters.ForQuestion {
		return nil, fmt.Errorf("%w: %s takes the answer to a question %s only", adapters.ErrAnswerElsewhere, description.Title, s.Where())
	}
	f, err := r.a.factsOf(ctx, s)
	if err != nil {
		return nil, err
	}
	var list []adapters.Request
	var decided []string
	open := len(f.calls)
	err = r.read(ctx, func(event []byte) bool {
		switch id := requestOf(event); typeOf(event) {
		case "control_response":
			decided = append(decided, id)
		case "control_request":
			asked := agentfile.Get(event, "request")
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
	if err != nil {
		return nil, adapters.AsProblem(r.events, err)
	}
	slices.Reverse(list)
	return list, nil
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
	eventMembers.Check(&r, "request", asked)
	return r
}

// decide implements channel. The terminal reports each decision, whoever made it.
func (r *remote) decide(ctx context.Context, s *adapters.Session, asked *adapters.Request, d adapters.Decision) error {
	id := asked.ID
	allowed := d.Verdict == adapters.AllowOnce
	accepted := false
	if err := r.write(map[string]any{"type": "confirmation_response", "request_id": id, "allowed": allowed}); err != nil {
		return err
	}
	err := r.await(ctx, func(event []byte) bool { return requestOf(event) == id }, func(event []byte) bool {
		if typeOf(event) == "control_response" {
			response := agentfile.Get(event, "response")
			accepted = string(agentfile.Text(agentfile.Get(response, "subtype"))) == "success" && agentfile.True(agentfile.Get(response, "response", "allowed")) == allowed
			return true
		}
		if !allowed { // 0.24.4 reports no denial: it ends the turn
			f, err := r.a.factsOf(ctx, s)
			accepted = err == nil && len(f.calls) == 0 && f.turn.outcome == adapters.Interrupted
		}
		return accepted
	})
	switch {
	case err != nil:
		return fmt.Errorf("%w: %w", adapters.ErrUnconfirmed, err)
	case !accepted:
		return adapters.ErrNotPending
	}
	return nil
}

// prompt implements channel. A terminal that is idle reports the prompt when it begins with it.
func (r *remote) prompt(ctx context.Context, s *adapters.Session, text string) error {
	isPrompt := func(event []byte) bool { return typeOf(event) == "user" }
	before, err := r.newest(ctx, isPrompt)
	if err == nil {
		err = r.write(map[string]any{"type": "submit", "text": text})
	}
	if err != nil || s.Status != adapters.Idle {
		return err
	}
	err = r.await(ctx, isPrompt, func(now []byte) bool { return !bytes.Equal(now, before) })
	if err != nil {
		return fmt.Errorf("%w: Qwen Code has not begun with the prompt: %w", adapters.ErrUnconfirmed, err)
	}
	return nil
}

// write appends a line to the input file.
func (r *remote) write(line map[string]any) error {
	text, _ := json.Marshal(line)                                                   // texts can always be marshalled
	checked, _ := os.Lstat(r.input)                                                 // nil is the same as no file
	out, err := os.OpenFile(r.input, os.O_WRONLY|os.O_APPEND|syscall.O_NONBLOCK, 0) // a named pipe must not hold it up
	if err != nil {
		return err
	}
	defer out.Close()
	if info, statErr := out.Stat(); statErr != nil || !os.SameFile(checked, info) || !info.Mode().IsRegular() || !agentfile.IsPrivate(info) || info.Size() > maxInput {
		return fmt.Errorf("%w: %s is no file, others can read or write it, or it is too large", adapters.ErrNotAllowed, r.input)
	}
	_, err = out.Write(append(text, '\n'))
	return err
}

// factsOf reads the file of a session again.
func (a *Adapter) factsOf(ctx context.Context, s *adapters.Session) (none facts, err error) {
	info, err := os.Stat(s.Files[0])
	if err != nil {
		return none, err
	}
	return a.transcripts.Read(ctx, s.Files[0], info, false)
}

func typeOf(event []byte) string { return string(agentfile.Text(agentfile.Get(event, "type"))) }

// requestOf returns the id of the request that an event makes or answers.
func requestOf(event []byte) string {
	return cmp.Or(agentfile.String(agentfile.Get(event, "request_id")), agentfile.String(agentfile.Get(event, "response", "request_id")))
}

// remoteIn names the files in a folder of their own.
func (a *Adapter) remoteIn(dir string) *remote {
	return &remote{a, filepath.Join(dir, "events.jsonl"), filepath.Join(dir, "input.jsonl")}
}

// make makes the files, which only the user can read, and removes those of terminals that wrote nothing for a week.
func (r *remote) make(now time.Time) error {
	dir := filepath.Dir(r.events)
	parent := filepath.Dir(dir)
	old, _ := fs.Glob(os.DirFS(parent), remotePrefix+"*")
	for _, name := range old {
		path := filepath.Join(parent, name)
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
