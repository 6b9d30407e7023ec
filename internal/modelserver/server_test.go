package modelserver

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"rollcall/internal/eventually"
	"rollcall/internal/must"
)

func start(t *testing.T) *Server {
	t.Helper()
	s := must.Get(Start("127.0.0.1:0"))(t)
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return s
}

func post(t *testing.T, url string, body any) *http.Response {
	t.Helper()
	data := must.Get(json.Marshal(body))(t)
	response := must.Get(http.Post(url, "application/json", bytes.NewReader(data)))(t)
	t.Cleanup(func() { response.Body.Close() })
	return response
}

type object = map[string]any

// events reads a whole stream of server-sent events.
func events(t *testing.T, r io.Reader) []object {
	t.Helper()
	var out []object
	scanner := bufio.NewScanner(r)
	name := ""
	for scanner.Scan() {
		line := scanner.Text()
		if rest, ok := strings.CutPrefix(line, "event: "); ok {
			name = rest
		}
		rest, ok := strings.CutPrefix(line, "data: ")
		if !ok {
			continue
		}
		var o object
		if err := json.Unmarshal([]byte(rest), &o); err != nil {
			t.Fatalf("event %s: %v", name, err)
		}
		if o["type"] != name {
			t.Errorf("event %s says that it is %v", name, o["type"])
		}
		out = append(out, o)
	}
	must.Do(t, scanner.Err())
	return out
}

func decode(t *testing.T, r io.Reader) object {
	t.Helper()
	var o object
	must.Do(t, json.NewDecoder(r).Decode(&o))
	return o
}

var bashTool = []object{{"name": "Bash", "input_schema": object{}}}

func user(blocks ...object) object { return object{"role": "user", "content": blocks} }

func text(s string) object { return object{"type": "text", "text": s} }

func TestMessagesStream(t *testing.T) {
	s := start(t)
	response := post(t, s.URL()+"/v1/messages?beta=true", object{"model": "m", "stream": true, "tools": bashTool,
		"messages": []object{user(text("<system-reminder>[[fail]]</system-reminder>"), text("go [[bash touch x]][[usage 111 22]]"))}})
	got := events(t, response.Body)
	var names []string
	var input strings.Builder
	for _, e := range got {
		names = append(names, e["type"].(string))
		if delta, ok := e["delta"].(object); ok && delta["type"] == "input_json_delta" {
			input.WriteString(delta["partial_json"].(string))
		}
	}
	block := "content_block_start content_block_delta content_block_stop "
	if want := "message_start " + block + block + "message_delta message_stop"; strings.Join(names, " ") != want {
		t.Errorf("events\n got %s\nwant %s", strings.Join(names, " "), want)
	}
	var arguments object
	if err := json.Unmarshal([]byte(input.String()), &arguments); err != nil || arguments["command"] != "touch x" {
		t.Errorf("tool input %q: %v", input.String(), err)
	}
	end := got[len(got)-2]
	if stop := end["delta"].(object)["stop_reason"]; stop != "tool_use" {
		t.Errorf("stop reason %v", stop)
	}
	usage := end["usage"].(object)
	for key, want := range map[string]float64{"input_tokens": 111, "output_tokens": 22,
		"cache_read_input_tokens": 1000, "cache_creation_input_tokens": 7} {
		if usage[key] != want {
			t.Errorf("%s = %v, want %v", key, usage[key], want)
		}
	}
}

// Which of a conversation's messages is obeyed.
func TestMessagesDirectivesOnlyFromTheNewestPrompt(t *testing.T) {
	s := start(t)
	result := object{"type": "tool_result", "tool_use_id": "t1", "content": "[[fail]]"}
	reminder := text("<system-reminder>\nask nothing [[ask]]\n</system-reminder>")
	schema := object{"format": object{"type": "json_schema", "schema": object{"properties": object{"title": object{}}}}}
	tests := []struct {
		name     string
		request  object
		text     string
		stop     string
		toolName string
	}{
		{"plain string", object{"tools": bashTool, "messages": []object{{"role": "user", "content": "hello"}}},
			"Mock answer to: hello", "end_turn", ""},
		{"after a tool", object{"tools": bashTool, "messages": []object{user(text("[[bash x]]")), user(result, reminder)}},
			"Done.", "end_turn", ""},
		{"a new prompt after a tool", object{"tools": bashTool, "messages": []object{user(result), user(text("[[ask]]"))}},
			"I will ask.", "tool_use", "AskUserQuestion"},
		{"old directive", object{"tools": bashTool, "messages": []object{user(text("[[ask]]")),
			{"role": "assistant", "content": "ok"}, user(reminder, text("more"))}}, "Mock answer to: more", "end_turn", ""},
		{"title", object{"messages": []object{user(text("[[fail]]"))}}, "Mock generated title", "end_turn", ""},
		{"title that the prompt states", object{"messages": []object{user(text("Name it:\ngo [[delay 9]] [[title s17]]"))}}, "s17", "end_turn", ""},
		{"structured title", object{"output_config": schema, "messages": []object{user(text("[[fail]]"))}},
			`{"title":"Mock generated title"}`, "end_turn", ""},
		{"sub-agent", object{"tools": bashTool, "messages": []object{user(text("[[agent child ((bash y))]]"))}},
			"I will use a sub-agent.", "tool_use", "Agent"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			answer := decode(t, post(t, s.URL()+"/v1/messages", test.request).Body)
			content := answer["content"].([]any)
			if got := content[0].(object)["text"]; got != test.text {
				t.Errorf("text %q, want %q", got, test.text)
			}
			if answer["stop_reason"] != test.stop {
				t.Errorf("stop reason %v, want %s", answer["stop_reason"], test.stop)
			}
			tool := ""
			if len(content) > 1 {
				tool = content[1].(object)["name"].(string)
			}
			if tool != test.toolName {
				t.Errorf("tool %q, want %q", tool, test.toolName)
			}
		})
	}
}

func TestFail(t *testing.T) {
	s := start(t)
	for prompt, want := range map[string]int{"[[fail]]": 500, "[[fail 400]]": 400, "[[fail 99]]": 500} {
		response := post(t, s.URL()+"/v1/messages", object{"tools": bashTool, "messages": []object{user(text(prompt))}})
		if response.StatusCode != want {
			t.Errorf("%s: status %d, want %d", prompt, response.StatusCode, want)
		}
		response = post(t, s.URL()+"/v1/responses", object{"tools": shells["exec_command"],
			"input": []object{{"type": "message", "role": "user", "content": []object{{"type": "input_text", "text": prompt}}}}})
		if response.StatusCode != want {
			t.Errorf("responses %s: status %d, want %d", prompt, response.StatusCode, want)
		}
		response = post(t, s.URL()+"/v1/chat/completions", object{"tools": chatShells["pi"], "messages": []object{says("user", prompt)}})
		if response.StatusCode != want {
			t.Errorf("chat completions %s: status %d, want %d", prompt, response.StatusCode, want)
		}
	}
}

// A delayed answer waits, is seen as under way, and ends with its client.
func TestDelay(t *testing.T) {
	s := start(t)
	request := object{"tools": bashTool, "messages": []object{user(text("[[delay 0.2]]"))}}
	began := time.Now()
	post(t, s.URL()+"/v1/messages", request)
	if took := time.Since(began); took < 200*time.Millisecond {
		t.Errorf("answered after %v", took)
	}
	body, _ := json.Marshal(object{"tools": bashTool, "messages": []object{user(text("[[delay 3600]]"))}})
	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	r := must.Get(http.NewRequestWithContext(ctx, "POST", s.URL()+"/v1/messages", bytes.NewReader(body)))(t)
	answered := make(chan error, 1)
	go func() {
		resp, err := http.DefaultClient.Do(r)
		if err == nil {
			_ = resp.Body.Close()
		}
		answered <- err
	}()
	eventually.True(t, "the request to arrive", func() bool { return len(s.Requests()) == 2 })
	leave()
	if err := <-answered; err == nil {
		t.Error("an answer before its time")
	}
	// The server learns of it a moment later.
	eventually.True(t, "the server to learn that the client has left", func() bool { return s.Requests()[1].Left })
	seen := s.Requests()
	if len(seen) != 2 || seen[0].Status != 200 || seen[0].Left || seen[1].Status != 0 || !seen[1].Left || seen[1].Prompt != "[[delay 3600]]" {
		t.Errorf("requests: %+v", seen)
	}
}

// shells are the forms in which Codex has offered its shell tool.
var shells = map[string][]object{
	"exec_command": {{"type": "function", "name": "exec_command", "parameters": object{"properties": object{
		"cmd": object{"type": "string"}, "sandbox_permissions": object{"type": "string"}, "justification": object{"type": "string"}}}}},
	"shell": {{"type": "custom", "name": "apply_patch"}, {"type": "function", "name": "shell", "parameters": object{"properties": object{
		"command": object{"type": "array"}, "with_escalated_permissions": object{"type": "boolean"}}}}},
	"shell_command": {{"type": "function", "name": "shell_command", "parameters": object{"properties": object{
		"command": object{"type": "string"}, "sandbox_permissions": object{"type": "string"}}}}},
	"local_shell": {{"type": "local_shell"}},
}

func TestResponsesShell(t *testing.T) {
	s := start(t)
	want := map[string]object{
		"exec_command": {"cmd": "touch x", "sandbox_permissions": "require_escalated", "justification": "May I run this outside of the sandbox?"},
		"shell": {"command": []any{"bash", "-lc", "touch x"}, "with_escalated_permissions": true,
			"justification": "May I run this outside of the sandbox?"},
		"shell_command": {"command": "touch x", "sandbox_permissions": "require_escalated", "justification": "May I run this outside of the sandbox?"},
	}
	for name, tools := range shells {
		t.Run(name, func(t *testing.T) {
			response := post(t, s.URL()+"/v1/responses", object{"model": "m", "stream": true, "tools": tools, "input": []object{
				{"type": "message", "role": "user", "content": []object{{"type": "input_text", "text": "go [[bash touch x]][[esc]]"}}},
				{"type": "message", "role": "user", "content": []object{{"type": "input_text", "text": "<environment_context>[[fail]]"}}}}})
			stream := events(t, response.Body)
			if len(stream) != 4 || stream[0]["type"] != "response.created" || stream[3]["type"] != "response.completed" {
				t.Fatalf("events: %v", stream)
			}
			item := stream[2]["item"].(object)
			if name == "local_shell" {
				if item["type"] != "local_shell_call" {
					t.Errorf("item %v", item)
				}
				return
			}
			var arguments object
			must.Do(t, json.Unmarshal([]byte(item["arguments"].(string)), &arguments))
			got, _ := json.Marshal(arguments)
			wanted, _ := json.Marshal(want[name])
			if item["name"] != name || string(got) != string(wanted) {
				t.Errorf("call of %v with %s, want %s", item["name"], got, wanted)
			}
		})
	}
}

func TestResponsesAnswers(t *testing.T) {
	s := start(t)
	prompt := object{"type": "message", "role": "user", "content": []object{{"type": "input_text", "text": "hello [[usage 111 22]]"}}}
	output := object{"type": "function_call_output", "call_id": "c", "output": "x"}
	format := object{"format": object{"type": "json_schema", "schema": object{"properties": object{"title": object{}}}}}
	tests := []struct {
		name    string
		request object
		text    string
		total   float64
	}{
		{"prompt", object{"tools": shells["shell"], "input": []object{prompt}}, "Mock answer to: hello [[usage 111 22]]", 133},
		{"after a tool", object{"tools": shells["shell"], "input": []object{prompt, output}}, "Done.", 120},
		{"title", object{"text": format, "input": []object{prompt}}, `{"title":"Mock generated title"}`, 120},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			answer := decode(t, post(t, s.URL()+"/v1/responses", test.request).Body)
			content := answer["output"].([]any)[0].(object)["content"].([]any)[0].(object)
			if content["text"] != test.text {
				t.Errorf("text %q, want %q", content["text"], test.text)
			}
			usage := answer["usage"].(object)
			if usage["total_tokens"] != test.total || usage["input_tokens_details"].(object)["cached_tokens"] != 40.0 {
				t.Errorf("usage %v", usage)
			}
		})
	}
}

func TestOnlyLoopback(t *testing.T) {
	for _, address := range []string{"0.0.0.0:0", "[::]:0", "192.0.2.1:0", "localhost", ":8080", ""} {
		if s, err := Start(address); err == nil {
			t.Errorf("listens on %q", address)
			_ = s.Close()
		}
	}
}

func TestOtherRequests(t *testing.T) {
	s := start(t)
	if got := decode(t, post(t, s.URL()+"/v1/messages/count_tokens", object{}).Body); got["input_tokens"] != 100.0 {
		t.Errorf("count_tokens: %v", got)
	}
	for path, want := range map[string]int{"/v1/models": 200, "/": 200, "/nothing": 404} {
		response := must.Get(http.Get(s.URL() + path))(t)
		response.Body.Close()
		if response.StatusCode != want {
			t.Errorf("%s: %d, want %d", path, response.StatusCode, want)
		}
	}
	response := must.Get(http.Post(s.URL()+"/v1/messages", "application/json", strings.NewReader("{")))(t)
	response.Body.Close()
	if response.StatusCode != http.StatusBadRequest {
		t.Errorf("garbage: %d", response.StatusCode)
	}
}

// The answer to a tool's result is held as well, by what the prompt before it says.
func TestToolResultHeld(t *testing.T) {
	prompt, calls := says("user", "[[hold x]]"), says("assistant", "I will use the shell.")
	for path, body := range map[string]object{
		"/v1/chat/completions": {"tools": chatShells["pi"], "messages": []object{prompt, calls, {"role": "tool", "tool_call_id": "c", "content": "done"}}},
		"/v1/messages": {"tools": []object{{"name": "Bash"}}, "messages": []object{prompt, calls,
			says("user", []object{{"type": "tool_result", "tool_use_id": "c", "content": "done"}})}},
		"/v1/responses": {"tools": []object{{"type": "function", "name": "shell"}}, "input": []object{
			says("user", []object{{"type": "input_text", "text": "[[hold x]]"}}), {"type": "function_call_output", "call_id": "c", "output": "done"}}},
	} {
		s := start(t)
		go func() { _ = s.Release(t.Context(), "x", "[[say later]]") }()
		body["model"] = "m"
		answer := must.Get(io.ReadAll(post(t, s.URL()+path, body).Body))(t)
		if !bytes.Contains(answer, []byte(`"later"`)) {
			t.Errorf("%s: %s, want the answer that was released", path, answer)
		}
	}
}
