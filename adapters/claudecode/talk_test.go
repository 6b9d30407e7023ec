package claudecode

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"rollcall/adapters"
	"rollcall/adapters/internal/agentfile"
)

// The lines are those of 2.1.329, shortened.
const (
	initLine  = `{"type":"system","subtype":"init","cwd":"/p","session_id":"1"}`
	askLine   = `{"type":"control_request","request_id":"c1","request":{"subtype":"can_use_tool","tool_name":"Bash","display_name":"Bash","input":{"command":"touch ../made","description":"Run a command"},"description":"Run a command","permission_suggestions":[{"type":"setMode","mode":"acceptEdits","destination":"session"}],"blocked_path":"/home","tool_use_id":"toolu_1"}}`
	questLine = `{"type":"control_request","request_id":"c2","request":{"subtype":"can_use_tool","tool_name":"AskUserQuestion","input":{"questions":[{"question":"Which colour?","header":"Colour","options":[{"label":"Red","description":"The colour Red"},{"label":"Blue","description":"The colour Blue"}],"multiSelect":false}]},"tool_use_id":"toolu_2","requires_user_interaction":true}}`
	endLine   = `{"duration_api_ms":123,"stop_reason":"end_turn","session_id":"1","type":"result","subtype":"success"}`
)

func reads(lines ...string) adapters.Talk {
	t := (&Adapter{}).Talk()
	for _, line := range lines {
		t.Read([]byte(line))
	}
	return t
}

func TestTalkTurns(t *testing.T) {
	x := reads("", "a warning", initLine, askLine)
	if !x.Working() || x.Turns() != 1 {
		t.Errorf("%t, %d", x.Working(), x.Turns())
	}
	x.Read([]byte(`{"type":"control_cancel_request","request_id":"c1"}`))
	x.Read([]byte(`{"type":"control_response","response":{"subtype":"success","request_id":"o1","response":{"still_queued":[]}}}`))
	x.Read([]byte(`{"type":"control_response","response":{"subtype":"error","request_id":"o2","error":"no such thing"}}`))
	x.Read([]byte(endLine))
	if x.Working() || len(x.Waiting()) > 0 || !x.Withdrawn("c1") || x.Withdrawn("c2") {
		t.Errorf("%t, %v", x.Working(), x.Waiting())
	}
	if done, err := x.Replied("o1"); !done || err != nil {
		t.Errorf("%t, %v", done, err)
	}
	if done, err := x.Replied("o2"); !done || err == nil || err.Error() != "no such thing" {
		t.Errorf("%t, %v", done, err)
	}
	if done, _ := x.Replied("o3"); done {
		t.Error("an order without a reply")
	}
	if line := string(x.Interrupt("o4")); line != `{"request":{"subtype":"interrupt"},"request_id":"o4","type":"control_request"}` {
		t.Error(line)
	}
	if line := string(x.Prompt("o5", "a\n\"b\"", true)); line != `{"message":{"content":[{"text":"a\n\"b\"","type":"text"}],"role":"user"},"type":"user"}` {
		t.Error(line)
	}
}

func TestTalkRequests(t *testing.T) {
	tests := map[string]struct {
		line string
		kind adapters.RequestKind
		text string
	}{
		"command": {askLine, adapters.AsksCommand, "touch ../made"},
		"unsandboxed": {strings.Replace(askLine, `"description":"Run a command"}`, `"dangerouslyDisableSandbox":true}`, 1), adapters.AsksPermission,
			"Bash\n{\n  \"command\": \"touch ../made\",\n  \"dangerouslyDisableSandbox\": true\n}"},
		"question": {questLine, adapters.AsksQuestion, "Which colour?"},
		"plan":     {`{"type":"control_request","request_id":"c1","request":{"subtype":"can_use_tool","tool_name":"ExitPlanMode","input":{"plan":"1. do it"}}}`, adapters.AsksPlan, "1. do it"},
		"plan with more": {`{"type":"control_request","request_id":"c1","request":{"subtype":"can_use_tool","tool_name":"ExitPlanMode","input":{"plan":"1. do it","allowedPrompts":[{"tool":"Bash","prompt":"anything"}],"x":1}}}`,
			adapters.AsksPlan, "1. do it\n\n{\n  \"x\": 1\n}"},
		"plan unknown": {`{"type":"control_request","request_id":"c1","request":{"subtype":"can_use_tool","tool_name":"ExitPlanMode","input":{}}}`, adapters.AsksPlan, "{}"},
		"file": {`{"type":"control_request","request_id":"c1","request":{"subtype":"can_use_tool","tool_name":"Write","input":{"file_path":"/a","content":"b"}}}`,
			adapters.AsksFileChange, "Write\n{\n  \"file_path\": \"/a\",\n  \"content\": \"b\"\n}"},
		"other": {`{"type":"control_request","request_id":"c1","request":{"subtype":"can_use_tool","tool_name":"WebFetch","input":{}}}`, adapters.AsksPermission, "WebFetch\n{}"},
	}
	for name, tt := range tests {
		list := reads(initLine, tt.line).Waiting()
		if len(list) != 1 || list[0].Kind != tt.kind || list[0].Text != tt.text || !list[0].CanDeny || list[0].CanAllow == (tt.kind == adapters.AsksQuestion) {
			t.Errorf("%s: %+v", name, list)
		}
	}
	for name, line := range map[string]string{
		"not a permission": `{"type":"control_request","request_id":"c1","request":{"subtype":"hook_callback"}}`,
		"no id":            `{"type":"control_request","request":{"subtype":"can_use_tool"}}`,
		"cut":              askLine[:80],
		"the transcript's": `{"type":"user","message":{"content":[{"type":"tool_result","content":"{\"type\":\"control_request\"}","tool_use_id":"x"}]}}`,
	} {
		if list := reads(initLine, line).Waiting(); len(list) > 0 {
			t.Errorf("%s: %+v", name, list)
		}
	}
	result := `{"type":"user","message":{"role":"user","content":[{"tool_use_id":"toolu_1","type":"tool_result","content":"done"}]}}`
	if list := reads(initLine, askLine, result).Waiting(); len(list) > 0 {
		t.Errorf("with a result: %+v", list)
	}
	double := strings.Replace(questLine, `"multiSelect":false}]`, `"multiSelect":false},{"question":"Which colour?"}]`, 1)
	if list := reads(double).Waiting(); len(list) != 1 || len(list[0].Questions) > 0 {
		t.Errorf("two questions with one text can't be told apart in the answer: %+v", list)
	}
}

func TestTalkAnswers(t *testing.T) {
	const planLine = `{"type":"control_request","request_id":"c4","request":{"subtype":"can_use_tool","tool_name":"ExitPlanMode","input":{"plan":"do it","allowedPrompts":[{"tool":"Bash","prompt":"acceptEdits"}]}}}`
	x := reads(initLine, askLine, questLine, planLine)
	for name, tt := range map[string]struct {
		id   string
		d    adapters.Decision
		want string // of the response
	}{
		"allow": {"c1", adapters.Decision{Verdict: adapters.AllowOnce}, `{"behavior":"allow","updatedInput":{"command":"touch ../made","description":"Run a command"}}`},
		"deny":  {"c1", adapters.Decision{Verdict: adapters.Deny, Message: "no"}, `{"behavior":"deny","message":"no"}`},
		"plan":  {"c4", adapters.Decision{Verdict: adapters.AllowOnce}, `{"behavior":"allow","updatedInput":{"plan":"do it"}}`},
		"reply": {"c2", adapters.Decision{Verdict: adapters.Reply, Answers: [][]string{{"Blue"}}},
			`{"behavior":"allow","updatedInput":{"answers":{"Which colour?":"Blue"},"questions":[{"header":"Colour","multiSelect":false,"options":[{"description":"The colour Red","label":"Red"},{"description":"The colour Blue","label":"Blue"}],"question":"Which colour?"}]}}`},
	} {
		line, err := x.Answer(tt.id, tt.d)
		if got := string(agentfile.Get(line, "response", "response")); err != nil || got != tt.want || agentfile.String(agentfile.Get(line, "response", "request_id")) != tt.id {
			t.Errorf("%s: %s, %v", name, line, err)
		}
		if strings.Contains(string(line), "acceptEdits") || strings.Contains(string(line), "updatedPermissions") {
			t.Errorf("%s changes a permission: %s", name, line)
		}
	}
	for name, tt := range map[string]struct {
		id   string
		d    adapters.Decision
		want error
	}{
		"another request":    {"c3", adapters.Decision{Verdict: adapters.AllowOnce}, adapters.ErrNotPending},
		"a question allowed": {"c2", adapters.Decision{Verdict: adapters.AllowOnce}, adapters.ErrNoSuchAnswer},
		"a command replied":  {"c1", adapters.Decision{Verdict: adapters.Reply, Answers: [][]string{{"x"}}}, adapters.ErrNoSuchAnswer},
	} {
		if line, err := x.Answer(tt.id, tt.d); !errors.Is(err, tt.want) || line != nil {
			t.Errorf("%s: %s, %v", name, line, err)
		}
	}
}

func TestCommandAnswerable(t *testing.T) {
	c, err := New(adapters.Config{Home: "/nonexistent"}).Command("claude", adapters.Task{Prompt: "go", Answerable: true})
	if err != nil || !c.Pipe || !slices.Contains(c.Args, "stdio") || !slices.Contains(c.Args, "default") || !strings.HasSuffix(c.Stdin, "}\n") {
		t.Errorf("%+v, %v", c, err)
	}
	if c, err := New(adapters.Config{Home: "/nonexistent"}).Command("claude", adapters.Task{Prompt: "go", Terminal: true, Answerable: true}); err != nil || c.Pipe {
		t.Errorf("%+v, %v", c, err)
	}
}

func FuzzTalk(f *testing.F) {
	f.Add(initLine + "\n" + askLine + "\n" + questLine + "\n" + endLine)
	f.Fuzz(func(_ *testing.T, text string) {
		x := reads(strings.Split(text, "\n")...)
		for _, r := range x.Waiting() {
			for _, d := range []adapters.Decision{{Verdict: adapters.AllowOnce}, {Verdict: adapters.Deny}} {
				_, _ = x.Answer(r.ID, d)
			}
		}
	})
}
