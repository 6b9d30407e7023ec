package gemini

import (
	"context"
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"rollcall/adapters"
	"rollcall/adapters/internal/agentfile"
	"rollcall/adapters/internal/kit"
)

// Peek returns the last n messages of a session that Discover returned. It reads the file from its end.
func (a *Adapter) Peek(ctx context.Context, session adapters.Session, n int) ([]adapters.Message, error) {
	if n <= 0 || adapters.IsProcessID(session.ID) { // a process that has stored nothing
		return nil, nil
	}
	if len(session.Files) == 0 {
		return nil, &adapters.Problem{Kind: adapters.ErrUnreadable, Path: "session " + session.ID, Err: errors.New("it has no file")}
	}
	path := session.Files[0]
	return kit.Read(ctx, path, func() ([]adapters.Message, error) {
		p := &peek{limit: kit.Shown, n: n, seen: map[string]bool{}}
		if err := p.file(ctx, path); err != nil {
			return nil, err
		}
		slices.Reverse(p.messages)
		return p.messages, nil
	})
}

// peek collects messages from the last to the first.
type peek struct {
	limit    kit.Limit
	n        int
	messages []adapters.Message
	seen     map[string]bool // ids of messages: the last record of each counts
}

func (p *peek) full() bool { return len(p.messages) >= p.n }

func (p *peek) file(ctx context.Context, path string) error {
	if isObject(path) {
		return p.object(path)
	}
	f, info, err := agentfile.OpenUntouched(path)
	if err != nil {
		return err
	}
	defer f.Close()
	b := agentfile.Backward(f, info.Size(), 0).WithContext(ctx)
	defer b.Close()
	// What follows an interruption up to the next list of messages is the history, written again: it is held back until the line
	// before it shows whether it is that.
	var held [][]byte
	size, more := 0, true
	for more && !p.full() {
		line, _, err := b.Prev()
		switch {
		case errors.Is(err, io.EOF):
			more = false
		case errors.Is(err, agentfile.ErrTooLong):
			continue
		case err != nil:
			return err
		}
		var m fields
		switch {
		case !more:
		case m.read(line) != nil:
			continue
		case m.set != nil && agentfile.Get(m.set, "messages") == nil, m.session != nil:
			continue
		case m.set == nil && size < maxHeld && !isCancelled(&m):
			held, size = append(held, slices.Clone(line)), size+len(line)
			continue
		case isCancelled(&m):
			held, size = [][]byte{slices.Clone(line)}, 0
			continue
		}
		p.lines(held)
		held, size = nil, 0
	}
	return nil
}

// maxHeld bounds the lines that are held back, in bytes.
const maxHeld = 16 << 20

func isCancelled(m *fields) bool {
	return string(agentfile.Text(m.typ)) == "info" && string(agentfile.Text(m.content)) == "Request cancelled."
}

// lines adds the messages of lines, the last one first.
func (p *peek) lines(lines [][]byte) {
	for _, line := range lines {
		var m fields
		if m.read(line) == nil {
			p.message(&m)
		}
	}
}

func (p *peek) object(path string) error {
	data, _, err := agentfile.ReadSmall(path, agentfile.MaxLine)
	if err != nil {
		return err
	}
	var list [][]byte
	err = agentfile.Each(agentfile.Get(data, "messages"), func(one []byte) bool {
		list = append(list, one)
		return true
	})
	if err != nil {
		return adapters.Unrecognised(path, "it is not complete, or not an object with messages")
	}
	slices.Reverse(list)
	p.lines(list)
	return nil
}

// message adds one message, and before it its calls, which end after its text.
func (p *peek) message(m *fields) {
	id, at := short(m.id), agentfile.Time(m.at)
	if id == "" || p.seen[id] || p.full() {
		return
	}
	p.seen[id] = true
	switch string(agentfile.Text(m.typ)) {
	case "user":
		text, results := textOf(m.content, p.limit.Bytes()+4)
		if shown, _ := textOf(m.shown, p.limit.Bytes()+4); shown != "" {
			text = shown
		}
		if !results && text != "" {
			p.add(adapters.Message{Key: id, Role: adapters.FromUser, Text: text, At: at})
		}
	case "gemini":
		var calls []adapters.Message
		_ = agentfile.Each(m.calls, func(call []byte) bool {
			calls = append(calls, callOf(keyOf(id, len(calls)), call, at))
			return true
		})
		for _, call := range slices.Backward(calls) {
			p.add(call)
		}
		if text, _ := textOf(m.content, p.limit.Bytes()+4); strings.TrimSpace(text) != "" {
			p.add(adapters.Message{Key: id, Role: adapters.FromAgent, Text: text, At: at})
		}
	case "info", "error", "warning":
		if text, _ := textOf(m.content, textLimit); text != "" {
			p.add(adapters.Message{Key: id, Role: adapters.FromNote, Text: text, At: at})
		}
	}
}

func (p *peek) add(m adapters.Message) {
	if !p.full() {
		m.Text = p.limit.Cut(strings.TrimSpace(m.Text))
		p.messages = append(p.messages, m)
	}
}

// keyOf returns the key of the call with an index in a message.
func keyOf(id string, i int) string { return id + "/" + strconv.Itoa(i) }

// callOf returns a call of a tool, which is over.
func callOf(key string, call []byte, at time.Time) adapters.Message {
	m := adapters.Message{Key: key, Role: adapters.FromTool, Tool: short(agentfile.Get(call, "name")), Text: argument(agentfile.Get(call, "args")),
		State: adapters.ToolFailed, At: at}
	if string(agentfile.Text(agentfile.Get(call, "status"))) == "success" {
		m.State = adapters.ToolDone
	}
	if m.Tool == "" {
		m.Tool = "tool"
	}
	return m
}
