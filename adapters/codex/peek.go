package codex

import (
	"context"
	"errors"
	"fmt"
	"io"

	"rollcall/adapters"
	"rollcall/adapters/internal/agentfile"
	"rollcall/adapters/internal/kit"
)

// peekWindow is the number of bytes from the end in which messages are searched for.
const peekWindow = 512 << 20

// Peek implements adapters.Peeker. Messages come in the order of the rollout (0.137 to
// 0.169). A user's message is the text that was typed, without the texts that Codex and
// editors put before it; of a sub-agent's rollout only its own records are read, not
// those copied from its parent. Keys are the ids of items and calls; in versions
// without ids, the position of the record in the rollout.
//
// A call without an output is running, unless its turn is over or no process has the
// thread open: then it has failed. A command that ended with another exit code than 0
// has failed too.
func (a *Adapter) Peek(ctx context.Context, s adapters.Session, n int) ([]adapters.Message, error) {
	return kit.Peek(ctx, &s, n, func(path string) ([]adapters.Message, error) { return peekRollout(ctx, path, &s, n) })
}

// peekRollout returns the messages of a rollout, the last one first.
func peekRollout(ctx context.Context, path string, s *adapters.Session, n int) ([]adapters.Message, error) {
	f, info, err := agentfile.OpenRegular(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	p := &peek{limit: kit.Shown, session: s, n: n, states: make(map[string]adapters.ToolState), seen: make(map[string]bool)}
	if compressed(path) {
		err = p.unpack(ctx, f, path)
	} else {
		_, err = p.head(f)
		if err == nil {
			err = p.read(ctx, f, info.Size(), 0)
		}
	}
	if errors.Is(err, errForm) {
		return nil, formProblem(path, err)
	}
	if err != nil {
		return nil, err
	}
	messages := p.messages[:min(n, len(p.messages))]
	out := make([]adapters.Message, len(messages))
	for i := range messages {
		out[i] = messages[i].Message
	}
	return out, nil
}

// head reads the facts from the first line that are needed to interpret the records
// after it. It returns the folder in which the thread began. The error is errForm for a rollout in another format.
func (p *peek) head(r io.ReaderAt) (cwd string, err error) {
	limited := io.NewSectionReader(r, 0, headLine)
	_, _, _ = agentfile.Forward(context.Background(), limited, 0, headLine, func(line []byte, _ int64) error {
		var f facts
		if f.applyHead(line); !f.known {
			err = errForm
		}
		p.inherited, cwd = f.inherited, f.cwd
		return errEnough
	})
	return cwd, err
}

// errForm reports that the first line of a rollout is not that of a known version.
var errForm = errors.New("its first line is not session_meta, which Codex 0.32 and later write")

func formProblem(path string, err error) error {
	return &adapters.Problem{Kind: adapters.ErrFormat, Path: path, Err: err, Fix: "Rollcall does not read the rollouts of older versions"}
}

// peek gathers messages from a rollout's end.
type peek struct {
	limit     kit.Limit
	session   *adapters.Session
	n         int
	inherited int64         // records before this ordinal are the parent's
	messages  []peekMessage // the newest first
	seen      map[string]bool
	states    map[string]adapters.ToolState // of calls, by their id
	over      bool                          // the turn of the record that is read now is over
}

// peekMessage is a message that the rollout may hold twice: as an event and, right after
// it, as an item of the model's history.
type peekMessage struct {
	adapters.Message
	item   bool // of the model's history
	merged bool // both were read
}

// read reads backwards from size until there are more than enough messages: the
// oldest may have its key from the record before it. base is where r begins in
// the rollout.
func (p *peek) read(ctx context.Context, r io.ReaderAt, size, base int64) error {
	b := agentfile.Backward(r, size, 0).WithContext(ctx)
	for len(p.messages) <= p.n {
		line, offset, err := b.Prev()
		switch {
		case errors.Is(err, io.EOF):
			if base > 0 {
				p.cut(base + size)
			}
			return nil
		case errors.Is(err, agentfile.ErrTooLong):
		case err != nil:
			return err
		case base > 0 && offset == 0: // its beginning is before base
		case !p.line(line, base+offset):
			return nil
		}
		if size-offset > peekWindow {
			p.cut(size - offset)
			return nil
		}
	}
	return nil
}

// cut adds a note that there are earlier messages, which are not read.
func (p *peek) cut(distance int64) {
	p.add(peekMessage{Message: adapters.Message{Key: "cut", Role: adapters.FromNote,
		Text: fmt.Sprintf("Messages more than %d MB before the end are not shown.", distance>>20)}})
}

// add adds a message, unless the record after it has the same message. The message then
// has the key of the first record, which stays when the second is written.
func (p *peek) add(m peekMessage) {
	if last := len(p.messages) - 1; last >= 0 && p.messages[last].repeats(m) {
		p.messages[last].Key = m.Key
		p.messages[last].At = m.At
		p.messages[last].merged = true
		return
	}
	if p.seen[m.Key] {
		return
	}
	p.seen[m.Key] = true
	p.messages = append(p.messages, m)
}

func (m *peekMessage) repeats(before peekMessage) bool {
	return m.Role == before.Role && m.Text == before.Text && (m.Role == adapters.FromNote || !m.merged && m.item && !before.item)
}

// state returns the state of a call. Its output comes later in the rollout and was read
// before it.
func (p *peek) state(m *adapters.Message) adapters.ToolState {
	if state, ok := p.states[m.Key]; ok {
		return state
	}
	return kit.StateWithoutResult(p.session, m, p.over)
}
