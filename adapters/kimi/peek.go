package kimi

import (
	"cmp"
	"context"
	"strings"

	"rollcall/adapters"
	"rollcall/adapters/internal/agentfile"
	"rollcall/adapters/internal/kit"
)

// Peek returns the last n messages of a session that Discover returned. It reads the file from its end.
func (a *Adapter) Peek(ctx context.Context, session adapters.Session, n int) ([]adapters.Message, error) {
	return kit.PeekLines(ctx, &session, n, items)
}

// items returns the messages in a line. What is no record has none.
func items(line []byte, limit kit.Limit) (list []kit.Item) {
	_, _ = records(line, func(r *record) {
		m := r.message(limit)
		if m.Role != "" {
			list = append(list, m)
		}
	})
	return list
}

// message returns the message in a record; without a role there is none. The records have each message twice, and the user's prompt with what Kimi Code
// added to it: prompts are taken from the turns, and answers from their steps (2.1.0).
func (r *record) message(limit kit.Limit) (m kit.Item) {
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
	m.Text = limit.Cut(strings.TrimSpace(m.Text))
	m.Ends = m.Role == adapters.FromUser
	if m.Text == "" && m.Role != adapters.FromTool || m.Key == "" {
		m.Role = ""
	}
	return m
}

// step returns the message in a step of a turn.
func (r *record) step(m *kit.Item, limit kit.Limit) {
	m.Call = kit.Short(agentfile.Get(r.event, "toolCallId"))
	m.Key = kit.Short(agentfile.Get(r.event, "uuid"))
	switch kit.Short(agentfile.Get(r.event, "type")) {
	case "content.part":
		m.Role, m.Text = adapters.FromAgent, limit.Text(agentfile.Get(r.event, "part", "text"))
	case "tool.call":
		m.Role, m.State = adapters.FromTool, adapters.ToolRunning
		args := agentfile.Get(r.event, "args")
		m.Tool, m.Text = cmp.Or(kit.Short(agentfile.Get(r.event, "name")), "tool"), argument(args)
		m.Texts = func() string { return strings.TrimSpace(argument(args) + "\n" + kit.Strings(args)) }
	case "tool.result":
		m.Role, m.State = adapters.FromTool, adapters.ToolDone
		m.IsResult = true
		m.Key = "result " + m.Call
		m.Texts = func() string { return strings.TrimSpace(kit.Strings(agentfile.Get(r.event, "result", "output"))) }
		if agentfile.True(agentfile.Get(r.event, "result", "isError")) {
			m.State = adapters.ToolFailed
		}
	}
}
