package claudecode

import (
	"bytes"
	"cmp"
	"fmt"
	"strings"

	"rollcall/adapters"
	"rollcall/adapters/internal/agentfile"
	"rollcall/adapters/internal/kit"
)

// saying is what a record says: what Peek shows and what is searched.
type saying struct {
	raws
	limit kit.Limit
	of    adapters.Message // without a text
	items []kit.Item
}

// readItems reads what a line says. What is no record of the main conversation says nothing.
func readItems(line []byte, offset int64, limit kit.Limit) *saying {
	line = bytes.TrimLeft(line, "\x00")
	p := &saying{limit: limit}
	if bytes.HasPrefix(line, requestDump) || p.read(line) != nil || agentfile.True(p.sidechain) {
		return p
	}
	p.of = adapters.Message{Key: cmp.Or(string(agentfile.Text(p.id)), fmt.Sprintf("@%d", offset)), At: agentfile.Time(p.at)}
	switch string(agentfile.Text(p.kind)) {
	case "user":
		p.user()
	case "assistant":
		p.assistant()
	case "system":
		p.system(line)
	case "attachment":
		p.queued()
	}
	return p
}

// say adds a text. It returns its item; nil: there is no text.
func (p *saying) say(role adapters.Role, text string) *kit.Item {
	m := p.of
	m.Role, m.Text = role, p.limit.Cut(text)
	if m.Text == "" {
		return nil
	}
	p.items = append(p.items, kit.Item{Message: m})
	return &p.items[len(p.items)-1]
}

// end records that the calls before it run no longer.
func (p *saying) end() { p.items = append(p.items, kit.Item{Ends: true}) }

// user reads a record of type user: what the user typed, tool results, an interruption,
// or a text that a program sent to the model.
func (p *saying) user() {
	if agentfile.True(p.compact) { // newer versions write its boundary before it
		p.say(adapters.FromNote, compacted).Joins = true
		return
	}
	text := p.userText(agentfile.Get(p.message, "content"))
	switch {
	case strings.HasPrefix(text, interruptMark):
		p.end()
		p.say(adapters.FromNote, "Interrupted by the user")
	case strings.HasPrefix(text, abandonedMark):
		p.end()
		p.say(adapters.FromNote, strings.Trim(text, "[]"))
	case text == "" || agentfile.True(p.meta):
	default:
		p.prompt(text, p.origin, true)
	}
}

const compacted = "Conversation compacted"

// userText joins the texts of a user record that a person may have typed, and
// notes its tool results.
func (p *saying) userText(content []byte) string {
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

// result adds the result of a call.
func (p *saying) result(block []byte) {
	id := agentfile.String(agentfile.Get(block, "tool_use_id"))
	if id == "" {
		return
	}
	m := adapters.Message{Key: id, At: p.of.At, Role: adapters.FromTool, State: adapters.ToolDone}
	if agentfile.True(agentfile.Get(block, "is_error")) {
		m.State = adapters.ToolFailed
	}
	texts := func() string { return kit.Strings(agentfile.Get(block, "content")) }
	p.items = append(p.items, kit.Item{Message: m, Call: id, IsResult: true, Texts: texts})
}

// prompt adds a prompt that a person typed. opens reports that it opens a turn, also where a program gave it.
func (p *saying) prompt(text string, origin []byte, opens bool) {
	kind, human := meaning(text, origin)
	switch {
	case kind == commanded:
		p.say(adapters.FromUser, command(text))
	case bashInput(text) != "":
		p.say(adapters.FromUser, "!"+bashInput(text))
	case kind == prompted:
		if opens {
			p.end()
		}
		if human {
			p.say(adapters.FromUser, text)
		}
	}
}

// bashInput returns the shell command that a user typed behind an exclamation mark.
func bashInput(text string) string { return tagged(text, "bash-input") }

// queued reads a prompt that was typed while the agent worked, and that was passed to
// the model between two calls: the turn continues.
func (p *saying) queued() {
	if string(agentfile.Text(agentfile.Get(p.attachment, "type"))) != "queued_command" {
		return
	}
	mode := string(agentfile.Text(agentfile.Get(p.attachment, "commandMode")))
	if mode != "" && mode != "prompt" || agentfile.True(agentfile.Get(p.attachment, "isMeta")) ||
		agentfile.True(agentfile.Get(p.attachment, "carriedByCompaction")) { // told again
		return
	}
	p.of.Key = cmp.Or(agentfile.String(agentfile.Get(p.attachment, "source_uuid")), p.of.Key)
	origin := p.origin
	if o := agentfile.Get(p.attachment, "origin"); o != nil {
		origin = o
	}
	if text := p.userText(agentfile.Get(p.attachment, "prompt")); text != "" {
		p.prompt(text, origin, false)
	}
}

// assistant reads one record of an answer: newer versions write one for each
// block, with the same message id. After another answer the model is asked again only when all calls of this one have results.
func (p *saying) assistant() {
	var id, model, content []byte
	_ = agentfile.Members(p.message, agentfile.Into("id", &id), agentfile.Into("model", &model), agentfile.Into("content", &content))
	failed := agentfile.True(p.failed)
	if string(model) == synthetic && !failed { // "No response requested."
		return
	}
	i := 0
	kit.Each(content, func(block []byte) {
		p.block(block, i, failed)
		i++
	})
	p.say(adapters.FromAgent, p.limit.Text(content)) // a plain string, in old versions
	p.items = append(p.items, kit.Item{Of: string(id), Ends: failed})
}

// block reads block i of an answer.
func (p *saying) block(block []byte, i int, failed bool) {
	switch string(agentfile.Text(agentfile.Get(block, "type"))) {
	case "text":
		role := adapters.FromAgent
		if failed {
			role = adapters.FromNote
		}
		if one := p.say(role, p.limit.Text(agentfile.Get(block, "text"))); one != nil && i > 0 {
			one.Key = fmt.Sprintf("%s#%d", one.Key, i)
		}
	case "tool_use", "server_tool_use", "mcp_tool_use":
		input := agentfile.Get(block, "input")
		m := adapters.Message{Key: cmp.Or(agentfile.String(agentfile.Get(block, "id")), p.of.Key), At: p.of.At, Role: adapters.FromTool,
			Text: adapters.Cut(argument(input)), State: adapters.ToolRunning}
		m.Tool, _ = agentfile.Head(agentfile.Get(block, "name"), 200)
		m.Plan = m.Tool == planTool
		p.items = append(p.items, kit.Item{Message: m, Call: m.Key, Texts: func() string { return kit.Strings(input) }})
	default:
		p.result(block) // the result of a tool that the provider runs
	}
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
func (p *saying) system(line []byte) {
	text := kit.Shown.Text(p.content)
	switch string(agentfile.Text(p.subtype)) {
	case "compact_boundary":
		p.say(adapters.FromNote, compacted)
	case "api_error":
		one := p.say(adapters.FromNote, failedRequest(line))
		one.Joins, one.Topic = true, "retries"
	case "informational", "model_fallback", "model_refusal_fallback", "model_refusal_no_fallback":
		level := string(agentfile.Text(agentfile.Get(line, "level")))
		if level == "warning" || level == "error" {
			p.say(adapters.FromNote, text)
		}
	case "local_command":
		if wrapped(text) == isCommand || bashInput(text) != "" {
			p.prompt(text, nil, true)
		}
	}
}

// failedRequest describes a request that failed and is tried again. Consecutive failures are one message, with the text of the newest.
func failedRequest(line []byte) string {
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
	return text
}
