package claudecode

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"

	"rollcall/adapters"
	"rollcall/adapters/internal/agentfile"
	"rollcall/adapters/internal/kit"
)

const (
	peekLine   = 8 << 20   // longer lines are recognised by their beginning and end
	peekWindow = 512 << 20 // bytes from the end in which messages are searched for
)

// Peek implements adapters.Peeker. Messages come in the order of the transcript
// (2.1.329 and earlier alike); a conversation that was rewound and continued
// differently shows both versions. Prompts are the inputs that a person typed,
// including slash commands and !commands; texts that hooks, reminders and other
// programs sent to the model are left out, as are sub-agents' records. Keys are the
// records' uuids and the ids of calls.
//
// A call without a result is running, unless the conversation continued without it or
// the session has no process: then it has failed. A session without a transcript has no
// messages yet, which is not an error.
func (a *Adapter) Peek(ctx context.Context, s adapters.Session, n int) ([]adapters.Message, error) {
	path := transcriptOf(&s)
	switch {
	case n <= 0 || path == "" && len(s.Files) > 0:
		return nil, nil
	case path == "":
		return nil, &adapters.Problem{Kind: adapters.ErrUnreadable, Path: "session " + s.ID, Err: errors.New("it has no transcript")}
	}
	return kit.Read(ctx, path, func() ([]adapters.Message, error) { return peekFile(ctx, path, &s, n) })
}

// transcriptOf returns the path of the session's transcript, and "" where there is none
// yet.
func transcriptOf(s *adapters.Session) string {
	for _, path := range s.Files {
		if filepath.Ext(path) == ".jsonl" {
			return path
		}
	}
	return ""
}

func peekFile(ctx context.Context, path string, s *adapters.Session, n int) ([]adapters.Message, error) {
	f, info, err := agentfile.OpenRegular(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	p := &peek{limit: kit.Shown, session: s, n: n, seen: make(map[string]bool), results: make(map[string]adapters.ToolState)}
	if err := p.read(ctx, f, info.Size()); err != nil {
		return nil, err
	}
	p.flush()
	messages := p.messages[:min(n, len(p.messages))]
	slices.Reverse(messages)
	return messages, nil
}

// peek gathers messages from a transcript's end.
type peek struct {
	limit    kit.Limit
	session  *adapters.Session
	n        int
	messages []adapters.Message // the newest first
	seen     map[string]bool    // keys of messages
	results  map[string]adapters.ToolState

	continued bool   // the conversation continues after the record that is read now
	answer    string // message id of the answer read last, raw
	retries   bool   // the message read last reports failed requests
	compact   *adapters.Message
}

// read reads backwards until there are more than enough messages: the oldest may
// have its key from the record before it.
func (p *peek) read(ctx context.Context, f io.ReaderAt, size int64) error {
	b := agentfile.Backward(f, size, peekLine).WithContext(ctx)
	for len(p.messages) <= p.n {
		line, offset, err := b.Prev()
		var long *agentfile.LongLine
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case errors.As(err, &long):
			p.long(long)
		case err != nil:
			return err
		default:
			p.line(line, offset)
		}
		if size-offset > peekWindow || long != nil && long.Endless {
			p.note(adapters.Message{Key: "cut", Text: fmt.Sprintf("Messages more than %d MB before the end are not shown.", peekWindow>>20)})
			return nil
		}
	}
	return nil
}

// add adds a message, unless it was read before.
func (p *peek) add(m adapters.Message) (added bool) {
	p.flush()
	p.retries = false
	if p.seen[m.Key] {
		return false
	}
	p.seen[m.Key] = true
	p.messages = append(p.messages, m)
	return true
}

func (p *peek) note(m adapters.Message) (added bool) {
	m.Role, m.Text = adapters.FromNote, adapters.Cut(m.Text)
	return p.add(m)
}

// flush adds the compaction whose own record is missing.
func (p *peek) flush() {
	if c := p.compact; c != nil {
		p.compact = nil
		p.note(*c)
	}
}

// line reads one record.
func (p *peek) line(line []byte, offset int64) {
	line = bytes.TrimLeft(line, "\x00")
	if bytes.HasPrefix(line, requestDump) {
		return
	}
	var r raws
	if err := r.read(line); err != nil || agentfile.True(r.sidechain) {
		return
	}
	m := adapters.Message{Key: cmp.Or(string(agentfile.Text(r.id)), fmt.Sprintf("@%d", offset)), At: agentfile.Time(r.at)}
	switch string(agentfile.Text(r.kind)) {
	case "user":
		p.user(&r, m)
	case "assistant":
		p.assistant(&r, m)
	case "system":
		p.system(&r, m, line)
	case "attachment":
		p.queued(&r, m)
	}
}

// long records which call is answered by a record that is too long to be read.
func (p *peek) long(l *agentfile.LongLine) {
	_, rest, found := bytes.Cut(l.Head, []byte(`"tool_use_id":"`))
	id, _, closed := bytes.Cut(rest, []byte(`"`))
	if !found || !closed {
		return
	}
	p.results[string(id)] = adapters.ToolDone
	if mark := []byte(`"is_error":true`); bytes.Contains(l.Head, mark) || bytes.Contains(l.Tail, mark) {
		p.results[string(id)] = adapters.ToolFailed
	}
}

// state returns the state of a call. Its result comes later in the file and was read
// before it.
func (p *peek) state(m *adapters.Message) adapters.ToolState {
	if state, ok := p.results[m.Key]; ok {
		delete(p.results, m.Key)
		return state
	}
	return kit.StateWithoutResult(p.session, m, p.continued)
}
