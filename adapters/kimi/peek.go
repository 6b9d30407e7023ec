package kimi

import (
	"cmp"
	"context"
	"slices"
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
			_, _ = records(line, func(r *record) { list = append(list, *r) }) // what is no record has no message
			for _, r := range slices.Backward(list) {
				p.record(&r)
			}
			return len(p.messages) < n
		})
		return p.messages, err
	})
}

// message is a message with what only a search needs of it.
type message struct {
	adapters.Message
	call         string // of a tool, or of its result
	args, result []byte
}

// message returns the message in a record; without a role there is none. The records have each message twice, and the user's prompt with what Kimi Code
// added to it: prompts are taken from the turns, and answers from their steps (2.1.0).
func (r *record) message(limit kit.Limit) (m message) {
	m.At = r.at()
	typ := kit.Short(r.typ)
	switch {
	case typ == "turn.prompt" || typ == "turn.steer":
		m.Role, m.Text = adapters.FromUser, r.text(limit.Bytes()+4)
		m.Key = kit.Short(agentfile.Get(r.raw, "promptId"))
		if !r.isUsers() {
			m.Role = adapters.FromNote
		}
	case typ == "turn.ended" && kit.Short(r.reason) == "failed":
		m.Role, m.Text = adapters.FromNote, limit.Text(agentfile.Get(r.failure, "message"))
		m.Key = "end " + string(r.turn)
	case typ == "context.append_loop_event":
		r.step(&m, limit)
	}
	m.Text = strings.TrimSpace(m.Text)
	if m.Text == "" && m.Role != adapters.FromTool || m.Key == "" {
		m.Role = ""
	}
	return m
}

// step returns the message in a step of a turn.
func (r *record) step(m *message, limit kit.Limit) {
	m.call = kit.Short(agentfile.Get(r.event, "toolCallId"))
	m.Key = kit.Short(agentfile.Get(r.event, "uuid"))
	switch kit.Short(agentfile.Get(r.event, "type")) {
	case "content.part":
		m.Role, m.Text = adapters.FromAgent, limit.Text(agentfile.Get(r.event, "part", "text"))
	case "tool.call":
		m.Role, m.State = adapters.FromTool, adapters.ToolRunning
		m.args = agentfile.Get(r.event, "args")
		m.Tool, m.Text = cmp.Or(kit.Short(agentfile.Get(r.event, "name")), "tool"), argument(m.args)
	case "tool.result":
		m.Role, m.State = adapters.FromTool, adapters.ToolDone
		m.result = agentfile.Get(r.event, "result", "output")
		m.Key = "result " + m.call
		if agentfile.True(agentfile.Get(r.event, "result", "isError")) {
			m.State = adapters.ToolFailed
		}
	}
}

// peek collects messages from the last to the first.
type peek struct {
	session   adapters.Session
	n         int
	messages  []adapters.Message
	results   map[string]adapters.ToolState // by the id of the call
	continued bool                          // there is a later turn
}

// record takes a record, from the last one on.
func (p *peek) record(r *record) {
	m := r.message(kit.Shown)
	state, over := p.results[m.call]
	switch {
	case m.Role == "":
		return
	case m.Role == adapters.FromTool && m.State != adapters.ToolRunning: // a result
		p.results[m.call] = m.State
		return
	case m.Role == adapters.FromTool && over:
		m.State = state
	case m.Role == adapters.FromTool:
		m.State = kit.StateWithoutResult(&p.session, &m.Message, p.continued)
	}
	m.Text = kit.Shown.Cut(m.Text)
	if len(p.messages) < p.n {
		p.messages = append(p.messages, m.Message)
	}
	p.continued = p.continued || m.Role == adapters.FromUser
}
