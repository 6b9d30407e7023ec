package claudecode

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"rollcall/adapters"
	"rollcall/adapters/internal/agentfile"
	"rollcall/adapters/internal/kit"
)

// user reads a record of type user: what the user typed, tool results, an interruption,
// or a text that a program sent to the model.
func (p *peek) user(r *raws, m adapters.Message) {
	if agentfile.True(r.compact) { // newer versions write its boundary before it
		p.flush()
		p.compact = &adapters.Message{Key: m.Key, At: m.At, Text: compacted}
		return
	}
	text := p.userText(agentfile.Get(r.message, "content"))
	switch {
	case strings.HasPrefix(text, interruptMark):
		p.continued = true
		m.Text = "Interrupted by the user"
		p.note(m)
	case strings.HasPrefix(text, abandonedMark):
		p.continued = true
		m.Text = strings.Trim(text, "[]")
		p.note(m)
	case text == "" || agentfile.True(r.meta):
	default:
		p.prompt(text, r.origin, m)
	}
}

const compacted = "Conversation compacted"

// userText joins the texts of a user record that a person may have typed, and
// notes its tool results.
func (p *peek) userText(content []byte) string {
	if len(content) > 0 && content[0] == '"' {
		return p.limit.Text(content)
	}
	var parts []string
	room := p.limit.Bytes()
	kit.Each(content, func(block []byte) {
		part := ""
		switch typ := string(agentfile.Text(agentfile.Get(block, "type"))); typ {
		case "text":
			part = p.limit.Text(agentfile.Get(block, "text"))
			if is := wrapped(part); is == opensTurn || is == opensNothing && bashInput(part) == "" {
				part = ""
			}
		case "image", "document":
			if p.limit != kit.Whole { // no text of the transcript
				part = "[" + typ + "]"
			}
		default:
			p.result(block)
		}
		if part != "" && room > 0 {
			parts = append(parts, part)
			room -= len(part)
		}
	})
	return strings.Join(parts, "\n")
}

// result records the result of a call.
func (p *peek) result(block []byte) {
	id := agentfile.String(agentfile.Get(block, "tool_use_id"))
	if id == "" {
		return
	}
	p.results[id] = adapters.ToolDone
	if agentfile.True(agentfile.Get(block, "is_error")) {
		p.results[id] = adapters.ToolFailed
	}
}

// prompt adds a prompt that a person typed.
func (p *peek) prompt(text string, origin []byte, m adapters.Message) {
	m.Role = adapters.FromUser
	kind, human := meaning(text, origin)
	switch {
	case kind == commanded:
		text = command(text)
	case bashInput(text) != "":
		text = "!" + bashInput(text)
	case kind != prompted:
		return
	default:
		p.continued = true // a program's prompt opens a turn as well
		if !human {
			return
		}
	}
	m.Text = p.limit.Cut(text)
	if m.Text != "" {
		p.add(m)
	}
}

// bashInput returns the shell command that a user typed behind an exclamation mark.
func bashInput(text string) string { return tagged(text, "bash-input") }

// queued reads a prompt that was typed while the agent worked, and that was passed to
// the model between two calls.
func (p *peek) queued(r *raws, m adapters.Message) {
	if string(agentfile.Text(agentfile.Get(r.attachment, "type"))) != "queued_command" {
		return
	}
	mode := string(agentfile.Text(agentfile.Get(r.attachment, "commandMode")))
	if mode != "" && mode != "prompt" || agentfile.True(agentfile.Get(r.attachment, "isMeta")) ||
		agentfile.True(agentfile.Get(r.attachment, "carriedByCompaction")) { // told again
		return
	}
	m.Key = cmp.Or(agentfile.String(agentfile.Get(r.attachment, "source_uuid")), m.Key)
	origin := r.origin
	if o := agentfile.Get(r.attachment, "origin"); o != nil {
		origin = o
	}
	moved := p.continued
	if text := p.userText(agentfile.Get(r.attachment, "prompt")); text != "" {
		p.prompt(text, origin, m)
	}
	p.continued = moved // the turn continues
}

// assistant reads one record of an answer: newer versions write one for each
// block, with the same message id.
func (p *peek) assistant(r *raws, m adapters.Message) {
	var id, model, content []byte
	_ = agentfile.Members(r.message, agentfile.Into("id", &id), agentfile.Into("model", &model), agentfile.Into("content", &content))
	failed := agentfile.True(r.failed)
	if string(model) == synthetic && !failed { // "No response requested."
		return
	}
	if p.answer != "" && p.answer != string(id) || failed {
		p.continued = true // the model is asked again when all its calls have results
	}
	p.answer = string(id)
	var blocks []adapters.Message
	i := 0
	kit.Each(content, func(block []byte) {
		if b, ok := p.block(block, m, i, failed); ok {
			blocks = append(blocks, b)
		}
		i++
	})
	if text := p.limit.Text(content); text != "" { // a plain string, in old versions
		m.Role, m.Text = adapters.FromAgent, p.limit.Cut(text)
		blocks = append(blocks, m)
	}
	for _, b := range slices.Backward(blocks) {
		if b.Role == adapters.FromTool {
			b.State = p.state(&b)
		}
		p.add(b)
	}
}

// block reads block i of an answer.
func (p *peek) block(block []byte, m adapters.Message, i int, failed bool) (adapters.Message, bool) {
	switch string(agentfile.Text(agentfile.Get(block, "type"))) {
	case "text":
		if i > 0 {
			m.Key = fmt.Sprintf("%s#%d", m.Key, i)
		}
		m.Role = adapters.FromAgent
		if failed {
			m.Role = adapters.FromNote
		}
		m.Text = p.limit.Cut(p.limit.Text(agentfile.Get(block, "text")))
		return m, m.Text != ""
	case "tool_use", "server_tool_use", "mcp_tool_use":
		m.Key = cmp.Or(agentfile.String(agentfile.Get(block, "id")), m.Key)
		m.Role = adapters.FromTool
		m.Tool, _ = agentfile.Head(agentfile.Get(block, "name"), 200)
		m.Text, m.Plan = adapters.Cut(argument(agentfile.Get(block, "input"))), m.Tool == planTool
		return m, true
	default:
		p.result(block) // the result of a tool that the provider runs
	}
	return m, false
}

// mainArguments lists the tool arguments that describe a call best, in order of preference.
var mainArguments = []string{"command", "file_path", "notebook_path", "pattern", "query", "url", "skill", "description",
	"prompt", "plan", "subject", "path", "message"}

// argument returns the most descriptive argument of a call's input.
func argument(input []byte) string {
	if text := kit.Argument(input, mainArguments, kit.Shown.Text); text != "" {
		return strings.ToValidUTF8(text, "")
	}
	return kit.AnyArgument(input)
}

// system reads a record that Claude Code wrote about itself.
func (p *peek) system(r *raws, m adapters.Message, line []byte) {
	switch string(agentfile.Text(r.subtype)) {
	case "compact_boundary":
		p.compact = nil // the pending compaction belongs to this record
		m.Text = compacted
		p.note(m)
	case "api_error":
		p.apiError(m, line)
	case "informational", "model_fallback", "model_refusal_fallback", "model_refusal_no_fallback":
		level := string(agentfile.Text(agentfile.Get(line, "level")))
		m.Text = kit.Shown.Text(r.content)
		if m.Text != "" && (level == "warning" || level == "error") {
			p.note(m)
		}
	case "local_command":
		if text := kit.Shown.Text(r.content); wrapped(text) == isCommand || bashInput(text) != "" {
			p.prompt(text, nil, m)
		}
	}
}

// apiError reads a request that failed and is tried again. Consecutive failures are one
// message, with the text of the newest and the key of the first.
func (p *peek) apiError(m adapters.Message, line []byte) {
	if last := len(p.messages) - 1; p.retries && p.compact == nil {
		p.messages[last].Key, p.messages[last].At = m.Key, m.At
		p.seen[m.Key] = true
		return
	}
	text := "The request failed"
	if status, ok := agentfile.Int(agentfile.Get(line, "error", "status")); ok {
		text += fmt.Sprintf(" (%d)", status)
	}
	for _, path := range [][]string{{"error", "formatted"}, {"error", "error", "error", "message"}, {"error", "message"},
		{"cause", "code"}, {"error", "cause", "code"}} {
		if why := kit.Shown.Text(agentfile.Get(line, path...)); why != "" {
			text += ": " + why
			break
		}
	}
	attempt, _ := agentfile.Int(agentfile.Get(line, "retryAttempt"))
	if most, ok := agentfile.Int(agentfile.Get(line, "maxRetries")); ok && attempt > 0 {
		text += fmt.Sprintf("; try %d of %d", attempt, most)
	}
	m.Text = text
	p.retries = p.note(m)
}
