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
