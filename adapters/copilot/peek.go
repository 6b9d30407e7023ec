package copilot

import (
	"context"
	"slices"
	"strings"
	"time"

	"rollcall/adapters"
	"rollcall/adapters/internal/agentfile"
	"rollcall/adapters/internal/kit"
)

// Peek implements adapters.Peeker. It reads the file from its end. What sub-agents said is left out.
func (a *Adapter) Peek(ctx context.Context, s adapters.Session, n int) ([]adapters.Message, error) {
	return kit.Peek(ctx, &s, n, func(path string) ([]adapters.Message, error) {
		p := &peek{n: n, ended: map[string]adapters.ToolState{}}
		err := kit.LinesFromEnd(ctx, path, func(line []byte) bool {
			p.line(line)
			return len(p.messages) < n
		})
		for i := range p.messages {
			if m := &p.messages[i]; m.State == adapters.ToolRunning {
				m.State = kit.StateWithoutResult(&s, m, m.At.Before(p.last))
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
	last     time.Time                     // of the last prompt, end or error: a call before it runs no longer
}

// line adds the message of a line, if it has one.
func (p *peek) line(line []byte) {
	var list []record
	_, _ = agentfile.Records(line, parse, func(r *record) { list = append(list, *r) })
	for _, r := range slices.Backward(list) {
		p.record(&r)
	}
}

func (p *peek) record(r *record) {
	if r.sub() {
		return
	}
	m, is := message(r, kit.Shown)
	switch typ := string(agentfile.Text(r.typ)); typ {
	case "tool.execution_complete":
		state := adapters.ToolFailed
		if agentfile.True(r.get("success")) {
			state = adapters.ToolDone
		}
		p.ended[r.text("toolCallId")] = state
	case "tool.execution_start":
		if state := p.ended[r.text("toolCallId")]; state != "" {
			m.State = state
		}
	case "user.message", "abort", "session.error", "assistant.turn_end":
		if p.last.IsZero() {
			p.last = agentfile.Time(r.at)
		}
	}
	if is && len(p.messages) < p.n {
		p.messages = append(p.messages, m)
	}
}

// message returns the message that a record is. ok is false for one that is none.
func message(r *record, limit kit.Limit) (m adapters.Message, ok bool) {
	m = adapters.Message{Key: kit.Short(r.id), At: agentfile.Time(r.at)}
	switch string(agentfile.Text(r.typ)) {
	case "user.message":
		if !r.isPrompt() {
			return m, false
		}
		m.Role, m.Text = adapters.FromUser, limit.Text(r.get("content"))
	case "assistant.message":
		m.Role, m.Text = adapters.FromAgent, limit.Text(r.get("content"))
	case "tool.execution_start":
		m.Role = adapters.FromTool
		m.Tool = kit.PlainWord(r.text("toolName"))
		m.State = adapters.ToolRunning
		m.Plan = m.Tool == exitPlan
		if m.Tool == "" {
			m.Tool = "tool"
		}
		m.Text = kit.Argument(r.get("arguments"), arguments, limit.Text)
		if m.Text == "" {
			m.Text = strings.TrimSpace(kit.AnyArgument(r.get("arguments")))
		}
	case "abort":
		m.Role, m.Text = adapters.FromNote, "The turn was interrupted."
	case "session.error":
		m.Role, m.Text = adapters.FromNote, limit.Text(r.get("message"))
	case "session.compaction_complete":
		m.Role, m.Text = adapters.FromNote, "The conversation was summarised."
	default:
		return m, false
	}
	m.Text = limit.Cut(m.Text)
	return m, m.Key != "" && (m.Text != "" || m.Role == adapters.FromTool)
}
