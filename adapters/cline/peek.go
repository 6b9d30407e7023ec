package cline

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"

	"rollcall/adapters"
	"rollcall/adapters/internal/agentfile"
	"rollcall/adapters/internal/kit"
)

var (
	_ adapters.Peeker   = (*Adapter)(nil)
	_ adapters.Searcher = (*Adapter)(nil)
)

// Peek implements adapters.Peeker. The whole conversation is read: Cline keeps it in one JSON value.
func (a *Adapter) Peek(ctx context.Context, s adapters.Session, n int) ([]adapters.Message, error) {
	if n <= 0 || adapters.IsProcessID(s.ID) { // a terminal without a session
		return nil, nil
	}
	if len(s.Files) == 0 {
		return nil, &adapters.Problem{Kind: adapters.ErrUnreadable, Path: "session " + s.ID, Err: errors.New("it has no file")}
	}
	path := s.Files[0]
	p := chat{limit: kit.Shown, results: map[string]adapters.ToolState{}}
	var none kit.Memo[string, kept[[]adapters.Message]]
	found, err := read(ctx, &none, path, conversationLimit, func(data []byte) ([]adapters.Message, error) {
		p.messages = nil
		return p.read(data)
	})
	if err != nil {
		return nil, adapters.AsProblem(path, err)
	}
	messages := found.value[max(0, len(found.value)-n):]
	for i := range messages {
		if m := &messages[i]; m.State == adapters.ToolRunning {
			m.State = kit.StateWithoutResult(&s, m, p.calls[m.Key] < p.last)
		}
	}
	return messages, nil
}

// chat collects the messages of a conversation.
type chat struct {
	limit    kit.Limit
	messages []adapters.Message
	results  map[string]adapters.ToolState // of the calls with a result, by key
	calls    map[string]int                // the numbers of the messages with the calls, by key
	last     int                           // the number of the last message
	tools    func(raw []byte) string       // the text of a call or a result; nil: the most descriptive argument, and nothing of a result
}

// read returns the messages of a conversation, the oldest first.
func (p *chat) read(data []byte) ([]adapters.Message, error) {
	messages := agentfile.Get(data, "messages")
	if messages == nil {
		if err := agentfile.Top(data, func(_, _ []byte) bool { return true }); err != nil {
			return nil, err
		}
		return nil, errors.New("it has no messages")
	}
	p.calls, p.last = map[string]int{}, 0
	err := agentfile.Each(messages, func(raw []byte) bool {
		p.last++
		m := readMessage(raw)
		p.add(&m)
		return true
	})
	for i := range p.messages {
		if m := &p.messages[i]; m.Role == adapters.FromTool && p.results[m.Key] != "" {
			m.State = p.results[m.Key]
		}
	}
	return slices.Clip(p.messages), err
}

// add adds a message.
func (p *chat) add(m *message) {
	key := string(m.id)
	if key == "" {
		key = strconv.Itoa(p.last)
	}
	role := adapters.FromAgent
	switch {
	case string(m.shown) == "error":
		role = adapters.FromNote
	case len(m.shown) > 0 && string(m.shown) != "user" && string(m.role) == "user":
		return
	case string(m.role) == "user":
		role = adapters.FromUser
	case string(m.role) != "assistant":
		return
	}
	part := 0
	m.blocks(func(kind string, block []byte) {
		out := adapters.Message{Key: key, Role: role, At: m.at}
		if part > 0 {
			out.Key += "/" + strconv.Itoa(part)
		}
		switch kind {
		case "text":
			out.Text = strings.TrimSpace(p.limit.Text(blockText(block)))
			if role == adapters.FromUser {
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
	name, _ := agentfile.Head(agentfile.Get(block, "name"), textLimit)
	id, _ := agentfile.Head(agentfile.Get(block, "id"), textLimit)
	input := agentfile.Get(block, "input")
	out.Key, out.Role, out.State = "call/"+id, adapters.FromTool, adapters.ToolRunning
	p.calls[out.Key] = p.last
	if out.Tool = name; name == "" {
		out.Tool = "tool"
	}
	if out.Text = argument(input); p.tools != nil {
		out.Text = p.tools(input)
	}
}

// result records the result of a call.
func (p *chat) result(block []byte, m *message) {
	id, _ := agentfile.Head(agentfile.Get(block, "tool_use_id"), textLimit)
	content := agentfile.Get(block, "content")
	state := adapters.ToolDone
	if agentfile.True(agentfile.Get(block, "is_error")) || hasFailed(content) {
		state = adapters.ToolFailed
	}
	p.results["call/"+id] = state
	if p.tools != nil {
		tool, _ := agentfile.Head(agentfile.Get(block, "name"), textLimit)
		p.messages = append(p.messages, adapters.Message{Key: "call/" + id, Role: adapters.FromTool, Tool: tool, Text: p.tools(content), At: m.at})
	}
}

// hasFailed reports whether a part of a result says that it failed.
func hasFailed(content []byte) (failed bool) {
	if len(content) == 0 || content[0] != '[' {
		return false
	}
	_ = agentfile.Each(content, func(part []byte) bool {
		failed = failed || string(agentfile.Get(part, "success")) == "false"
		return true
	})
	return failed
}
