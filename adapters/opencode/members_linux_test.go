package opencode

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"rollcall/adapters"
)

// Where a patch moves a file is shown and in the request's key (1.18.33).
func TestMoveIsShown(t *testing.T) {
	ask := func(to string) adapters.Request {
		d := &asking{permissions: []string{`{"id":"per_1","sessionID":"ses_x","permission":"edit","patterns":["docs/notes.md"],"metadata":{"filepath":"docs/notes.md","diff":"--- a\n+++ b\n@@ -1 +1 @@\n-hello\n+#!/bin/sh\n",` +
			`"files":[{"filePath":"/home/dev/p/docs/notes.md","relativePath":"` + to + `","type":"move","patch":"-hello\n+#!/bin/sh","additions":1,"deletions":1,"movePath":"/home/dev/p/` + to + `"}]},"always":["*"]}`}}
		a, s := asker(t, d)
		list, err := a.Pending(t.Context(), s)
		if err != nil || len(list) != 1 {
			t.Fatalf("%+v, %v", list, err)
		}
		return list[0]
	}
	hook, other := ask(".git/hooks/pre-commit"), ask("docs/other.md")
	if !strings.Contains(hook.Text, "rename to /home/dev/p/.git/hooks/pre-commit") || hook.Kind != adapters.AsksFileChange || !hook.CanAllow || hook.Unknown != nil {
		t.Errorf("%+v", hook)
	}
	if hook.Key() == other.Key() {
		t.Error("another destination has the same key")
	}
}

// A request with a member that no table has can only be denied, also where the caller takes no notice.
func TestUnknownMembers(t *testing.T) {
	const tool = `"tool":{"messageID":"m","callID":"c"}`
	for request, member := range map[string]string{
		strings.Replace(bash("per_1", "ses_x", "ls"), `"always"`, `"sudo":true,"always"`, 1):                                                              "sudo",
		strings.Replace(bash("per_1", "ses_x", "ls"), `"command"`, `"env":{"A":"b"},"command"`, 1):                                                        "metadata.env",
		strings.Replace(bash("per_1", "ses_x", "ls"), `"always"`, `"tool":{"messageID":"m","callID":"c","host":"far"},"always"`, 1):                       "tool.host",
		`{"id":"per_1","sessionID":"ses_x","permission":"edit","patterns":["a"],"metadata":{"filepath":"a","diff":"+x","mode":"0777"},` + tool + `}`:      "metadata.mode",
		`{"id":"per_1","sessionID":"ses_x","permission":"edit","metadata":{"filepath":"a","diff":"+x","files":[{"filePath":"a","linkPath":"/etc"}]}}`:     "metadata.files[].linkPath",
		`{"id":"per_1","sessionID":"ses_x","permission":"webfetch","patterns":["http://a"],"metadata":{"url":"http://a"},"always":[],"proxy":"http://b"}`: "proxy",
		`{"id":"per_1","sessionID":"ses_x","permission":"read","patterns":["a"],"metadata":{},"Permission":"edit"}`:                                       "Permission",
		`{"id":"per_1","sessionID":"ses_x","permission":"read","patterns":["a"],"patterns":["b"],"metadata":{}}`:                                          "patterns",
		`{"id":"per_1","sessionID":"ses_x","permission":"edit","metadata":{"filepath":"a","diff":["+x"],"files":[]}}`:                                     "",
	} {
		d := &asking{permissions: []string{request}, inputs: map[string]string{"m": `{"command":"ls"}`}}
		a, s := asker(t, d)
		list, err := a.Pending(t.Context(), s)
		if err != nil || len(list) != 1 {
			t.Fatalf("%+v, %v", list, err)
		}
		r := list[0]
		if member == "" {
			if r.Kind == adapters.AsksFileChange || !strings.Contains(r.Text, "+x") {
				t.Errorf("%s: another form of a member is not shown: %+v", request, r)
			}
			continue
		}
		if !slices.Equal(r.Unknown, []string{member}) || r.CanAllow || !r.CanDeny || !strings.Contains(r.UnknownText(), `"`+member+`"`) {
			t.Errorf("%s: %+v", request, r)
		}
		r.CanAllow = true
		if _, err := a.Answer(t.Context(), s, r, adapters.Decision{Verdict: adapters.AllowOnce}); !errors.Is(err, adapters.ErrNotAllowed) || len(d.taken) > 0 {
			t.Errorf("%s: allowed: %v, %q", request, err, d.taken)
		}
		if _, err := a.Answer(t.Context(), s, list[0], adapters.Decision{Verdict: adapters.Deny}); err != nil || len(d.taken) != 1 {
			t.Errorf("%s: %v", request, err)
		}
	}
}

// A question with a member that is not known takes no answer but a refusal.
func TestUnknownMemberOfQuestion(t *testing.T) {
	d := &asking{questions: []string{`{"id":"que_1","sessionID":"ses_x","questions":[{"question":"Which?","header":"","options":[{"label":"Red","description":"","runs":"rm"}]}]}`}}
	a, s := asker(t, d)
	list, err := a.Pending(t.Context(), s)
	if err != nil || len(list) != 1 || !slices.Equal(list[0].Unknown, []string{"questions[].options[].runs"}) {
		t.Fatalf("%+v, %v", list, err)
	}
	if _, err := a.Answer(t.Context(), s, list[0], adapters.Decision{Verdict: adapters.Reply, Answers: [][]string{{"Red"}}}); !errors.Is(err, adapters.ErrNotAllowed) || len(d.taken) > 0 {
		t.Errorf("%v, %q", err, d.taken)
	}
	if _, err := a.Answer(t.Context(), s, list[0], adapters.Decision{Verdict: adapters.Deny}); err != nil {
		t.Error(err)
	}
}

// The arguments of a call are shown where the permission has nothing but the tool's name.
func TestArgumentsAreShown(t *testing.T) {
	d := &asking{permissions: []string{`{"id":"per_1","sessionID":"ses_x","permission":"forge_delete","patterns":["*"],"metadata":{},"always":["*"],"tool":{"messageID":"m","callID":"c"}}`},
		inputs: map[string]string{"m": `{"repository":"all"}`}}
	a, s := asker(t, d)
	list, err := a.Pending(t.Context(), s)
	if err != nil || len(list) != 1 || !strings.Contains(list[0].Text, `"repository": "all"`) || !list[0].CanAllow {
		t.Errorf("%+v, %v", list, err)
	}
}
