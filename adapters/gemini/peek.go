package gemini

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"

	"rollcall/adapters"
	"rollcall/adapters/internal/agentfile"
	"rollcall/adapters/internal/kit"
)

// Peek returns the last n messages of a session that Discover returned. It reads the file from its end.
func (a *Adapter) Peek(ctx context.Context, s adapters.Session, n int) ([]adapters.Message, error) {
	return kit.Peek(ctx, &s, n, func(path string) ([]adapters.Message, error) {
		p := &peek{limit: kit.Shown, n: n, seen: map[string]bool{}}
		err := kit.LinesFromEnd(ctx, path, func(line []byte) bool {
			_ = p.line(line) // what is no record has no message
			return !p.full()
		})
		p.take()
		return p.messages, err
	})
}

// peek collects messages from the last to the first.
type peek struct {
	limit    kit.Limit
	n        int
	messages []adapters.Message
	seen     map[string]bool // ids of messages: the last record of each counts
	// What follows an interruption up to the next list of messages is the history, written again: records are held back until the one
	// before them shows whether they are that.
	held [][]byte
	size int
}

// maxHeld bounds the records that are held back, in bytes.
const maxHeld = 16 << 20

func (p *peek) full() bool { return len(p.messages) >= p.n }

// line takes a line, from the last one on.
func (p *peek) line(line []byte) error {
	var list []record
	_, err := records(line, func(r *record) { list = append(list, *r) })
	for _, r := range slices.Backward(list) {
		p.record(&r)
	}
	return err
}

func (p *peek) record(r *record) {
	switch {
	case r.rewrites():
		p.held, p.size = nil, 0
	case p.size >= maxHeld, r.set != nil && r.messages != nil:
		p.take()
	}
	p.held, p.size = append(p.held, slices.Clone(r.raw)), p.size+len(r.raw)
}

// take adds the messages of the records that were held back.
func (p *peek) take() {
	for _, one := range p.held {
		if r, err := parse(one); err == nil {
			p.message(&r, nil)
		}
	}
	p.held, p.size = nil, 0
}

// message adds one message, and before it its calls, which end after its text. tools returns what is said of a call; nil: its most
// descriptive argument.
func (p *peek) message(r *record, tools func(call []byte) string) {
	id := kit.Short(r.id)
	if id == "" || p.seen[id] || p.full() {
		return
	}
	p.seen[id] = true
	m := adapters.Message{Key: id, At: agentfile.Time(r.at)}
	var results bool
	m.Text, results = r.text(p.limit.Bytes() + 4)
	switch m.Text = strings.TrimSpace(m.Text); string(agentfile.Text(r.typ)) {
	case "user":
		m.Role = adapters.FromUser
	case "gemini":
		m.Role = adapters.FromAgent
		p.calls(r, m, tools)
	case "info", "error", "warning":
		m.Role = adapters.FromNote
	}
	if m.Role != "" && !results && m.Text != "" {
		p.add(m)
	}
}

// calls adds the calls of a message, which are over.
func (p *peek) calls(r *record, in adapters.Message, tools func(call []byte) string) {
	var calls []adapters.Message
	kit.Each(r.calls, func(call []byte) {
		m := adapters.Message{Key: in.Key + "/" + strconv.Itoa(len(calls)), Role: adapters.FromTool, State: adapters.ToolFailed, At: in.At,
			Tool: cmp.Or(kit.Short(agentfile.Get(call, "name")), "tool"), Text: argument(agentfile.Get(call, "args"))}
		if string(agentfile.Text(agentfile.Get(call, "status"))) == "success" {
			m.State = adapters.ToolDone
		}
		if tools != nil {
			m.Text = tools(call)
		}
		calls = append(calls, m)
	})
	for _, m := range slices.Backward(calls) {
		p.add(m)
	}
}

func (p *peek) add(m adapters.Message) {
	m.Text = p.limit.Cut(strings.TrimSpace(m.Text))
	if !p.full() {
		p.messages = append(p.messages, m)
	}
}
