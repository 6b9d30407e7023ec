package codex

import (
	"cmp"
	"fmt"
	"slices"

	"rollcall/adapters"
	"rollcall/adapters/internal/agentfile"
	"rollcall/adapters/internal/kit"
)

// line reads one record. It returns false at the record where a sub-agent's own records
// begin.
func (p *peek) line(line []byte, offset int64) bool {
	l, err := splitLine(line)
	if err != nil {
		parts := split(line)
		for at, part := range slices.Backward(parts) {
			if !p.line(part, offset+int64(at)) {
				return false
			}
		}
		return true
	}
	if isInherited(l.ordinal, p.inherited) {
		return false
	}
	m := peekMessage{Message: adapters.Message{Key: fmt.Sprintf("@%d", offset), At: l.at}}
	switch string(l.name) {
	case "event_msg":
		p.event(l.payload, m)
	case "response_item":
		p.item(l.payload, m)
	case "compacted":
		p.note(compacted, m)
	}
	return true
}

const compacted = "Conversation compacted"

func (p *peek) say(role adapters.Role, text string, m peekMessage) {
	m.Role, m.Text = role, p.limit.Cut(text)
	if m.Text != "" {
		p.add(m)
	}
}

func (p *peek) note(text string, m peekMessage) { p.say(adapters.FromNote, text, m) }

// event reads an event, which Codex records for its interface.
func (p *peek) event(payload []byte, m peekMessage) {
	switch string(agentfile.Text(agentfile.Get(payload, "type"))) {
	case "user_message":
		p.prompt(p.limit.Text(agentfile.Get(payload, "message")), m)
	case "agent_message":
		p.say(adapters.FromAgent, p.limit.Text(agentfile.Get(payload, "message")), m)
	case "item_completed":
		p.completed(agentfile.Get(payload, "item"), m)
	case "task_started", "turn_started":
		p.over = true // the records that are read after this one belong to an earlier turn
	case "task_complete", "turn_complete":
		p.over = true
		if failed := agentfile.Get(payload, "error"); !agentfile.Null(failed) && failsTurn(failed) {
			p.note(failureText(failed), m)
		}
	case "turn_aborted":
		p.over = true
		p.note(abortText(agentfile.String(agentfile.Get(payload, "reason"))), m)
	case "error":
		if failsTurn(payload) {
			p.note(failureText(payload), m)
		}
	case "context_compacted":
		p.note(compacted, m)
	case "thread_rolled_back":
		p.over = true
		p.note("The turns before this were rolled back", m)
	}
}

// prompt adds what the user typed.
func (p *peek) prompt(text string, m peekMessage) { p.say(adapters.FromUser, userText(text), m) }

func abortText(reason string) string {
	known := map[string]string{"": "Interrupted by the user", "interrupted": "Interrupted by the user",
		"replaced": "The turn was replaced by another one", "review_ended": "The review ended"}
	return cmp.Or(known[reason], "The turn was aborted: "+reason)
}

func failureText(raw []byte) string {
	return cmp.Or(kit.Shown.Text(agentfile.Get(raw, "message")), "The turn failed")
}

// completed reads an item of a "paginated" rollout (0.169).
func (p *peek) completed(item []byte, m peekMessage) {
	id := agentfile.String(agentfile.Get(item, "id"))
	switch typ := string(agentfile.Text(agentfile.Get(item, "type"))); typ {
	case "UserMessage", "AgentMessage":
		m.Key = cmp.Or(id, m.Key)
		if text := p.texts(item); typ == "UserMessage" {
			p.prompt(text, m)
		} else {
			p.say(adapters.FromAgent, text, m)
		}
	case "ContextCompaction":
		p.note(compacted, m)
	default: // the event of a call, which is also an item of the history
		status := string(agentfile.Text(agentfile.Get(item, "status")))
		code, known := agentfile.Int(agentfile.Get(item, "exit_code"))
		if id != "" && (status == "failed" || status == "declined" || known && code != 0) {
			p.states[id] = adapters.ToolFailed
		}
	}
}

// texts returns the text of a message's content.
func (p *peek) texts(message []byte) string {
	return contentText(message, p.limit.Bytes()+4, p.limit != kit.Whole)
}

// item reads an item of the model's history.
func (p *peek) item(payload []byte, m peekMessage) {
	m.item = true
	switch typ := string(agentfile.Text(agentfile.Get(payload, "type"))); typ {
	case "message":
		if string(agentfile.Text(agentfile.Get(payload, "role"))) == "assistant" {
			m.Key = cmp.Or(agentfile.String(agentfile.Get(payload, "id")), m.Key)
			p.say(adapters.FromAgent, p.texts(payload), m)
		}
	case "function_call", "custom_tool_call", "local_shell_call", "tool_search_call", "web_search_call", "image_generation_call":
		p.call(typ, payload, m)
	case "function_call_output", "custom_tool_call_output", "tool_search_output":
		id, output := agentfile.String(agentfile.Get(payload, "call_id")), agentfile.Get(payload, "output")
		if _, known := p.states[id]; id != "" && !known {
			p.states[id] = outcome(output)
		}
	}
}
