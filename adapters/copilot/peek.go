package copilot

import (
	"cmp"
	"context"
	"strings"

	"rollcall/adapters"
	"rollcall/adapters/internal/agentfile"
	"rollcall/adapters/internal/kit"
)

// Peek implements adapters.Peeker. It reads the file from its end. What sub-agents said is left out.
func (a *Adapter) Peek(ctx context.Context, s adapters.Session, n int) ([]adapters.Message, error) {
	return kit.PeekLines(ctx, &s, n, items)
}

// items returns the messages of a line.
func items(line []byte, limit kit.Limit) (list []kit.Item) {
	_, _ = agentfile.Records(line, parse, func(r *record) {
		if !r.sub() {
			list = append(list, r.item(limit))
		}
	})
	return list
}

// item returns the message that a record is. A call before a prompt, an error or the end of a turn runs no longer.
func (r *record) item(limit kit.Limit) kit.Item {
	p := kit.Item{Message: adapters.Message{Key: kit.Short(r.id), At: agentfile.Time(r.at)}}
	switch string(agentfile.Text(r.typ)) {
	case "user.message":
		p.Ends = true
		if r.isPrompt() {
			p.Role, p.Text = adapters.FromUser, limit.Text(r.get("content"))
		}
	case "assistant.message":
		p.Role, p.Text = adapters.FromAgent, limit.Text(r.get("content"))
	case "tool.execution_start":
		r.call(&p, limit)
	case "tool.execution_complete":
		r.result(&p)
	case "abort":
		p.Ends = true
		p.Role = adapters.FromNote
		p.Text = "The turn was interrupted."
	case "session.error":
		p.Ends = true
		p.Role = adapters.FromNote
		p.Text = limit.Text(r.get("message"))
	case "assistant.turn_end":
		p.Ends = true
	case "session.compaction_complete":
		p.Role, p.Text = adapters.FromNote, "The conversation was summarised."
	}
	p.Text = limit.Cut(p.Text)
	if !p.IsResult && (p.Key == "" || p.Text == "" && p.Role != adapters.FromTool) {
		p.Role = ""
	}
	return p
}

// call reads the call of a tool.
func (r *record) call(p *kit.Item, limit kit.Limit) {
	input := r.get("arguments")
	p.Call = r.text("toolCallId")
	p.Role = adapters.FromTool
	p.Tool = cmp.Or(kit.PlainWord(r.text("toolName")), "tool")
	p.State = adapters.ToolRunning
	p.Plan = p.Tool == exitPlan
	p.Text = cmp.Or(kit.Argument(input, arguments, limit.Text), strings.TrimSpace(kit.AnyArgument(input)))
	p.Texts = func() string { return kit.Strings(input) }
}

// result reads the result of a call, which has the key of the call.
func (r *record) result(p *kit.Item) {
	p.Call = r.text("toolCallId")
	p.IsResult = true
	p.Key = ""
	p.Role = adapters.FromTool
	p.State = adapters.ToolFailed
	if agentfile.True(r.get("success")) {
		p.State = adapters.ToolDone
	}
	data := r.data
	p.Texts = func() string { return kit.Strings(agentfile.Get(data, "result")) }
}
