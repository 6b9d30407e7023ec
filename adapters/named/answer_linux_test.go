package named

import (
	"errors"
	"strings"
	"testing"
	"time"

	"rollcall/adapters"
	"rollcall/proc"
)

// TestAnswer: a request is given to the program of answer if it still waits as it was shown, and once.
func TestAnswer(t *testing.T) {
	asks := adapters.Request{Agent: "mine", Session: "mine:a", ID: "1", Kind: adapters.AsksCommand, Text: "rm x", CanAllow: true, CanDeny: true}
	shown := asks
	shown.Where = where
	waits := adapters.Session{
		ID: "mine:a", Agent: "mine",
		State: adapters.State{Status: adapters.Waiting},
		Owner: adapters.Owner{Process: proc.Identity{PID: 7, Start: 8}},
	}
	for name, c := range map[string]struct {
		change func(u *adapters.Unread, s *adapters.Session, p *programs, shown *adapters.Request)
		want   error
		words  string
	}{
		"taken":     {func(*adapters.Unread, *adapters.Session, *programs, *adapters.Request) {}, nil, ""},
		"gone":      {func(_ *adapters.Unread, _ *adapters.Session, p *programs, _ *adapters.Request) { p.requests = nil }, adapters.ErrNotPending, "answered elsewhere"},
		"not known": {func(_ *adapters.Unread, _ *adapters.Session, _ *programs, r *adapters.Request) { r.ID = "2" }, adapters.ErrNotPending, "answered elsewhere"},
		"another text": {func(_ *adapters.Unread, _ *adapters.Session, p *programs, _ *adapters.Request) {
			p.requests[0].Text = "rm y"
		}, adapters.ErrRequestChanged, "has changed"},
		"of another session": {func(_ *adapters.Unread, _ *adapters.Session, p *programs, _ *adapters.Request) {
			p.requests[0].Session = "mine:b"
		},
			adapters.ErrNotPending, "answered elsewhere"},
		"expired": {func(_ *adapters.Unread, _ *adapters.Session, p *programs, r *adapters.Request) {
			r.ExpiresAt = time.Unix(1, 0)
			p.requests[0].ExpiresAt = r.ExpiresAt
		}, adapters.ErrRequestExpired, "expired"},
		"can't be allowed": {func(_ *adapters.Unread, _ *adapters.Session, _ *programs, r *adapters.Request) { r.CanAllow = false }, adapters.ErrNoSuchAnswer, "does not offer"},
		"a member that is not known": {func(_ *adapters.Unread, _ *adapters.Session, _ *programs, r *adapters.Request) {
			r.Unknown = []string{"sandbox"}
		},
			adapters.ErrNotAllowed, `"sandbox"`},
		"no process": {func(_ *adapters.Unread, s *adapters.Session, _ *programs, _ *adapters.Request) {
			s.Process = proc.Identity{}
		},
			adapters.ErrAnswerElsewhere, "names no process that was checked"},
		"a row of the process": {func(_ *adapters.Unread, s *adapters.Session, _ *programs, _ *adapters.Request) { s.ID = "process-7" }, adapters.ErrAnswerElsewhere, "does not list"},
		"without requests":     {func(u *adapters.Unread, _ *adapters.Session, _ *programs, _ *adapters.Request) { u.Requests = nil }, adapters.ErrAnswerElsewhere, "does not read mine"},
		"without answer":       {func(u *adapters.Unread, _ *adapters.Session, _ *programs, _ *adapters.Request) { u.Answer = nil }, adapters.ErrAnswerElsewhere, "has no answer"},
		"a failed program": {func(_ *adapters.Unread, _ *adapters.Session, p *programs, _ *adapters.Request) {
			p.failed = errors.New("it hangs")
		},
			adapters.ErrAnswerElsewhere, "it hangs"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Cleanup(func() { Register(nil) })
			users := []adapters.Unread{{Name: "mine", Rows: []string{"/r"}, Requests: []string{"/r"}, Answer: []string{"/a"}}}
			p := &programs{requests: []adapters.Request{asks}, result: adapters.Result{Evidence: "taken"}}
			s, r := waits, shown
			c.change(&users[0], &s, p, &r)
			a := New(adapters.Config{Home: t.TempDir(), Table: proc.Open()}, func() []adapters.Unread { return users }, p, nil)[0].(*Adapter)
			_, err := a.Answer(t.Context(), s, r, adapters.Decision{Verdict: adapters.AllowOnce, SecondLook: true})
			if !errors.Is(err, c.want) || err != nil && !strings.Contains(err.Error(), c.words) || (err == nil) != (len(p.given) == 1) {
				t.Errorf("%v, given %v", err, p.given)
			}
			if c.want != nil {
				return
			}
			_, err = a.Answer(t.Context(), s, r, adapters.Decision{Verdict: adapters.AllowOnce, SecondLook: true})
			if !errors.Is(err, adapters.ErrNotPending) || !strings.Contains(err.Error(), "it was answered from here") || len(p.given) != 1 {
				t.Errorf("twice: %v, given %v", err, p.given)
			}
		})
	}
}
