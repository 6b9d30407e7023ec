package claudecode

import (
	"testing"

	"rollcall/internal/must"
)

// TestFailure: the sentence of a failed run is found in its stream, also behind a cut line; a run that did not fail has none.
func TestFailure(t *testing.T) {
	for output, want := range map[string]string{
		`"cut":"x"}` + "\n" + `{"type":"assistant","error":"authentication_failed","message":{"content":[{"type":"text","text":"Not logged in"}]}}` + "\n" +
			`{"type":"result","subtype":"success","is_error":true,"result":"Not logged in · Please run /login","num_turns":1}` + "\n": "Not logged in · Please run /login",
		`{"type":"result","is_error":false,"result":"Done."}` + "\n": "",
		"panic: something\n": "",
	} {
		if got := (&Adapter{}).Failure([]byte(output)); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestDoing: the call that runs, then the beginning of the last answer.
func TestDoing(t *testing.T) {
	var p parser
	var f facts
	add := func(line string) {
		t.Helper()
		r, err := p.parse([]byte(line))
		must.Do(t, err)
		f.add(&r)
	}
	check := func(want, since string) {
		t.Helper()
		got, at := f.turn.doing()
		if got != want || !at.IsZero() && at.UTC().Format("15:04:05") != since || at.IsZero() != (since == "") {
			t.Errorf("%q since %v, want %q since %s", got, at, want, since)
		}
	}
	add(`{"type":"user","uuid":"u1","timestamp":"2026-11-25T10:00:00Z","message":{"role":"user","content":"Fix it"}}`)
	check("", "")
	add(`{"type":"assistant","uuid":"a1","parentUuid":"u1","timestamp":"2026-11-25T10:00:02Z","message":{"id":"m1","content":[{"type":"text","text":"Let me reproduce it first."}]}}`)
	check("Let me reproduce it first.", "10:00:02")
	add(`{"type":"assistant","uuid":"a2","parentUuid":"a1","timestamp":"2026-11-25T10:00:03Z","message":{"id":"m1","stop_reason":"tool_use","content":[{"type":"tool_use","id":"t1","name":"Bash","input":{"description":"Run","command":"make test"}}]}}`)
	check("make test", "10:00:03")
	f2 := f
	f = facts{}
	add(`{"type":"assistant","uuid":"a3","timestamp":"2026-11-25T10:00:03Z","message":{"id":"m1","stop_reason":"tool_use","content":[{"type":"tool_use","id":"t1","name":"AskUserQuestion","input":{"questions":[{"question":"Which region?"}]}}]}}`)
	check("Which region?", "10:00:03") // no name of a tool before the question
	f = facts{}
	add(`{"type":"assistant","uuid":"a3","timestamp":"2026-11-25T10:00:03Z","message":{"id":"m1","stop_reason":"tool_use","content":[{"type":"tool_use","id":"t1","name":"ExitPlanMode","input":{"plan":"## Plan\n\n1. **Redis**"}}]}}`)
	check("Plan\n\n1. Redis", "10:00:03") // without the marks of Markdown
	f = f2
	add(`{"type":"user","uuid":"u2","parentUuid":"a2","timestamp":"2026-11-25T10:03:00Z","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"ok"}]}}`)
	check("Let me reproduce it first.", "10:03:00")
	add(`{"type":"assistant","uuid":"a3","parentUuid":"u2","timestamp":"2026-11-25T10:03:02Z","message":{"id":"m2","stop_reason":"tool_use","content":[{"type":"tool_use","id":"t2","name":"Read","input":{"file_path":"/src/a.go"}}]}}`)
	check("Read /src/a.go", "10:03:02")
	add(`{"type":"user","uuid":"u3","parentUuid":"a3","timestamp":"2026-11-25T10:03:03Z","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t2","content":"x"}]}}`)
	add(`{"type":"assistant","uuid":"a4","parentUuid":"u3","timestamp":"2026-11-25T10:03:09Z","message":{"id":"m3","stop_reason":"end_turn","content":[{"type":"text","text":"Done: 3 findings."}]}}`)
	check("Done: 3 findings.", "10:03:09")
}
