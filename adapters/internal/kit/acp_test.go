package kit

import (
	"errors"
	"strconv"
	"strings"
	"testing"

	"rollcall/adapters"
)

// acpFixture is a conversation whose process has opened the session "s1" (form of Gemini CLI 0.61.0).
func acpFixture(t *testing.T) adapters.Talk {
	t.Helper()
	talk := (&ACP{Agent: "x", Where: "X"}).Talk()
	read(talk, `{"jsonrpc":"2.0","id":"rollcall-initialize","result":{"protocolVersion":1}}`,
		`{"jsonrpc":"2.0","id":"rollcall-new","result":{"sessionId":"s1","modes":{}}}`)
	return talk
}

func read(talk adapters.Talk, lines ...string) {
	for _, line := range lines {
		talk.Read([]byte(line))
	}
}

func TestACPOpens(t *testing.T) {
	a := &ACP{Agent: "x"}
	if got := a.Stdin(&adapters.Task{Dir: "/p"}); !strings.Contains(got, `"method":"session/new","params":{"cwd":"/p","mcpServers":[]}`) || strings.Count(got, "\n") != 2 {
		t.Error(got)
	}
	resume := a.Stdin(&adapters.Task{Dir: "/p", Resume: "old"})
	if !strings.Contains(resume, `"id":"rollcall-load:old","method":"session/load"`) {
		t.Error(resume)
	}
	for answer, want := range map[string]string{
		`{"jsonrpc":"2.0","id":"rollcall-load:old","result":null}`:                                                                        "old",
		`{"jsonrpc":"2.0","id":"rollcall-new","result":{"sessionId":"new"}}`:                                                              "new",
		`{"jsonrpc":"2.0","id":"rollcall-new","error":{"code":-32000,"message":"Authentication required"}}`:                               "Authentication required",
		`{"jsonrpc":"2.0","id":"rollcall-new","error":{"code":-32603,"message":"Internal error","data":{"details":"no API key is set"}}}`: "no API key is set",
	} {
		talk := a.Talk()
		if line := talk.Prompt("o", "hi", false); line != nil {
			t.Errorf("a prompt without a session: %s", line)
		}
		read(talk, answer)
		session, err := talk.(adapters.Opener).Opened()
		if err != nil {
			session = err.Error()
		}
		if session != want {
			t.Errorf("%s: %q, want %q", answer, session, want)
		}
	}
}

func TestACPTurn(t *testing.T) {
	talk := acpFixture(t)
	line := string(talk.Prompt("o1", "hi\nthere", false))
	if want := `{"jsonrpc":"2.0","id":"o1","method":"session/prompt","params":{"prompt":[{"text":"hi\nthere","type":"text"}],"sessionId":"s1"}}` + "\n" +
		`{"jsonrpc":"2.0","id":"o1.taken","method":"_rollcall/taken","params":{}}`; line != want {
		t.Errorf("%s\nwant\n%s", line, want)
	}
	if done, _ := talk.Replied("o1"); done || talk.Working() {
		t.Error("a turn before the agent has said anything")
	}
	read(talk, `{"jsonrpc":"2.0","id":"o1.taken","error":{"code":-32601,"message":"Method not found"}}`)
	if done, err := talk.Replied("o1"); !done || err != nil || !talk.Working() || talk.Turns() != 1 {
		t.Error("the prompt was taken", done, err)
	}
	if line := talk.Prompt("o2", "more", true); line != nil {
		t.Errorf("a second prompt during a turn: %s", line)
	}
	read(talk, `{"jsonrpc":"2.0","id":"o1","result":{"stopReason":"end_turn"}}`)
	if talk.Working() {
		t.Error("the turn is over")
	}
	read(talk, `{"jsonrpc":"2.0","id":"o3","error":{"code":-32602,"message":"bad"}}`, `{"jsonrpc":"2.0","id":"o3.taken","error":{}}`)
	if done, err := talk.Replied("o3"); !done || err == nil || talk.Working() || talk.Turns() != 1 {
		t.Error("a prompt that was refused", done, err)
	}
}

const acpAsks = `{"jsonrpc":"2.0","id":0,"method":"session/request_permission","params":{"sessionId":"s1","toolCall":{"toolCallId":"c1","status":"pending",` +
	`"title":"TITLE","kind":"execute","content":CONTENT,"rawInput":INPUT},"options":[{"optionId":"always","name":"Always","kind":"allow_always"},` +
	`{"optionId":"once","name":"Allow","kind":"allow_once"},{"optionId":"no","name":"Reject","kind":"reject_once"}]}}`

func ask(title, input, content string) string {
	return strings.NewReplacer("TITLE", title, "INPUT", input, "CONTENT", content).Replace(acpAsks)
}

func TestACPRequest(t *testing.T) {
	for _, c := range []struct {
		line, text string
		kind       adapters.RequestKind
	}{
		{ask("touch", `{"command":"touch a && rm b","description":"d"}`, "[]"), "touch a && rm b", adapters.AsksCommand},
		{ask("touch", `{"command":"touch a","is_background":true}`, "[]"), "touch\n{\n  \"command\": \"touch a\",\n  \"is_background\": true\n}", adapters.AsksPermission},
		{strings.Replace(ask("mcp run", `{"command":"ls"}`, "[]"), "execute", "other", 1), "mcp run\n{\n  \"command\": \"ls\"\n}", adapters.AsksPermission},
		{ask("touch a", "null", "[]"), "touch a", adapters.AsksPermission},
		{strings.Replace(ask("edit", "null", `[{"type":"diff","path":"/p/a","oldText":"1 < 2","newText":"3"}]`), "execute", "edit", 1),
			"edit\n{\n  \"file_path\": \"/p/a\",\n  \"new_string\": \"3\",\n  \"old_string\": \"1 < 2\"\n}", adapters.AsksFileChange},
		{ask("web", `"https://x"`, `[{"type":"content","content":{"type":"text","text":"t"}}]`),
			"web\n{\n  \"content\": [\n    {\n      \"type\": \"content\",\n      \"content\": {\n        \"type\": \"text\",\n        \"text\": \"t\"\n      }\n    }\n  ],\n  \"input\": \"https://x\"\n}",
			adapters.AsksPermission},
	} {
		talk := acpFixture(t)
		read(talk, c.line)
		list := talk.Waiting()
		if len(list) != 1 || list[0].Text != c.text || list[0].Kind != c.kind || !list[0].CanAllow || !list[0].CanDeny || list[0].ID != "0" {
			t.Errorf("%s: %+v", c.line, list)
		}
	}
}

const acpOver = `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s1","update":{"sessionUpdate":"tool_call_update","toolCallId":"c1","status":"failed"}}}`

func TestACPAnswer(t *testing.T) {
	talk := acpFixture(t)
	read(talk, ask("touch", `{"command":"touch a"}`, "[]"))
	for verdict, want := range map[adapters.Verdict]string{
		adapters.AllowOnce: `{"jsonrpc":"2.0","id":0,"result":{"outcome":{"optionId":"once","outcome":"selected"}}}`,
		adapters.Deny:      `{"jsonrpc":"2.0","id":0,"result":{"outcome":{"optionId":"no","outcome":"selected"}}}`,
	} {
		if got, err := talk.Answer("0", adapters.Decision{Verdict: verdict}); err != nil || string(got) != want {
			t.Errorf("%s: %s, %v", verdict, got, err)
		}
	}
	if got := string(talk.Interrupt("i")); got != `{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"s1"}}`+"\n"+
		`{"jsonrpc":"2.0","id":0,"result":{"outcome":{"outcome":"cancelled"}}}` {
		t.Error(got)
	}
	read(talk, acpOver)
	if talk.Withdrawn("0") || len(talk.Waiting()) != 0 {
		t.Error("it was answered, and the call is over")
	}
	other := acpFixture(t)
	read(other, ask("touch", `{"command":"touch a"}`, "[]"), acpOver)
	if !other.Withdrawn("0") || len(other.Waiting()) != 0 {
		t.Error("the call is over")
	}
	if _, err := talk.Answer("0", adapters.Decision{Verdict: adapters.AllowOnce}); !errors.Is(err, adapters.ErrNotPending) {
		t.Error(err)
	}
	always := strings.Replace(acpAsks, `"kind":"allow_once"`, `"kind":"allow_always"`, 1)
	read(talk, strings.NewReplacer("TITLE", "x", "INPUT", "null", "CONTENT", "[]").Replace(always))
	if list := talk.Waiting(); len(list) != 1 || list[0].CanAllow {
		t.Errorf("it only offers to allow always: %+v", list)
	}
	read(talk, `{"jsonrpc":"2.0","id":"rollcall-x"}`, ask("", "null", "[]"))
	if list := talk.Waiting(); len(list) != 1 || list[0].CanAllow || !list[0].CanDeny {
		t.Errorf("nothing shows what it asks for: %+v", list)
	}
}

// Of several options that allow once, the one that changes no permission mode is chosen (a plan of Qwen Code 0.24.4).
// A call that asks questions is answered beside the option, and can't be allowed without answers.
func TestACPQuestion(t *testing.T) {
	talk := (&ACP{Agent: "x", Questions: func(call []byte) ([]adapters.Question, bool) {
		return []adapters.Question{{ID: "0", Text: "Which?", Options: []adapters.Option{{Label: "Red"}, {Label: "Blue"}}, Several: true}}, strings.Contains(string(call), "asks")
	}}).Talk()
	const options = `"options":[{"optionId":"once","name":"Submit","kind":"allow_once"},{"optionId":"no","name":"Cancel","kind":"reject_once"}]`
	read(talk, `{"id":7,"method":"session/request_permission","params":{"toolCall":{"toolCallId":"c1","title":"Ask","rawInput":{"x":1},"_meta":{"kind":"asks"}},`+options+`}}`,
		`{"id":8,"method":"session/request_permission","params":{"toolCall":{"toolCallId":"c2","title":"other","rawInput":{"x":1}},`+options+`}}`)
	list := talk.Waiting()
	if len(list) != 2 || list[0].Kind != adapters.AsksQuestion || list[0].CanAllow || !list[0].CanDeny || list[0].Text != "Which?" || list[1].Kind != adapters.AsksPermission || !list[1].CanAllow {
		t.Fatalf("%+v", list)
	}
	if _, err := talk.Answer("7", adapters.Decision{Verdict: adapters.AllowOnce}); !errors.Is(err, adapters.ErrNoSuchAnswer) {
		t.Errorf("allowed without answers: %v", err)
	}
	line, err := talk.Answer("7", adapters.Decision{Verdict: adapters.Reply, Answers: [][]string{{"Red", "Blue"}}})
	if want := `{"jsonrpc":"2.0","id":7,"result":{"answers":{"0":"Red, Blue"},"outcome":{"optionId":"once","outcome":"selected"}}}`; err != nil || string(line) != want {
		t.Errorf("%s, %v; want %s", line, err, want)
	}
}

// The arguments of a call come before the request, as a text that grows (Kimi Code 2.1.0, whose request shows 50 characters of a command). Without the whole of
// them, or beside those of another call, it can only be denied.
func TestACPApart(t *testing.T) {
	const ask = `{"id":1,"method":"session/request_permission","params":{"sessionId":"s","toolCall":{"toolCallId":"c1","title":"Bash",` +
		`"content":[{"type":"content","content":{"type":"text","text":"Requesting approval to Running: touch a && r…"}}]},"options":[` +
		`{"optionId":"approve_once","name":"Approve once","kind":"allow_once"},{"optionId":"reject","name":"Reject","kind":"reject_once"}]}}`
	update := func(members string) string {
		return `{"method":"session/update","params":{"sessionId":"s","update":{"toolCallId":"c1",` + members + `}}}`
	}
	text := func(args string) string {
		return update(`"status":"in_progress","content":[{"type":"content","content":{"type":"text","text":` + strconv.Quote(args) + `}}]`)
	}
	const whole = `{"command":"touch a && rm -rf b"}`
	begun := update(`"title":"Bash","kind":"execute","status":"pending"`)
	for _, c := range []struct {
		name    string
		before  []string
		allowed bool
	}{
		{"a text that grows", []string{begun, text(`{"command":"touch a`), text(whole)}, true},
		{"arguments", []string{begun, update(`"rawInput":` + whole)}, true},
		{"a part", []string{begun, text(`{"command":"touch a`)}, false},
		{"more than the whole", []string{begun, text(whole), text(whole + `{`)}, false},
		{"another text", []string{begun, text(whole), text(`runs`)}, false},
		{"another call", []string{begun, text(whole), update(`"title":"Agent"`)}, false},
		{"nothing", nil, false},
	} {
		talk := (&ACP{Agent: "x", Apart: true}).Talk()
		read(talk, append(c.before, ask)...)
		list := talk.Waiting()
		if len(list) != 1 || list[0].CanAllow != c.allowed || !list[0].CanDeny {
			t.Errorf("%s: %+v", c.name, list)
			continue
		}
		if c.allowed && (list[0].Text != "touch a && rm -rf b" || list[0].Kind != adapters.AsksCommand) {
			t.Errorf("%s: %+v", c.name, list[0])
		}
	}
}

// The options of a call can be the answers to its question.
func TestACPChoices(t *testing.T) {
	talk := (&ACP{Agent: "x", Choices: func(call []byte, options []ACPOption) (adapters.Question, bool) {
		q := adapters.Question{Text: "Which?"}
		for _, o := range options {
			if o.Kind == "allow_once" {
				q.Options = append(q.Options, adapters.Option{Label: o.Name})
			}
		}
		return q, true
	}}).Talk()
	read(talk, `{"id":7,"method":"session/request_permission","params":{"toolCall":{"toolCallId":"c1","title":"Ask"},"options":[{"optionId":"q0_opt_0","name":"Red","kind":"allow_once"},`+
		`{"optionId":"q0_opt_1","name":"Blue","kind":"allow_once"},{"optionId":"q0_skip","name":"Skip","kind":"reject_once"}]}}`)
	list := talk.Waiting()
	if len(list) != 1 || list[0].Kind != adapters.AsksQuestion || list[0].CanAllow || !list[0].CanDeny || len(list[0].Questions) != 1 {
		t.Fatalf("%+v", list)
	}
	if _, err := talk.Answer("7", adapters.Decision{Verdict: adapters.AllowOnce}); !errors.Is(err, adapters.ErrNoSuchAnswer) {
		t.Errorf("allowed: %v", err)
	}
	for label, want := range map[string]string{"Red": "q0_opt_0", "Blue": "q0_opt_1"} {
		line, err := talk.Answer("7", adapters.Decision{Verdict: adapters.Reply, Answers: [][]string{{label}}})
		if err != nil || string(line) != `{"jsonrpc":"2.0","id":7,"result":{"outcome":{"optionId":"`+want+`","outcome":"selected"}}}` {
			t.Errorf("%s: %s, %v", label, line, err)
		}
	}
}

func TestACPOnce(t *testing.T) {
	plan := []ACPOption{{ID: "restore_previous", Kind: "allow_once"}, {ID: "proceed_always", Kind: "allow_always"}, {ID: "proceed_once", Kind: "allow_once"}, {ID: "cancel", Kind: "reject_once"}}
	for once, want := range map[string]string{"": "restore_previous", "proceed_once": "proceed_once", "proceed_always": "restore_previous"} {
		if got := (&ACP{Once: once}).Option(plan, adapters.AllowOnce); got != want {
			t.Errorf("%q: %s, want %s", once, got, want)
		}
	}
}

func FuzzACP(f *testing.F) {
	f.Add([]byte(ask("touch", `{"command":"touch a"}`, "[]")))
	f.Add([]byte(`{"jsonrpc":"2.0","id":"o.taken","error":{}}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		talk := acpFixture(t)
		talk.Read(line)
		for _, r := range talk.Waiting() {
			if _, err := talk.Answer(r.ID, adapters.Decision{Verdict: adapters.AllowOnce}); r.CanAllow != (err == nil) {
				t.Errorf("%+v: %v", r, err)
			}
		}
		talk.Interrupt("i")
	})
}

// The reply to a prompt says how its turn ended (Gemini CLI 0.61.0, Qwen Code 0.24.4).
func TestACPEnded(t *testing.T) {
	for reply, want := range map[string]adapters.Outcome{
		`"result":{"stopReason":"end_turn"}`:            adapters.Completed,
		`"result":{"stopReason":"cancelled"}`:           adapters.Interrupted,
		`"result":{"stopReason":"max_tokens"}`:          "",
		`"error":{"code":400,"message":"mock failure"}`: adapters.Failed,
	} {
		talk := acpFixture(t)
		talk.Prompt("o1", "hi", false)
		read(talk, `{"jsonrpc":"2.0","id":"o1.taken","error":{"code":-32601,"message":"no such method"}}`, `{"jsonrpc":"2.0","id":"o1",`+reply+`}`)
		if got := talk.(adapters.TurnEnder).Ended(); got != want || talk.Working() {
			t.Errorf("%s: %q, want %q", reply, got, want)
		}
	}
}

// A request with a member that the protocol does not have can only be denied, and what a command has beside its text is shown.
func TestACPMembers(t *testing.T) {
	plain := ask("ls", `{"command":"ls"}`, "[]")
	diff := strings.Replace(ask("edit", "null", `[{"type":"diff","path":"/p/a","oldText":"1","newText":"2","mode":"0777"}]`), "execute", "edit", 1)
	for line, member := range map[string]string{
		strings.Replace(plain, `"status"`, `"environment":{"A":"b"},"status"`, 1): "toolCall.environment",
		strings.Replace(plain, `"sessionId"`, `"host":"far","sessionId"`, 1):      "host",
		strings.Replace(plain, `"name"`, `"scope":"all","name"`, 1):               "options[].scope",
		diff: "toolCall.content[].mode",
	} {
		talk := acpFixture(t)
		read(talk, line)
		list := talk.Waiting()
		if len(list) != 1 || len(list[0].Unknown) != 1 || list[0].Unknown[0] != member || list[0].CanAllow || !list[0].CanDeny {
			t.Fatalf("%s: %+v", line, list)
		}
		if _, err := talk.Answer("0", adapters.Decision{Verdict: adapters.AllowOnce}); !errors.Is(err, adapters.ErrNotAllowed) || !strings.Contains(err.Error(), member) {
			t.Errorf("%s: %v", line, err)
		}
		if _, err := talk.Answer("0", adapters.Decision{Verdict: adapters.Deny}); err != nil {
			t.Errorf("%s: %v", line, err)
		}
	}
	talk := acpFixture(t)
	read(talk, strings.Replace(ask("ls", `{"command":"ls"}`, `[{"type":"content","content":{"type":"text","text":"it leaves the sandbox"}}]`), `"status"`, `"locations":[{"path":"/etc"}],"status"`, 1))
	if list := talk.Waiting(); len(list) != 1 || len(list[0].Details) != 2 || !strings.Contains(list[0].Details[0].Text, "it leaves the sandbox") || !strings.Contains(list[0].Details[1].Text, "/etc") {
		t.Errorf("%+v", list)
	}
}
