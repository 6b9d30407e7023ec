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

// What the Responses API and chat completions state in every answer.
const (
	cachedTokens    = 40
	reasoningTokens = 5
)

type responsesRequest struct {
	Model  string `json:"model"`
	Stream bool   `json:"stream"`
	Input  []struct {
		Type    string        `json:"type"`
		Role    string        `json:"role"`
		Content contentBlocks `json:"content"`
	} `json:"input"`
	Tools []wireTool `json:"tools"`
	Text  struct {
		Format struct {
			Schema struct {
				Properties map[string]json.RawMessage `json:"properties"`
			} `json:"schema"`
		} `json:"format"`
	} `json:"text"`
}

func parseResponses(body []byte) (wireRequest, error) {
	var m responsesRequest
	if err := json.Unmarshal(body, &m); err != nil {
		return wireRequest{}, fmt.Errorf("responses request: %w", err)
	}
	r := wireRequest{model: m.Model, stream: m.Stream, tools: m.Tools}
	for name := range m.Text.Format.Schema.Properties {
		r.structured = name
	}
	_, offered := findShell(m.Tools)
	r.side = !offered
	for _, item := range slices.Backward(m.Input) {
		if strings.HasSuffix(item.Type, "call_output") {
			r.toolResult = true
		}
		if item.Role != "user" {
			continue
		}
		text := joinText(item.Content)
		if !addedByAgent(text) {
			r.prompt = strings.TrimSpace(text)
			break
		}
	}
	return r, nil
}

func joinText(content contentBlocks) string {
	var text []string
	for _, block := range content {
		if !addedByAgent(block.Text) {
			text = append(text, block.Text)
		}
	}
	return strings.Join(text, "\n")
}

// shellNames are the names of Codex's shell tool over its versions, newest first.
var shellNames = []string{"exec_command", "shell_command", "shell", "container.exec"}

// findShell returns the shell tool among those offered.
func findShell(tools []wireTool) (wireTool, bool) {
	for _, tool := range tools {
		if tool.Type == "local_shell" {
			return tool, true
		}
	}
	for _, name := range shellNames {
		for _, tool := range tools {
			if tool.Name == name {
				return tool, true
			}
		}
	}
	return wireTool{}, false
}

// shellCall writes a call of that tool in the form that it declares.
func shellCall(tool wireTool, p plan) (map[string]any, error) {
	if tool.Type == "local_shell" {
		return map[string]any{"type": "local_shell_call", "id": newID("lsh_"), "call_id": newID("call_"), "status": "completed",
			"action": map[string]any{"type": "exec", "command": []string{"bash", "-lc", p.argument}, "env": map[string]string{}}}, nil
	}
	arguments, err := shellArguments(tool.Name, tool.Parameters, p)
	if err != nil {
		return nil, err
	}
	return map[string]any{"type": "function_call", "id": newID("fc_"), "call_id": newID("call_"), "status": "completed",
		"name": tool.Name, "arguments": arguments}, nil
}

// shellArguments returns the arguments of a shell tool with that schema, as JSON.
func shellArguments(name string, parameters json.RawMessage, p plan) (string, error) {
	var schema struct {
		Properties map[string]struct {
			Type any `json:"type"`
		} `json:"properties"`
	}
	if err := json.Unmarshal(parameters, &schema); err != nil {
		return "", fmt.Errorf("parameters of tool %s: %w", name, err)
	}
	has := func(name string) bool { _, ok := schema.Properties[name]; return ok }
	arguments := map[string]any{}
	switch {
	case has("commands"): // Cline
		arguments["commands"] = []string{p.argument}
	case has("cmd"):
		arguments["cmd"] = p.argument
	case has("command") && schema.Properties["command"].Type == "array":
		arguments["command"] = []string{"bash", "-lc", p.argument}
	case has("command"):
		arguments["command"] = p.argument
	default:
		return "", fmt.Errorf("tool %s takes no command", name)
	}
	if has("description") { // OpenCode insists on it
		arguments["description"] = "Run a command"
	}
	if p.folder != "" && has("workdir") {
		arguments["workdir"] = p.folder
	}
	if p.behind {
		inBackground(arguments, has)
	}
	if p.escalated {
		arguments["justification"] = "May I run this outside of the sandbox?"
		if has("sandbox_permissions") {
			arguments["sandbox_permissions"] = "require_escalated"
		} else {
			arguments["with_escalated_permissions"] = true // up to 0.5x
		}
	}
	text, err := json.Marshal(arguments)
	return string(text), err
}

// inBackground makes a call of a shell tool go on in the background.
func inBackground(arguments map[string]any, has func(string) bool) {
	for _, name := range []string{"run_in_background", "is_background", "background"} { // Kimi Code's, Qwen Code's, Grok Build's
		if has(name) {
			arguments[name] = true
		}
	}
	if has("mode") { // Copilot's
		arguments["mode"] = "async"
	}
	if has("yield_time_ms") { // Codex's
		arguments["yield_time_ms"] = 500
	}
}

// userInputCall asks the user with Codex's tool (0.169.0), which is there in its plan mode, or with the feature
// default_mode_request_user_input.
func userInputCall(tools []wireTool) (map[string]any, error) {
	const name = "request_user_input"
	if !slices.ContainsFunc(tools, func(t wireTool) bool { return t.Name == name }) {
		return nil, errors.New("no tool for questions to the user is offered")
	}
	arguments, err := jsonText(map[string]any{"questions": []any{map[string]any{
		"id": "colour", "question": "Which colour?", "header": "Colour", "options": []any{colour("Red"), colour("Blue")}}}})
	return map[string]any{"type": "function_call", "id": newID("fc_"), "call_id": newID("call_"), "status": "completed",
		"name": name, "arguments": arguments}, err
}

// failResponses answers 429 as the server of Codex's subscriptions does once their limit is reached.
func failResponses(status int) any {
	if status == http.StatusTooManyRequests {
		return map[string]any{"error": map[string]any{"type": "usage_limit_reached", "message": "The usage limit has been reached", "plan_type": "plus", "resets_in_seconds": 3600}}
	}
	return map[string]any{"error": map[string]string{"type": "server_error", "message": fmt.Sprintf("mock failure %d", status)}}
}

func responsesOutput(r wireRequest, p plan) ([]map[string]any, error) {
	switch p.tool {
	case shellTool:
		tool, _ := findShell(r.tools)
		call, err := shellCall(tool, p)
		return []map[string]any{call}, err
	case askTool:
		call, err := userInputCall(r.tools)
		return []map[string]any{call}, err
	case agentTool: // Codex 0.169
		arguments, err := jsonText(map[string]string{"task_name": "sub_job", "message": p.argument})
		return []map[string]any{{"type": "function_call", "id": newID("fc_"), "call_id": newID("call_"), "status": "completed",
			"name": "spawn_agent", "namespace": "collaboration", "arguments": arguments}}, err
	case patchTool:
		return []map[string]any{{"type": "custom_tool_call", "id": newID("ctc_"), "call_id": newID("call_"), "status": "completed",
			"name": "apply_patch", "input": p.argument}}, nil
	}
	if r.structured != "" {
		text, err := json.Marshal(map[string]string{r.structured: p.text})
		if err != nil {
			return nil, err
		}
		p.text = string(text)
	}
	return []map[string]any{{"type": "message", "id": newID("msg_"), "role": "assistant", "status": "completed",
		"content": []any{map[string]any{"type": "output_text", "text": p.text, "annotations": []any{}}}}}, nil
}

func writeResponses(w http.ResponseWriter, r wireRequest, p plan) error {
	output, err := responsesOutput(r, p)
	if err != nil {
		return err
	}
	response := map[string]any{"id": newID("resp_"), "object": "response", "created_at": time.Now().Unix(),
		"model": r.model, "status": "completed", "output": output, "usage": responsesUsage(p.usage)}
	if p.cut {
		response["status"], response["incomplete_details"] = "incomplete", map[string]string{"reason": "max_output_tokens"}
	}
	if !r.stream {
		writeJSON(w, http.StatusOK, response)
		return nil
	}
	out := newEventStream(w)
	out.send("response.created", map[string]any{"sequence_number": 0,
		"response": map[string]any{"id": response["id"], "object": "response", "status": "in_progress", "output": []any{}}})
	for i, item := range output {
		out.send("response.output_item.added", map[string]any{"output_index": i, "item": item, "sequence_number": 2*i + 1})
		out.send("response.output_item.done", map[string]any{"output_index": i, "item": item, "sequence_number": 2*i + 2})
	}
	out.send(fmt.Sprint("response.", response["status"]), map[string]any{"response": response, "sequence_number": 2*len(output) + 1})
	return nil
}

func responsesUsage(u usage) map[string]any {
	used := u.ofOpenAI()
	return map[string]any{
		"input_tokens": u.input, "input_tokens_details": map[string]int{"cached_tokens": used.CacheRead},
		"output_tokens": u.output, "output_tokens_details": map[string]int{"reasoning_tokens": used.Reasoning},
		"total_tokens": u.input + u.output,
	}
}
