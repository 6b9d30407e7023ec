package kimi

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rollcall/adapters"
	"rollcall/internal/must"
	"rollcall/proc"
)

const (
	webAsks = `{"type":"interaction.request","agentId":"main","id":"approval_1","kind":"approval","toolCallId":"call_3","request":{"id":"approval_1","sessionId":"session_1","agentId":"main",` +
		`"turnId":1,"toolCallId":"call_3","toolName":"Bash","action":"Running: touch q","display":{"kind":"command","command":"touch q","cwd":"/p","language":"bash"}},"time":1795853014745}`
	webPrompt = `{"type":"turn.prompt","agentId":"main","input":[],"time":1795853014275}`
)

// web returns a session that `kimi web` holds, with a server that answers with code, and what it was asked.
func web(t *testing.T, wire string, code int) (*Adapter, adapters.Session, *[]string) {
	t.Helper()
	var asked []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		asked = append(asked, r.Method+" "+r.URL.Path+" "+string(body)+" "+r.Header.Get("Authorization"))
		fmt.Fprintf(w, `{"code":%d,"msg":"x","data":{}}`, code)
	}))
	t.Cleanup(server.Close)
	home := t.TempDir()
	at := netip.MustParseAddrPort(strings.TrimPrefix(server.URL, "http://"))
	files := map[string]string{"server.token": "secret\n", "server/instances/1.json": fmt.Sprintf(`{"pid":7,"host":"127.0.0.1","port":%d}`, at.Port()),
		"sessions/wd/session_1/agents/main/wire.jsonl": wire}
	for name, text := range files {
		must.Do(t, os.MkdirAll(filepath.Dir(filepath.Join(home, name)), 0o700))
		must.Do(t, os.WriteFile(filepath.Join(home, name), []byte(text), 0o600))
	}
	a := New(adapters.Config{Home: t.TempDir(), Env: func(string) string { return "" }})
	a.serves = func(x netip.AddrPort, p proc.Identity) error {
		if x != at || p.PID != 7 {
			return proc.ErrForeignListener
		}
		return nil
	}
	return a, adapters.Session{
		Agent: Name, ID: "session_1", Files: []string{filepath.Join(home, "sessions/wd/session_1/agents/main/wire.jsonl")},
		State: adapters.State{Status: adapters.Waiting},
		Owner: adapters.Owner{Shared: true, Process: proc.Identity{PID: 7, Start: 1}},
		Place: adapters.Place{Home: home, CWD: "/p"},
	}, &asked
}

// TestAnswerWeb: a request of a session that `kimi web` holds is read whole from its file, and answered once through the server, with its token.
func TestAnswerWeb(t *testing.T) {
	a, s, asked := web(t, webPrompt+"\n"+webAsks+"\n", 0)
	list, err := a.Pending(t.Context(), s)
	if err != nil || len(list) != 1 || list[0].Text != "touch q" || list[0].Folder != "/p" || list[0].Kind != adapters.AsksCommand || !list[0].CanAllow || len(list[0].Unknown) > 0 {
		t.Fatalf("%+v, %v", list, err)
	}
	for verdict, want := range map[adapters.Verdict]string{adapters.AllowOnce: "approved", adapters.Deny: "rejected"} {
		*asked = nil
		if _, err := a.Answer(t.Context(), s, list[0], adapters.Decision{Verdict: verdict}); err != nil {
			t.Error(err)
		}
		if want := `POST /api/v1/sessions/session_1/approvals/approval_1 {"decision":"` + want + `"} Bearer secret`; len(*asked) != 1 || (*asked)[0] != want {
			t.Errorf("%q, want %s", *asked, want)
		}
	}
	other := list[0]
	other.Text = "touch r"
	if _, err := a.Answer(t.Context(), s, other, adapters.Decision{Verdict: adapters.Deny}); !errors.Is(err, adapters.ErrRequestChanged) || len(*asked) != 1 {
		t.Errorf("another text: %v", err)
	}
}

// TestAnswerWebNot: what was resolved, of another process, in a terminal, or has an unknown member is not allowed, and nothing is sent to another listener.
func TestAnswerWebNot(t *testing.T) {
	resolved := `{"type":"interaction.resolved","agentId":"main","id":"approval_1","response":{"decision":"approved"},"time":1}`
	a, s, _ := web(t, webPrompt+"\n"+webAsks+"\n"+resolved+"\n", 0)
	if list, err := a.Pending(t.Context(), s); err != nil || len(list) != 0 {
		t.Errorf("resolved: %+v, %v", list, err)
	}
	a, s, _ = web(t, webPrompt+"\n"+strings.Replace(webAsks, `"language"`, `"elevated":true,"language"`, 1)+"\n", 0)
	if list, err := a.Pending(t.Context(), s); err != nil || len(list) != 1 || list[0].CanAllow || len(list[0].Unknown) != 1 || list[0].Unknown[0] != "request.display.elevated" {
		t.Errorf("a member: %+v, %v", list, err)
	}
	a, s, asked := web(t, webPrompt+"\n"+webAsks+"\n", alreadyResolved)
	list, err := a.Pending(t.Context(), s)
	must.Do(t, err)
	if _, err := a.Answer(t.Context(), s, list[0], adapters.Decision{Verdict: adapters.AllowOnce}); !errors.Is(err, adapters.ErrNotPending) || len(*asked) != 1 {
		t.Errorf("twice: %v", err)
	}
	*asked = nil
	for name, change := range map[string]func(){
		"a terminal":      func() { s.Shared = false },
		"another process": func() { s.Shared, s.Process.PID = true, 8 },
		"another listener": func() {
			s.Process.PID = 7
			a.serves = func(netip.AddrPort, proc.Identity) error { return proc.ErrForeignListener }
		},
		"an open token": func() { must.Do(t, os.Chmod(filepath.Join(s.Home, "server.token"), 0o644)) },
	} {
		a, s, asked = web(t, webPrompt+"\n"+webAsks+"\n", 0)
		change()
		got, err := a.Pending(t.Context(), s)
		if !errors.Is(err, adapters.ErrAnswerElsewhere) || len(got) != 1 || got[0].CanAllow || got[0].CanDeny || got[0].Text != "touch q" {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
		if _, err := a.Answer(t.Context(), s, list[0], adapters.Decision{Verdict: adapters.AllowOnce}); !errors.Is(err, adapters.ErrAnswerElsewhere) || len(*asked) > 0 {
			t.Errorf("%s: %v, asked %q", name, err, *asked)
		}
	}
}
