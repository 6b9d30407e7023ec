package claudecode

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"time"

	"rollcall/adapters"
	"rollcall/adapters/internal/pane"
	"rollcall/internal/must"
	"rollcall/proc"
)

// The options of 2.1.100 and 2.1.329: only "Yes" allows once.
func TestOptions(t *testing.T) {
	for option, want := range map[string][2]bool{
		"Yes": {true, false}, "No": {false, true}, "No, and tell Claude what to do differently (esc)": {false, true},
		"Yes, and don't ask again for touch commands": {}, "Yes, and switch to auto mode": {}, "Yes, allow all edits during this session": {},
		"yes": {}, "None of them": {}, "Nothing": {},
	} {
		if got := [2]bool{allows(option), denies(option)}; got != want {
			t.Errorf("%q: %v", option, got)
		}
	}
}

// noPane is a pane with a name alone.
type noPane struct{ pane.Pane }

func (noPane) Name() string { return "a pane" }

// Not everything that a command gets is in its prompt, such as that it leaves its sandbox.
func TestDescribeUnsandboxed(t *testing.T) {
	rule, dots := strings.Repeat("─", 100), strings.Repeat("╌", 100)
	dialog, _ := pane.FindDialog([]string{rule, " Bash command (unsandboxed)", dots, " touch a", dots, " Do you want to proceed?", " ❯ 1. Yes", "   2. No"})
	for input, want := range map[string]adapters.RequestKind{`{"command":"touch a","timeout":1}`: adapters.AsksCommand, `{"command":"touch a","dangerouslyDisableSandbox":true}`: adapters.AsksPermission} {
		p := &permissionPrompt{pane: noPane{}, dialog: dialog}
		err := p.describe([]openCall{{id: "1", name: bashTool, input: input, command: "touch a"}}, entry{})
		if r := p.request; err != nil || r.Kind != want || p.command != "touch a" || want == adapters.AsksPermission && !strings.Contains(r.Text, "dangerouslyDisableSandbox") {
			t.Errorf("%s: %+v, %v", input, r, err)
		}
	}
}

// Which call a prompt is about must be beyond doubt.
func TestDescribe(t *testing.T) {
	e := entry{since: time.UnixMilli(1795236204750)}
	dialog := func(text ...string) *pane.Dialog {
		rule, dots := strings.Repeat("─", 100), strings.Repeat("╌", 100)
		screen := append(append([]string{rule, " Bash command", dots}, text...), dots, " Do you want to proceed?", " ❯ 1. Yes", "   2. No")
		d, ok := pane.FindDialog(screen)
		if !ok {
			t.Fatal(text)
		}
		return d
	}
	bash := func(id, command, description string) openCall {
		return openCall{id: id, name: bashTool, input: fmt.Sprintf(`{"command":%q}`, command), command: command, description: description}
	}
	for name, tt := range map[string]struct {
		dialog *pane.Dialog
		calls  []openCall
		id     string // "" : it can't be answered
		allow  bool
	}{
		"one":                 {dialog(" touch a"), []openCall{bash("1", "touch a", "")}, "1@1795236204750", true},
		"the second":          {dialog(" touch ab"), []openCall{bash("1", "touch a", ""), bash("2", "touch ab", "")}, "2@1795236204750", true},
		"a broken line":       {dialog(" │ touch a", " │ b"), []openCall{bash("1", "touch a b", "")}, "", false},
		"two lines":           {dialog(" │ touch a", " │ b"), []openCall{bash("1", "touch a\nb", "")}, "1@1795236204750", true},
		"another command":     {dialog(" touch b"), []openCall{bash("1", "touch a", "")}, "", false},
		"blanks":              {dialog(" rm -rf ./build /srv/data"), []openCall{bash("1", "rm -rf ./build/srv/data", "")}, "", false},
		"cut":                 {dialog(" touch a…"), []openCall{bash("1", "touch a; rm -rf b", "")}, "", false},
		"two that look alike": {dialog(" touch a b"), []openCall{bash("1", "touch a b", ""), bash("2", "touch ab", "")}, "1@1795236204750", false},
		"twice the same":      {dialog(" touch a"), []openCall{bash("1", "touch a", ""), bash("2", "touch a", "")}, "1@1795236204750", false},
		"of a sub-agent":      {dialog(" touch a"), []openCall{{id: "1", name: bashTool, command: "touch a", inner: true}}, "", false},
		"a sub-agent too":     {dialog(" touch a b"), []openCall{bash("1", "touch a b", ""), {id: "2", name: bashTool, command: "touch  ab", inner: true}}, "1@1795236204750", false},
		"no call":             {dialog(" touch a"), nil, "", false},
		"a file":              {&pane.Dialog{Title: "Edit file", Text: "x"}, []openCall{{id: "1", name: "Edit", input: `{"a":1}`}}, "1@1795236204750", false},
		"a file of two":       {&pane.Dialog{Title: "Edit file", Text: "x"}, []openCall{{id: "1", name: "Edit"}, {id: "2", name: "Edit"}}, "", false},
	} {
		p := &permissionPrompt{pane: noPane{}, dialog: tt.dialog}
		p.request.CanAllow = true
		err := p.describe(tt.calls, e)
		if tt.id == "" {
			if !errors.Is(err, adapters.ErrAnswerElsewhere) {
				t.Errorf("%s: %+v, %v", name, p.request, err)
			}
			continue
		}
		if err != nil || p.request.ID != tt.id || p.request.CanAllow != tt.allow || p.request.Text == "" {
			t.Errorf("%s: %+v, %v", name, p.request, err)
		}
	}
}

func TestOpenCallsOf(t *testing.T) {
	lines := []string{
		`{"type":"user","message":{"role":"user","content":"go"}}`,
		`{"type":"assistant","message":{"content":[{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"ls"}}]}}`,
		`{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t1","content":"x"}]}}`,
		`{"type":"assistant","isSidechain":true,"message":{"content":[{"type":"tool_use","id":"t9","name":"Bash","input":{"command":"side"}}]}}`,
		`{"type":"assistant","message":{"content":[{"type":"tool_use","id":"t2","name":"Bash","input":{"command":"touch a","description":"d"}}]}}`,
		`{"type":"assistant","message":{"content":[{"type":"tool_use","id":"t3","name":"Edit","input":{"file_path":"x"}}]}}`,
	}
	path := filepath.Join(t.TempDir(), "x.jsonl")
	must.Do(t, os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), 0o600))
	for call, want := range map[string]result{"t1": resultGiven, "t2": noResult, "t8": noResult} {
		if got := resultOf(t.Context(), path, call); got != want {
			t.Errorf("result of %s: %d, want %d", call, got, want)
		}
	}
	calls, err := openCallsOf(t.Context(), path)
	if err != nil || len(calls) != 3 || calls[0].id != "t9" || !calls[0].inner || calls[1].id != "t2" || calls[1].inner || calls[1].command != "touch a" || calls[1].description != "d" || calls[2].name != "Edit" || calls[2].input != `{"file_path":"x"}` {
		t.Errorf("%+v, %v", calls, err)
	}
}

// A call of a sub-agent with a transcript of its own counts as well.
func TestOpenCallsOfAll(t *testing.T) {
	name := "x[1]*?" + `\d{a}` + ".jsonl"
	if runtime.GOOS == "windows" {
		name = "x[1]{a}.jsonl"
	}
	path := filepath.Join(t.TempDir(), name)
	folder := filepath.Join(strings.TrimSuffix(path, ".jsonl"), "subagents")
	must.Do(t, os.MkdirAll(folder, 0o700))
	for file, id := range map[string]string{path: "t1", filepath.Join(folder, "agent-a.jsonl"): "t2"} {
		line := `{"type":"assistant","message":{"content":[{"type":"tool_use","id":"` + id + `","name":"Bash","input":{"command":"ls"}}]}}` + "\n"
		must.Do(t, os.WriteFile(file, []byte(line), 0o600))
	}
	calls, err := openCallsOfAll(t.Context(), path)
	if err != nil || len(calls) != 2 || calls[0].inner || !calls[1].inner || calls[1].id != "t2" {
		t.Errorf("%+v, %v", calls, err)
	}
}

// rejectedLine is the result of a call that the user did not allow (2.1.332).
func rejectedLine(use string) string {
	return userLine(fmt.Sprintf(`[{"type":"tool_result","content":"The user doesn't want to proceed with this tool use. The tool use was rejected.","is_error":true,"tool_use_id":%q}]`, use))
}

// A decision is confirmed by the record of the call alone: the same prompt can be answered in its terminal at the same moment.
func TestConfirm(t *testing.T) {
	failed := userLine(`[{"type":"tool_result","content":"Exit code 1","is_error":true,"tool_use_id":"t1"}]`)
	for _, c := range []struct {
		name, result string
		verdict      adapters.Verdict
		want         string // "": confirmed
	}{
		{"allowed", resultLine("t1"), adapters.AllowOnce, ""},
		{"allowed, and it failed", failed, adapters.AllowOnce, ""},
		{"denied", rejectedLine("t1"), adapters.Deny, ""},
		{"denied while it was allowed", resultLine("t1"), adapters.Deny, "it was allowed in its terminal"},
		{"denied while it was allowed, and it failed", failed, adapters.Deny, "it was allowed in its terminal"},
		{"allowed while it was denied", rejectedLine("t1"), adapters.AllowOnce, "it was denied in its terminal"},
		{"not recorded", "", adapters.Deny, "does not show yet"},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "x.jsonl")
			must.Do(t, os.WriteFile(path, []byte(promptLine("go")+callLine("m1", "t1", "Bash")+c.result), 0o600))
			a := New(adapters.Config{Home: t.TempDir(), Table: none{}})
			p := &permissionPrompt{command: "make", request: adapters.Request{ID: "t1@5", Text: "make"}}
			err := a.confirm(t.Context(), adapters.Session{Files: []string{path}}, p, c.verdict, nil)
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
}

// none is an empty process table.
type none struct{ proc.Lister }

func (none) List(context.Context) ([]proc.Process, error) { return nil, nil }

// What can't be answered from here is shown: a question with its options, a plan as text, another call.
func TestAskedElsewhere(t *testing.T) {
	for name, want := range map[string]adapters.Request{
		`{"type":"tool_use","id":"t1","name":"AskUserQuestion","input":{"questions":[{"question":"Which colour?","header":"Colour","multiSelect":true,"options":[{"label":"Red","description":"warm"},{"label":"Blue"}]}]}}`: {
			Kind: adapters.AsksQuestion, Text: "Which colour?", Questions: []adapters.Question{
				{Header: "Colour", Text: "Which colour?", Several: true, FreeText: true, Options: []adapters.Option{{Label: "Red", Says: "warm"}, {Label: "Blue"}}}}},
		`{"type":"tool_use","id":"t1","name":"ExitPlanMode","input":{"plan":"# Plan\n\n1. \"test\"","allowedPrompts":[]}}`: {Kind: adapters.AsksPlan, Text: "# Plan\n\n1. \"test\""},
		`{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"git push","description":"d"}}`:                     {Kind: adapters.AsksCommand, Text: "git push"},
	} {
		path := filepath.Join(t.TempDir(), id(1)+".jsonl")
		must.Do(t, os.WriteFile(path, []byte(promptLine("go")+answerLine("m1", "tool_use", name)), 0o600))
		s := adapters.Session{ID: id(1), Files: []string{path}, State: adapters.State{Status: adapters.Waiting}}
		list, err := New(adapters.Config{Home: t.TempDir(), Table: none{}}).Pending(t.Context(), s)
		if !errors.Is(err, adapters.ErrAnswerElsewhere) || len(list) != 1 || list[0].Kind != want.Kind || list[0].Text != want.Text ||
			list[0].CanAllow || list[0].CanDeny || list[0].OnlyRead != (want.Questions != nil) || !reflect.DeepEqual(list[0].Questions, want.Questions) {
			t.Errorf("%+v, %v", list, err)
		}
	}
	old := adapters.Session{
		ID: id(1), Version: "2.1.44",
		State: adapters.State{Status: adapters.Unknown},
		Owner: adapters.Owner{Process: proc.Identity{PID: 1, Start: 1}},
	}
	if _, err := New(adapters.Config{Home: t.TempDir(), Table: none{}}).Pending(t.Context(), old); !errors.Is(err, adapters.ErrAnswerElsewhere) {
		t.Errorf("an older version: %v", err)
	}
}
