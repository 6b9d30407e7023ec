package grok

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"strings"

	"rollcall/adapters"
	"rollcall/adapters/internal/agentfile"
	"rollcall/adapters/internal/kit"
)

// Peek implements adapters.Peeker. It reads updates.jsonl from its end.
func (a *Adapter) Peek(ctx context.Context, s adapters.Session, n int) ([]adapters.Message, error) {
	messages, err := kit.PeekLines(ctx, &s, n, items)
	if len(s.Files) > 1 && errors.Is(err, fs.ErrNotExist) && kit.MayExist(s.Files[1]) { // nothing was asked yet
		return nil, nil
	}
	return messages, err
}

// stateOf returns the state of a call that has ended; empty: it has not.
func stateOf(u *update) adapters.ToolState {
	return map[string]adapters.ToolState{"completed": adapters.ToolDone, "failed": adapters.ToolFailed}[string(agentfile.Text(u.get("status")))]
}

// items returns the messages in a line. A call and what it returned are one message, and a prompt or the end of a turn ends the calls before it.
func items(line []byte, limit kit.Limit) (list []kit.Item) {
	_, _ = agentfile.Records(line, parseUpdate, func(u *update) { // what is no record has no message
		m, is := message(u, limit)
		i := kit.Item{Message: m, Call: kit.Short(u.get("toolCallId"))}
		switch string(agentfile.Text(u.typ)) {
		case "user_message_chunk", "turn_completed":
			i.Ends = true
		case "tool_call":
			i.Texts = func() string { return kit.Strings(u.get("rawInput")) }
		case "tool_call_update":
			is, i.IsResult = true, true
			i.Message = adapters.Message{Role: adapters.FromTool, State: stateOf(u)}
			i.Texts = func() string { return kit.Strings(u.get("content")) }
		}
		if !is {
			i.Role = ""
		}
		list = append(list, i)
	})
	return list
}

// message returns the message that an update is. ok is false for one that is none.
func message(u *update, limit kit.Limit) (m adapters.Message, ok bool) {
	m = adapters.Message{Key: u.id(), At: u.at()}
	switch string(agentfile.Text(u.typ)) {
	case "user_message_chunk":
		m.Role, m.Text = adapters.FromUser, limit.Text(u.get("content", "text"))
	case "agent_message_chunk":
		m.Role, m.Text = adapters.FromAgent, limit.Text(u.get("content", "text"))
	case "tool_call":
		m.Role = adapters.FromTool
		m.Tool = u.tool()
		m.State = adapters.ToolRunning
		m.Plan = m.Tool == exitPlan
		m.Text = cmp.Or(u.argument(limit.Text), strings.TrimSpace(kit.AnyArgument(u.get("rawInput"))))
	case "turn_completed":
		m.Role, m.Text = adapters.FromNote, limit.Text(u.get("agent_result"))
		if string(agentfile.Text(u.get("stop_reason"))) == "cancelled" {
			m.Text = "The turn was interrupted."
		}
	default:
		return m, false
	}
	m.Text = limit.Cut(m.Text)
	return m, m.Key != "" && (m.Text != "" || m.Role == adapters.FromTool)
}
