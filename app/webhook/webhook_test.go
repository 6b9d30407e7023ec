package webhook

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"rollcall/adapters"
	"rollcall/app"
	"rollcall/proc"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// address is a webhook that answers with one code after the other, and then always with the last.
type address struct {
	*httptest.Server
	mu     sync.Mutex
	codes  []int
	bodies [][]byte
	heads  []http.Header
}

func listen(t *testing.T, codes ...int) *address {
	t.Helper()
	a := &address{codes: codes}
	a.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		a.mu.Lock()
		defer a.mu.Unlock()
		a.bodies, a.heads = append(a.bodies, body), append(a.heads, r.Header)
		w.WriteHeader(a.codes[min(len(a.bodies), len(a.codes))-1])
	}))
	t.Cleanup(a.Close)
	return a
}

func (a *address) calls() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.bodies)
}

// at returns the target of a webhook that does not change.
func at(url, secret string) func() (Target, error) {
	return func() (Target, error) { return Target{url, secret}, nil }
}

func sender(t *testing.T, cfg Config) *Sender {
	t.Helper()
	if cfg.Pauses == nil {
		cfg.Pauses = []time.Duration{time.Millisecond, time.Millisecond, time.Millisecond}
	}
	s := New(cfg)
	t.Cleanup(s.client.CloseIdleConnections)
	return s
}

func TestSigned(t *testing.T) {
	a := listen(t, 204)
	if err := sender(t, Config{Target: at(a.URL, "s3cret")}).Send(t.Context(), Payload{HookType: "session.stopped", SessionID: "x"}); err != nil {
		t.Fatal(err)
	}
	// The HMAC, as `openssl dgst -sha256 -hmac s3cret` has it, by the two names.
	want := "sha256=" + Sign("s3cret", a.bodies[0])
	for _, h := range []string{"X-Signature", "X-Hub-Signature-256"} {
		if got := a.heads[0].Get(h); got != want {
			t.Errorf("%s: %s, want %s", h, got, want)
		}
	}
	if got := Sign("key", []byte("The quick brown fox jumps over the lazy dog")); got != "f7bc83f430538424b13298e6aa6fb143ef4d59a14946175997479dbc2d1a3cd8" {
		t.Errorf("the known HMAC is another: %s", got)
	}
}

func TestRetries(t *testing.T) {
	for name, c := range map[string]struct {
		codes []int
		calls int
		fails bool
	}{
		"at once":           {[]int{200}, 1, false},
		"later":             {[]int{503, 429, 200}, 3, false},
		"never":             {[]int{500}, 4, true},
		"it does not want":  {[]int{400}, 1, true},
		"it is not allowed": {[]int{401}, 1, true},
	} {
		a := listen(t, c.codes...)
		err := sender(t, Config{Target: at(a.URL, "")}).Send(t.Context(), Payload{})
		if (err != nil) != c.fails || a.calls() != c.calls {
			t.Errorf("%s: %d calls, %v; want %d", name, a.calls(), err, c.calls)
		}
		if a.heads[0].Get("X-Signature") != "" {
			t.Errorf("%s: signed without a secret", name)
		}
	}
}

func TestUnreachable(t *testing.T) {
	a := listen(t, 200)
	a.Close()
	err := sender(t, Config{Target: at(a.URL+"/hook?token=secret", "")}).Send(t.Context(), Payload{})
	if err == nil || strings.Contains(err.Error(), "secret") {
		t.Errorf("%v", err)
	}
	for _, bad := range []string{"", "file:///x", "https://", "::"} {
		if CheckURL(bad) == nil {
			t.Errorf("%q was accepted as a URL", bad)
		}
	}
}

// agent is an adapter that answers from memory.
type agent struct{ s []adapters.Session }

func (a *agent) Name() adapters.Name { return adapters.ClaudeCode }

func (a *agent) Discover(context.Context, adapters.Query) (adapters.Roll, error) {
	return adapters.Roll{Sessions: a.s}, nil
}

// table is a process table in which all processes run until the test sets dead.
type table struct {
	proc.Lister
	dead atomic.Bool
}

func (t *table) Alive(proc.Identity) bool { return !t.dead.Load() }

func (t *table) Find(int) (proc.Process, error) { return proc.Process{}, proc.ErrUnsupported }

// TestSendsEnds checks that the end of a session is sent once, without fields that are unknown, and that the ends of
// sub-agents are not sent.
func TestSendsEnds(t *testing.T) {
	to := listen(t, 200)
	s := adapters.Session{
		ID: "a", Agent: adapters.ClaudeCode, Status: adapters.Working, Evidence: "e", Process: proc.Identity{PID: 1, Start: 2, Boot: "b"},
		CWD: "/p", Model: "m", FirstPrompt: "\x1b[31m" + strings.Repeat("long ", 100), TurnStartedAt: time.Now().Add(-90 * time.Second),
	}
	sub, other := s, s
	sub.ID, sub.Parent = "b", "a"
	other.ID, other.Process.PID = "c", 2
	machine := &table{}
	core := app.New(app.Config{Adapters: []adapters.Adapter{&agent{s: []adapters.Session{s, sub, other}}}, Table: machine})
	events := core.Events()
	core.Refresh(t.Context())
	code := 7
	w := sender(t, Config{Target: at(to.URL, ""), ExitCode: func(_ context.Context, x *app.Session) *int {
		if x.ID == "a" {
			return &code
		}
		return nil
	}})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- w.Run(ctx, events) }()
	machine.dead.Store(true)
	core.Refresh(t.Context())
	core.Refresh(t.Context())
	events.Close() // Run then sends what it has taken, and ends
	if err := <-done; err != nil {
		t.Error(err)
	}
	cancel()
	if to.calls() != 2 {
		t.Fatalf("%d messages, want 2", to.calls())
	}
	for _, body := range to.bodies {
		var p Payload
		if err := json.Unmarshal(body, &p); err != nil {
			t.Fatal(err)
		}
		if p.HookType != "session.stopped" || p.CWD != "/p" || p.Outcome != adapters.Died || p.DurationSeconds < 90 || p.Meta["model"] != "m" ||
			len([]rune(p.Summary)) > summary || strings.Contains(p.Summary, "\x1b") {
			t.Errorf("%s", body)
		}
		if known := p.ExitStatus != nil && *p.ExitStatus == 7; known != (p.SessionID == "a") || strings.Contains(string(body), "exit_status") != known {
			t.Errorf("exit status of %s: %s", p.SessionID, body)
		}
	}
}

// TestRedirect checks that a redirect is an error and is not followed: a client that follows 302 loses the body, and one
// that follows 307 sends it to a server that the user did not name.
func TestRedirect(t *testing.T) {
	for _, code := range []int{http.StatusMovedPermanently, http.StatusFound, http.StatusTemporaryRedirect} {
		elsewhere := listen(t, 200)
		moved := httptest.NewServer(http.RedirectHandler(elsewhere.URL, code))
		err := sender(t, Config{Target: at(moved.URL, "")}).Send(t.Context(), Payload{HookType: "session.stopped"})
		if err == nil || elsewhere.calls() > 0 {
			t.Errorf("%d: %v, the redirect was followed %d times", code, err, elsewhere.calls())
		}
		moved.Close()
	}
}

// TestDuration checks that the duration is that of the last turn, as in the notification, or left out if it is unknown.
func TestDuration(t *testing.T) {
	now := time.Now()
	ended := func(turn time.Duration, prompts ...string) app.Event {
		x := app.Session{Session: adapters.Session{ID: "x", Status: adapters.Stopped, StartedAt: now.Add(-48 * time.Hour),
			FirstPrompt: prompts[0], LastPrompt: prompts[len(prompts)-1], LastActivityAt: now}}
		if turn > 0 {
			x.TurnStartedAt = now.Add(-turn)
		}
		return app.Event{Kind: app.Ended, At: now, Session: x}
	}
	s := sender(t, Config{Target: at("http://127.0.0.1:1", "")})
	for name, c := range map[string]struct {
		ev   app.Event
		want int64
	}{
		"turn known":          {ended(90*time.Second, "one", "two"), 90},
		"one turn, not known": {ended(0, "one"), 48 * 3600},
		"several, not known":  {ended(0, "one", "two"), 0},
	} {
		if got := s.payload(t.Context(), &c.ev).DurationSeconds; got != c.want {
			t.Errorf("%s: %d s, want %d", name, got, c.want)
		}
	}
}
