package openclaw_test

import (
	"errors"
	"strings"
	"sync"
	"testing"

	"rollcall/adapters"
	"rollcall/adapters/openclaw"
	"rollcall/internal/gatewaytest"
	"rollcall/internal/must"
)

var (
	allow = adapters.Decision{Verdict: adapters.AllowOnce}
	deny  = adapters.Decision{Verdict: adapters.Deny}
)

// asked is a session that a gateway runs, and what it waits for.
func asked(t *testing.T, o gatewaytest.Options, command string) (*gatewaytest.Gateway, *openclaw.Adapter, adapters.Session, string) {
	t.Helper()
	w := newFixture(t)
	g := w.running(o)
	g.Update(gatewaytest.Session{Key: "agent:main:k", SessionID: "s", Running: true})
	g.Update(gatewaytest.Session{Key: "agent:main:other", SessionID: "o", Running: false})
	id := g.Ask("agent:main:k", command)
	g.Ask("agent:main:other", "rm -rf other")
	a := w.adapter()
	s := adapters.Session{}
	roll, err := a.Discover(t.Context(), adapters.Query{})
	must.Do(t, err)
	for _, found := range roll.Sessions {
		if strings.Contains(found.ID, "s") && found.Status != adapters.Idle && strings.HasSuffix(found.ID, "s") {
			s = found
		}
	}
	if s.ID == "" {
		t.Fatalf("%+v", roll.Sessions)
	}
	return g, a, s, id
}

func pendingOne(t *testing.T, a *openclaw.Adapter, s adapters.Session) adapters.Request {
	t.Helper()
	list, err := a.Pending(t.Context(), s)
	if err != nil || len(list) != 1 {
		t.Fatalf("%+v, %v", list, err)
	}
	return list[0]
}

func TestAnswer(t *testing.T) {
	for _, tt := range []struct {
		decision adapters.Decision
		want     string
	}{{allow, "allow-once"}, {deny, "deny"}} {
		g, a, s, id := asked(t, gatewaytest.Options{}, "touch x\n\u202e")
		shown := pendingOne(t, a, s)
		if shown.Text != "touch x\n\u202e" || shown.ID != id || shown.Kind != adapters.AsksCommand || !shown.CanAllow || !shown.CanDeny ||
			shown.AskedAt.IsZero() || shown.ExpiresAt.IsZero() {
			t.Errorf("%+v", shown)
		}
		if got, err := a.Answer(t.Context(), s, shown, tt.decision); err != nil || !got.Confirmed || g.Decided(id) != tt.want {
			t.Errorf("%+v, %v, decided %q", got, err, g.Decided(id))
		}
		if _, err := a.Answer(t.Context(), s, shown, tt.decision); !errors.Is(err, adapters.ErrNotPending) {
			t.Errorf("a second time: %v", err)
		}
	}
}

func TestAnswerRaces(t *testing.T) {
	g, a, s, id := asked(t, gatewaytest.Options{}, "touch x")
	shown := pendingOne(t, a, s)
	g.Answer(id) // elsewhere
	again := g.Ask("agent:main:k", "touch x")
	if _, err := a.Answer(t.Context(), s, shown, allow); !errors.Is(err, adapters.ErrNotPending) || g.Decided(again) != "" {
		t.Errorf("asked again: %v", err)
	}
	now := pendingOne(t, a, s)
	var group sync.WaitGroup
	var mu sync.Mutex
	won := 0
	for _, d := range []adapters.Decision{allow, deny, allow, deny} {
		group.Go(func() {
			_, err := a.Answer(t.Context(), s, now, d)
			mu.Lock()
			defer mu.Unlock()
			if err == nil {
				won++
			} else if !errors.Is(err, adapters.ErrNotPending) {
				t.Error(err)
			}
		})
	}
	group.Wait()
	if won != 1 {
		t.Errorf("%d won", won)
	}
	for code, want := range map[string]error{"APPROVAL_EXPIRED": adapters.ErrRequestExpired, "APPROVAL_ALREADY_RESOLVED": adapters.ErrNotPending, "FORBIDDEN": adapters.ErrNotAllowed} {
		g.Ask("agent:main:k", "touch "+code)
		shown := pendingOne(t, a, s)
		g.Refuse("exec.approval.resolve", gatewaytest.Refusal{Code: "INVALID_REQUEST", Message: "no", Details: map[string]any{"reason": code}})
		if _, err := a.Answer(t.Context(), s, shown, allow); !errors.Is(err, want) {
			t.Errorf("%s: %v", code, err)
		}
		g.Refuse("exec.approval.resolve", gatewaytest.Refusal{})
		g.Answer(shown.ID)
	}
}

func TestAnswerQuestion(t *testing.T) {
	g, a, s, id := asked(t, gatewaytest.Options{}, "touch x")
	g.Answer(id)
	id = g.Question("agent:main:k", "Which colour?")
	shown := pendingOne(t, a, s)
	if shown.Kind != adapters.AsksQuestion || shown.Text != "Which colour?" || shown.CanAllow || shown.Questions[0].Options[1].Label != "Blue" {
		t.Errorf("%+v", shown)
	}
	must.Get(a.Answer(t.Context(), s, shown, adapters.Decision{Verdict: adapters.Reply, Answers: [][]string{{"Blue"}}}))(t)
	if got := g.Decided(id); !strings.Contains(got, `"answers":{"q1":["Blue"]}`) {
		t.Errorf("answered %s", got)
	}
}

// Without operator.admin the gateway hides the requests of other clients: that is said, and
// is no empty list.
func TestAnswerDenied(t *testing.T) {
	w := newFixture(t)
	g := w.running(gatewaytest.Options{DenyAdmin: true})
	g.Update(gatewaytest.Session{Key: "agent:main:k", SessionID: "s", Running: true})
	a := w.adapter()
	s := one(t, a)
	s.Status = adapters.Waiting
	if _, err := a.Pending(t.Context(), s); !errors.Is(err, adapters.ErrAnswerElsewhere) || !strings.Contains(err.Error(), "operator.admin") {
		t.Errorf("%v", err)
	}
}

func TestPrompt(t *testing.T) {
	w := newFixture(t)
	g := w.running(gatewaytest.Options{})
	g.Update(gatewaytest.Session{Key: "agent:main:k", SessionID: "s", Running: true})
	a := w.adapter()
	s := one(t, a)
	if err := a.Send(t.Context(), s, "go on"); !errors.Is(err, adapters.ErrBusy) || g.Calls("chat.send") != 0 {
		t.Errorf("busy: %v", err)
	}
	if err := a.Queue(t.Context(), s, "later"); err != nil || g.Calls("chat.send") != 1 {
		t.Errorf("queue: %v", err)
	}
}
