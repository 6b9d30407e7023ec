package gatewaytest

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/coder/websocket"
	"go.uber.org/goleak"

	"rollcall/internal/eventually"
	"rollcall/internal/must"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const recordings = "../../adapters/openclaw/testdata/recordings/openclaw-2026.9.6-gateway/frames"

type recorded struct {
	Dir   string          `json:"dir"`
	Frame json.RawMessage `json:"frame"`
}

type answer struct {
	Type, ID, Event, Method string
	OK                      bool
	Payload                 struct {
		Protocol int
		Auth     struct{ Scopes []string }
	}
	Error struct {
		Code, Message string
		Details       struct{ Code string }
	}
}

// TestRecordedHandshakes shows the double what real clients showed OpenClaw
// 2026.9.6, and wants the same welcome or the same refusal.
func TestRecordedHandshakes(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(recordings, "c*.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no recordings: %v", err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			if strings.Contains(file, "c10-") {
				t.Skip("probes are let in with older protocols: the double knows none")
			}
			replay(t, file)
		})
	}
}

func replay(t *testing.T, file string) {
	g := must.Get(Start(Options{}))(t)
	defer g.Close()
	ctx, cancel := context.WithTimeout(t.Context(), eventually.Limit)
	defer cancel()
	header := http.Header{}
	if strings.Contains(file, "origin") {
		header.Set("Origin", "http://localhost")
	}
	ws, _, err := websocket.Dial(ctx, g.URL(), &websocket.DialOptions{HTTPHeader: header})
	must.Do(t, err)
	defer func() { _ = ws.CloseNow() }()
	ws.SetReadLimit(25 << 20)
	for _, r := range load(t, file) {
		var want answer
		_ = json.Unmarshal(r.Frame, &want)
		switch r.Dir {
		case ">":
			if want.Method != "connect" {
				return
			}
			must.Do(t, ws.Write(ctx, websocket.MessageText, r.Frame))
		case "close":
			var end struct{ Code websocket.StatusCode }
			_ = json.Unmarshal(r.Frame, &end)
			_, _, err := ws.Read(ctx)
			var closed websocket.CloseError
			if !errors.As(err, &closed) || closed.Code != end.Code {
				t.Errorf("closed with %v, recorded %d", err, end.Code)
			}
			return
		default:
			_, b, err := ws.Read(ctx)
			must.Do(t, err)
			var got answer
			must.Do(t, json.Unmarshal(b, &got))
			if got.Type != want.Type || got.OK != want.OK || got.Error.Code != want.Error.Code ||
				got.Error.Details.Code != want.Error.Details.Code || got.Error.Message != want.Error.Message ||
				got.Payload.Protocol != want.Payload.Protocol ||
				strings.Join(got.Payload.Auth.Scopes, " ") != strings.Join(want.Payload.Auth.Scopes, " ") {
				t.Errorf("answered %.600s\nrecorded %.600s", b, r.Frame)
			}
		}
	}
}

func load(t *testing.T, file string) []recorded {
	t.Helper()
	b := must.Get(os.ReadFile(file))(t)
	var list []recorded
	must.Do(t, json.Unmarshal(b, &list))
	return list
}

func TestHealth(t *testing.T) {
	g := must.Get(Start(Options{}))(t)
	defer g.Close()
	get := func(path string) int {
		request, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, strings.Replace(g.URL(), "ws", "http", 1)+path, nil)
		r := must.Get(http.DefaultClient.Do(request))(t)
		defer r.Body.Close()
		return r.StatusCode
	}
	defer http.DefaultClient.CloseIdleConnections()
	if a, b := get("/healthz"), get("/readyz"); a != 200 || b != 200 {
		t.Errorf("healthz %d, readyz %d", a, b)
	}
	g.Starting(true)
	if code := get("/readyz"); code != 503 {
		t.Errorf("readyz while starting: %d", code)
	}
}
