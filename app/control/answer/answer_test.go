package answer

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"rollcall/adapters"
	"rollcall/app"
	"rollcall/app/settings"
	"rollcall/proc"
)

// agent is an agent in memory whose one session asks what requests has.
type agent struct {
	mu        sync.Mutex
	status    adapters.Status
	requests  []adapters.Request
	answered  []adapters.Decision
	prompts   []string
	err       error // of Pending
	stays     bool  // the session goes on waiting after an answer
	refreshes int
	gone      bool
	asked     atomic.Int32
	cwd       string // of the session; empty: /home/dev/proj
}

func (a *agent) Name() adapters.Name { return "example" }
func (a *agent) Discover(context.Context, adapters.Query) (adapters.Roll, error) {
	return adapters.Roll{}, nil
}

func (a *agent) Pending(context.Context, adapters.Session) ([]adapters.Request, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.asked.Add(1)
	return a.requests, a.err
}

func (a *agent) Answer(_ context.Context, _ adapters.Session, shown adapters.Request, d adapters.Decision) (adapters.Result, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if _, err := adapters.Match(a.requests, &shown); err != nil {
		return adapters.Result{}, err
	}
	a.answered = append(a.answered, d)
	if !a.stays {
		a.requests, a.status = nil, adapters.Working
	}
	return adapters.Result{Confirmed: true, Evidence: "taken"}, nil
}

func (a *agent) Send(_ context.Context, _ adapters.Session, prompt string) error {
	a.prompts = append(a.prompts, "send "+prompt)
	return nil
}

func (a *agent) Queue(_ context.Context, _ adapters.Session, prompt string) error {
	a.prompts = append(a.prompts, "queue "+prompt)
	return nil
}

// core has the one session of an agent.
type core struct {
	*agent
	adapter adapters.Adapter
}

func (c *core) Adapter(adapters.Name) adapters.Adapter { return c.adapter }

func (c *core) Current(ctx context.Context, name adapters.Name, id string) (app.Session, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if id != "s1" || c.gone {
		return app.Session{}, app.ErrNoSession
	}
	return app.Session{Session: adapters.Session{
		ID: id, Agent: name,
		State: adapters.State{Status: c.status},
		Owner: adapters.Owner{Process: proc.Identity{PID: 47, Start: 1}},
		Place: adapters.Place{CWD: cmp.Or(c.cwd, "/home/dev/proj")},
	}}, ctx.Err()
}

func (c *core) RequestAgentRefresh(adapters.Name) { c.refreshes++ }

func asks(texts ...string) *agent {
	a := &agent{status: adapters.Waiting}
	for i, text := range texts {
		a.requests = append(a.requests, adapters.Request{Agent: "example", Session: "s1", ID: string(rune('1' + i)), Kind: adapters.AsksCommand, Text: text,
			Folder: "/home/dev/proj", CanAllow: true, CanDeny: true, Where: "the agent"})
	}
	return a
}

func over(a *agent, p settings.Answering) (*Answers, app.Session) {
	c := &core{a, a}
	s, _ := c.Current(context.Background(), "example", "s1")
	return New(c, func() settings.Answering { return p }), s
}

var (
	allow = adapters.Decision{Verdict: adapters.AllowOnce, SecondLook: true}
	deny  = adapters.Decision{Verdict: adapters.Deny}
)

func TestAnswer(t *testing.T) {
	a := asks("rm -rf x")
	answers, s := over(a, settings.AnswerAll)
	p := answers.Of(t.Context(), s)
	if p.Err != nil || len(p.Requests) != 1 || len(p.Requests[0].Dangers) != 1 || !p.Requests[0].CanAllow || len(p.Requests[0].Key) != 26 {
		t.Fatalf("%+v", p)
	}
	ref := p.Ref(&p.Requests[0])
	got, err := answers.Answer(t.Context(), ref, allow)
	if err != nil || got.Session.Status != adapters.Working || got.Evidence != "taken" || len(a.answered) != 1 || a.refreshes != 1 {
		t.Errorf("%+v, %v, %v", got, err, a.answered)
	}
	if _, err := answers.Answer(t.Context(), ref, allow); !errors.Is(err, adapters.ErrNotPending) || len(a.answered) != 1 {
		t.Errorf("a second time: %v", err)
	}
	a.requests = asks("rm -rf y").requests
	if _, err := answers.Answer(t.Context(), ref, allow); !errors.Is(err, adapters.ErrRequestChanged) || len(a.answered) != 1 {
		t.Errorf("another request: %v", err)
	}
	if _, err := answers.Answer(t.Context(), Ref{Agent: "example", Session: "s2", Key: ref.Key}, allow); !errors.Is(err, app.ErrNoSession) {
		t.Errorf("another session: %v", err)
	}
}

func TestPolicy(t *testing.T) {
	for policy, want := range map[settings.Answering][2]bool{"": {true, true}, settings.AnswerAll: {true, true}, settings.AnswerDeny: {false, true}, settings.AnswerNone: {false, false}} {
		for i, d := range []adapters.Decision{allow, deny} {
			a := asks("ls")
			answers, s := over(a, policy)
			p := answers.Of(t.Context(), s)
			r := &p.Requests[0]
			if can := [2]bool{r.CanAllow, r.CanDeny}; can != want {
				t.Errorf("%q: can %v, want %v", policy, can, want)
			}
			_, err := answers.Answer(t.Context(), p.Ref(r), d)
			if ok := err == nil; ok != want[i] || !ok && (!errors.Is(err, adapters.ErrNotAllowed) || !strings.Contains(err.Error(), "answering")) || len(a.answered) > 0 != want[i] {
				t.Errorf("%q, %s: %v", policy, d.Verdict, err)
			}
		}
	}
}

// A session that goes on waiting is not called answered.
func TestUnconfirmed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := asks("ls")
		a.stays = true
		answers, s := over(a, "")
		p := answers.Of(t.Context(), s)
		began := time.Now()
		_, err := answers.Answer(t.Context(), p.Ref(&p.Requests[0]), allow)
		if !errors.Is(err, adapters.ErrUnconfirmed) || !strings.Contains(err.Error(), "process 47") || time.Since(began) != confirmLimit {
			t.Errorf("%v after %s", err, time.Since(began))
		}
	})
}

// The next request of the session confirms the answer to the one before.
func TestConfirmedByNextRequest(t *testing.T) {
	a := asks("ls", "pwd")
	answers, s := over(a, "")
	p := answers.Of(t.Context(), s)
	first := p.Ref(&p.Requests[0])
	a.stays = true
	go func() {
		for {
			a.mu.Lock()
			if len(a.answered) > 0 {
				a.requests = a.requests[1:]
				a.mu.Unlock()
				return
			}
			a.mu.Unlock()
			time.Sleep(time.Millisecond)
		}
	}()
	if _, err := answers.Answer(t.Context(), first, deny); err != nil {
		t.Error(err)
	}
}

// An agent that took the decision confirms it, although the session is still shown as waiting (Qwen Code 0.24.4, until it has recorded the result).
func TestConfirmedByAgent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := asks("ls")
		answers, s := over(a, "")
		p := answers.Of(t.Context(), s)
		a.stays = true
		go func() {
			for answered := false; !answered; time.Sleep(time.Millisecond) {
				a.mu.Lock()
				answered = len(a.answered) > 0
				if answered {
					a.requests = nil
				}
				a.mu.Unlock()
			}
		}()
		if _, err := answers.Answer(t.Context(), p.Ref(&p.Requests[0]), allow); err != nil {
			t.Error(err)
		}
	})
}

func TestAll(t *testing.T) {
	a := asks("ls")
	answers, s := over(a, "")
	old, idle := s, s
	old.LastActivityAt, idle.Status = s.LastActivityAt.Add(-time.Hour), adapters.Idle
	list := answers.All(t.Context(), []app.Session{s, idle, old})
	if len(list) != 2 || !list[0].Session.LastActivityAt.Equal(old.LastActivityAt) {
		t.Errorf("%+v", list)
	}
	a.err = adapters.ErrAnswerElsewhere
	p := answers.Of(t.Context(), s)
	if !errors.Is(p.Err, adapters.ErrAnswerElsewhere) || p.Place != "process 47, in /home/dev/proj" {
		t.Errorf("%+v", p)
	}
	plain := New(&core{a, struct{ adapters.Adapter }{a}}, func() settings.Answering { return "" })
	if p := plain.Of(t.Context(), s); !errors.Is(p.Err, adapters.ErrAnswerElsewhere) {
		t.Errorf("an agent that takes no answers: %v", p.Err)
	}
	if _, err := plain.Answer(t.Context(), Ref{Agent: "example", Session: "s1"}, allow); !errors.Is(err, adapters.ErrAnswerElsewhere) {
		t.Errorf("an agent that takes no answers: %v", err)
	}
	if err := plain.Send(t.Context(), "example", "s1", "go on", true); !errors.Is(err, ErrNoPrompts) {
		t.Errorf("an agent that takes no prompts: %v", err)
	}
	if err := plain.Interrupt(t.Context(), "example", "s1"); !errors.Is(err, ErrNoInterrupt) {
		t.Errorf("an agent that can't be interrupted: %v", err)
	}
}

func TestSend(t *testing.T) {
	for _, tt := range []struct {
		status adapters.Status
		queue  bool
		want   string // what the agent got
		err    error
	}{
		{adapters.Idle, false, "send go on", nil}, {adapters.Idle, true, "queue go on", nil},
		{adapters.Working, false, "", adapters.ErrBusy}, {adapters.Working, true, "queue go on", nil},
		{adapters.Waiting, false, "", adapters.ErrBusy}, {adapters.Waiting, true, "queue go on", nil},
		{adapters.Stopped, true, "", ErrNoPrompts}, {adapters.Unknown, false, "", adapters.ErrBusy},
	} {
		a := asks()
		a.status = tt.status
		answers, _ := over(a, "")
		err := answers.Send(t.Context(), "example", "s1", "go on", tt.queue)
		if got := strings.Join(a.prompts, ","); got != tt.want || !errors.Is(err, tt.err) {
			t.Errorf("%s, queue %v: %q, %v", tt.status, tt.queue, got, err)
		}
	}
	answers, _ := over(asks(), "")
	for _, bad := range []string{"", " \n", strings.Repeat("x", maxPrompt+1)} {
		if err := answers.Send(t.Context(), "example", "s1", bad, true); err == nil {
			t.Errorf("%.20q was sent", bad)
		}
	}
}

// A key differs with everything that the user decides on.
func TestKey(t *testing.T) {
	base := asks("ls -l").requests[0]
	seen := map[string]string{base.Key(): "itself"}
	for name, change := range map[string]func(*adapters.Request){
		"session": func(r *adapters.Request) { r.Session = "s2" }, "id": func(r *adapters.Request) { r.ID = "2" },
		"text": func(r *adapters.Request) { r.Text += " " }, "folder": func(r *adapters.Request) { r.Folder = "/" },
		"kind": func(r *adapters.Request) { r.Kind = adapters.AsksPlan }, "reason": func(r *adapters.Request) { r.Reason = "x" },
		"options": func(r *adapters.Request) { r.Options = []string{"a"} }, "split": func(r *adapters.Request) { r.ID, r.Session = "", "s11" },
		"questions": func(r *adapters.Request) { r.Questions = []adapters.Question{{Text: "a"}} },
		"two":       func(r *adapters.Request) { r.Questions = []adapters.Question{{Text: "a"}, {}} },
		"labels": func(r *adapters.Request) {
			r.Questions = []adapters.Question{{Text: "a", Options: []adapters.Option{{Label: "x"}}}}
		},
	} {
		r := base
		change(&r)
		if other, ok := seen[r.Key()]; ok {
			t.Errorf("%s has the key of %s", name, other)
		}
		seen[r.Key()] = name
	}
	same := base
	same.AskedAt, same.CanAllow = time.Now(), false
	if same.Key() != base.Key() {
		t.Error("the time belongs to the key")
	}
}
