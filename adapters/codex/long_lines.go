package codex

import (
	"bytes"
	"cmp"

	"rollcall/adapters/internal/agentfile"
)

// parseLong reads a part of a record that is too long to be read whole, from its first
// and last bytes. The members that matter come before the long one; the id of a call
// may come after it. A quote inside of a text is escaped, so `"name":"` in the bytes is
// always a member.
func parseLong(begin, end []byte) record {
	l, _ := splitLine(begin) // stops where begin ends
	r := record{kind: activity, at: l.at, ordinal: l.ordinal}
	before, payload, ok := bytes.Cut(begin, []byte(`"payload":`))
	if !ok {
		return r
	}
	var name, id, tool, turn []byte
	into := agentfile.Into
	_ = agentfile.Members(payload, into("type", &name), into("call_id", &id), into("name", &tool), into("turn_id", &turn))
	r.callID = cmp.Or(agentfile.String(id), member(end, "call_id"))
	r.tool, _ = agentfile.Head(tool, 80)
	r.turn = agentfile.String(turn)
	switch agentfile.String(name) {
	case "function_call", "custom_tool_call":
		r.kind = call
	case "function_call_output", "custom_tool_call_output", "tool_search_output":
		r.kind = output
	case "task_complete", "turn_complete":
		r.kind = completed
	case "agent_message":
		r.kind = answer
	case "user_message":
		r.kind, r.text = prompt, userText(member(payload, "message"))
	case "message":
		r.kind = other
		if member(payload, "role") == "assistant" {
			r.kind = answer
		}
	case "item_completed":
		if bytes.Contains(payload, []byte(`"item":{"type":"UserMessage"`)) {
			r.kind, r.text = prompt, userText(member(payload, "text"))
		}
	case "":
		if bytes.Contains(before, []byte(`"session_meta"`)) {
			r.kind = meta
		}
	}
	return r
}

// member returns the text of a member in a piece of JSON. The text may be cut off.
func member(piece []byte, name string) string {
	_, rest, found := bytes.Cut(piece, []byte(`"`+name+`":"`))
	if !found {
		return ""
	}
	end := 0
	for end < len(rest) && rest[end] != '"' {
		if rest[end] == '\\' {
			end++
		}
		end++
	}
	rest = rest[:min(end, len(rest))]
	text, _ := agentfile.Head(append(append([]byte{'"'}, rest...), '"'), textLimit)
	return text
}
