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
		found, err := readNow(ctx, path, conversationLimit, (&chat{}).read)
		messages := found.value[max(0, len(found.value)-n):]
		for i := range messages {
			if m := &messages[i]; m.State == adapters.ToolRunning {
				m.State = kit.StateWithoutResult(&s, m, false)
			}
		}
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
		path, hit := s.conversationFile(), adapters.Hit{Session: s.id, CWD: s.cwd, Changed: changed}
		list = append(list, adapters.Conversation{Changed: changed, Search: func(ctx context.Context, q *adapters.SearchQuery, found func(adapters.Hit) error) (map[string]int, error) {
			f := kit.Finder{Query: q, Found: found, Hit: hit}
			return nil, kit.SearchProblem(ctx, path, search(ctx, path, &f), f.FoundErr)
		}})
	}
	_, err := d.answer.Result(ctx, description.Title)
	return list, err
}

// search reports the messages of a conversation that have the pattern.
func search(ctx context.Context, path string, f *kit.Finder) error {
	found, err := readNow(ctx, path, conversationLimit, (&chat{limit: kit.Whole, tools: f.Query.Tools}).read)
	for i := 0; i < len(found.value) && err == nil; i++ {
		if err = agentfile.Ended(ctx); err == nil {
			_, err = f.Add(&found.value[i])
		}
	}
	return err
}

// chat collects the messages of a conversation.
type chat struct {
	limit    kit.Limit
	tools    bool // the texts of calls and results are wanted as a whole; else those of calls, shortened
	messages []adapters.Message
	calls    map[string]int // the places of the calls, by key
	open     []int          // of those in the last message
	number   int            // of the last message
}

// read returns the messages of a conversation, the oldest first.
func (p *chat) read(data []byte) ([]adapters.Message, error) {
	p.messages, p.calls, p.open, p.number = nil, map[string]int{}, nil, 0
	err := eachMessage(data, p.add)
	return slices.Clip(p.messages), err
}

// add adds a message. A call before it runs no longer.
func (p *chat) add(m *message) {
	p.number++
	for _, i := range p.open {
		p.messages[i].State = adapters.ToolFailed
	}
	p.open = p.open[:0]
	role := map[string]adapters.Role{"user": adapters.FromUser, "assistant": adapters.FromAgent, "error": adapters.FromNote}[m.role]
	if role == "" {
		return
	}
	part := 0
	m.blocks(func(kind string, block, text []byte) {
		out := adapters.Message{Key: cmp.Or(m.id, strconv.Itoa(p.number)), Role: role, At: m.at}
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
			p.call(&out, block)
		case "tool_result":
			p.result(block, m)
			return
		default:
			return
		}
		out.Text = p.limit.Cut(out.Text)
		p.messages = append(p.messages, out)
		part++
	})
}

// call makes a message of a call.
func (p *chat) call(out *adapters.Message, block []byte) {
	input := agentfile.Get(block, "input")
	out.Key, out.Role, out.State = "call/"+head(agentfile.Get(block, "id")), adapters.FromTool, adapters.ToolRunning
	out.Tool = cmp.Or(head(agentfile.Get(block, "name")), "tool")
	if out.Text = argument(input); p.tools {
		out.Text = kit.Strings(input)
	}
	p.calls[out.Key] = len(p.messages)
	p.open = append(p.open, len(p.messages))
}

// result adds the result of a call.
func (p *chat) result(block []byte, m *message) {
	out := adapters.Message{Key: "call/" + head(agentfile.Get(block, "tool_use_id")), Role: adapters.FromTool, State: adapters.ToolDone, At: m.at}
	content := agentfile.Get(block, "content")
	failed := agentfile.True(agentfile.Get(block, "is_error"))
	_ = agentfile.Each(content, func(part []byte) bool {
		failed = failed || string(agentfile.Get(part, "success")) == "false"
		return true
	})
	if failed {
		out.State = adapters.ToolFailed
	}
	if i, known := p.calls[out.Key]; known {
		p.messages[i].State = out.State
	}
	if p.tools {
		out.Tool, out.Text = head(agentfile.Get(block, "name")), kit.Strings(content)
		p.messages = append(p.messages, out)
	}
}
