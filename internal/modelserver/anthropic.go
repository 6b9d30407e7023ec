package modelserver

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// What the Messages API states of the cache, in every answer.
const (
	cacheReadTokens  = 1000
	cacheWriteTokens = 7
)

// wireTool is a tool that a request offers, in any API.
type wireTool struct {
	Type       string          `json:"type"`
	Name       string          `json:"name"`
	Parameters json.RawMessage `json:"parameters"` // Responses API and chat completions
}

type contentBlock struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

// contentBlocks is a message's content: a string, or blocks.
type contentBlocks []contentBlock

func (c *contentBlocks) UnmarshalJSON(data []byte) error {
	var text string
	if json.Unmarshal(data, &text) == nil {
		*c = contentBlocks{{Type: "text", Text: text}}
		return nil
	}
	return json.Unmarshal(data, (*[]contentBlock)(c))
}

type messagesRequest struct {
	Model    string `json:"model"`
	Stream   bool   `json:"stream"`
	Messages []struct {
		Role    string        `json:"role"`
		Content contentBlocks `json:"content"`
	} `json:"messages"`
	Tools        []wireTool `json:"tools"`
	OutputConfig struct {
		Format struct {
			Schema struct {
				Properties map[string]json.RawMessage `json:"properties"`
			} `json:"schema"`
		} `json:"format"`
	} `json:"output_config"`
}

func parseMessages(body []byte) (wireRequest, error) {
	var m messagesRequest
	if err := json.Unmarshal(body, &m); err != nil {
		return wireRequest{}, fmt.Errorf("messages request: %w", err)
	}
	r := wireRequest{model: m.Model, stream: m.Stream, tools: m.Tools}
	for name := range m.OutputConfig.Format.Schema.Properties {
		r.structured = name
	}
	_, offered := chatTool(m.Tools, messagesShellNames...)
	r.side = !offered
	for _, message := range slices.Backward(m.Messages) {
		if message.Role != "user" {
			continue
		}
		if newestOf(message.Content, &r.question) {
			break
		}
	}
	return r, nil
}

// newestOf finds the last prompt in a message, and notes a tool's result behind it. What
// Claude Code adds to it (reminders, the echo of slash commands) is passed over.
func newestOf(content contentBlocks, q *question) (found bool) {
	for _, block := range slices.Backward(content) {
		switch {
		case block.Type == "tool_result":
			q.toolResult = true
		case block.Type == "text" && !addedByAgent(block.Text):
			q.prompt = strings.TrimSpace(block.Text)
			return true
		}
	}
	return false
}

var agentMarks = []string{
	// Claude Code
	"<system-reminder>", "<command-name>", "<command-message>", "<local-command-", "Caveat: ", "[SUGGESTION MODE",
	// Codex
	"<environment_context>", "<user_instructions>", "# AGENTS.md instructions", "<permissions instructions>", "<turn_aborted>",
	"<skills_instructions>", "<INSTRUCTIONS>", "<subagent_notification>",
	// OpenClaw
	"<<<BEGIN_OPENCLAW_INTERNAL_CONTEXT>>>",
}

func addedByAgent(text string) bool {
	text = strings.TrimSpace(text)
	return text == "" || slices.ContainsFunc(agentMarks, func(mark string) bool { return strings.HasPrefix(text, mark) })
}

func failMessages(status int) any {
	kind := "api_error"
	if status == http.StatusTooManyRequests {
		kind = "rate_limit_error"
	}
	return map[string]any{"type": "error", "request_id": newID("req_"),
		"error": map[string]string{"type": kind, "message": fmt.Sprintf("mock failure %d", status)}}
}

// messagesShellNames are the names of the shell tools of Claude Code and, with a provider of this API, of Copilot.
var messagesShellNames = []string{"Bash", "bash"}

// messagesTool returns the tool call that a plan asks for, or nil.
func messagesTool(tools []wireTool, p plan) map[string]any {
	call := func(name string, input map[string]any) map[string]any {
		return map[string]any{"type": "tool_use", "id": newID("toolu_"), "name": name, "input": input}
	}
	switch p.tool {
	case shellTool:
		shell, _ := chatTool(tools, messagesShellNames...)
		return call(shell.Name, map[string]any{"command": p.argument, "description": "Run a command"})
	case namedTool:
		name, text, _ := strings.Cut(p.argument, " ")
		input := map[string]any{}
		_ = json.Unmarshal([]byte(text), &input) // what is no object is no input
		return call(name, input)
	case agentTool:
		if _, ok := chatTool(tools, "task"); ok { // Copilot's
			return call("task", map[string]any{"description": "Run a child", "prompt": p.argument, "agent_type": "general-purpose", "name": "child"})
		}
		return call("Agent", map[string]any{"description": "Run a child", "prompt": p.argument,
			"subagent_type": "general-purpose"})
	case askTool:
		option := func(label string) map[string]string {
			return map[string]string{"label": label, "description": "The colour " + label}
		}
		return call("AskUserQuestion", map[string]any{"questions": []any{map[string]any{
			"question": "Which colour?", "header": "Colour", "multiSelect": false,
			"options": []any{option("Red"), option("Blue")}}}})
	}
	return nil
}

func writeMessages(w http.ResponseWriter, r wireRequest, p plan) error {
	if r.structured != "" {
		text, err := json.Marshal(map[string]string{r.structured: p.text})
		if err != nil {
			return err
		}
		p.text = string(text)
	}
	content := []map[string]any{{"type": "text", "text": p.text}}
	stop := "end_turn"
	if p.cut {
		stop = "max_tokens"
	}
	if tool := messagesTool(r.tools, p); tool != nil {
		content, stop = append(content, tool), "tool_use"
	}
	message := map[string]any{"id": newID("msg_"), "type": "message", "role": "assistant", "model": r.model,
		"content": content, "stop_reason": stop, "stop_sequence": nil, "usage": messagesUsage(p.usage, p.usage.output)}
	w.Header().Set("Request-Id", newID("req_"))
	setLimits(w.Header(), p.limits)
	if !r.stream {
		writeJSON(w, http.StatusOK, message)
		return nil
	}
	streamMessage(newEventStream(w), message, content, p.usage)
	return nil
}

// setLimits states the limits in the headers of the API's answers to subscriptions, as Claude Code 2.1.332 reads them. The windows begin again in 2
// hours and in 3 days.
func setLimits(h http.Header, limits []float64) {
	if len(limits) != 2 {
		return
	}
	const prefix = "Anthropic-Ratelimit-Unified-"
	h.Set(prefix+"Status", "allowed")
	h.Set(prefix+"Representative-Claim", "five_hour")
	for i, wait := range []time.Duration{2 * time.Hour, 72 * time.Hour} {
		window := prefix + []string{"5h", "7d"}[i]
		h.Set(window+"-Status", "allowed")
		h.Set(window+"-Utilization", strconv.FormatFloat(limits[i]/100, 'f', -1, 64))
		h.Set(window+"-Reset", strconv.FormatInt(time.Now().Add(wait).Unix(), 10))
	}
}

func messagesUsage(u usage, output int) map[string]int {
	used := u.ofMessages()
	return map[string]int{"input_tokens": u.input, "output_tokens": output,
		"cache_read_input_tokens": used.CacheRead, "cache_creation_input_tokens": used.CacheWrite}
}

// streamMessage sends a message in the order of events that the API documents.
func streamMessage(out *eventStream, message map[string]any, content []map[string]any, u usage) {
	stop := message["stop_reason"]
	message["content"], message["stop_reason"] = []any{}, nil
	message["usage"] = messagesUsage(u, 1)
	out.send("message_start", map[string]any{"message": message})
	for i, block := range content {
		var start, delta map[string]any
		if block["type"] == "text" {
			start = map[string]any{"type": "text", "text": ""}
			delta = map[string]any{"type": "text_delta", "text": block["text"]}
		} else {
			input, _ := json.Marshal(block["input"]) // maps of strings
			start = map[string]any{"type": "tool_use", "id": block["id"], "name": block["name"], "input": map[string]any{}}
			delta = map[string]any{"type": "input_json_delta", "partial_json": string(input)}
		}
		out.send("content_block_start", map[string]any{"index": i, "content_block": start})
		out.send("content_block_delta", map[string]any{"index": i, "delta": delta})
		out.send("content_block_stop", map[string]any{"index": i})
	}
	out.send("message_delta", map[string]any{
		"delta": map[string]any{"stop_reason": stop, "stop_sequence": nil}, "usage": messagesUsage(u, u.output)})
	out.send("message_stop", map[string]any{})
}
