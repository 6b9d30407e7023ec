package qwen

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"rollcall/adapters"
	"rollcall/adapters/internal/agentfile"
	"rollcall/adapters/internal/kit"
)

// Peek returns the last n messages of a session that Discover returned. It reads the file from its end.
func (a *Adapter) Peek(ctx context.Context, session adapters.Session, n int) ([]adapters.Message, error) {
	return kit.Peek(ctx, &session, n, func(path string) ([]adapters.Message, error) {
		p := &peek{session: session, n: n, results: map[string]adapters.ToolState{}}
		err := kit.LinesFromEnd(ctx, path, func(line []byte) bool {
			var list []record
			_, _ = agentfile.Records(line, parse, func(r *record) { list = append(list, *r) })
			for _, r := range slices.Backward(list) {
				p.record(&r)
			}
			return !p.full()
		})
		return p.messages, err
	})
}

// peek collects messages from the last to the first.
type peek struct {
	session   adapters.Session
	n         int
	messages  []adapters.Message
	results   map[string]adapters.ToolState // by the id of the call
	continued bool                          // there is a later turn
}

func (p *peek) full() bool { return len(p.messages) >= p.n }

func (p *peek) record(r *record) {
	switch string(agentfile.Text(r.typ)) {
	case "user":
		m := adapters.Message{Key: short(r.uuid), Role: adapters.FromUser, Text: r.text(kit.Shown.Bytes() + 4), At: r.time()}
		if r.isNotification() {
			m.Role = adapters.FromNote
		}
		p.add(m)
		p.continued = true
	case "tool_result":
		r.parts(func(part []byte) {
			if response := agentfile.Get(part, "functionResponse"); !agentfile.Null(response) {
				state := adapters.ToolDone
				if !agentfile.Null(agentfile.Get(response, "response", "error")) {
					state = adapters.ToolFailed
				}
				p.results[short(agentfile.Get(response, "id"))] = state
			}
		})
	case "assistant":
		var calls []adapters.Message
		r.parts(func(part []byte) {
			if c := agentfile.Get(part, "functionCall"); !agentfile.Null(c) {
				calls = append(calls, p.call(r, c, len(calls)))
			}
		})
		for _, m := range slices.Backward(calls) {
			p.add(m)
		}
		p.add(adapters.Message{Key: short(r.uuid), Role: adapters.FromAgent, Text: r.text(kit.Shown.Bytes() + 4), At: r.time()})
	case "system":
		if why := short(agentfile.Get(r.system, "uiEvent", "error_message")); why != "" {
			p.add(adapters.Message{Key: short(r.uuid), Role: adapters.FromNote, Text: why, At: r.time()})
		}
	}
}

func (p *peek) call(r *record, c []byte, i int) adapters.Message {
	m := adapters.Message{Key: keyOf(short(r.uuid), i), Role: adapters.FromTool, Tool: short(agentfile.Get(c, "name")),
		Text: argument(agentfile.Get(c, "args")), At: r.time()}
	if m.Tool == "" {
		m.Tool = "tool"
	}
	if state, over := p.results[short(agentfile.Get(c, "id"))]; over {
		m.State = state
	} else {
		m.State = kit.StateWithoutResult(&p.session, &m, p.continued)
	}
	return m
}

// keyOf returns the key of the call with an index in a message.
func keyOf(id string, i int) string { return id + "/" + strconv.Itoa(i) }

func (p *peek) add(m adapters.Message) {
	if m.Text = kit.Shown.Cut(strings.TrimSpace(m.Text)); !p.full() && (m.Text != "" || m.Role == adapters.FromTool) {
		p.messages = append(p.messages, m)
	}
}
