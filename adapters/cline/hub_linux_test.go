package cline

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"

	"rollcall/adapters"
	"rollcall/internal/adaptertest"
	"rollcall/internal/must"
	"rollcall/proc"
)

const (
	hosted = "1795616197924_0n5z5" // of the recording in which the hub hosts a session
	token  = "0123456789abcdef"
)

// testHub is a hub with approvals. It listens on loopback, in this process.
type testHub struct {
	t        *testing.T
	mu       sync.Mutex
	pending  map[string]string // the input by id
	commands []string          // that it got, with their payloads
	token    string            // that it was asked with last
	busy     bool              // it refuses prompts
	more     map[string]any    // further members of an approval
}

func (h *testHub) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	said := r.Header.Get("Sec-WebSocket-Protocol")
	h.mu.Lock()
	h.token = strings.TrimPrefix(said, tokenProtocol)
	h.mu.Unlock()
	ws, err := websocket.Accept(w, r, &websocket.AcceptOptions{Subprotocols: []string{said}})
	if err != nil {
		return
	}
	defer func() { _ = ws.CloseNow() }()
	for {
		_, text, err := ws.Read(r.Context())
		if err != nil {
			return
		}
		for _, out := range h.take(text) {
			if ws.Write(r.Context(), websocket.MessageText, []byte(out)) != nil {
				return
			}
		}
	}
}

// take returns the frames with which the hub reacts to one.
func (h *testHub) take(text []byte) (out []string) {
	var f struct {
		Kind, SessionID string
		Envelope        struct {
			Command, RequestID, SessionID string
			Payload                       json.RawMessage
		}
	}
	if err := json.Unmarshal(text, &f); err != nil {
		h.t.Errorf("the hub got %s: %v", text, err)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if f.Kind == "stream.subscribe" {
		for id, input := range h.pending {
			approval := map[string]any{"approvalId": id, "toolName": "run_commands", "inputJson": input, "agentId": "a", "iteration": 1, "policy": map[string]any{"autoApprove": false}}
			maps.Copy(approval, h.more)
			payload, _ := json.Marshal(approval)
			out = append(out, fmt.Sprintf(`{"kind":"event","envelope":{"version":"v1","event":"approval.requested","sessionId":%q,"timestamp":1795616198063,"payload":%s}}`, f.SessionID, payload))
		}
		return out
	}
	e := f.Envelope
	h.commands = append(h.commands, e.Command+" "+string(e.Payload))
	reply := func(ok bool, more string) string {
		return fmt.Sprintf(`{"kind":"reply","envelope":{"version":"v1","requestId":%q,"ok":%v%s}}`, e.RequestID, ok, more)
	}
	switch e.Command {
	case "approval.respond":
		var p struct{ ApprovalID string }
		_ = json.Unmarshal(e.Payload, &p)
		if _, waits := h.pending[p.ApprovalID]; !waits {
			return []string{reply(false, `,"error":{"code":"approval_not_found","message":"Unknown approval"}`)}
		}
		delete(h.pending, p.ApprovalID)
	case "session.send_input":
		if h.busy {
			return []string{reply(false, `,"error":{"code":"busy","message":"a turn is open"}`)}
		}
		return []string{fmt.Sprintf(`{"kind":"event","envelope":{"event":"run.started","sessionId":%q,"payload":{}}}`, e.SessionID)}
	}
	return []string{reply(true, "")}
}

// withHub starts a hub, registers it for the recording in which a hub hosts a session, and returns that session with a status.
func withHub(t *testing.T, status adapters.Status, change func(*registration)) (*Adapter, *testHub, adapters.Session) {
	t.Helper()
	h := &testHub{t: t, pending: map[string]string{}}
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	r := adaptertest.Replay(t, "testdata/recordings/cline-3.0.65-hub-hosted")
	a := New(r.Config())
	a.serves = func(netip.AddrPort, proc.Identity) error { return nil }
	sessions := adaptertest.Discover(t, a, adapters.Query{IDs: []string{hosted}}).Sessions
	if len(sessions) != 1 || !sessions[0].Shared {
		t.Fatalf("%+v", sessions)
	}
	s := sessions[0]
	s.Status = status
	if status == adapters.Waiting {
		s.WaitingFor = adapters.ForPermission
	}
	entry := registration{PID: s.Process.PID, URL: "ws" + strings.TrimPrefix(server.URL, "http") + "/hub", Token: token}
	if change != nil {
		change(&entry)
	}
	text, err := json.Marshal(entry)
	if err == nil {
		err = os.WriteFile(registered(r), text, 0o600)
	}
	if err == nil {
		err = os.Chmod(registered(r), 0o600)
	}
	must.Do(t, err)
	return a, h, s
}

func registered(r *adaptertest.Recording) string {
	return filepath.Join(r.Home, ".cline", "data", "locks", "hub", "production.json")
}

func TestApproval(t *testing.T) {
	for _, d := range []adapters.Decision{{Verdict: adapters.AllowOnce}, {Verdict: adapters.Deny, Message: "not now"}} {
		a, h, s := withHub(t, adapters.Waiting, nil)
		h.pending["approval_1"] = `{"commands":["make install"]}`
		list, err := a.Pending(t.Context(), s)
		if err != nil || len(list) != 1 {
			t.Fatalf("%v, %v", list, err)
		}
		r := list[0]
		if r.Kind != adapters.AsksCommand || r.Text != "make install" || !r.CanAllow || !r.CanDeny || r.Folder != s.CWD || r.AskedAt.IsZero() {
			t.Errorf("%+v", r)
		}
		if h.token != token {
			t.Errorf("the hub was asked with the token %q", h.token)
		}
		if res, err := a.Answer(t.Context(), s, r, d); err != nil || !res.Confirmed {
			t.Errorf("%+v, %v", res, err)
		}
		want := fmt.Sprintf(`"approved":%v`, d.Verdict == adapters.AllowOnce)
		if last := h.commands[len(h.commands)-1]; !strings.Contains(last, want) || !strings.Contains(last, d.Message) {
			t.Errorf("the hub got %s", last)
		}
		if _, err := a.Answer(t.Context(), s, r, d); !errors.Is(err, adapters.ErrNotPending) {
			t.Errorf("answered twice: %v", err)
		}
		if strings.Contains(strings.Join(h.commands, "\n"), "session.list") {
			t.Error("session.list was asked, which changes Cline's files")
		}
	}
}

// An approval with a member that is not known can only be denied.
func TestUnknownMembers(t *testing.T) {
	a, h, s := withHub(t, adapters.Waiting, nil)
	h.pending["approval_1"], h.more = `{"commands":["ls"]}`, map[string]any{"environment": map[string]string{"A": "b"}}
	list, err := a.Pending(t.Context(), s)
	if err != nil || len(list) != 1 || !slices.Equal(list[0].Unknown, []string{"environment"}) || list[0].CanAllow || !list[0].CanDeny {
		t.Fatalf("%+v, %v", list, err)
	}
	r := list[0]
	r.CanAllow = true
	if _, err := a.Answer(t.Context(), s, r, adapters.Decision{Verdict: adapters.AllowOnce}); !errors.Is(err, adapters.ErrNotAllowed) || !strings.Contains(err.Error(), `"environment"`) {
		t.Errorf("%v", err)
	}
	if strings.Contains(strings.Join(h.commands, "\n"), "approval.respond") {
		t.Error("something was answered")
	}
	if _, err := a.Answer(t.Context(), s, list[0], adapters.Decision{Verdict: adapters.Deny}); err != nil {
		t.Error(err)
	}
}

// What waits now is compared with what the user saw.
func TestChangedApproval(t *testing.T) {
	a, h, s := withHub(t, adapters.Waiting, nil)
	h.pending["approval_1"] = `{"commands":["ls"]}`
	list, err := a.Pending(t.Context(), s)
	if err != nil || len(list) != 1 {
		t.Fatalf("%v, %v", list, err)
	}
	h.pending["approval_1"] = `{"commands":["rm -rf /"]}`
	if _, err := a.Answer(t.Context(), s, list[0], adapters.Decision{Verdict: adapters.AllowOnce}); !errors.Is(err, adapters.ErrRequestChanged) {
		t.Errorf("%v", err)
	}
	if strings.Contains(strings.Join(h.commands, "\n"), "approval.respond") {
		t.Error("something was answered")
	}
}

// A call is shown with all that the tool gets.
func TestOtherTool(t *testing.T) {
	for input, want := range map[string]string{
		`{"commands":["ls"],"timeout":5}`: "run_commands\n" + `{"commands":["ls"],"timeout":5}`,
		`{"commands":[{"command":"ls"}]}`: "run_commands\n" + `{"commands":[{"command":"ls"}]}`,
		`{"commands":[]}`:                 "run_commands\n" + `{"commands":[]}`,
		`{"commands":"ls"}`:               "run_commands\n" + `{"commands":"ls"}`,
		`{"commands":["echo '","x","'"]}`: "run_commands\n" + `{"commands":["echo '","x","'"]}`,
		`nonsense`:                        "run_commands\nnonsense",
	} {
		r := (&approval{ID: "x", Tool: "run_commands", Input: input}).request(&adapters.Session{})
		if r.Text != want || r.Kind != adapters.AsksPermission {
			t.Errorf("%s is shown as %s: %q", input, r.Kind, r.Text)
		}
	}
}

func TestOrders(t *testing.T) {
	a, h, s := withHub(t, adapters.Idle, nil)
	if err := a.Send(t.Context(), s, "go on"); err != nil || !strings.Contains(h.commands[0], `"prompt":"go on"`) {
		t.Errorf("%v, %v", h.commands, err)
	}
	h.busy = true
	if err := a.Send(t.Context(), s, "go on"); err == nil || !strings.Contains(err.Error(), "a turn is open") {
		t.Errorf("%v", err)
	}
	s.Status = adapters.Working
	if err := a.Send(t.Context(), s, "go on"); !errors.Is(err, adapters.ErrBusy) {
		t.Errorf("%v", err)
	}
	if err := a.CanStop(t.Context(), s); err != nil {
		t.Error(err)
	}
	if err := a.Stop(t.Context(), s); err != nil || !strings.HasPrefix(h.commands[len(h.commands)-1], "run.abort") {
		t.Errorf("%v, %v", h.commands, err)
	}
	if _, err := a.EndBy(s); err == nil {
		t.Error("the hub may be signalled")
	}
}

// The token is sent only to the hub.
func TestForeignHub(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(*registration)
		serves error
		kind   error
	}{
		"another listener":     {serves: proc.ErrForeignListener, kind: adapters.ErrNotAllowed},
		"another machine":      {change: func(r *registration) { r.URL = "ws://192.0.2.1:25463/hub" }, kind: adapters.ErrAnswerElsewhere},
		"a name":               {change: func(r *registration) { r.URL = "ws://localhost:25463/hub" }, kind: adapters.ErrAnswerElsewhere},
		"another process":      {change: func(r *registration) { r.PID++ }, kind: adapters.ErrAnswerElsewhere},
		"no token":             {change: func(r *registration) { r.Token = "" }, kind: adapters.ErrAnswerElsewhere},
		"a token with a break": {change: func(r *registration) { r.Token = "a\r\nX: y" }, kind: adapters.ErrAnswerElsewhere},
	} {
		t.Run(name, func(t *testing.T) {
			a, h, s := withHub(t, adapters.Waiting, tt.change)
			a.serves = func(netip.AddrPort, proc.Identity) error { return tt.serves }
			if _, err := a.Pending(t.Context(), s); !errors.Is(err, tt.kind) || strings.Contains(fmt.Sprint(err), token) {
				t.Errorf("%v", err)
			}
			if h.token != "" {
				t.Errorf("the token was sent: %q", h.token)
			}
		})
	}
}

// A registration that others can write is not used.
func TestPublicRegistration(t *testing.T) {
	r := adaptertest.Replay(t, "testdata/recordings/cline-3.0.65-hub-hosted")
	a := New(r.Config())
	s := adaptertest.Discover(t, a, adapters.Query{IDs: []string{hosted}}).Sessions[0]
	s.Status, s.WaitingFor = adapters.Waiting, adapters.ForPermission
	must.Do(t, os.Chmod(registered(r), 0o666))
	if _, err := a.Pending(t.Context(), s); !errors.Is(err, adapters.ErrAnswerElsewhere) || !strings.Contains(err.Error(), "others can read or write it") {
		t.Errorf("%v", err)
	}
}

// A session that its own terminal hosts takes nothing from outside, and a question is answered in the terminal.
func TestAnswerElsewhere(t *testing.T) {
	r := adaptertest.Replay(t, "testdata/recordings/cline-3.0.65-permission")
	a := New(r.Config())
	s := adaptertest.Discover(t, a, adapters.Query{}).Sessions[0]
	if _, err := a.Pending(t.Context(), s); !errors.Is(err, adapters.ErrAnswerElsewhere) {
		t.Errorf("%v", err)
	}
	if err := a.CanStop(t.Context(), s); err == nil {
		t.Error("its turn can be interrupted")
	}
	s.WaitingFor = adapters.ForQuestion
	if _, err := a.Pending(t.Context(), s); !errors.Is(err, adapters.ErrAnswerElsewhere) || !strings.Contains(err.Error(), "question") {
		t.Errorf("%v", err)
	}
}

// A hub that accepts and never answers does not hold a question up longer than its context.
func TestSilentHub(t *testing.T) {
	a, _, s := withHub(t, adapters.Waiting, nil)
	release := make(chan struct{})
	silent := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-release }))
	defer silent.Close()
	defer close(release)
	path := filepath.Join(filepath.Dir(filepath.Dir(filepath.Dir(s.Files[0]))), "locks", "hub", "production.json")
	text, _ := json.Marshal(registration{PID: s.Process.PID, URL: "ws" + strings.TrimPrefix(silent.URL, "http"), Token: token})
	must.Do(t, os.WriteFile(path, text, 0o600))
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if _, err := a.Pending(ctx, s); !errors.Is(ctx.Err(), context.DeadlineExceeded) || err == nil {
		t.Errorf("%v", err)
	}
}
