package opencode

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"rollcall/adapters"
	"rollcall/internal/adaptertest/scene"
	"rollcall/internal/must"
	"rollcall/proc"
)

// served is a session in the hands of `opencode serve`, whose answers a test sets.
type served struct {
	*store
	fixture *scene.Environment
	id      string
	adapter *Adapter
	env     map[string]string

	mu      sync.Mutex
	answers map[string]string // by path
	asked   []string
}

func (s *served) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, password, _ := r.BasicAuth()
	s.asked = append(s.asked, r.Method+" "+r.URL.Path+" "+r.URL.Query().Get("directory")+" "+password)
	answer, ok := s.answers[r.URL.Path]
	if !ok {
		http.Error(w, "no", http.StatusUnauthorized)
		return
	}
	fmt.Fprint(w, answer)
}

func (s *served) say(path, answer string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answers[path] = answer
}

func serve(t *testing.T) *served {
	t.Helper()
	s := &served{store: newStore(t, tables), fixture: scene.New(t), env: map[string]string{}, answers: map[string]string{
		"/session/status": "{}", "/permission": "[]", "/question": "[]"}}
	listener := httptest.NewServer(s)
	t.Cleanup(listener.Close)
	s.start(t, listener.Listener.Addr())
	return s
}

// start begins the process that listens at the address.
func (s *served) start(t *testing.T, address net.Addr) {
	_, port, err := net.SplitHostPort(address.String())
	must.Do(t, err)
	s.fixture.Procs.Start(scene.Spec{Comm: "opencode", Exe: "/opt/opencode.exe", CWD: "/home/dev",
		Args: []string{"opencode", "serve", "--port", port}, Env: []string{"HOME=" + s.home}, Started: time.Now().Add(-time.Minute)})
	begun := time.Now().Add(-50 * time.Second)
	s.id = s.session(begun.UnixMilli())
	s.message(s.id, begun.UnixMilli()+1, userData, textPart)
	s.message(s.id, begun.UnixMilli()+2, openData)
	s.write("log/opencode.log", lineAt(begun.Add(-8*time.Second), "aaaa1111", "message=loading")+
		lineAt(begun.Add(time.Second), "aaaa1111", "message=loop session.id="+s.id))
	s.adapter = New(adapters.Config{Home: s.home, Env: func(key string) string { return s.env[key] }, Table: s.fixture.Table})
	s.adapter.serves = anyProcess
}

// anyProcess lets the test's own process serve for the made-up ones.
func anyProcess(netip.AddrPort, proc.Identity) error { return nil }

// The server of a session is asked, and told its password, only when it is the
// process of that session that listens there.
func TestServerOfAnotherProcess(t *testing.T) {
	s := serve(t)
	s.env["OPENCODE_SERVER_PASSWORD"] = "secret"
	s.adapter.serves = proc.CheckListenedBy // of the test's process, which is not the session's
	got, err := s.look(t)
	var p *adapters.Problem
	if got.Status != adapters.Working || !errors.As(err, &p) || !errors.Is(err, proc.ErrForeignListener) || !strings.Contains(err.Error(), "nothing was sent") {
		t.Errorf("%s, %v", got.Status, err)
	}
	if err := s.adapter.Stop(t.Context(), got); !errors.Is(err, proc.ErrForeignListener) {
		t.Errorf("stop: %v", err)
	}
	if len(s.asked) > 0 {
		t.Errorf("it was asked %q", s.asked)
	}
}

func (s *served) look(t *testing.T) (adapters.Session, error) {
	t.Helper()
	sessions, _, err := asked(t, s.adapter, adapters.Query{})
	return sessions[s.id], err
}

// What the server says of its own session goes before what is stored; what it says
// of a question that is stored nowhere doesn't.
func TestServer(t *testing.T) {
	s := serve(t)
	want := func(status adapters.Status, words string) {
		t.Helper()
		got, err := s.look(t)
		if err != nil || got.Status != status || !strings.Contains(got.Evidence, words) || got.Process.IsZero() || !got.Shared {
			t.Errorf("%s (%s) of %v, shared %v, %v; want %s (%s)", got.Status, got.Evidence, got.Process, got.Shared, err, status, words)
		}
	}
	want(adapters.Idle, "isn't busy")
	s.say("/session/status", `{"`+s.id+`":{"type":"busy"}}`)
	want(adapters.Working, "busy")
	s.say("/session/status", `{"`+s.id+`":{"type":"retry","attempt":3,"message":"overloaded\u0000","next":1}}`)
	want(adapters.Working, "retry, attempt 3: overloaded")
	next := time.Now().Add(time.Hour).Truncate(time.Second)
	for _, limit := range []struct {
		limited bool
		rest    string
	}{{true, `"message":"Rate limit reached for gpt-5"`}, {true, `"message":"429 Too Many Requests"`}, {false, `"message":"overloaded"`}, {false, `"message":"overloaded","action":"x"`},
		{true, `"message":"5 hour usage limit reached","action":{"reason":"account_rate_limit"}`}} {
		s.say("/session/status", fmt.Sprintf(`{%q:{"type":"retry","attempt":1,"next":%d,%s}}`, s.id, next.UnixMilli(), limit.rest))
		want(adapters.Working, "retry at ")
		if got, _ := s.look(t); got.Limited != limit.limited || got.Limited && !got.LimitedUntil.Equal(next) {
			t.Errorf("%s: limited %v until %v, want %v until %v", limit.rest, got.Limited, got.LimitedUntil, limit.limited, next)
		}
	}
	s.say("/session/status", `{"`+s.id+`":{"type":"dreaming"}}`)
	want(adapters.Unknown, "dreaming")
	s.say("/session/status", `{"`+s.id+`":{"type":"busy"}}`)
	s.say("/question", `[{"id":"que_1","sessionID":"`+s.id+`"}]`)
	want(adapters.Working, "busy") // of an aborted turn
}

// A server that fails hides nothing, and is named.
func TestServerFails(t *testing.T) {
	s := serve(t)
	for path, answer := range map[string]string{"/session/status": "<html>", "": ""} {
		if path == "" {
			delete(s.answers, "/session/status")
		} else {
			s.say(path, answer)
		}
		got, err := s.look(t)
		var p *adapters.Problem
		if got.Status != adapters.Working || !errors.As(err, &p) || !strings.HasPrefix(p.Path, "http://127.0.0.1:") || p.Fix == "" {
			t.Errorf("%s, %v", got.Status, err)
		}
	}
	s.env["OPENCODE_SERVER_PASSWORD"] = "secret"
	s.say("/session/status", "{}")
	if got, err := s.look(t); err != nil || got.Status != adapters.Idle || !strings.HasSuffix(s.asked[len(s.asked)-1], "/home/dev/p secret") {
		t.Errorf("%s, %v, asked %q", got.Status, err, s.asked[len(s.asked)-1])
	}
}

// A server that accepts and says nothing costs a second.
func TestServerHangs(t *testing.T) {
	s := &served{store: newStore(t, tables), fixture: scene.New(t), env: map[string]string{}}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must.Do(t, err)
	defer listener.Close()
	s.start(t, listener.Addr())
	got, err := s.look(t)
	if got.Status != adapters.Working || !errors.Is(err, adapters.ErrTimeout) {
		t.Errorf("%s, %v", got.Status, err)
	}
}

// Stop asks the session's server, and says what to do where there is none.
func TestStop(t *testing.T) {
	s := serve(t)
	got, err := s.look(t)
	must.Do(t, err)
	if err := s.adapter.Stop(t.Context(), got); !errors.Is(err, errPassword) {
		t.Errorf("%v", err)
	}
	s.say("/session/"+s.id+"/abort", "true")
	if err := s.adapter.Stop(t.Context(), got); err != nil {
		t.Error(err)
	}
	if last := s.asked[len(s.asked)-1]; last != "POST /session/"+s.id+"/abort /home/dev/p " {
		t.Errorf("asked %q", last)
	}
	terminal := s.fixture.Procs.Start(scene.Spec{Comm: "opencode", Exe: "/opt/opencode.exe", CWD: "/home/dev/q",
		Args: []string{"opencode"}, Env: []string{"HOME=" + s.home}, Started: time.Now()})
	got.Process = terminal
	if err := s.adapter.Stop(t.Context(), got); err == nil || !strings.Contains(err.Error(), "Esc") {
		t.Errorf("%v", err)
	}
	editor := s.fixture.Procs.Start(scene.Spec{Comm: "zed", Exe: "/usr/bin/zed", CWD: "/home/dev/q", Args: []string{"zed"}, Started: time.Now()})
	got.Process = s.fixture.Procs.Start(scene.Spec{PPID: editor.PID, Comm: "opencode", Exe: "/opt/opencode.exe", CWD: "/home/dev/q",
		Args: []string{"opencode", "acp"}, Env: []string{"HOME=" + s.home}, Started: time.Now()})
	lives := fmt.Sprintf("lives in zed (process %d)", editor.PID)
	for _, err := range []error{s.adapter.Stop(t.Context(), got), s.adapter.CanStop(t.Context(), got)} {
		if err == nil || !strings.Contains(err.Error(), lives) || strings.Contains(err.Error(), "Esc") {
			t.Errorf("%v", err)
		}
	}
	got.Process.Start++
	if err := s.adapter.Stop(t.Context(), got); err == nil || !strings.Contains(err.Error(), "gone") {
		t.Errorf("%v", err)
	}
}

// Servers are asked on this machine only.
func TestAddress(t *testing.T) {
	for name, want := range map[string]string{"": "http://127.0.0.1:5", "0.0.0.0": "http://127.0.0.1:5", "::1": "http://[::1]:5",
		"example.com": "", "10.0.0.1": "", "127.0.0.2": "http://127.0.0.2:5"} {
		h := hostAt(1, time.Now(), "serve", "--port", "5", "--hostname", name)
		if got, _ := (census{hosts: []*host{h}}).address(h); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
	one, two := hostAt(1, time.Now(), "serve"), hostAt(2, time.Now(), "serve")
	if got, sure := (census{hosts: []*host{one}}).address(one); got != "http://127.0.0.1:4096" || sure {
		t.Errorf("%q, %v", got, sure)
	}
	if got, _ := (census{hosts: []*host{one, two}}).address(one); got != "" {
		t.Errorf("%q although it can be the other's", got)
	}
}
