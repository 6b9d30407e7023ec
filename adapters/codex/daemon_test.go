//go:build linux

package codex

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coder/websocket"

	"rollcall/adapters"
	"rollcall/internal/adaptertest"
	"rollcall/internal/must"
)

// rpc is a message as the daemon sees it.
type rpc struct {
	ID     json.RawMessage `json:"id,omitempty"`
	Method string          `json:"method"`
	Params struct {
		Cursor *string `json:"cursor"`
		State  bool    `json:"useStateDbOnly"`
	} `json:"params"`
}

// serve puts a real WebSocket server on a Unix socket where the daemon's is: a
// symbolic link in the home that leads into a private folder with a short name.
func serve(t *testing.T, home string, handle func(ctx context.Context, c *websocket.Conn)) {
	t.Helper()
	dir, err := os.MkdirTemp("", "cx") // a socket's path is limited to 108 bytes
	must.Do(t, err)
	socket := filepath.Join(dir, "s")
	listener, err := net.Listen("unix", socket)
	must.Do(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c, err := websocket.Accept(w, r, nil)
		if err != nil {
			return
		}
		defer c.CloseNow()
		handle(ctx, c)
	})}
	go server.Serve(listener)
	t.Cleanup(func() { cancel(); server.Close(); os.RemoveAll(dir) })
	control := filepath.Join(home, ".codex", "app-server-control")
	must.Do(t, os.MkdirAll(control, 0o700))
	must.Do(t, os.Symlink(socket, filepath.Join(control, "app-server-control.sock")))
}

// daemon answers as the recorded one did, with notifications and requests of its
// own in between, and refuses everything that isn't a question.
func daemon(t *testing.T, pages ...string) func(context.Context, *websocket.Conn) {
	return func(ctx context.Context, c *websocket.Conn) {
		initialized := false
		write := func(format string, args ...any) {
			_ = c.Write(ctx, websocket.MessageText, fmt.Appendf(nil, format, args...))
		}
		for {
			_, b, err := c.Read(ctx)
			if err != nil {
				return
			}
			var m rpc
			if err := json.Unmarshal(b, &m); err != nil {
				t.Error(err)
				return
			}
			write(`{"method":"thread/status/changed","params":{"threadId":"x"}}`)
			write(`{"id":%s,"method":"item/commandExecution/requestApproval","params":{}}`, orNull(m.ID))
			switch m.Method {
			case "initialize":
				write(`{"id":%s,"result":{"userAgent":"codex"}}`, m.ID)
			case "initialized":
				initialized = true
			case "thread/list":
				if !initialized || !m.Params.State {
					t.Error("listed before it was initialized, or in a way that changes the state database")
				}
				page := 0
				if m.Params.Cursor != nil {
					fmt.Sscan(*m.Params.Cursor, &page)
				}
				write(`{"id":%s,"result":%s}`, m.ID, pages[page])
			default:
				t.Errorf("the daemon was asked to %s", m.Method)
			}
		}
	}
}

func orNull(id json.RawMessage) string {
	if len(id) == 0 {
		return "7"
	}
	return string(id)
}

// recordedPage is the recorded answer's result.
func recordedPage(t *testing.T) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(recordings, "codex-0.169.0-tui-daemon", "rpc-thread-list.json"))
	must.Do(t, err)
	var m struct{ Result json.RawMessage }
	must.Do(t, json.Unmarshal(b, &m))
	return string(m.Result)
}

const (
	daemonRecording = "codex-0.169.0-tui-daemon"
	idleThread      = "01a1fc98-11bf-74b0-8d69-433eb4cb9cd1"
	waitingThread   = "01a1fc98-2ae2-7d22-950f-41838ad69663"
	workingThread   = "01a1fc98-5726-73a0-a574-ef85ac524e7d"
)

// With the daemon's answer nothing is left open: the approval is exact.
func TestDaemonTellsWhatWaits(t *testing.T) {
	pages := map[string][]string{
		"one page": {recordedPage(t)},
		"pages": {
			`{"data":[{"id":"other","status":{"type":"notLoaded"}}],"nextCursor":"1"}`,
			`{"data":[{"id":"` + waitingThread + `","status":{"type":"active","activeFlags":["waitingOnApproval"]}}],"nextCursor":"2"}`,
			`{"data":[{"id":"` + idleThread + `","status":{"type":"idle"}},{"id":"` + workingThread +
				`","status":{"type":"active","activeFlags":[]}}],"nextCursor":null}`,
		},
	}
	for name, pages := range pages {
		t.Run(name, func(t *testing.T) {
			r := adaptertest.Replay(t, filepath.Join(recordings, daemonRecording))
			r.Expect.Session(t, waitingThread).AlsoAccepted = nil
			serve(t, r.Home, daemon(t, pages...))
			adaptertest.Untouched(t, r.Home)
			a := New(r.Config())
			roll, err := a.Discover(t.Context(), adapters.Query{})
			must.Do(t, err)
			adaptertest.Check(t, roll.Sessions, r.Expect)
			for _, s := range roll.Sessions {
				if s.ID != idleThread && !strings.Contains(s.Evidence, "app-server 23162 says") {
					t.Errorf("%s: evidence %q is not the daemon's word", s.ID, s.Evidence)
				}
				if !s.Shared {
					t.Errorf("%s: the daemon must never be signalled", s.ID)
				}
			}
		})
	}
}

// Every status the daemon can give, also ones that aren't known yet.
func TestDaemonStatuses(t *testing.T) {
	tests := map[string]struct {
		status  adapters.Status
		waiting adapters.WaitingFor
		outcome adapters.Outcome
	}{
		`{"type":"active","activeFlags":["waitingOnUserInput"]}`: {adapters.Waiting, adapters.ForQuestion, ""},
		`{"type":"active","activeFlags":["waitingOnWeather"]}`:   {adapters.Unknown, "", ""},
		`{"type":"active"}`:      {adapters.Working, "", ""},
		`{"type":"idle"}`:        {adapters.Idle, "", ""},
		`{"type":"systemError"}`: {adapters.Idle, "", adapters.Failed},
		`{"type":"notLoaded"}`:   {adapters.Working, "", ""}, // the open rollout says more
		`{"type":"dreaming"}`:    {adapters.Working, "", ""},
	}
	for status, want := range tests {
		r := adaptertest.Replay(t, filepath.Join(recordings, daemonRecording))
		serve(t, r.Home, daemon(t, `{"data":[{"id":"`+workingThread+`","status":`+status+`}]}`))
		roll, err := New(r.Config()).Discover(t.Context(), adapters.Query{IDs: []string{workingThread}})
		if err != nil || len(roll.Sessions) != 1 {
			t.Fatalf("%s: %v, %d sessions", status, err, len(roll.Sessions))
		}
		s := roll.Sessions[0]
		if s.Status != want.status || s.WaitingFor != want.waiting || s.Outcome != want.outcome {
			t.Errorf("%s: %s %s %s (%s), want %v", status, s.Status, s.WaitingFor, s.Outcome, s.Evidence, want)
		}
		if wrong := adaptertest.Invalid(&s); wrong != nil {
			t.Errorf("%s: %v", status, wrong)
		}
	}
}

// A daemon that is no help costs a second at most, once, and its threads are
// told from their files.
func TestDaemonInTrouble(t *testing.T) {
	tests := map[string]struct {
		handle func(ctx context.Context, c *websocket.Conn)
		kind   error
	}{
		"hangs after the handshake": {func(ctx context.Context, c *websocket.Conn) { <-ctx.Done() }, adapters.ErrTimeout},
		"talks without answering": {func(ctx context.Context, c *websocket.Conn) {
			for c.Write(ctx, websocket.MessageText, []byte(`{"method":"x"}`)) == nil {
			}
		}, adapters.ErrTimeout},
		"hangs up": {func(context.Context, *websocket.Conn) {}, adapters.ErrUnreadable},
		"answers nonsense": {func(ctx context.Context, c *websocket.Conn) {
			_ = c.Write(ctx, websocket.MessageText, []byte(`<html>`))
			<-ctx.Done()
		}, adapters.ErrFormat},
		"refuses": {func(ctx context.Context, c *websocket.Conn) {
			_ = c.Write(ctx, websocket.MessageText, []byte(`{"id":1,"error":{"code":-32600,"message":"Not you\u001b[31m"}}`))
			<-ctx.Done()
		}, adapters.ErrFormat},
		"lists without statuses": {daemon(t, `{"data":[{"id":"`+waitingThread+`"}]}`), adapters.ErrFormat},
		"endless message": {func(ctx context.Context, c *websocket.Conn) {
			w, err := c.Writer(ctx, websocket.MessageText)
			for err == nil {
				_, err = w.Write(make([]byte, 1<<20))
			}
		}, nil},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			r := adaptertest.Replay(t, filepath.Join(recordings, daemonRecording))
			serve(t, r.Home, test.handle)
			a := New(r.Config())
			for range 2 {
				roll, err := a.Discover(t.Context(), adapters.Query{})
				if !errors.Is(err, test.kind) && test.kind != nil || err == nil {
					t.Errorf("error %v, want %v", err, test.kind)
				}
				if problems := adapters.Problems(err); len(problems) != 1 || !strings.Contains(problems[0].Error(), ".sock") {
					t.Errorf("problems %v, want one that names the socket", problems)
				}
				adaptertest.Check(t, roll.Sessions, r.Expect)
			}
		})
	}
}

// The caller's own cancellation is no failure of the daemon: it is asked again.
func TestDaemonAfterCancellation(t *testing.T) {
	r := adaptertest.Replay(t, filepath.Join(recordings, daemonRecording))
	r.Expect.Session(t, waitingThread).AlsoAccepted = nil
	var slow atomic.Bool
	answer := daemon(t, recordedPage(t))
	serve(t, r.Home, func(ctx context.Context, c *websocket.Conn) {
		if slow.Load() {
			<-ctx.Done()
			return
		}
		answer(ctx, c)
	})
	a := New(r.Config())
	slow.Store(true)
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if _, err := a.Discover(ctx, adapters.Query{}); !errors.Is(err, adapters.ErrTimeout) {
		t.Errorf("%v, want no answer in time", err)
	}
	slow.Store(false)
	roll, err := a.Discover(t.Context(), adapters.Query{})
	if err != nil {
		t.Error(err)
	}
	adaptertest.Check(t, roll.Sessions, r.Expect)
}

// A socket that somebody else could have put there is not connected to.
func TestForeignSocket(t *testing.T) {
	needRoot(t)
	for name, spoil := range map[string]func(control, socket string) error{
		"the link's folder is somebody else's": func(control, _ string) error { return os.Chown(control, 65534, 65534) },
		"the socket's folder is somebody else's": func(_, socket string) error {
			return os.Chown(filepath.Dir(socket), 65534, 65534)
		},
		"the socket is somebody else's": func(_, socket string) error { return os.Chown(socket, 65534, 65534) },
		"everybody may write there":     func(_, socket string) error { return os.Chmod(filepath.Dir(socket), 0o777) },
		"a link to a plain file": func(control, socket string) error {
			link := filepath.Join(control, "app-server-control.sock")
			if err := os.Remove(link); err != nil {
				return err
			}
			return os.WriteFile(link, nil, 0o600)
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := adaptertest.Replay(t, filepath.Join(recordings, daemonRecording))
			serve(t, r.Home, func(context.Context, *websocket.Conn) { t.Error("it was connected to") })
			control := filepath.Join(r.Home, ".codex", "app-server-control")
			socket, err := filepath.EvalSymlinks(filepath.Join(control, "app-server-control.sock"))
			must.Do(t, err)
			must.Do(t, spoil(control, socket))
			roll, err := New(r.Config()).Discover(t.Context(), adapters.Query{})
			if err == nil {
				t.Error("no problem was reported")
			}
			adaptertest.Check(t, roll.Sessions, r.Expect)
		})
	}
}
