package answer

import (
	"slices"
	"testing"

	"rollcall/adapters"
	"rollcall/app"
)

// TestAsksOf: what a session asks comes from its request, or else from the call that its records leave open, with what looks dangerous.
func TestAsksOf(t *testing.T) {
	s := app.Session{Session: adapters.Session{
		State: adapters.State{Status: adapters.Waiting, WaitingFor: adapters.ForPermission},
		Place: adapters.Place{CWD: "/src"},
		Topic: adapters.Topic{Doing: "git push --force origin main"},
	}}
	request := Request{Request: adapters.Request{Kind: adapters.AsksCommand, Text: "npm test"}}
	for want, r := range map[string]*Request{"wants to run: npm test": &request, "needs permission: ⚠ git push --force origin main": nil} {
		if a := AsksOf(&s, r); a.Line() != want {
			t.Errorf("%q, want %q", a.Line(), want)
		}
	}
	for name, c := range map[string]struct {
		change  func(*app.Session)
		line    string
		dangers bool
	}{
		"a question is no command":    {func(s *app.Session) { s.WaitingFor, s.Doing = adapters.ForQuestion, "rm -rf src?" }, "asks you: rm -rf src?", false},
		"a text that is no script":    {func(s *app.Session) { s.Doing = "Don't know" }, "needs permission: Don't know", false},
		"a cut script":                {func(s *app.Session) { s.Doing = "rm -rf src && echo 'it" }, "needs permission: ⚠ rm -rf src && echo 'it", true},
		"what is hidden is shown":     {func(s *app.Session) { s.Doing = "ls \u202e" }, "needs permission: ⚠ ls <U+202E>", true},
		"a session that does not ask": {func(s *app.Session) { s.Status = adapters.Working }, "working", false},
		"nothing is known":            {func(s *app.Session) { s.Doing = "" }, "needs permission", false},
	} {
		x := s
		c.change(&x)
		if a := AsksOf(&x, nil); a.Line() != c.line || (len(a.Dangers) > 0) != c.dangers {
			t.Errorf("%s: %q, %q", name, a.Line(), a.Dangers)
		}
	}
	s.Name = "Mine"
	if a := AsksOf(&s, nil); a.Topic() != "Mine · git push --force origin main" || !slices.Equal(a.Dangers, []string{"overwrites or deletes what others have pushed"}) {
		t.Errorf("%q, %q", a.Topic(), a.Dangers)
	}
	var none *Board
	if a := none.Asks(&s); a.Text == "" {
		t.Error("without a board the records are not known")
	}
}
