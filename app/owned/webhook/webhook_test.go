package webhook

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"rollcall/adapters"
	"rollcall/app"
	"rollcall/app/store"
	"rollcall/internal/agentname"
	"rollcall/internal/eventually"
	"rollcall/internal/must"
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

// scene is a machine with sessions that work. Run again, it is the machine after the sender's process was killed or
// replaced.
type scene struct {
	t       *testing.T
	agent   *agent
	machine *table
	folder  store.Folder
}

func newScene(t *testing.T, ids ...string) *scene {
	t.Helper()
	s := &scene{t: t, agent: &agent{}, machine: &table{}, folder: store.In(t.TempDir())}
	for i, id := range ids {
		s.agent.s = append(s.agent.s, adapters.Session{
			ID: id, Agent: agentname.ClaudeCode,
			State: adapters.State{Status: adapters.Working, Evidence: "e"},
			Owner: adapters.Owner{Process: proc.Identity{PID: 100 + i, Start: 2, Boot: "b"}},
			Place: adapters.Place{CWD: "/p"},
		})
	}
	return s
}

// run runs a sender until stop is called, which ends it as the end of its process does. close ends it as a newer keeper
// does.
func (s *scene) run(cfg Config) (core *app.Core, stop, closed func()) {
	s.t.Helper()
	cfg.Folder, cfg.Alive = s.folder, s.machine.Alive
	if cfg.Pauses == nil {
		cfg.Pauses = []time.Duration{time.Millisecond}
	}
	core = app.New(app.Config{Adapters: []adapters.Adapter{s.agent}, Table: s.machine})
	events := core.Events()
	core.Refresh(s.t.Context())
	ctx, cancel := context.WithCancel(s.t.Context())
	done := make(chan error, 1)
	go func() { done <- New(cfg).Run(ctx, core, events, nil) }()
	wait := sync.OnceFunc(func() {
		if err := <-done; err != nil {
			s.t.Error(err)
		}
		events.Close()
		cancel()
	})
	return core, sync.OnceFunc(func() { cancel(); wait() }), sync.OnceFunc(func() { events.Close(); wait() })
}

// end ends all processes.
func (s *scene) end(core *app.Core) {
	s.machine.dead.Store(true)
	core.Refresh(s.t.Context())
}

// left returns the numbers of messages and of sessions on disk.
func (s *scene) left() (messages, running int) {
	s.t.Helper()
	var l sessions
	if err := s.folder.Read(list, &l); err != nil && !errors.Is(err, fs.ErrNotExist) {
		s.t.Fatal(err)
	}
	messages = must.Get(Waiting(s.folder))(s.t) // after the sessions: a message is stored before its session is removed
	return messages, len(l.Sessions)
}

// deliver has the end of a session sent, until it is delivered or dropped.
func deliver(t *testing.T, cfg Config) {
	t.Helper()
	s := newScene(t, "x")
	core, stop, _ := s.run(cfg)
	defer stop()
	eventually.True(t, "session on disk", func() bool { _, n := s.left(); return n == 1 })
	s.end(core)
	eventually.True(t, "end of the message", func() bool { m, n := s.left(); return m == 0 && n == 0 })
}

func TestSigned(t *testing.T) {
	a := listen(t, 204)
	deliver(t, Config{Target: at(a.URL, "s3cret")})
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
	}{
		"at once":           {[]int{200}, 1},
		"later":             {[]int{503, 429, 408, 500, 500, 200}, 6},
		"it does not want":  {[]int{400}, 1},
		"it is not allowed": {[]int{401}, 1},
	} {
		a := listen(t, c.codes...)
		deliver(t, Config{Target: at(a.URL, "")})
		if a.calls() != c.calls {
			t.Errorf("%s: %d calls; want %d", name, a.calls(), c.calls)
		}
		if a.heads[0].Get("X-Signature") != "" {
			t.Errorf("%s: signed without a secret", name)
		}
		for _, body := range a.bodies {
			if string(body) != string(a.bodies[0]) {
				t.Errorf("%s: sent %s, then %s", name, a.bodies[0], body)
			}
		}
	}
}

func TestUnreachable(t *testing.T) {
	a := listen(t, 200)
	a.Close()
	status, err := Post(t.Context(), Client(limit), a.URL+"/hook?token=secret", nil, nil)
	if status != 0 || err == nil || strings.Contains(err.Error(), "secret") {
		t.Errorf("%d, %v", status, err)
	}
	for _, bad := range []string{"", "file:///x", "https://", "::"} {
		if CheckURL(bad) == nil {
			t.Errorf("%q was accepted as a URL", bad)
		}
	}
}

// agent is an adapter that answers from memory.
type agent struct {
	mu  sync.Mutex
	s   []adapters.Session
	err error
}

func (a *agent) Name() adapters.Name { return agentname.ClaudeCode }

func (a *agent) Discover(context.Context, adapters.Query) (adapters.Roll, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return adapters.Roll{Sessions: a.s}, a.err
}

// close stops a session, as its agent does a moment before it exits.
func (a *agent) close(i int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.s = slices.Clone(a.s)
	a.s[i].Status, a.s[i].Process = adapters.Stopped, proc.Identity{}
}

// table is a process table in which all processes run until the test sets dead.
type table struct {
	proc.Lister
	dead atomic.Bool
}

func (t *table) Alive(proc.Identity) bool { return !t.dead.Load() }

func (t *table) Find(int) (proc.Process, error) { return proc.Process{}, proc.ErrUnsupported }

func (t *table) List(context.Context) ([]proc.Process, error) { return nil, proc.ErrUnsupported }

// TestSendsEnds checks that the end of a session is sent once, without fields that are unknown, and that the ends of
// sub-agents are not sent.
func TestSendsEnds(t *testing.T) {
	to := listen(t, 200)
	scene := newScene(t, "a", "b", "c")
	for i := range scene.agent.s {
		x := &scene.agent.s[i]
		x.Model = "m"
		x.FirstPrompt = "\x1b[31m" + strings.Repeat("long ", 100)
		x.TurnStartedAt = time.Now().Add(-90 * time.Second)
	}
	scene.agent.s[1].Parent = "a"
	scene.agent.s[1].Process = scene.agent.s[0].Process
	code := 7
	core, stop, _ := scene.run(Config{Target: at(to.URL, ""), ExitCode: func(_ context.Context, x *app.Session) *int {
		if x.ID == "a" {
			return &code
		}
		return nil
	}})
	defer stop()
	eventually.True(t, "sessions", func() bool { _, n := scene.left(); return n == 2 })
	scene.end(core)
	core.Refresh(t.Context())
	eventually.True(t, "end of the messages", func() bool { m, n := scene.left(); return m == 0 && n == 0 })
	stop()
	if to.calls() != 2 {
		t.Fatalf("%d messages, want 2", to.calls())
	}
	for _, body := range to.bodies {
		var p Payload
		must.Do(t, json.Unmarshal(body, &p))
		if p.HookType != "session.stopped" || p.CWD != "/p" || p.Outcome != adapters.Died || p.DurationSeconds < 90 || p.Meta["model"] != "m" ||
			len([]rune(p.Summary)) > summary || strings.Contains(p.Summary, "\x1b") {
			t.Errorf("%s", body)
		}
		if known := p.ExitStatus != nil && *p.ExitStatus == 7; known != (p.SessionID == "a") || strings.Contains(string(body), "exit_status") != known {
			t.Errorf("exit status of %s: %s", p.SessionID, body)
		}
	}
}

// TestSendsEndsOfOneProcess checks that each of the sessions of one process has one message, also where its agent drops its claims, one after the other, before
// the process ends.
func TestSendsEndsOfOneProcess(t *testing.T) {
	to := listen(t, 200)
	scene := newScene(t, "a", "b", "c")
	for i := range scene.agent.s {
		scene.agent.s[i].Process = scene.agent.s[0].Process
	}
	core, stop, _ := scene.run(Config{Target: at(to.URL, "")})
	defer stop()
	eventually.True(t, "sessions", func() bool { _, n := scene.left(); return n == 3 })
	for i := range 2 {
		scene.agent.close(i)
		core.Refresh(t.Context())
		eventually.True(t, "a session less", func() bool { _, n := scene.left(); return n == 2-i })
	}
	scene.end(core)
	eventually.True(t, "end of the messages", func() bool { m, n := scene.left(); return m == 0 && n == 0 && to.calls() >= 3 })
	core.Refresh(t.Context())
	stop()
	if to.calls() != 3 {
		t.Fatalf("%d messages, want 3", to.calls())
	}
}

// TestRedirect checks that a redirect is an error and is not followed: a client that follows 302 loses the body, and one
// that follows 307 sends it to a server that the user did not name.
func TestRedirect(t *testing.T) {
	for _, code := range []int{http.StatusMovedPermanently, http.StatusFound, http.StatusTemporaryRedirect} {
		elsewhere := listen(t, 200)
		moved := httptest.NewServer(http.RedirectHandler(elsewhere.URL, code))
		var log strings.Builder
		deliver(t, Config{Target: at(moved.URL, ""), Log: slog.New(slog.NewTextHandler(&log, nil))})
		if !strings.Contains(log.String(), "set the URL that it leads to") || elsewhere.calls() > 0 {
			t.Errorf("%d: %s, the redirect was followed %d times", code, log.String(), elsewhere.calls())
		}
		moved.Close()
	}
}

// TestDuration checks that the duration is that of the last turn, as in the notification, or left out if it is unknown.
func TestDuration(t *testing.T) {
	now := time.Now()
	ended := func(turn time.Duration, prompts ...string) app.Event {
		x := app.Session{Session: adapters.Session{
			ID:    "x",
			State: adapters.State{Status: adapters.Stopped},
			Topic: adapters.Topic{FirstPrompt: prompts[0], LastPrompt: prompts[len(prompts)-1]},
			Times: adapters.Times{StartedAt: now.Add(-48 * time.Hour), LastActivityAt: now},
		}}
		if turn > 0 {
			x.TurnStartedAt = now.Add(-turn)
		}
		return app.Event{Kind: app.Ended, At: now, Session: x}
	}
	s := New(Config{Target: at("http://127.0.0.1:1", "")})
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
