package openclaw_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"

	"rollcall/adapters"
	"rollcall/adapters/openclaw"
	"rollcall/internal/must"
)

const frames = "testdata/recordings/openclaw-2026.9.6-gateway/frames"

// player answers each method with what was recorded, in the recorded order; the
// last answer stays.
type player struct {
	challenge json.RawMessage
	mu        sync.Mutex
	answers   map[string][]map[string]json.RawMessage
	close     struct {
		Code   websocket.StatusCode
		Reason string
	}
}

func loadPlayer(t *testing.T, name string) *player {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(frames, name))
	must.Do(t, err)
	var list []struct {
		Dir   string
		Frame json.RawMessage
	}
	must.Do(t, json.Unmarshal(b, &list))
	p := &player{answers: map[string][]map[string]json.RawMessage{}}
	asked := map[string]string{}
	for _, x := range list {
		var f struct{ Type, ID, Event, Method string }
		_ = json.Unmarshal(x.Frame, &f)
		switch {
		case x.Dir == "close":
			_ = json.Unmarshal(x.Frame, &p.close)
		case x.Dir == ">":
			asked[f.ID] = f.Method
		case f.Event == "connect.challenge":
			p.challenge = x.Frame
		case f.Type == "res":
			var answer map[string]json.RawMessage
			_ = json.Unmarshal(x.Frame, &answer)
			p.answers[asked[f.ID]] = append(p.answers[asked[f.ID]], answer)
		}
	}
	return p
}

// recordedAt is when the gateway sent its challenge.
func (p *player) recordedAt(t *testing.T) time.Time {
	var f struct{ Payload struct{ TS int64 } }
	if err := json.Unmarshal(p.challenge, &f); err != nil || f.Payload.TS == 0 {
		t.Fatalf("no time in the challenge %s: %v", p.challenge, err)
	}
	return time.UnixMilli(f.Payload.TS)
}

func (p *player) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	ws, err := websocket.Accept(w, r, nil)
	if err != nil {
		return
	}
	defer func() { _ = ws.CloseNow() }()
	_ = ws.Write(r.Context(), websocket.MessageText, p.challenge)
	for {
		_, b, err := ws.Read(r.Context())
		if err != nil {
			return
		}
		var q struct{ ID, Method string }
		_ = json.Unmarshal(b, &q)
		answer := p.next(q.Method)
		answer["id"], _ = json.Marshal(q.ID)
		out, _ := json.Marshal(answer)
		_ = ws.Write(r.Context(), websocket.MessageText, out)
		if q.Method == "connect" && p.close.Code != 0 {
			_ = ws.Close(p.close.Code, p.close.Reason[:min(len(p.close.Reason), 100)])
			return
		}
	}
}

func (p *player) next(method string) map[string]json.RawMessage {
	p.mu.Lock()
	defer p.mu.Unlock()
	list := p.answers[method]
	answer := map[string]json.RawMessage{"type": json.RawMessage(`"res"`), "ok": json.RawMessage("false"),
		"error": json.RawMessage(`{"code":"FORBIDDEN","message":"not recorded"}`)}
	if len(list) > 0 {
		maps.Copy(answer, list[0])
	}
	if len(list) > 1 {
		p.answers[method] = list[1:]
	}
	return answer
}

// TestRecordedSessions shows the adapter what OpenClaw 2026.9.6 said.
func TestRecordedSessions(t *testing.T) {
	const crash = "57dad945-79d1-4e03-b9a4-b66f830781e7"
	tests := []struct {
		file string
		want string // id: status/waiting/outcome title cwd first prompt
	}{
		{"c2-cli-token-only.json", ""},
		{"s1-quick-chat.json", "2cfcdcea-28cf-4dc9-a1b0-7b75caa03952: working// \"\" \"\" \"Say hello openclaw\""},
		{"s4-delay-running-abort.json", "16d060f1-fb4e-44b2-9d56-702d01081f25: working// \"demo delay\" \"\" \"\"\n" +
			"457af1b1-fe40-4bff-ad7b-3583a4df28f0: idle//failed \"\" \"\" \"\"\n" +
			"fca84340-ecd8-49cd-af8a-727dad421374: idle//completed \"demo tool\" \"\" \"\"\n" +
			"2cfcdcea-28cf-4dc9-a1b0-7b75caa03952: idle//completed \"\" \"\" \"\""},
		{"s8-after-crash.json", crash + ": idle// \"\" \"\" \"\""},
		{"s11-approval-pending.json", "bf7835c9-adb4-4063-aa81-23bf9a118b8a: working// \"\" \"/home/dev/wks/homeG/ws\" \"\""},
		{"s14-approval-pending3.json", "bc1acc01-521a-4474-bddf-2ec1a5dc2225: waiting/permission/ \"\" \"/home/dev/wks/homeG/ws\" \"\""},
		{"s15-approval-other-conn.json", "bc1acc01-521a-4474-bddf-2ec1a5dc2225: working// \"\" \"/home/dev/wks/homeG/ws\" \"\""},
		{"s17-abort-admin.json", "bc1acc01-521a-4474-bddf-2ec1a5dc2225: idle//interrupted \"\" \"/home/dev/wks/homeG/ws\" \"\""},
	}
	for _, test := range tests {
		t.Run(test.file, func(t *testing.T) {
			p := loadPlayer(t, test.file)
			server := httptest.NewServer(p)
			defer server.Close()
			w := newFixture(t)
			w.cfg.Gateways = []openclaw.Gateway{{URL: server.URL, Token: "fake-gateway-token-123456"}}
			w.cfg.Now = func() time.Time { return p.recordedAt(t) }
			roll, err := discover(t, w.adapter(), adapters.Query{})
			must.Do(t, err)
			var got []string
			for _, s := range roll.Sessions {
				got = append(got, fmt.Sprintf("%s: %s/%s/%s %q %q %q", s.ID, s.Status, s.WaitingFor, s.Outcome, s.Title, s.CWD, s.FirstPrompt))
			}
			if text := strings.Join(got, "\n"); text != test.want {
				t.Errorf("got\n%s\nwant\n%s", text, test.want)
			}
		})
	}
}

// TestRecordedRefusals wants each refusal in words that say what to do.
func TestRecordedRefusals(t *testing.T) {
	tests := []struct {
		file  string
		words []string
	}{
		{"c1-agentctl-like-proto3.json", []string{"speaks protocol 4, Rollcall 4", "update"}},
		{"c6-wrong-token.json", []string{"refused the token or password from Rollcall's settings", "gateway.auth.token"}},
		{"c7-no-token.json", []string{"requires a token or password, and Rollcall has none"}},
		{"c8-unknown-client-id.json", []string{"connect was refused", "client/id"}},
		{"c13-ui-mode-nodevice.json", []string{"does not grant Rollcall the scope operator.read"}},
		{"c14-noscopes.json", []string{"does not grant Rollcall the scope operator.read"}},
		{"c16-origin.json", []string{"refused the origin"}},
	}
	for _, test := range tests {
		t.Run(test.file, func(t *testing.T) {
			server := httptest.NewServer(loadPlayer(t, test.file))
			defer server.Close()
			w := newFixture(t)
			w.cfg.Gateways = []openclaw.Gateway{{URL: server.URL, Token: "tok-secret"}}
			roll, err := discover(t, w.adapter(), adapters.Query{})
			onlyProblem(t, err, adapters.ErrUnreadable, test.words...)
			if len(roll.Sessions) > 0 {
				t.Errorf("%d sessions from a refusal", len(roll.Sessions))
			}
		})
	}
}

// TestEndlessPages: a gateway whose pages don't get on is reported, not followed.
func TestEndlessPages(t *testing.T) {
	server := httptest.NewServer(loadPlayer(t, "s6-misc-read.json")) // one row, hasMore, nextOffset 1, for ever
	defer server.Close()
	w := newFixture(t)
	w.cfg.Gateways = []openclaw.Gateway{{URL: server.URL, Token: "x"}}
	_, err := discover(t, w.adapter(), adapters.Query{})
	if err == nil {
		t.Error("no error")
	}
}
