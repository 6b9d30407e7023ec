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
		p := &peek{LastItems: kit.NewLastItems(&s, n), seen: map[string]bool{}}
		err := kit.LinesFromEnd(ctx, path, func(line []byte) bool {
			p.line(line)
			return !p.IsFull()
		})
		p.take()
		return p.Messages, err
	})
}

// peek collects messages from the last to the first.
type peek struct {
	*kit.LastItems
	seen map[string]bool // ids of messages: the last record of each counts
	// What follows an interruption up to the next list of messages is the history, written again: records are held back until the one
	// before them shows whether they are that.
	held [][]byte
	size int
}

// maxHeld bounds the records that are held back, in bytes.
const maxHeld = 16 << 20

// line takes a line, from the last one on. What is no record has no message.
func (p *peek) line(line []byte) {
	var list []record
	_, _ = records(line, func(r *record) { list = append(list, *r) })
	for _, r := range slices.Backward(list) {
		switch {
		case r.rewrites():
			p.held, p.size = nil, 0
		case p.size >= maxHeld, r.set != nil && r.messages != nil:
			p.take()
		}
		p.held, p.size = append(p.held, slices.Clone(r.raw)), p.size+len(r.raw)
	}
}

// take adds the messages of the records that were held back.
func (p *peek) take() {
	for _, one := range p.held {
		r, err := parse(one)
		if id := kit.Short(r.id); err == nil && !p.seen[id] && !p.IsFull() {
			p.seen[id] = true
			p.Add(r.items(kit.Shown))
		}
	}
	p.held, p.size = nil, 0
}

// roles has the roles of messages, by their types.
var roles = map[string]adapters.Role{"user": adapters.FromUser, "gemini": adapters.FromAgent, "info": adapters.FromNote, "error": adapters.FromNote, "warning": adapters.FromNote}

// items returns the text of a message, and then its calls, which are over.
func (r *record) items(limit kit.Limit) (list []kit.Item) {
	of := adapters.Message{Key: kit.Short(r.id), At: agentfile.Time(r.at)}
	if of.Key == "" {
		return nil
	}
	text, results := r.text(limit.Bytes() + 4)
	m := of
	m.Role = roles[string(agentfile.Text(r.typ))]
	m.Text = limit.Cut(strings.TrimSpace(text))
	if m.Role != "" && m.Text != "" && !results {
		list = append(list, kit.Item{Message: m})
	}
	if m.Role == adapters.FromAgent {
		list = append(list, r.callItems(of)...)
	}
	return list
}

// callItems returns the calls of a message. of has what they have in common with it.
func (r *record) callItems(of adapters.Message) (list []kit.Item) {
	kit.Each(r.calls, func(call []byte) {
		args := agentfile.Get(call, "args")
		m := of
		m.Key += "/" + strconv.Itoa(len(list))
		m.Role = adapters.FromTool
		m.Tool = cmp.Or(kit.Short(agentfile.Get(call, "name")), "tool")
		m.Text = kit.Shown.Cut(strings.TrimSpace(argument(args)))
		m.State = adapters.ToolFailed
		if string(agentfile.Text(agentfile.Get(call, "status"))) == "success" {
			m.State = adapters.ToolDone
		}
		list = append(list, kit.Item{Message: m, Texts: func() string {
			return strings.TrimSpace(argument(args) + "\n" + kit.Strings(args) + "\n" + kit.Strings(agentfile.Get(call, "result")))
		}})
	})
	return list
}
