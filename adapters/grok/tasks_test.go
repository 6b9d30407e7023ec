package grok

import (
	"testing"

	"rollcall/internal/must"
)

// TestTasks: the last list of tasks counts, and a reminder that a task has ended is no prompt of the user's (forms of 1.0.41).
func TestTasks(t *testing.T) {
	var f updates
	add := func(update string) {
		must.Do(t, f.Line([]byte(`{"timestamp":1,"method":"_x.ai/session/update","params":{"sessionId":"s","update":`+update+`,"_meta":{"eventId":"s-1","agentTimestampMs":1795909720253}}}`)))
	}
	add(`{"sessionUpdate":"user_message_chunk","content":{"type":"text","text":"start it"},"_meta":{"promptIndex":0}}`)
	add(`{"sessionUpdate":"background_tasks","tasks":[{"task_id":"1","command":"npm run dev","kind":"bash","status":"running","started_at":"2026-11-28T23:48:40.252844517+00:00"},` +
		`{"task_id":"2","command":"make","kind":"bash","status":"completed","started_at":"2026-11-28T23:48:40+00:00"},{"task_id":"3","command":"","kind":"agent","status":"running","started_at":"2026-11-28T23:48:40+00:00"}]}`)
	if len(f.tasks) != 1 || f.tasks[0].What != "npm run dev" || f.tasks[0].Since.IsZero() || !f.tasks[0].TurnFollows {
		t.Errorf("%+v", f.tasks)
	}
	add(`{"sessionUpdate":"background_tasks","tasks":[{"task_id":"1","command":"npm run dev","kind":"bash","status":"completed","started_at":"2026-11-28T23:48:40+00:00"}]}`)
	prompted := f.prompted
	add(`{"sessionUpdate":"user_message_chunk","content":{"type":"text","text":"<system-reminder>\nBackground task \"1\" completed (exit code: 0)."},"_meta":{"promptIndex":1}}`)
	if len(f.tasks) != 0 || f.lastPrompt != "start it" || !f.prompted.Equal(prompted) || !f.byItself {
		t.Errorf("%q, %+v", f.lastPrompt, f.tasks)
	}
	add(`{"sessionUpdate":"user_message_chunk","content":{"type":"text","text":"go on"},"_meta":{"promptIndex":2}}`)
	if f.lastPrompt != "go on" || f.byItself {
		t.Errorf("%q", f.lastPrompt)
	}
}
