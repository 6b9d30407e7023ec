package codex

import (
	"testing"

	"rollcall/internal/must"
)

// TestFailure: why a run failed is found in its events, the failed turn before an error.
func TestFailure(t *testing.T) {
	for output, want := range map[string]string{
		`{"type":"error","message":"stream disconnected"}` + "\n" + `{"type":"turn.failed","error":{"message":"You hit your usage limit."}}` + "\n": "You hit your usage limit.",
		`{"type":"error","message":"stream disconnected"}` + "\n":                                                                                   "stream disconnected",
		`{"type":"turn.completed"}` + "\n": "",
	} {
		if got := (&Adapter{}).Failure([]byte(output)); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestDoing: the call that runs, then the last answer of the turn.
func TestDoing(t *testing.T) {
	var f facts
	for _, c := range []struct{ line, want string }{
		{`{"timestamp":"2026-11-25T10:00:00Z","type":"event_msg","payload":{"type":"task_started","turn_id":"1"}}`, ""},
		{`{"timestamp":"2026-11-25T10:00:01Z","type":"response_item","payload":{"type":"function_call","name":"exec_command","arguments":"{\"cmd\":\"make test\"}","call_id":"c"}}`, "make test"},
		{`{"timestamp":"2026-11-25T10:00:09Z","type":"response_item","payload":{"type":"function_call_output","call_id":"c","output":"ok"}}`, ""},
		{`{"timestamp":"2026-11-25T10:00:10Z","type":"event_msg","payload":{"type":"task_complete","turn_id":"1","last_agent_message":"All green."}}`, "All green."},
		{`{"timestamp":"2026-11-25T10:01:00Z","type":"event_msg","payload":{"type":"task_started","turn_id":"2"}}`, ""},
	} {
		r, err := parse([]byte(c.line))
		must.Do(t, err)
		f.apply(r)
		if got, _ := f.doing(); got != c.want {
			t.Errorf("after %s: %q, want %q", c.line, got, c.want)
		}
	}
}
