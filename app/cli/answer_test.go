package cli

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"rollcall/adapters"
	"rollcall/app/settings"
	"rollcall/internal/agentname"
)

// asking is an agent whose session asks for what requests has.
type asking struct {
	*agent
	requests []adapters.Request
	err      error
	answered []adapters.Decision
	prompts  []string
}

func (a *asking) Pending(context.Context, adapters.Session) ([]adapters.Request, error) {
	return a.requests, a.err
}

func (a *asking) Answer(_ context.Context, _ adapters.Session, shown adapters.Request, d adapters.Decision) (adapters.Result, error) {
	if _, err := adapters.Match(a.requests, &shown); err != nil {
		return adapters.Result{}, err
	}
	a.answered, a.requests = append(a.answered, d), nil
	a.roll.Sessions[0].Status = adapters.Working
	return adapters.Result{Confirmed: true, Evidence: "taken"}, nil
}

func (a *asking) Send(_ context.Context, _ adapters.Session, prompt string) error {
	a.prompts = append(a.prompts, prompt)
	return nil
}

func (a *asking) Queue(_ context.Context, _ adapters.Session, prompt string) error {
	a.prompts = append(a.prompts, "queued "+prompt)
	return nil
}

func asks(texts ...string) *asking {
	s := simple("s1", agentname.Codex, adapters.Waiting, 0)
	a := &asking{agent: codex(s)}
	for i, text := range texts {
		a.requests = append(a.requests, adapters.Request{Agent: agentname.Codex, Session: "s1", ID: string(rune('1' + i)), Kind: adapters.AsksCommand,
			Text: text, Folder: "/home/dev/s1", CanAllow: true, CanDeny: true, Where: "the agent"})
	}
	return a
}

func key(t *testing.T, a *asking) string {
	t.Helper()
	r := run(t, deps(a), "pending", "--json")
	var d pendingDocument
	if err := json.Unmarshal([]byte(r.out), &d); err != nil || r.code != Done || len(d.Pending) != 1 || len(d.Pending[0].Requests) == 0 {
		t.Fatalf("%d %s %s", r.code, r.out, r.err)
	}
	return d.Pending[0].Requests[0].Request
}

// A request is shown whole, and nothing in it is hidden or passes for Rollcall's own words.
func TestPending(t *testing.T) {
	a := asks("sudo ls\n  request x\x1b[8m\u202e" + strings.Repeat("y", 1<<20) + "END")
	r := run(t, deps(a), "pending")
	for _, want := range []string{"! runs as another user", "| sudo ls⏎\n", "|   request x<U+001B>[8m<U+202E>yyy", "END\n", "(2 lines, ", "request " + key(t, a)} {
		if !strings.Contains(r.out, want) {
			t.Errorf("%q is not shown: %d %.400s %s", want, r.code, r.out, r.err)
		}
	}
	if strings.ContainsAny(r.out, "\x1b\u202e") {
		t.Error("hidden characters reach the terminal")
	}
	none := run(t, deps(codex()), "pending")
	if none.out != "no session waits for you\n" {
		t.Errorf("%q", none.out)
	}
	a.err, a.requests = adapters.ErrAnswerElsewhere, nil
	if r := run(t, deps(a), "pending", "s1"); r.code != Done || !strings.Contains(r.out, "it can't be answered from here") || !strings.Contains(r.out, "where the session is: in /home/dev/s1") {
		t.Errorf("%d %s %s", r.code, r.out, r.err)
	}
}

func TestAnswerCommand(t *testing.T) {
	a := asks("ls")
	name := key(t, a)
	for _, tt := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{"--request", name}, Usage, "--allow, --deny, --option N or --text TEXT"},
		{[]string{"--request", name, "--allow", "--deny"}, Usage, "--allow, --deny"},
		{[]string{"--request", name, "--allow", "-m", "x"}, Usage, "--message goes with --deny"},
		{[]string{"--request", name, "--deny", "-m", "x"}, Usage, "takes no message"},
		{[]string{"--request", name, "--option", "1"}, Usage, "0 questions"},
		{[]string{"--request", name, "--deny", "--second-look"}, Usage, "--second-look goes with --allow, --option and --text"},
		{[]string{"--request", name, "--allow"}, Unanswered, "one key allows only reading"},
		{[]string{"--allow"}, Usage, "not a terminal"},
		{[]string{"--request", "other", "--allow"}, Unanswered, "the request has changed"},
		{[]string{"--request", name, "--text", "x"}, Unanswered, "the request is not a question"},
	} {
		if r := run(t, deps(a), append([]string{"answer", "s1"}, tt.args...)...); r.code != tt.code || !strings.Contains(r.err, tt.says) || len(a.answered) > 0 {
			t.Errorf("%q: %d %s", tt.args, r.code, r.err)
		}
	}
	if r := run(t, deps(a), "answer", "nobody", "--allow"); r.code != NoSession {
		t.Errorf("no session: %d %s", r.code, r.err)
	}
	if r := run(t, deps(a), "answer", "s1", "--request", name, "--allow", "--second-look"); r.code != Done || !strings.Contains(r.out, "taken; the session is working") || len(a.answered) != 1 {
		t.Errorf("%d %s %s", r.code, r.out, r.err)
	}
	if r := run(t, deps(a), "answer", "s1", "--request", name, "--allow", "--second-look"); r.code != Unanswered || !strings.Contains(r.err, "answered elsewhere or withdrawn") || len(a.answered) != 1 {
		t.Errorf("a second time: %d %s", r.code, r.err)
	}
	two := asks("ls", "pwd")
	if r := run(t, deps(two), "answer", "s1", "--allow"); r.code != Usage || !strings.Contains(r.err, "2 requests wait") {
		t.Errorf("two requests: %d %s", r.code, r.err)
	}
}

// TestAnswerOneKey: a script allows what the user entered for the folder, as it is, and nothing else, without a second look.
func TestAnswerOneKey(t *testing.T) {
	for text, want := range map[string]int{"go test ./...": Done, "go test ./... ": Unanswered, "go test ./x": Unanswered} {
		a := asks(text)
		name := key(t, a)
		d := deps(a)
		entered := settings.AnsweringTable{OneKey: []settings.OneKey{{Folder: "/home/dev/s1", Command: "go test ./..."}}}
		d.Settings = func() (settings.Settings, error) { return settings.Settings{Answering: entered}, nil }
		if r := run(t, d, "answer", "s1", "--request", name, "--allow"); r.code != want || (len(a.answered) == 1) != (want == Done) {
			t.Errorf("%q: %d %s", text, r.code, r.err)
		}
	}
}

// Without --request the user sees the request first.
func TestAnswerAsks(t *testing.T) {
	for answer, want := range map[string]int{"y\n": 1, "n\n": 0, "": 0} {
		a := asks("ls")
		r := runOn(t.Context(), t, Streams{In: strings.NewReader(answer)}, deps(a), "answer", "s1", "--allow")
		if len(a.answered) != want || !strings.Contains(r.out, "| ls") || want == 0 && r.code != Failure {
			t.Errorf("%q: %d %s %s", answer, r.code, r.out, r.err)
		}
	}
}

func TestAnswerForbidden(t *testing.T) {
	a := asks("ls")
	name := key(t, a)
	d := deps(a)
	d.Settings = func() (settings.Settings, error) {
		return settings.Settings{Answering: settings.AnsweringTable{Requests: settings.AnswerDeny}}, nil
	}
	if r := run(t, d, "answer", "s1", "--request", name, "--allow"); r.code != Unanswered || !strings.Contains(r.err, `answering is "deny-only"`) || len(a.answered) > 0 {
		t.Errorf("%d %s", r.code, r.err)
	}
	if r := run(t, d, "answer", "s1", "--request", name, "--deny"); r.code != Done || len(a.answered) != 1 {
		t.Errorf("%d %s", r.code, r.err)
	}
}

func TestAnswerQuestion(t *testing.T) {
	a := asks("Which?")
	r := &a.requests[0]
	r.Kind, r.CanAllow = adapters.AsksQuestion, false
	r.Questions = []adapters.Question{{Text: "Which?", Options: []adapters.Option{{Label: "Red"}, {Label: "Blue"}}}}
	name := key(t, a)
	if r := run(t, deps(a), "answer", "s1", "--request", name, "--option", "3"); r.code != Usage || !strings.Contains(r.err, "1 to 2") {
		t.Errorf("%d %s", r.code, r.err)
	}
	if r := run(t, deps(a), "answer", "s1", "--request", name, "--option", "2"); r.code != Done || !slices.Equal(a.answered[0].Answers[0], []string{"Blue"}) {
		t.Errorf("%d %s", r.code, r.err)
	}
}

func TestSendAndInterrupt(t *testing.T) {
	a := asks()
	a.roll.Sessions[0].Status = adapters.Working
	for _, tt := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{"send", "s1"}, Usage, "use -p TEXT"},
		{[]string{"send", "s1", "-p", "go"}, Unanswered, "--queue"},
		{[]string{"interrupt", "s1"}, Unanswered, "press Esc in its terminal"},
		{[]string{"send", "s1", "-p", "go", "--queue"}, Done, ""},
	} {
		if r := run(t, deps(a), tt.args...); r.code != tt.code || !strings.Contains(r.err, tt.says) {
			t.Errorf("%q: %d %s", tt.args, r.code, r.err)
		}
	}
	if !slices.Equal(a.prompts, []string{"queued go"}) {
		t.Errorf("%q", a.prompts)
	}
}
