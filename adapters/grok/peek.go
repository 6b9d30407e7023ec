package grok

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"slices"
	"strings"
	"time"

	"rollcall/adapters"
	"rollcall/adapters/internal/agentfile"
	"rollcall/adapters/internal/kit"
)

// Peek implements adapters.Peeker. It reads updates.jsonl from its end.
func (a *Adapter) Peek(ctx context.Context, s adapters.Session, n int) ([]adapters.Message, error) {
	return kit.Peek(ctx, &s, n, func(path string) ([]adapters.Message, error) {
		p := &peek{n: n, ended: map[string]adapters.ToolState{}}
		err := kit.LinesFromEnd(ctx, path, func(line []byte) bool {
			p.line(line)
			return len(p.messages) < n
		})
		if len(s.Files) > 1 && errors.Is(err, fs.ErrNotExist) && kit.MayExist(s.Files[1]) { // nothing was asked yet
			err = nil
		}
		for i := range p.messages {
			if m := &p.messages[i]; m.State == adapters.ToolRunning {
				m.State = kit.StateWithoutResult(&s, m, m.At.Before(p.ends))
			}
		}
		return p.messages, err
	})
}

// peek collects messages from the last to the first.
type peek struct {
	n        int
	messages []adapters.Message
	ended    map[string]adapters.ToolState // of the calls with a result
	ends     time.Time                     // of the last prompt or end of a turn: a call before it runs no longer
}

// line adds the message of a line, if it has one.
func (p *peek) line(line []byte) {
	var list []update
	_, _ = agentfile.Records(line, parseUpdate, func(u *update) { list = append(list, *u) })
	for _, u := range slices.Backward(list) {
		p.update(&u)
	}
}

func (p *peek) update(u *update) {
	m, is := message(u, kit.Shown)
	switch string(agentfile.Text(u.typ)) {
	case "user_message_chunk", "turn_completed":
		p.ends = cmp.Or(p.ends, u.at())
	case "tool_call_update":
		id := kit.Short(u.get("toolCallId"))
		p.ended[id] = cmp.Or(p.ended[id], stateOf(u))
	case "tool_call":
		m.State = cmp.Or(p.ended[kit.Short(u.get("toolCallId"))], m.State)
	}
	if is && len(p.messages) < p.n {
		p.messages = append(p.messages, m)
	}
}

// stateOf returns the state of a call that has ended; empty: it has not.
func stateOf(u *update) adapters.ToolState {
	return map[string]adapters.ToolState{"completed": adapters.ToolDone, "failed": adapters.ToolFailed}[string(agentfile.Text(u.get("status")))]
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
