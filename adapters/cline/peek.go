package cline

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"rollcall/adapters"
	"rollcall/adapters/internal/agentfile"
	"rollcall/adapters/internal/kit"
)

// Peek implements adapters.Peeker. The whole conversation is read: Cline keeps it in one JSON value.
func (a *Adapter) Peek(ctx context.Context, s adapters.Session, n int) ([]adapters.Message, error) {
	return kit.Peek(ctx, &s, n, func(path string) ([]adapters.Message, error) {
		var messages []adapters.Message
		data, err := kit.ReadWhole(ctx, path)
		if err == nil {
			messages, err = (&chat{session: &s}).read(data)
		}
		messages = messages[max(0, len(messages)-n):]
		slices.Reverse(messages)
		return messages, err
	})
}

// Conversations implements adapters.Searcher. A hit has the folder that the manifest names.
func (a *Adapter) Conversations(ctx context.Context, since time.Time) ([]adapters.Conversation, error) {
	d := a.begin(ctx, adapters.Query{Since: since})
	if d.absent() {
		return nil, adapters.ErrAbsent
	}
	d.list()
	var list []adapters.Conversation
	for _, s := range d.sessions {
		changed := latest(s.started, s.ended, s.modified)
		if changed.Before(since) {
			continue
		}
		list = append(list, kit.FileSearch(s.conversationFile(), changed, func(_ context.Context, f *kit.Finder) ([][]byte, func([]byte) error) {
			f.Hit.Session, f.Hit.CWD = s.id, s.cwd
			return nil, func(data []byte) error { return search(data, f) }
		}))
	}
	_, err := d.answer.Result(ctx, description.Title)
	return list, err
}

// search reports the messages of a conversation that have the pattern.
func search(data []byte, f *kit.Finder) error {
	messages, err := (&chat{limit: kit.Whole, tools: f.Query.Tools}).read(data)
	for i := 0; i < len(messages) && err == nil; i++ {
		_, err = f.Add(&messages[i])
	}
	return err
}

// chat collects the messages of a conversation.
type chat struct {
	session  *adapters.Session // nil: of the calls in the last message it is not asked whether they run
	limit    kit.Limit
	tools    bool // the texts of calls and results are wanted as a whole; else those of calls, shortened
	messages []adapters.Message
	calls    map[string]int // the places of the calls, by key
	last     int            // the place of the first part of the last message
}

// read returns the messages of a conversation, the oldest first. A call before the last message runs no longer.
func (p *chat) read(data []byte) ([]adapters.Message, error) {
	p.messages, p.calls, p.last = nil, map[string]int{}, 0
	err := eachMessage(data, p.add)
	for i := range p.messages {
		if m := &p.messages[i]; m.State == adapters.ToolRunning && (i < p.last || p.session != nil) {
			m.State = kit.StateWithoutResult(p.session, m, i < p.last)
		}
	}
	return slices.Clip(p.messages), err
}

// add adds a message.
func (p *chat) add(m *message) {
	p.last = len(p.messages)
	role := map[string]adapters.Role{"user": adapters.FromUser, "assistant": adapters.FromAgent, "error": adapters.FromNote}[m.role]
	if role == "" {
		return
	}
	part := 0
	m.blocks(func(kind string, block, text []byte) {
		get := func(name string) []byte { return agentfile.Get(block, name) }
		out := adapters.Message{Key: cmp.Or(m.id, m.at.Format(time.RFC3339Nano)), Role: role, At: m.at}
		if part > 0 {
			out.Key += "/" + strconv.Itoa(part)
		}
		switch kind {
		case "text":
			if out.Text = strings.TrimSpace(p.limit.Text(text)); role == adapters.FromUser {
				out.Text = unwrapped(out.Text)
			}
			if out.Text == "" {
				return
			}
		case "tool_use":
			out.Key, out.Role, out.State, out.Tool = "call/"+kit.Short(get("id")), adapters.FromTool, adapters.ToolRunning, cmp.Or(kit.Short(get("name")), "tool")
			if out.Text = argument(get("input")); p.tools {
				out.Text = kit.Strings(get("input"))
			}
			p.calls[out.Key] = len(p.messages)
		case "tool_result":
			out.Key, out.Role, out.State, out.Tool = "call/"+kit.Short(get("tool_use_id")), adapters.FromTool, resultState(block), kit.Short(get("name"))
			if i, known := p.calls[out.Key]; known {
				p.messages[i].State = out.State
			}
			if out.Text = kit.Strings(get("content")); !p.tools {
				return
			}
		default:
			return
		}
		out.Text = p.limit.Cut(out.Text)
		p.messages = append(p.messages, out)
		part++
	})
}

// resultState returns the state of a call that has a result.
func resultState(result []byte) adapters.ToolState {
	failed := agentfile.True(agentfile.Get(result, "is_error"))
	kit.Each(agentfile.Get(result, "content"), func(part []byte) { failed = failed || string(agentfile.Get(part, "success")) == "false" })
	if failed {
		return adapters.ToolFailed
	}
	return adapters.ToolDone
}
