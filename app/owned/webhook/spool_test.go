package webhook

import (
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"rollcall/adapters"
	"rollcall/app/store"
	"rollcall/internal/eventually"
	"rollcall/internal/must"
	"rollcall/proc"
)

// payloads returns what was sent, in order.
func (a *address) payloads(t *testing.T) (out []Payload) {
	t.Helper()
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, body := range a.bodies {
		var p Payload
		must.Do(t, json.Unmarshal(body, &p))
		out = append(out, p)
	}
	return out
}

// TestRestart: a message that the server did not take is sent by the next process, with the same id, and then no more.
func TestRestart(t *testing.T) {
	for name, isClosed := range map[string]bool{"killed": false, "replaced": true} {
		a := listen(t, 500, 204)
		s := newScene(t, "x")
		core, stop, closed := s.run(Config{Target: at(a.URL, ""), Pauses: []time.Duration{time.Hour}})
		eventually.True(t, "session on disk", func() bool { _, n := s.left(); return n == 1 })
		s.end(core)
		eventually.True(t, "first attempt", func() bool { m, n := s.left(); return m == 1 && n == 0 && a.calls() == 1 })
		if isClosed {
			closed()
		} else {
			stop()
		}
		for range 2 {
			_, stop, _ = s.run(Config{Target: at(a.URL, "")})
			eventually.True(t, "delivery", func() bool { m, _ := s.left(); return m == 0 })
			stop()
		}
		p := a.payloads(t)
		if len(p) != 2 || p[0].DeliveryID != p[1].DeliveryID || p[0].DeliveryID == "" || p[1].Late || p[1].SessionID != "x" {
			t.Errorf("%s: %+v", name, p)
		}
	}
}

// TestLate: ends that no keeper noticed are sent by the next one once, if the agent answers and says so.
func TestLate(t *testing.T) {
	a := listen(t, 204)
	s := newScene(t, "one", "two", "three")
	_, stop, _ := s.run(Config{Target: at(a.URL, "")})
	eventually.True(t, "sessions on disk", func() bool { _, n := s.left(); return n == 3 })
	stop()
	s.machine.dead.Store(true)
	all := s.agent.s
	s.agent.s = nil // two is not listed any more
	s.agent.err = errors.New("it does not answer")
	_, stop, _ = s.run(Config{Target: at(a.URL, "")})
	stop()
	if _, n := s.left(); n != 3 || a.calls() != 0 {
		t.Fatalf("%d sessions, %d calls without an answer of the agent", n, a.calls())
	}
	s.agent.err = nil
	s.agent.s = []adapters.Session{all[0], all[2]}
	s.agent.s[0].Status, s.agent.s[0].Outcome = adapters.Stopped, adapters.Completed
	for range 2 {
		_, stop, _ = s.run(Config{Target: at(a.URL, "")})
		eventually.True(t, "delivery", func() bool { m, n := s.left(); return m == 0 && n == 0 && a.calls() == 3 })
		stop()
	}
	for _, p := range a.payloads(t) {
		want := map[string]adapters.Outcome{"one": adapters.Completed, "three": adapters.Died}[p.SessionID]
		if !p.Late || p.Outcome != want || p.Timestamp.IsZero() || p.CWD != "/p" {
			t.Errorf("%+v, want the outcome %q", p, want)
		}
	}
}

// TestStoppedWithoutAnEnd: a session that gave its process to another one did not end, whether somebody looked or not.
func TestStoppedWithoutAnEnd(t *testing.T) {
	a := listen(t, 204)
	s := newScene(t, "old", "away")
	core, stop, _ := s.run(Config{Target: at(a.URL, "")})
	eventually.True(t, "sessions on disk", func() bool { _, n := s.left(); return n == 2 })
	change := func(i int, id string) {
		s.agent.mu.Lock()
		defer s.agent.mu.Unlock()
		next := s.agent.s[i]
		next.ID = id
		s.agent.s = append([]adapters.Session{}, s.agent.s...)
		s.agent.s[i].Status, s.agent.s[i].Process = adapters.Stopped, proc.Identity{}
		s.agent.s = append(s.agent.s, next)
	}
	change(0, "new")
	core.Refresh(t.Context())
	eventually.True(t, "the new session on disk", func() bool {
		var l sessions
		_ = s.folder.Read(list, &l)
		return len(l.Sessions) == 2 && l.Sessions[1].ID == "new"
	})
	stop()
	change(1, "newer")
	_, stop, _ = s.run(Config{Target: at(a.URL, "")})
	eventually.True(t, "the newer session on disk", func() bool {
		var l sessions
		_ = s.folder.Read(list, &l)
		return len(l.Sessions) == 2 && l.Sessions[1].ID == "newer"
	})
	stop()
	if a.calls() != 0 {
		t.Errorf("%s", a.bodies)
	}
}

// TestHandOver: the process that takes over waits until the former one has finished its attempts.
func TestHandOver(t *testing.T) {
	free, began := make(chan struct{}), make(chan struct{}, 10)
	var calls atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		calls.Add(1)
		began <- struct{}{}
		<-free
	}))
	defer server.Close()
	s := newScene(t, "x")
	core, stop, closed := s.run(Config{Target: at(server.URL, "")})
	defer stop()
	eventually.True(t, "session on disk", func() bool { _, n := s.left(); return n == 1 })
	s.end(core)
	<-began
	var ending sync.WaitGroup
	ending.Go(closed)
	_, stopNext, _ := s.run(Config{Target: at(server.URL, "")})
	close(free)
	ending.Wait()
	eventually.True(t, "delivery", func() bool { m, _ := s.left(); return m == 0 })
	stopNext()
	if calls.Load() != 1 {
		t.Errorf("%d calls", calls.Load())
	}
}

// TestServerThatHangs: messages do not wait for each other.
func TestServerThatHangs(t *testing.T) {
	free := make(chan struct{})
	told := make(chan string, 10)
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if strings.Contains(string(body), `"session_id":"slow"`) {
			<-free
			return
		}
		told <- string(body)
	}))
	defer server.Close()
	defer close(free)
	s := newScene(t, "slow", "x")
	core, stop, _ := s.run(Config{Target: at(server.URL, "")})
	defer stop()
	s.end(core)
	<-told
	eventually.True(t, "one message", func() bool { m, _ := s.left(); return m == 1 })
}

// TestServerThatFailsForADay: the messages are tried ever less often, the user is told, and after a day they are dropped
// with a line in the log. A later message is delivered once the server is well.
func TestServerThatFailsForADay(t *testing.T) {
	var code atomic.Int32
	code.Store(500)
	var calls atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		calls.Add(1)
		w.WriteHeader(int(code.Load()))
	}))
	defer server.Close()
	folder := store.In(t.TempDir())
	synctest.Test(t, func(t *testing.T) {
		var log strings.Builder
		var shown atomic.Value
		s := newScene(t, "x")
		s.folder = folder
		core, stop, _ := s.run(Config{Target: at(server.URL, ""), Pauses: pauses, Log: slog.New(slog.NewTextHandler(&log, nil)),
			Show: func(text string) { shown.Store(text) }})
		eventually.True(t, "session on disk", func() bool { _, n := s.left(); return n == 1 })
		s.end(core)
		eventually.True(t, "message", func() bool { m, n := s.left(); return m == 1 && n == 0 })
		time.Sleep(12 * time.Hour)
		synctest.Wait()
		if !strings.Contains(shown.Load().(string), "the webhook answered 500") || calls.Load() < 60 || calls.Load() > 100 {
			t.Errorf("after 12 h: %q, %d calls", shown.Load(), calls.Load())
		}
		time.Sleep(12*time.Hour + time.Minute)
		synctest.Wait()
		if m, _ := s.left(); m != 0 || !strings.Contains(log.String(), "not delivered in 24 hours") || shown.Load() != "" {
			t.Errorf("after 24 h: %d messages, %q\n%s", m, shown.Load(), log.String())
		}
		code.Store(204)
		before := calls.Load()
		s.agent.mu.Lock()
		s.agent.s[0].ID, s.agent.s[0].Process.PID = "y", 200
		s.agent.mu.Unlock()
		s.machine.dead.Store(false)
		core.Refresh(t.Context())
		eventually.True(t, "session on disk", func() bool { _, n := s.left(); return n == 1 })
		s.end(core)
		eventually.True(t, "delivery", func() bool { m, n := s.left(); return m == 0 && n == 0 })
		if calls.Load() != before+1 {
			t.Errorf("%d calls", calls.Load()-before)
		}
		stop()
	})
}

// TestNoWebhook: without a webhook nothing is noted. While the settings cannot be read, messages wait.
func TestNoWebhook(t *testing.T) {
	a := listen(t, 204)
	var mu sync.Mutex
	var target Target
	var err error
	set := func(to Target, e error) { mu.Lock(); defer mu.Unlock(); target, err = to, e }
	cfg := Config{Target: func() (Target, error) { mu.Lock(); defer mu.Unlock(); return target, err }}
	s := newScene(t, "x")
	core, stop, _ := s.run(cfg)
	s.end(core)
	stop()
	if m, n := s.left(); m+n != 0 {
		t.Errorf("%d messages, %d sessions", m, n)
	}
	s = newScene(t, "x")
	set(Target{}, errors.New("a mistake"))
	core, stop, _ = s.run(cfg)
	defer stop()
	s.end(core)
	eventually.True(t, "message", func() bool { m, _ := s.left(); return m == 1 })
	set(Target{URL: a.URL}, nil)
	eventually.True(t, "delivery", func() bool { m, _ := s.left(); return m == 0 })
	if a.calls() != 1 {
		t.Errorf("%d calls", a.calls())
	}
}

// TestTooMany: the oldest messages are dropped when there are too many, in number or in bytes.
func TestTooMany(t *testing.T) {
	s := New(Config{Folder: store.In(t.TempDir())})
	large := strings.Repeat("x", 1<<20)
	for i := range 10 {
		s.add(&message{ID: newID(), At: time.Now().Add(time.Duration(i)), Payload: Payload{SessionID: large}})
	}
	if len(s.messages) != 3 || s.bytes > maxBytes {
		t.Errorf("%d messages, %d bytes", len(s.messages), s.bytes)
	}
	if n, err := Waiting(s.cfg.Folder); n != 3 || err != nil {
		t.Errorf("%d on disk, %v", n, err)
	}
	s.add(&message{ID: newID(), Payload: Payload{SessionID: strings.Repeat("x", maxBytes)}})
	s = New(Config{Folder: store.In("/dev/null/none")}) // a folder that cannot be
	for i := range maxMessages + 5 {
		s.add(&message{ID: newID(), At: time.Now().Add(time.Duration(i))})
	}
	if len(s.messages) != maxMessages {
		t.Errorf("%d messages", len(s.messages))
	}
}
