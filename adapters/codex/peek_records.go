package codex

import (
	"cmp"
	"fmt"

	"rollcall/adapters"
	"rollcall/adapters/internal/agentfile"
	"rollcall/adapters/internal/kit"
)

// saying is what a record says: what Peek shows and what is searched.
type saying struct {
	limit kit.Limit
	of    adapters.Message // without a text
	items []kit.Item
}

// readItems reads what a line says. own is false for a record that a sub-agent has from its parent, whose ordinal is before inherited.
func readItems(line []byte, offset, inherited int64, limit kit.Limit) (items []kit.Item, own bool) {
	l, err := splitLine(line)
	if err != nil {
		own = true
		for at, part := range split(line) {
			some, isOwn := readItems(part, offset+int64(at), inherited, limit)
			items = append(items, some...)
			own = own && isOwn
		}
		return items, own
	}
	if isInherited(l.ordinal, inherited) {
		return nil, false
	}
	p := &saying{limit: limit, of: adapters.Message{Key: fmt.Sprintf("@%d", offset), At: l.at}}
	switch string(l.name) {
	case "event_msg":
		p.event(l.payload)
	case "response_item":
		p.item(l.payload)
	case "compacted":
		p.note(compacted)
	}
	return p.items, true
}

const compacted = "Conversation compacted"

// say adds a text. joins reports that the rollout may have the same text in the record before it.
func (p *saying) say(role adapters.Role, text string, joins bool) {
	m := p.of
	m.Role, m.Text = role, p.limit.Cut(text)
	if m.Text != "" {
		p.items = append(p.items, kit.Item{Message: m, Joins: joins})
	}
}

func (p *saying) note(text string) { p.say(adapters.FromNote, text, true) }

// end records that the calls before it are those of a turn that is over.
func (p *saying) end() { p.items = append(p.items, kit.Item{Ends: true}) }

// event reads an event, which Codex records for its interface.
func (p *saying) event(payload []byte) {
	switch string(agentfile.Text(agentfile.Get(payload, "type"))) {
	case "user_message":
		p.say(adapters.FromUser, userText(p.limit.Text(agentfile.Get(payload, "message"))), false)
	case "agent_message":
		p.say(adapters.FromAgent, p.limit.Text(agentfile.Get(payload, "message")), false)
	case "item_completed":
		p.completed(agentfile.Get(payload, "item"))
	case "task_started", "turn_started":
		p.end()
	case "task_complete", "turn_complete":
		p.end()
		if failed := agentfile.Get(payload, "error"); !agentfile.Null(failed) && failsTurn(failed) {
			p.note(failureText(failed))
		}
	case "turn_aborted":
		p.end()
		p.note(abortText(agentfile.String(agentfile.Get(payload, "reason"))))
	case "error":
		if failsTurn(payload) {
			p.note(failureText(payload))
		}
	case "context_compacted":
		p.note(compacted)
	case "thread_rolled_back":
		p.end()
		p.note("The turns before this were rolled back")
	}
}

func abortText(reason string) string {
	known := map[string]string{"": "Interrupted by the user", "interrupted": "Interrupted by the user",
		"replaced": "The turn was replaced by another one", "review_ended": "The review ended"}
	return cmp.Or(known[reason], "The turn was aborted: "+reason)
}

func failureText(raw []byte) string {
	return cmp.Or(kit.Shown.Text(agentfile.Get(raw, "message")), "The turn failed")
}

// completed reads an item of a "paginated" rollout (0.169).
func (p *saying) completed(item []byte) {
	id := agentfile.String(agentfile.Get(item, "id"))
	switch string(agentfile.Text(agentfile.Get(item, "type"))) {
	case "UserMessage":
		p.of.Key = cmp.Or(id, p.of.Key)
		p.say(adapters.FromUser, userText(p.texts(item)), false)
	case "AgentMessage":
		p.of.Key = cmp.Or(id, p.of.Key)
		p.say(adapters.FromAgent, p.texts(item), false)
	case "ContextCompaction":
		p.note(compacted)
	default: // the event of a call, which is also an item of the history
		status := string(agentfile.Text(agentfile.Get(item, "status")))
		code, known := agentfile.Int(agentfile.Get(item, "exit_code"))
		if id != "" && (status == "failed" || status == "declined" || known && code != 0) {
			p.items = append(p.items, kit.Item{Message: adapters.Message{State: adapters.ToolFailed}, Call: id, IsResult: true})
		}
	}
}

// texts returns the text of a message's content.
func (p *saying) texts(message []byte) string {
	return contentText(message, p.limit.Bytes()+4, p.limit != kit.Whole)
}

// item reads an item of the model's history.
func (p *saying) item(payload []byte) {
	switch typ := string(agentfile.Text(agentfile.Get(payload, "type"))); typ {
	case "message":
		if string(agentfile.Text(agentfile.Get(payload, "role"))) == "assistant" {
			p.of.Key = cmp.Or(agentfile.String(agentfile.Get(payload, "id")), p.of.Key)
			p.say(adapters.FromAgent, p.texts(payload), true)
		}
	case "function_call", "custom_tool_call", "local_shell_call", "tool_search_call", "web_search_call", "image_generation_call":
		p.call(typ, payload)
	case "function_call_output", "custom_tool_call_output", "tool_search_output":
		p.result(payload)
	}
}
