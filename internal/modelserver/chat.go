package modelserver

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
)

// chatRequest is a request for chat completions, as OpenCode, Pi and OpenClaw
// send them to a provider of the user's own.
type chatRequest struct {
	Model    string `json:"model"`
	Stream   bool   `json:"stream"`
	Messages []struct {
		Role    string        `json:"role"`
		Content contentBlocks `json:"content"`
		Calls   []any         `json:"tool_calls"`
	} `json:"messages"`
	Tools []struct {
		Function wireTool `json:"function"`
	} `json:"tools"`
	StreamOptions struct {
		IncludeUsage bool `json:"include_usage"`
	} `json:"stream_options"`
}

// chatShellNames are the names of the shell tools: OpenCode and Pi, OpenClaw, Cline, Qwen Code, Grok Build, Kimi Code, Nanocoder.
var chatShellNames = []string{"bash", "exec", "run_commands", "run_shell_command", "run_terminal_command", "Bash", "execute_bash"}

func parseChat(body []byte) (wireRequest, error) {
	var m chatRequest
	if err := json.Unmarshal(body, &m); err != nil {
		return wireRequest{}, fmt.Errorf("chat completions request: %w", err)
	}
	r := wireRequest{model: m.Model, stream: m.Stream, streamUsage: m.StreamOptions.IncludeUsage}
	for _, tool := range m.Tools {
		r.tools = append(r.tools, tool.Function)
	}
	_, offered := chatTool(r.tools, chatShellNames...)
	r.side = !offered
	for _, message := range slices.Backward(m.Messages) {
		switch {
		case message.Role == "tool":
			r.toolResult = true
		case message.Role == "assistant" && len(message.Calls) == 0:
			r.answered = true
		}
		if message.Role != "user" {
			continue
		}
		if text := joinText(message.Content); !addedByAgent(text) {
			r.prompt = strings.TrimSpace(grokQuery.Replace(text))
			break
		}
	}
	return r, nil
}

// grokQuery removes what Grok Build puts around a prompt.
var grokQuery = strings.NewReplacer("<user_query>", "", "</user_query>", "")

// chatTool returns the first of the tools offered that has one of the names.
func chatTool(tools []wireTool, names ...string) (wireTool, bool) {
	for _, name := range names {
		for _, tool := range tools {
			if tool.Name == name {
				return tool, true
			}
		}
	}
	return wireTool{}, false
}

// failChat blames whom the status blames: agents try again what is the server's
// fault.
func failChat(status int) any {
	kind, message := "server_error", fmt.Sprintf("mock failure %d", status)
	switch {
	case status == http.StatusTooManyRequests:
		kind, message = "rate_limit_exceeded", "Rate limit reached: "+message
	case status < 500:
		kind = "invalid_request_error"
	}
	return map[string]any{"error": map[string]any{"type": kind, "code": nil, "param": nil,
		"message": message}}
}

// chatCall returns the tool call that a plan asks for, or nil.
func chatCall(r wireRequest, p plan) (map[string]any, error) {
	var name, arguments string
	var err error
	switch p.tool {
	case noTool:
		return nil, nil
	case shellTool:
		tool, _ := chatTool(r.tools, chatShellNames...)
		name = tool.Name
		arguments, err = shellArguments(tool.Name, tool.Parameters, p)
	case askTool:
		name, arguments, err = questionCall(r.tools)
	case patchTool:
		name = "apply_patch"
		if _, ok := chatTool(r.tools, name); !ok {
			return nil, errors.New("no tool for patches is offered")
		}
		arguments, err = jsonText(map[string]string{"patchText": p.argument})
	case agentTool:
		if _, ok := chatTool(r.tools, "spawn_agent"); ok { // Cline
			name = "spawn_agent"
			arguments, err = jsonText(map[string]string{"systemPrompt": "You help.", "task": p.argument})
			break
		}
		if _, ok := chatTool(r.tools, "spawn_subagent"); ok { // Grok Build
			name = "spawn_subagent"
			arguments, err = jsonText(map[string]any{"prompt": p.argument, "description": "Run a child", "background": false})
			break
		}
		tool, ok := chatTool(r.tools, "task", "Agent", "agent") // the second is Kimi Code's, the third Qwen Code's
		if !ok {
			return nil, errors.New("no tool for sub-agents is offered")
		}
		name = tool.Name
		if name == "Agent" {
			arguments, err = jsonText(map[string]string{"description": "Run a child", "prompt": p.argument})
			break
		}
		if strings.Contains(string(tool.Parameters), `"tasks"`) { // oh-my-pi
			arguments, err = jsonText(map[string]any{"context": "c", "tasks": []any{map[string]string{"task": p.argument}}})
			break
		}
		kind := "general"
		if name == "agent" {
			kind = "general-purpose"
		}
		arguments, err = jsonText(map[string]any{"description": "Run a child", "prompt": p.argument,
			"subagent_type": kind, "agent_type": "general-purpose", "name": "child"}) // the last two are Copilot's
	}
	return map[string]any{"id": newID("call_"), "type": "function",
		"function": map[string]any{"name": name, "arguments": arguments}}, err
}

// questionCall asks the user with OpenCode's tool, Qwen Code's, Copilot's, Cline's or oh-my-pi's.
func questionCall(tools []wireTool) (name, arguments string, err error) {
	if _, ok := chatTool(tools, "ask_user"); ok {
		arguments, err = jsonText(map[string]any{"message": "Which colour?", "requestedSchema": map[string]any{
			"properties": map[string]any{"c": map[string]any{"type": "string", "title": "Colour", "enum": []string{"Red", "Blue"}}}, "required": []string{"c"}}})
		return "ask_user", arguments, err
	}
	if tool, ok := chatTool(tools, "ask_question"); ok {
		arguments, err = jsonText(map[string]any{"question": "Which colour?", "options": []string{"Red", "Blue"}})
		return tool.Name, arguments, err
	}
	tool, ok := chatTool(tools, "question", "ask_user_question", "AskUserQuestion", "ask")
	if !ok {
		return "", "", errors.New("no tool for questions to the user is offered")
	}
	question := map[string]any{"question": "Which colour?", "header": "Colour", "options": []any{colour("Red"), colour("Blue")}}
	if tool.Name == "ask" {
		question["id"] = "c"
	}
	arguments, err = jsonText(map[string]any{"questions": []any{question}})
	return tool.Name, arguments, err
}

// colour is one choice of the question that the directive ask has the agent ask.
func colour(label string) map[string]string {
	return map[string]string{"label": label, "description": "The colour " + label}
}

func jsonText(v any) (string, error) {
	text, err := json.Marshal(v)
	return string(text), err
}

func writeChat(w http.ResponseWriter, r wireRequest, p plan) error {
	call, err := chatCall(r, p)
	if err != nil {
		return err
	}
	finish := "stop"
	if p.cut {
		finish = "length"
	}
	message := map[string]any{"role": "assistant", "content": p.text}
	if call != nil {
		finish = "tool_calls"
		message["tool_calls"] = []any{call}
	}
	completion := map[string]any{"id": newID("chatcmpl-"), "created": time.Now().Unix(), "model": r.model}
	if r.stream {
		streamChat(newEventStream(w), r, completion, message, chatUsage(p.usage), finish)
		return nil
	}
	completion["object"] = "chat.completion"
	completion["choices"] = []any{map[string]any{"index": 0, "message": message, "finish_reason": finish}}
	completion["usage"] = chatUsage(p.usage)
	writeJSON(w, http.StatusOK, completion)
	return nil
}

// streamChat sends a message in chunks: who speaks, the text, the tool call's
// name, its arguments, the end, and the usage where it was asked for.
func streamChat(out *eventStream, r wireRequest, completion, message, usage map[string]any, finish string) {
	completion["object"] = "chat.completion.chunk"
	chunk := func(delta map[string]any, finish any) {
		completion["choices"] = []any{map[string]any{"index": 0, "delta": delta, "finish_reason": finish}}
		out.sendData(completion)
	}
	chunk(map[string]any{"role": "assistant", "content": ""}, nil)
	chunk(map[string]any{"content": message["content"]}, nil)
	if calls, ok := message["tool_calls"].([]any); ok {
		for i, c := range calls {
			call, _ := c.(map[string]any)
			function, _ := call["function"].(map[string]any)
			chunk(map[string]any{"tool_calls": []any{map[string]any{"index": i, "id": call["id"], "type": "function",
				"function": map[string]any{"name": function["name"], "arguments": ""}}}}, nil)
			chunk(map[string]any{"tool_calls": []any{map[string]any{"index": i,
				"function": map[string]any{"arguments": function["arguments"]}}}}, nil)
		}
	}
	chunk(map[string]any{}, finish)
	if r.streamUsage {
		completion["choices"], completion["usage"] = []any{}, usage
		out.sendData(completion)
	}
	out.write("data: [DONE]\n\n")
}

func chatUsage(u usage) map[string]any {
	used := u.ofOpenAI()
	return map[string]any{
		"prompt_tokens": u.input, "prompt_tokens_details": map[string]int{"cached_tokens": used.CacheRead},
		"completion_tokens": u.output, "completion_tokens_details": map[string]int{"reasoning_tokens": used.Reasoning},
		"total_tokens": u.input + u.output,
	}
}
