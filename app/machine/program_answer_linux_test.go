package machine

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"rollcall/adapters"
)

// asks returns the shell command that prints a request.
func asks(members string) string {
	return `echo '{"schema":1,"event":"request","request":{` + members + `}}'` + "\n"
}

const command = `"session":"a","id":"1","kind":"command","text":"rm \u202e x","can_allow":true,"can_deny":true`

// TestProgramRequests: requests have the id of the session that is shown and their texts unchanged. One that can't be used makes the list fail, in words; one
// with a member that is not known can only be denied.
func TestProgramRequests(t *testing.T) {
	p := lister(t, greeting+asks(command)+asks(`"session":"b","agent":"mine","id":"1","kind":"question","questions":[{"text":"Which?","options":[{"label":"Blue","description":"b"}]}],"can_deny":true`)+listLine)
	list, err := p.Requests(t.Context())
	if err != nil || len(list) != 2 {
		t.Fatalf("%+v, %v", list, err)
	}
	if r := list[0]; r.Session != "mine:a" || r.Agent != "mine" || r.Text != "rm \u202e x" || !r.CanAllow || len(r.Unknown) > 0 {
		t.Errorf("%+v", r)
	}
	if r := list[1]; r.Session != "mine:b" || r.Text != "Which?" || r.CanAllow || r.Questions[0].Options[0] != (adapters.Option{Label: "Blue", Says: "b"}) {
		t.Errorf("%+v", r)
	}
	for members, want := range map[string]string{command + `,"harmless":true`: "harmless", `"session":"a","id":"1","kind":"sudo","text":"x","can_allow":true`: "kind sudo",
		command + `,"details":[{"title":"t","text":"x","env":1}]`: "env"} {
		list, err := lister(t, greeting+asks(members)+listLine).Requests(t.Context())
		if err != nil || len(list) != 1 || len(list[0].Unknown) != 1 || list[0].Unknown[0] != want {
			t.Errorf("%s: %+v, %v", members, list, err)
		}
	}
}

// TestProgramRequestsFail: a list that lies, floods or hangs is an error that says so.
func TestProgramRequestsFail(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"another agent's": {asks(`"agent":"claude-code",` + command), "request 1 can't be used: it is one of another agent (claude-code)"},
		"no session":      {asks(`"id":"1","kind":"command","text":"x"`), "it names no session"},
		"no id":           {asks(`"session":"a","kind":"command","text":"x"`), "it has no id"},
		"a hostile id":    {asks(`"session":"a","id":"\u001b[2J","kind":"command","text":"x"`), "it has no id"},
		"no text":         {asks(`"session":"a","id":"1","kind":"command","can_allow":true`), "it has no text"},
		"another form":    {asks(`"session":["a"]`), "it has another form"},
		"no questions":    {asks(`"session":"a","id":"1","kind":"question","text":"x"`), "a request of the kind question has questions"},
		"hidden question": {asks(command + `,"questions":[{"text":"Which?"}]`), "and no other has"},
		"twice":           {asks(command) + asks(command), `two requests of a session have the id "1"`},
		"floods":          {`exec yes '{"schema":1,"event":"heartbeat"}'`, "sent more than 100000 lines"},
		"too many":        {`seq 300 | sed 's/.*/{"schema":1,"event":"request","request":{"session":"a","id":"&","kind":"command","text":"x"}}/'` + "\n", "more than 200 requests"},
		"hangs":           {"sleep 1000", "no complete answer in 2 s"},
		"fails":           {asks(command) + "echo 'no socket' >&2; exit 4", "it ended before its list was complete: exit status 4: no socket"},
	} {
		p := lister(t, greeting+c.text+"\n"+listLine)
		if name == "hangs" {
			p.Limit = 2 * time.Second
		}
		if list, err := p.Requests(t.Context()); err == nil || !strings.Contains(err.Error(), c.want) || list != nil {
			t.Errorf("%s: %+v, %v", name, list, err)
		}
	}
}

// TestProgramAnswer: the program gets the answer on its standard input. What it says of it becomes an error of the contract, and what it does not say is not
// confirmed.
func TestProgramAnswer(t *testing.T) {
	said := func(result string) string {
		return "cat >answer\n" + greeting + `echo '{"schema":1,"event":"answered","answered":{"session":"a","id":"1","result":"` + result + `","evidence":"so \u001b[31mit is"}}'` + "\n"
	}
	r := adapters.Request{Agent: "mine", Session: "mine:a", ID: "1", Kind: adapters.AsksCommand, Text: "rm x", CanAllow: true}
	for name, c := range map[string]struct {
		text  string
		want  error
		words string
	}{
		"taken":          {said("taken"), nil, "the program of answer took it: so it is"},
		"gone":           {said("gone"), adapters.ErrNotPending, "so it is"},
		"changed":        {said("changed"), adapters.ErrRequestChanged, "so it is"},
		"expired":        {said("expired"), adapters.ErrRequestExpired, "so it is"},
		"refused":        {said("refused"), adapters.ErrNotAllowed, "so it is"},
		"no result":      {said("always"), adapters.ErrUnconfirmed, `"always", which is no result`},
		"another's":      {strings.Replace(said("taken"), `"id":"1"`, `"id":"2"`, 1), adapters.ErrUnconfirmed, "speaks of another request (2)"},
		"fails":          {"cat >answer\n" + greeting + "echo 'no socket' >&2; exit 4", adapters.ErrUnconfirmed, "before it said what it did with the answer: exit status 4: no socket"},
		"says nothing":   {greeting, adapters.ErrUnconfirmed, `a line with the event "answered"`},
		"hangs":          {greeting + "sleep 1000", adapters.ErrUnconfirmed, "no complete answer in 2 s"},
		"does not exist": {"", adapters.ErrAnswerElsewhere, "the program does not exist"},
	} {
		p := lister(t, c.text)
		switch name {
		case "hangs":
			p.Limit = 2 * time.Second
		case "does not exist":
			p.Command = []string{filepath.Join(t.TempDir(), "none")}
		}
		result, err := p.Answer(t.Context(), &r, adapters.Decision{Verdict: adapters.AllowOnce, SecondLook: true})
		text := result.Evidence
		if err != nil {
			text = err.Error()
		}
		if !errors.Is(err, c.want) || !strings.Contains(text, c.words) || result.Confirmed {
			t.Errorf("%s: %+v, %v", name, result, err)
		}
		if got, err := os.ReadFile(filepath.Join(p.Dir, "answer")); err == nil && string(got) != `{"schema":1,"event":"answer","answer":{"session":"a","id":"1","text":"rm x","verdict":"allow"}}`+"\n" {
			t.Errorf("%s: it was given %s", name, got)
		}
	}
}
