package answer

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"rollcall/adapters"
	"rollcall/app"
	"rollcall/app/settings"
	"rollcall/internal/must"
)

// TestOneKeyIsJudgedAgain: what one key allowed when it was shown, and would do more when it is answered, is not answered.
func TestOneKeyIsJudgedAgain(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "a.txt")
	must.Do(t, os.WriteFile(file, nil, 0o600))
	a := asks("cat a.txt")
	a.cwd, a.requests[0].Folder = dir, dir
	answers, s := over(a, settings.AnswerAll)
	answers.Environment = func(*app.Session) []string { return []string{"SHELL=/bin/zsh", "PATH=/usr/bin"} }
	p := answers.Of(t.Context(), s)
	if runtime.GOOS == "windows" { // where nothing counts as reading
		if p.Requests[0].OneKey {
			t.Errorf("%+v", p.Requests[0])
		}
		return
	}
	if !p.Requests[0].OneKey || p.CanEnter(&p.Requests[0]) {
		t.Fatalf("%+v", p.Requests[0])
	}
	must.Do(t, os.Remove(file))
	must.Do(t, os.Symlink("/etc/passwd", file))
	ref := p.Ref(&p.Requests[0])
	one := adapters.Decision{Verdict: adapters.AllowOnce}
	if _, err := answers.Answer(t.Context(), ref, one); !errors.Is(err, adapters.ErrNotAllowed) || len(a.answered) > 0 {
		t.Errorf("a file that has become a link: %v", err)
	}
	if _, err := answers.Answer(t.Context(), ref, allow); err != nil || len(a.answered) != 1 {
		t.Errorf("after a second look: %v", err)
	}
}

// TestEntered: a command that the user entered counts for its folder, as a whole, where it is all that the request does.
func TestEntered(t *testing.T) {
	for name, c := range map[string]struct {
		change func(r *adapters.Request, s *app.Session)
		want   bool
	}{
		"the same":             {func(*adapters.Request, *app.Session) {}, true},
		"no folder":            {func(r *adapters.Request, _ *app.Session) { r.Folder = "" }, true},
		"another folder":       {func(r *adapters.Request, _ *app.Session) { r.Folder = "/home/dev/proj/sub" }, false},
		"another session":      {func(r *adapters.Request, s *app.Session) { r.Folder, s.CWD = "/x", "/x" }, false},
		"another text":         {func(r *adapters.Request, _ *app.Session) { r.Text += "x" }, false},
		"more lines":           {func(r *adapters.Request, _ *app.Session) { r.Text += "\n" }, false},
		"a tool":               {func(r *adapters.Request, _ *app.Session) { r.Kind = adapters.AsksPermission }, false},
		"with a variable":      {func(r *adapters.Request, _ *app.Session) { r.Details = []adapters.Detail{{Title: "PATH", Text: "."}} }, false},
		"with another member":  {func(r *adapters.Request, _ *app.Session) { r.Unknown = []string{"scope"} }, false},
		"on a node":            {func(r *adapters.Request, _ *app.Session) { r.Reason = "runs on node x" }, false},
		"on another machine":   {func(_ *adapters.Request, s *app.Session) { s.Remote = "devbox" }, false},
		"in a container":       {func(_ *adapters.Request, s *app.Session) { s.Container = "1" }, false},
		"its folder not known": {func(_ *adapters.Request, s *app.Session) { s.CWD = "" }, false},
	} {
		a := asks("go test ./...")
		answers, s := over(a, settings.AnswerAll)
		answers.OneKey = func() []settings.OneKey {
			return []settings.OneKey{{Folder: "/home/dev/proj", Command: "go test ./..."}}
		}
		c.change(&a.requests[0], &s)
		if r := answers.Of(t.Context(), s).Requests[0]; r.OneKey != c.want {
			t.Errorf("%s: one key %v", name, r.OneKey)
		}
	}
}

// TestSecondKeyForProgram: where a program of the user's speaks for the agent, one key allows nothing and answers no question, also not what the user entered.
func TestSecondKeyForProgram(t *testing.T) {
	dir := t.TempDir()
	must.Do(t, os.WriteFile(filepath.Join(dir, "a.txt"), nil, 0o600))
	a := asks("cat a.txt")
	a.cwd, a.requests[0].Folder = dir, dir
	answers, s := over(a, settings.AnswerAll)
	answers.Environment = func(*app.Session) []string { return []string{"SHELL=/bin/zsh", "PATH=/usr/bin"} }
	answers.OneKey = func() []settings.OneKey { return []settings.OneKey{{Folder: dir, Command: "cat a.txt"}} }
	if p := answers.Of(t.Context(), s); !p.Requests[0].OneKey || p.Requests[0].SureReply {
		t.Fatalf("of an agent that is read: %+v", p.Requests[0])
	}
	adapters.SetUnread([]adapters.Unread{{Name: "example", Programs: []string{"example"}}})
	t.Cleanup(func() { adapters.SetUnread(nil) })
	p := answers.Of(t.Context(), s)
	if p.Requests[0].OneKey || p.CanEnter(&p.Requests[0]) || !p.Requests[0].SureReply {
		t.Errorf("%+v", p.Requests[0])
	}
	if _, err := answers.Answer(t.Context(), p.Ref(&p.Requests[0]), adapters.Decision{Verdict: adapters.AllowOnce}); !errors.Is(err, adapters.ErrNotAllowed) {
		t.Errorf("allowed by one key: %v", err)
	}
	a.requests[0].Questions = []adapters.Question{{Text: "Allow it?", Options: []adapters.Option{{Label: "Yes"}}}}
	p = answers.Of(t.Context(), s)
	reply := adapters.Decision{Verdict: adapters.Reply, Answers: [][]string{{"Yes"}}}
	if _, err := answers.Answer(t.Context(), p.Ref(&p.Requests[0]), reply); !errors.Is(err, adapters.ErrNotAllowed) || len(a.answered) > 0 {
		t.Errorf("answered by one key: %v", err)
	}
	reply.SecondLook = true
	if _, err := answers.Answer(t.Context(), p.Ref(&p.Requests[0]), reply); err != nil || len(a.answered) != 1 {
		t.Errorf("answered by two: %v", err)
	}
}
