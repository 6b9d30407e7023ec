package qwen

import (
	"fmt"
	"testing"

	"rollcall/adapters"
	"rollcall/internal/must"
)

// A denial ends the turn: what is recorded of it was seen in 0.24.4.
func TestTurnEnds(t *testing.T) {
	const (
		prompt  = `"type":"user","message":{"parts":[{"text":"go"}]}`
		call    = `"type":"assistant","message":{"parts":[{"functionCall":{"id":"c1","name":"run_shell_command","args":{"command":"touch a"}}}]},"usageMetadata":{"promptTokenCount":1}`
		denied  = `"type":"tool_result","message":{"parts":[{"functionResponse":{"id":"c1","response":{"error":"Tool \"run_shell_command\" was canceled by the user."}}}]},"toolCallResult":{"callId":"c1","status":"cancelled"}`
		stopped = `"type":"tool_result","message":{"parts":[{"functionResponse":{"id":"c1","response":{"error":"[Operation Cancelled] Reason: x"}}}]}`
		result  = `"type":"tool_result","message":{"parts":[{"functionResponse":{"id":"c1","response":{"output":"x"}}}]},"toolCallResult":{"callId":"c1","status":"success"}`
		half    = `"type":"assistant","message":{"parts":[{"text":"half"}]}`
		replied = `"type":"system","subtype":"ui_telemetry","systemPayload":{"uiEvent":{"event.name":"qwen-code.api_response"}}`
		failed  = `"type":"system","subtype":"ui_telemetry","systemPayload":{"uiEvent":{"event.name":"qwen-code.api_error","status_code":400,"error_message":"no"}}`
		served  = `"type":"user","daemonPromptId":"p1","message":{"parts":[{"text":"go"}]}`
		over    = `"type":"system","subtype":"turn_result","systemPayload":{"promptId":"p1","state":"cancelled"}`
		crashed = `"type":"system","subtype":"turn_result","systemPayload":{"promptId":"p1","state":"error","error":{"message":"no"}}`
		another = `"type":"system","subtype":"turn_result","systemPayload":{"promptId":"p0","state":"cancelled"}`
		whole   = `"type":"system","subtype":"turn_result","systemPayload":{"promptId":"p1","state":"completed"}`
		limited = `"type":"system","subtype":"ui_telemetry","systemPayload":{"uiEvent":{"event.name":"qwen-code.api_error","status_code":429,"error_message":"no"}}`
	)
	for _, c := range []struct {
		records []string
		state   state
		outcome adapters.Outcome
	}{
		{[]string{prompt}, prompted, ""},
		{[]string{prompt, call}, called, ""},
		{[]string{prompt, call, denied}, ended, adapters.Interrupted},
		{[]string{prompt, call, stopped}, ended, adapters.Interrupted},
		{[]string{prompt, call, result}, prompted, ""},
		{[]string{prompt, half}, ended, adapters.Interrupted},
		{[]string{prompt, replied, half}, ended, adapters.Completed},
		{[]string{prompt, failed}, ended, adapters.Failed},
		{[]string{prompt, limited}, prompted, ""},
		{[]string{served, over}, ended, adapters.Interrupted},
		{[]string{served, call, over}, ended, adapters.Interrupted},
		{[]string{served, crashed}, ended, adapters.Failed},
		{[]string{served, another}, prompted, ""},
		{[]string{served, call, denied, whole}, ended, adapters.Interrupted},
		{[]string{prompt, over}, prompted, ""},
	} {
		var f facts
		for i, rest := range c.records {
			r, err := parse(fmt.Appendf(nil, `{"uuid":"u%d","sessionId":"28d13494-faa6-407c-9f4d-d5221227ce0a","timestamp":"2026-11-25T13:00:%02dZ","cwd":"/p","version":"0.24.4",%s}`, i, i, rest))
			must.Do(t, err)
			f.apply(&r)
		}
		if f.turn.state != c.state || f.turn.outcome != c.outcome {
			t.Errorf("%q: state %d %q, want %d %q", c.records, f.turn.state, f.turn.outcome, c.state, c.outcome)
		}
	}
}

// What the program asks the model for itself counts: of such an answer only the record of its request states what it used. Answers of the conversation, which
// have a record of their own, count once (0.24.4).
func TestOwnRequestsCount(t *testing.T) {
	const head = `{"uuid":%q,"sessionId":"0a0a0a0a-0000-4000-8000-000000000001","timestamp":"2026-11-28T20:52:31Z","cwd":"/w",`
	const event = head + `"type":"system","subtype":"ui_telemetry","systemPayload":{"uiEvent":{"event.name":"qwen-code.api_response","model":"mock-2",` +
		`"input_token_count":100,"output_token_count":20,"cached_content_token_count":40,"thoughts_token_count":5,"prompt_id":%q}}}`
	const answer = head + `"type":"assistant","model":"mock-1","usageMetadata":{"promptTokenCount":100,"candidatesTokenCount":20,"thoughtsTokenCount":5,` +
		`"cachedContentTokenCount":40,"totalTokenCount":120}}`
	var f facts
	for n, id := range []string{"0a0a0a0a-0000-4000-8000-000000000001########0", "compress-1795899155376", "x#managed-auto-memory-extractor-446f053c#0", "x#general-purpose-4f#0"} {
		must.Do(t, f.Line(fmt.Appendf(nil, event, fmt.Sprint("event-", n), id)))
	}
	must.Do(t, f.Line(fmt.Appendf(nil, answer, "answer")))
	if got := f.ledger.Tokens(); got != (adapters.Tokens{Input: 180, Output: 60, CacheRead: 120, Reasoning: 15}) {
		t.Errorf("%+v", got)
	}
	if f.model != "mock-1" {
		t.Errorf("model %q", f.model)
	}
}

// A summary within a turn has the prompt of the turn: it is the answer that no record of the conversation follows (0.24.4).
func TestSummaryInTurnCounts(t *testing.T) {
	const head = `{"uuid":%q,"sessionId":"0a0a0a0a-0000-4000-8000-000000000001","timestamp":"2026-11-28T20:52:31Z","cwd":"/w",`
	const event = head + `"type":"system","subtype":"ui_telemetry","systemPayload":{"uiEvent":{"event.name":"qwen-code.api_response","model":"mock-1",` +
		`"input_token_count":%d,"output_token_count":20,"prompt_id":%q}}}`
	const answer = head + `"type":"assistant","model":"mock-1","usageMetadata":{"promptTokenCount":%d,"candidatesTokenCount":20,"totalTokenCount":120}}`
	const turn, other = "0a0a0a0a-0000-4000-8000-000000000001########0", "0a0a0a0a-0000-4000-8000-000000000001#managed-auto-memory-extractor-446f053c#0"
	for name, lines := range map[string][]string{
		"kept":        {fmt.Sprintf(event, "a", 5, turn), fmt.Sprintf(head, "b") + `"type":"system","subtype":"chat_compression"}`, fmt.Sprintf(event, "c", 7, turn), fmt.Sprintf(answer, "d", 7)},
		"dropped":     {fmt.Sprintf(event, "a", 5, turn), fmt.Sprintf(event, "c", 7, turn), fmt.Sprintf(answer, "d", 7)},
		"at its end":  {fmt.Sprintf(event, "c", 7, turn), fmt.Sprintf(answer, "d", 7), fmt.Sprintf(event, "a", 5, turn), fmt.Sprintf(head, "e") + `"type":"user"}`},
		"interleaved": {fmt.Sprintf(event, "a", 7, turn), fmt.Sprintf(event, "c", 5, other), fmt.Sprintf(answer, "d", 7)},
	} {
		var f facts
		for _, line := range lines {
			must.Do(t, f.Line([]byte(line)))
		}
		if got := f.ledger.Tokens(); got != (adapters.Tokens{Input: 12, Output: 40}) {
			t.Errorf("%s: %+v", name, got)
		}
	}
}
