package modelserver

import (
	"bufio"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
)

// chatShells are the shell tools of OpenCode, Pi and OpenClaw.
var chatShells = map[string][]object{
	"opencode": {function("question"), function("bash", "command", "description", "timeout"), function("task")},
	"pi":       {function("bash", "command", "timeout"), function("read")},
	"openclaw": {function("read"), function("exec", "command", "background")},
}

func function(name string, parameters ...string) object {
	properties := object{}
	for _, p := range parameters {
		properties[p] = object{"type": "string"}
	}
	return object{"type": "function", "function": object{"name": name,
		"parameters": object{"type": "object", "properties": properties}}}
}

func says(role string, content any) object { return object{"role": role, "content": content} }

// chunks reads a stream of chat completions; it must end as the API says.
func chunks(t *testing.T, r io.Reader) []object {
	t.Helper()
	var out []object
	done := false
	scanner := bufio.NewScanner(r)
	for scanner.Scan() {
		data, ok := strings.CutPrefix(scanner.Text(), "data: ")
		switch {
		case !ok && scanner.Text() != "":
			t.Errorf("line %q", scanner.Text())
		case done && ok:
			t.Errorf("%q after the end", data)
		case data == "[DONE]":
			done = true
		case ok:
			var o object
			if err := json.Unmarshal([]byte(data), &o); err != nil {
				t.Fatalf("chunk %q: %v", data, err)
			}
			if o["object"] != "chat.completion.chunk" || o["model"] != "m" {
				t.Errorf("chunk %q", data)
			}
			out = append(out, o)
		}
	}
	if err := scanner.Err(); err != nil || !done {
		t.Fatalf("stream ended without [DONE] (%v)", err)
	}
	return out
}

// joined puts the chunks of a stream together, as an agent does.
func joined(t *testing.T, stream []object) (text, tool, arguments, finish string) {
	t.Helper()
	for _, chunk := range stream {
		choices := chunk["choices"].([]any)
		if len(choices) == 0 {
			continue
		}
		choice := choices[0].(object)
		if reason, ok := choice["finish_reason"].(string); ok {
			finish = reason
		}
		delta := choice["delta"].(object)
		if s, ok := delta["content"].(string); ok {
			text += s
		}
		calls, _ := delta["tool_calls"].([]any)
		for _, c := range calls {
			function := c.(object)["function"].(object)
			if name, ok := function["name"].(string); ok {
				tool += name
			}
			arguments += function["arguments"].(string)
		}
	}
	return text, tool, arguments, finish
}

func TestChatStream(t *testing.T) {
	s := start(t)
	want := map[string][2]string{
		"opencode": {"bash", `{"command":"touch x","description":"Run a command"}`},
		"pi":       {"bash", `{"command":"touch x"}`},
		"openclaw": {"exec", `{"command":"touch x"}`},
	}
	for agent, tools := range chatShells {
		t.Run(agent, func(t *testing.T) {
			response := post(t, s.URL()+"/v1/chat/completions", object{"model": "m", "stream": true, "tools": tools,
				"stream_options": object{"include_usage": true},
				"messages": []object{says("system", "be [[fail]]"), says("user", []object{text("go [[bash touch x]]"), text("[[usage 111 22]]")}),
					says("user", "<system-reminder>[[fail]]</system-reminder>")}})
			stream := chunks(t, response.Body)
			said, tool, arguments, finish := joined(t, stream)
			if said != "I will use the shell." || tool != want[agent][0] || arguments != want[agent][1] || finish != "tool_calls" {
				t.Errorf("said %q, called %s with %s, finished with %s", said, tool, arguments, finish)
			}
			usage := stream[len(stream)-1]["usage"].(object)
			if usage["prompt_tokens"] != 111.0 || usage["completion_tokens"] != 22.0 || usage["total_tokens"] != 133.0 ||
				usage["prompt_tokens_details"].(object)["cached_tokens"] != 40.0 ||
				usage["completion_tokens_details"].(object)["reasoning_tokens"] != 5.0 {
				t.Errorf("usage %v", usage)
			}
		})
	}
}

// A stream states its usage only where that was asked for.
func TestChatStreamWithoutUsage(t *testing.T) {
	s := start(t)
	response := post(t, s.URL()+"/v1/chat/completions", object{"model": "m", "stream": true, "tools": chatShells["pi"],
		"messages": []object{says("user", "hello")}})
	stream := chunks(t, response.Body)
	for _, chunk := range stream {
		if chunk["usage"] != nil {
			t.Errorf("usage %v", chunk["usage"])
		}
	}
	if said, tool, _, finish := joined(t, stream); said != "Mock answer to: hello" || tool != "" || finish != "stop" {
		t.Errorf("said %q, called %q, finished with %s", said, tool, finish)
	}
}

func TestChatAnswers(t *testing.T) {
	s := start(t)
	result := object{"role": "tool", "tool_call_id": "c", "content": "[[fail]]"}
	calling := object{"role": "assistant", "content": nil, "tool_calls": []object{{"id": "c", "type": "function",
		"function": object{"name": "bash", "arguments": "{}"}}}}
	tests := []struct {
		name     string
		tools    []object
		messages []object
		text     string
		finish   string
		tool     string
		holds    string // in the arguments
	}{
		{"plain", chatShells["pi"], []object{says("user", "hello")}, "Mock answer to: hello", "stop", "", ""},
		{"after a tool", chatShells["pi"], []object{says("user", "[[bash x]]"), calling, result}, "Done.", "stop", "", ""},
		{"a new prompt after a tool", chatShells["pi"], []object{says("user", "[[bash x]]"), calling, result,
			says("assistant", "Done."), says("user", "more")}, "Mock answer to: more", "stop", "", ""},
		{"a note of the gateway's after the prompt", chatShells["openclaw"], []object{says("user", "[Sat 2026-11-21 21:54 UTC] hello"),
			says("user", []object{text("<<<BEGIN_OPENCLAW_INTERNAL_CONTEXT>>>\n[[fail]]\n<<<END_OPENCLAW_INTERNAL_CONTEXT>>>")})},
			"Mock answer to: [Sat 2026-11-21 21:54 UTC] hello", "stop", "", ""},
		{"title", nil, []object{says("user", "[[fail]]")}, "Mock generated title", "stop", "", ""},
		{"question", chatShells["opencode"], []object{says("user", "[[ask]]")}, "I will ask.", "tool_calls", "question", "Which colour?"},
		{"sub-agent", chatShells["opencode"], []object{says("user", "[[agent child ((bash y))]]")}, "I will use a sub-agent.",
			"tool_calls", "task", "child [[bash y]]"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			answer := decode(t, post(t, s.URL()+"/v1/chat/completions", object{"model": "m", "tools": test.tools, "messages": test.messages}).Body)
			choice := answer["choices"].([]any)[0].(object)
			message := choice["message"].(object)
			if message["content"] != test.text || choice["finish_reason"] != test.finish || answer["object"] != "chat.completion" {
				t.Errorf("answer %v", answer)
			}
			calls, _ := message["tool_calls"].([]any)
			if len(calls) == 0 != (test.tool == "") {
				t.Fatalf("calls %v", calls)
			}
			if test.tool == "" {
				return
			}
			call := calls[0].(object)["function"].(object)
			if call["name"] != test.tool || !strings.Contains(call["arguments"].(string), test.holds) {
				t.Errorf("call %v", call)
			}
		})
	}
}

// What an agent does not offer can't be called: the test that asks for it must
// see that.
func TestChatToolNotOffered(t *testing.T) {
	s := start(t)
	for _, prompt := range []string{"[[ask]]", "[[agent x]]"} {
		response := post(t, s.URL()+"/v1/chat/completions", object{"model": "m", "stream": true, "tools": chatShells["pi"],
			"messages": []object{says("user", prompt)}})
		if response.StatusCode != http.StatusBadRequest {
			t.Errorf("%s: status %d", prompt, response.StatusCode)
		}
	}
}

// What came before the newest prompt in its message does not direct its answer, and a request behind the answer to a prompt is the agent's own.
func TestChatNewestPrompt(t *testing.T) {
	s := start(t)
	tools := []object{function("bash", "command")}
	ask := func(messages ...object) (q Request, status int) {
		answer := post(t, s.URL()+"/v1/chat/completions", object{"model": "m", "messages": messages, "tools": tools})
		all := s.Requests()
		return all[len(all)-1], answer.StatusCode
	}
	if q, status := ask(says("user", "old [[fail 400]]\n[[new]] more [[usage 300 12]]")); status != http.StatusOK || q.Used.Output != 12 || q.Own {
		t.Errorf("a prompt behind one that failed: %+v", q)
	}
	if q, _ := ask(says("user", "a prompt"), says("assistant", "an answer"), says("user", "<system-reminder>Suggest something.</system-reminder>")); !q.Own || q.Prompt != "a prompt" {
		t.Errorf("a request behind an answer: %+v", q)
	}
}

func TestFailOnce(t *testing.T) {
	s := start(t)
	for _, prompt := range []string{"go [[fail 503 1]] [[once]]", "on [[once]] [[fail 503]]"} {
		for _, want := range []int{503, 200, 200} {
			request := object{"model": "m", "messages": []object{says("user", prompt)}, "tools": chatShells["pi"]}
			if got := post(t, s.URL()+"/v1/chat/completions", request).StatusCode; got != want {
				t.Errorf("%s: status %d, want %d", prompt, got, want)
			}
		}
	}
}
