package claudecode

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"rollcall/adapters"
	"rollcall/adapters/internal/pane"
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
		return openCall{id: id, name: bashTool, command: command, description: description}
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
	if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if !succeeded(path, "t1") || succeeded(path, "t2") || succeeded(path, "t8") || succeeded(path+"x", "t1") {
		t.Error("the results of calls")
	}
	calls, err := openCallsOf(t.Context(), path)
	if err != nil || len(calls) != 3 || calls[0].id != "t9" || !calls[0].inner || calls[1].id != "t2" || calls[1].inner || calls[1].command != "touch a" || calls[1].description != "d" || calls[2].name != "Edit" || calls[2].input != `{"file_path":"x"}` {
		t.Errorf("%+v, %v", calls, err)
	}
}

// A call of a sub-agent with a transcript of its own counts as well.
func TestOpenCallsOfAll(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x[1].jsonl")
	folder := filepath.Join(strings.TrimSuffix(path, ".jsonl"), "subagents")
	if err := os.MkdirAll(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	for file, id := range map[string]string{path: "t1", filepath.Join(folder, "agent-a.jsonl"): "t2"} {
		line := `{"type":"assistant","message":{"content":[{"type":"tool_use","id":"` + id + `","name":"Bash","input":{"command":"ls"}}]}}` + "\n"
		if err := os.WriteFile(file, []byte(line), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	calls, err := openCallsOfAll(t.Context(), path)
	if err != nil || len(calls) != 2 || calls[0].inner || !calls[1].inner || calls[1].id != "t2" {
		t.Errorf("%+v, %v", calls, err)
	}
}
