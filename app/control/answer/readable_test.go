package answer

import (
	"strings"
	"testing"

	"rollcall/adapters"
	"rollcall/app"
	"rollcall/app/settings"
)

// TestReadable: requests are shown as people read them, whole, and nothing of them is hidden.
func TestReadable(t *testing.T) {
	for name, c := range map[string]struct {
		kind adapters.RequestKind
		text string
		want string // the parts: "title: text", separated by lines of "--"
	}{
		"a shell around a command":   {adapters.AsksCommand, `/bin/bash -lc "npm test && echo \"done\""`, "Command: npm test && echo \"done\"\n--\nRun by: /bin/bash -lc"},
		"in single quotes":           {adapters.AsksCommand, `bash -lc 'make "all"'`, "Command: make \"all\"\n--\nRun by: bash -lc"},
		"escaped":                    {adapters.AsksCommand, `sh -c ls\ -l`, "Command: ls -l\n--\nRun by: sh -c"},
		"a variable of another":      {adapters.AsksCommand, `bash -lc "echo $HOME"`, `Command: bash -lc "echo $HOME"`},
		"two commands":               {adapters.AsksCommand, `bash -lc 'ls'; rm x`, `Command: bash -lc 'ls'; rm x`},
		"a redirection":              {adapters.AsksCommand, `bash -lc 'ls' > x`, `Command: bash -lc 'ls' > x`},
		"with a variable set before": {adapters.AsksCommand, `A=b bash -lc 'ls'`, `Command: A=b bash -lc 'ls'`},
		"another program":            {adapters.AsksCommand, `python -c 'print(1)'`, `Command: python -c 'print(1)'`},
		"a new file":                 {adapters.AsksFileChange, "Write\n{\"file_path\":\"/src/a.md\",\"content\":\"# A\\n\\ttext\\n\"}", "File: Write /src/a.md\n--\nChange: + # A\n+     text"},
		"an edit": {adapters.AsksFileChange, "Edit\n{\"file_path\":\"a.go\",\"old_string\":\"a\\nb\\nc\",\"new_string\":\"a\\nB\\nc\",\"replace_all\":true}",
			"File: Edit a.go\n--\nChange:   a\n- b\n+ B\n  c\n--\nArguments: replace_all: true"},
		"several edits": {adapters.AsksFileChange, `MultiEdit` + "\n" + `{"file_path":"a","edits":[{"old_string":"1","new_string":"2"},{"old_string":"3","new_string":"4"}]}`,
			"File: MultiEdit a\n--\nChange: - 1\n+ 2\n…\n- 3\n+ 4"},
		"an edit with something else": {adapters.AsksFileChange, `MultiEdit` + "\n" + `{"file_path":"a","edits":[{"old_string":"1","new_string":"2","run":"x"}]}`,
			"File: MultiEdit a\n--\nArguments: edits: [{\"old_string\":\"1\",\"new_string\":\"2\",\"run\":\"x\"}]"},
		"another tool":    {adapters.AsksPermission, "WebFetch\n{\"url\":\"https://example.org\",\"n\":3}", "Tool: WebFetch\n--\nArguments: url: https://example.org\nn: 3"},
		"a member twice":  {adapters.AsksPermission, "Read\n{\"file_path\":\"a\",\"file_path\":\"b\"}", "For: Read⏎\n{\"file_path\":\"a\",\"file_path\":\"b\"}"},
		"no JSON":         {adapters.AsksPermission, "Read\n{\"file_path\":", "For: Read⏎\n{\"file_path\":"},
		"a plan":          {adapters.AsksPlan, "# Plan\n\n1. one\u202e", "Plan: # Plan\n\n1. one<U+202E>"},
		"a patch":         {adapters.AsksFileChange, "*** Begin Patch\n*** Update File: a\n-x\n+y\n*** End Patch", "Change: *** Begin Patch\n*** Update File: a\n-x\n+y\n*** End Patch"},
		"hidden in a key": {adapters.AsksPermission, "X\n{\"a\\u202eb\":\"c\\u0007\\nd\"}", "Tool: X\n--\nArguments: a<U+202E>b: c<U+0007>\n    d"},
	} {
		r := Request{Request: adapters.Request{Kind: c.kind, Text: c.text}}
		var parts []string
		for _, p := range r.Readable() {
			parts = append(parts, p.Title+": "+p.Text)
		}
		if got := strings.Join(parts, "\n--\n"); got != c.want {
			t.Errorf("%s:\n%s\nwant:\n%s", name, got, c.want)
		}
	}
}

// TestBrief: the line for rows, menus and notifications is what the user decides on, not JSON.
func TestBrief(t *testing.T) {
	write := Request{Request: adapters.Request{Kind: adapters.AsksFileChange, Text: "Write\n{\"file_path\":\"/src/a.md\",\"content\":\"# A\"}"}}
	plan := Request{Request: adapters.Request{Kind: adapters.AsksPlan, Text: "# Rate limits\n\n1. **Redis**"}}
	if got := plan.Plain().Text; got != "Rate limits\n\n1. Redis" {
		t.Errorf("%q", got)
	}
	command := Request{Request: adapters.Request{Kind: adapters.AsksCommand, Text: `/bin/bash -lc 'echo ` + "`date`" + `'`}}
	if got := command.Plain().Text; got != command.Text { // marks of a command are a part of it
		t.Errorf("%q", got)
	}
	command.Text = `/bin/bash -lc 'npm test'`
	for want, r := range map[string]*Request{"wants to change files: Write /src/a.md + # A": &write,
		"asks you to approve its plan: Rate limits 1. Redis": &plan, "wants to run: npm test": &command} {
		if got := summary(r); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// What a request has beside its text is shown with it, also with a question, and is never allowed by one key.
func TestDetails(t *testing.T) {
	command := adapters.Request{Kind: adapters.AsksCommand, Text: "git status", Details: []adapters.Detail{{Title: "Sets variables", Text: "EVIL\u202e"}}, CanAllow: true, CanDeny: true}
	question := adapters.Request{Kind: adapters.AsksQuestion, Text: "Which?", Questions: []adapters.Question{{Text: "Which?"}}, Unknown: []string{"runs"}, CanDeny: true}
	a := New(nil, func() settings.Answering { return settings.AnswerAll })
	s := &app.Session{Session: adapters.Session{Place: adapters.Place{CWD: t.TempDir()}}}
	shown := func(r adapters.Request) (Request, string) {
		seen := a.seen(r, s)
		var parts []string
		for _, p := range seen.Whole() {
			parts = append(parts, p.Title+": "+p.Text)
		}
		return seen, strings.Join(parts, "\n")
	}
	if seen, text := shown(command); !strings.Contains(text, "Sets variables: EVIL<U+202E>") || seen.OneKey || !seen.CanAllow || !strings.Contains(summary(&seen), "EVIL") {
		t.Errorf("%+v: %s", seen, text)
	}
	if seen, text := shown(question); !strings.Contains(text, `it has a member "runs" that this version of Rollcall does not know`) || seen.CanReply || !seen.CanDeny {
		t.Errorf("%+v: %s", seen, text)
	}
}
