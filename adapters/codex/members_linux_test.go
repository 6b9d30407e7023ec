package codex

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"rollcall/adapters"
	"rollcall/internal/must"
)

// What is shown of a change is what the daemon would do, whatever the rollout has under the same id.
func TestChangeOfDaemon(t *testing.T) {
	r, a, s := waiting(t)
	f, err := os.OpenFile(s.Files[0], os.O_APPEND|os.O_WRONLY, 0)
	must.Do(t, err)
	_, err = f.WriteString(`{"timestamp":"2026-11-21T05:09:00Z","type":"response_item","payload":{"type":"custom_tool_call","name":"apply_patch","call_id":"call1","input":"*** Begin Patch\n*** Add File: harmless\n+x\n*** End Patch"}}` + "\n")
	must.Do(t, errors.Join(err, f.Close()))
	d := ask(t, r, map[string]string{"1": `"method":"` + asksFiles + `",` + item + `}`})
	const moved = `,{"type":"fileChange","id":"call1","status":"inProgress","changes":[{"path":"/p/notes.md","kind":{"type":"update","move_path":"/p/.git/hooks/pre-commit"},"diff":"@@ -1 +1 @@\n-a\n+b\n"},` +
		`{"path":"/p/new","kind":{"type":"add"},"diff":"one\ntwo\n"},{"path":"/p/old","kind":{"type":"delete"},"diff":"x"}]}`
	d.set(func() { d.items = moved })
	want := "*** Begin Patch\n*** Update File: /p/notes.md\n*** Move to: /p/.git/hooks/pre-commit\n@@ -1 +1 @@\n-a\n+b\n*** Add File: /p/new\n+one\n+two\n*** Delete File: /p/old\n*** End Patch"
	shown := one(t, a, s)
	if shown.Text != want || !shown.CanAllow {
		t.Errorf("%+v", shown)
	}
	d.set(func() { d.items = strings.Replace(moved, "+b", "+c", 1) })
	if _, err := a.Answer(t.Context(), s, shown, allow); !errors.Is(err, adapters.ErrRequestChanged) {
		t.Errorf("another change: %v", err)
	}
	for _, other := range []string{strings.Replace(moved, `"type":"add"`, `"type":"link"`, 1), strings.Replace(moved, `"diff":"x"`, `"diff":"x","mode":"0777"`, 1), ""} {
		d.set(func() { d.items = other })
		if got := one(t, a, s); got.CanAllow || !got.CanDeny {
			t.Errorf("%s: %+v", other, got)
		}
	}
}

// A request with a member that is not known can only be denied.
func TestUnknownMembers(t *testing.T) {
	for request, member := range map[string]string{
		command("3", "ls", `,"user":"root"`):                       "params.user",
		`"extra":1,` + command("3", "ls", ""):                      "extra",
		`"method":"` + asksFiles + `",` + item + `,"mode":"0777"}`: "params.mode",
	} {
		r, a, s := waiting(t)
		d := ask(t, r, map[string]string{"3": request})
		got := one(t, a, s)
		if !slices.Equal(got.Unknown, []string{member}) || got.CanAllow || !got.CanDeny {
			t.Errorf("%s: %+v", request, got)
		}
		got.CanAllow = true
		if _, err := a.Answer(t.Context(), s, got, allow); !errors.Is(err, adapters.ErrNotAllowed) || !strings.Contains(err.Error(), member) || len(d.took()) > 0 {
			t.Errorf("%s: %v, %v", request, err, d.took())
		}
	}
	r, a, s := waiting(t)
	d := ask(t, r, map[string]string{"7": `"method":"` + asksUser + `",` + item + `,"questions":[{"id":"q","header":"","question":"Which?","runs":"rm","options":null}]}`})
	got := one(t, a, s)
	if _, err := a.Answer(t.Context(), s, got, adapters.Decision{Verdict: adapters.Reply, Answers: [][]string{{"x"}}}); !errors.Is(err, adapters.ErrNotAllowed) ||
		fmt.Sprint(got.Unknown) != "[params.questions[].runs]" || len(d.took()) > 0 {
		t.Errorf("%+v, %v", got, err)
	}
}

// What a command gets beside its text is shown.
func TestRightsAreShown(t *testing.T) {
	r, a, s := waiting(t)
	ask(t, r, map[string]string{"3": command("3", "ls", `,"additionalPermissions":{"network":{"enabled":true}},"networkApprovalContext":{"host":"example.com","protocol":"https"},"environmentId":"far"`)})
	if got := one(t, a, s); len(got.Details) != 3 || got.Details[0].Text != `{"network":{"enabled":true}}` || got.Text != "ls" {
		t.Errorf("%+v", got)
	}
}
