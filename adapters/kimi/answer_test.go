package kimi

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"rollcall/adapters"
	"rollcall/internal/must"
)

// requested returns what Kimi Code says before and with a request (2.1.0), whose preview may be of another command.
func requested(t *testing.T, tool, args, shown, options string) adapters.Request {
	t.Helper()
	quote := func(s string) string {
		out, err := json.Marshal(s)
		must.Do(t, err)
		return string(out)
	}
	const content = `"content":[{"type":"content","content":{"type":"text","text":%s}}]`
	talk := (&Adapter{}).Talk()
	for _, line := range []string{
		fmt.Sprintf(`{"method":"session/update","params":{"update":{"sessionUpdate":"tool_call","toolCallId":"1:c","title":%q,"kind":"execute","status":"pending",`+content+`}}}`,
			tool, quote(args)),
		fmt.Sprintf(`{"id":1,"method":"session/request_permission","params":{"sessionId":"s","options":%s,"toolCall":{"toolCallId":"1:c","title":%q,`+content+`}}}`,
			options, tool, quote(shown)),
	} {
		talk.Read([]byte(line))
	}
	list := talk.Waiting()
	if len(list) != 1 || len(list[0].Unknown) > 0 {
		t.Fatalf("%+v", list)
	}
	return list[0]
}

// The whole command is shown, and can be allowed if the request shows its beginning.
func TestAsksCommand(t *testing.T) {
	const options = `[{"optionId":"approve_once","name":"Approve once","kind":"allow_once"},{"optionId":"approve_always","name":"Approve for this session","kind":"allow_always"},` +
		`{"optionId":"reject","name":"Reject","kind":"reject_once"}]`
	long := "echo " + strings.Repeat("x", 60)
	for _, c := range []struct {
		command, shown string
		allowed        bool
	}{
		{"ls", "Requesting approval to Running: ls", true},
		{long, "Requesting approval to Running: " + long[:50] + "…", true},
		{"echo 🙂 more", "Requesting approval to Running: echo \uFFFD…", true},
		{"ls", "Requesting approval to Running: rm -rf x", false},
		{"ls; rm -rf x", "Requesting approval to Running: ls", false},
		{"ls", "Requesting approval to Running: …", false},
		{"ls", "", false},
	} {
		args, err := json.Marshal(map[string]any{"command": c.command, "timeout": 60})
		must.Do(t, err)
		r := requested(t, "Bash", string(args), c.shown, options)
		if r.Kind != adapters.AsksCommand || r.Text != c.command || r.CanAllow != c.allowed || !r.CanDeny {
			t.Errorf("%q: %+v", c.shown, r)
		}
	}
}

// A question is shown in its own words alone.
func TestAsksQuestion(t *testing.T) {
	r := requested(t, "AskUserQuestion", "{}", "Which colour?", `[{"optionId":"q0_opt_0","name":"Red","kind":"allow_once"},{"optionId":"q0_opt_1","name":"Blue","kind":"allow_once"},`+
		`{"optionId":"q0_skip","name":"Skip","kind":"reject_once"}]`)
	if r.Kind != adapters.AsksQuestion || r.Text != "Which colour?" || r.CanAllow || len(r.Questions) != 1 || len(r.Questions[0].Options) != 2 {
		t.Errorf("%+v", r)
	}
}
