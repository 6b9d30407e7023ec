package codex

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/coder/websocket"

	"rollcall/adapters"
	"rollcall/internal/adaptertest"
	"rollcall/internal/must"
)

// interruptible is a daemon that is asked to interrupt; it answers with answer.
func interruptible(t *testing.T, asked *atomic.Pointer[map[string]string], answer string) func(context.Context, *websocket.Conn) {
	return func(ctx context.Context, c *websocket.Conn) {
		for {
			_, b, err := c.Read(ctx)
			if err != nil {
				return
			}
			var m struct {
				ID     json.RawMessage
				Method string
				Params json.RawMessage
			}
			if err := json.Unmarshal(b, &m); err != nil {
				t.Error(err)
				return
			}
			switch m.Method {
			case "initialize":
				_ = c.Write(ctx, websocket.MessageText, fmt.Appendf(nil, `{"id":%s,"result":{"userAgent":"codex"}}`, m.ID))
			case "turn/interrupt":
				params := map[string]string{}
				if err := json.Unmarshal(m.Params, &params); err != nil {
					t.Error(err)
				}
				asked.Store(&params)
				_ = c.Write(ctx, websocket.MessageText, fmt.Appendf(nil, `{"id":%s,%s}`, m.ID, answer))
			case "initialized":
			default:
				t.Errorf("the daemon was asked to %s", m.Method)
			}
		}
	}
}

func threadNamed(t *testing.T, r *adaptertest.Recording, id string) adapters.Session {
	t.Helper()
	roll, err := New(r.Config()).Discover(t.Context(), adapters.Query{IDs: []string{id}})
	if err != nil || len(roll.Sessions) != 1 {
		t.Fatalf("%d sessions, %v", len(roll.Sessions), err)
	}
	return roll.Sessions[0]
}

func TestStopInterruptsTheOpenTurn(t *testing.T) {
	r := adaptertest.Replay(t, filepath.Join(recordings, daemonRecording))
	s, over := threadNamed(t, r, workingThread), threadNamed(t, r, idleThread)
	var asked atomic.Pointer[map[string]string]
	serve(t, r.Home, interruptible(t, &asked, `"result":{}`))
	a := New(r.Config())
	must.Do(t, a.Stop(t.Context(), s))
	got := asked.Load()
	if got == nil || (*got)["threadId"] != workingThread || len((*got)["turnId"]) != 36 {
		t.Errorf("asked %v", got)
	}
	asked.Store(nil)
	if err := a.Stop(t.Context(), over); err != nil || asked.Load() != nil {
		t.Errorf("a turn that is over: %v, asked %v", err, asked.Load())
	}
}

func TestStopRefused(t *testing.T) {
	r := adaptertest.Replay(t, filepath.Join(recordings, daemonRecording))
	s := threadNamed(t, r, workingThread)
	a := New(r.Config())
	if err := a.Stop(t.Context(), s); err == nil || !strings.Contains(err.Error(), "press Esc") {
		t.Errorf("no daemon: %v", err)
	}
	var asked atomic.Pointer[map[string]string]
	serve(t, r.Home, interruptible(t, &asked, `"error":{"code":-32600,"message":"no such turn"}`))
	if err := a.Stop(t.Context(), s); err == nil || !strings.Contains(err.Error(), "no such turn") {
		t.Errorf("refused: %v", err)
	}
	s.Files = []string{filepath.Join(t.TempDir(), "gone.jsonl")}
	if err := a.Stop(t.Context(), s); err == nil || !strings.Contains(err.Error(), "gone.jsonl") {
		t.Errorf("no rollout: %v", err)
	}
	s.Files = nil
	if err := a.Stop(t.Context(), s); err == nil {
		t.Error("no file at all, and no error")
	}
}

// A daemon that never answers costs its limit and no more.
func TestStopHanging(t *testing.T) {
	r := adaptertest.Replay(t, filepath.Join(recordings, daemonRecording))
	s := threadNamed(t, r, workingThread)
	serve(t, r.Home, func(ctx context.Context, _ *websocket.Conn) { <-ctx.Done() })
	if err := New(r.Config()).Stop(t.Context(), s); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("did not respond within %v", daemonLimit)) {
		t.Error(err)
	}
}

func TestOpenTurn(t *testing.T) {
	const (
		begun = `{"type":"event_msg","payload":{"type":"task_started","turn_id":"t1"}}` + "\n"
		other = `{"type":"event_msg","payload":{"type":"token_count"}}` + "\n"
		ended = `{"type":"event_msg","payload":{"type":"task_complete","turn_id":"t1"}}` + "\n"
	)
	for text, want := range map[string]string{
		begun: "t1", begun + other: "t1", begun + other + ended: "", other: "", "": "",
		begun + ended + begun + `{"type":"event_msg","payl`: "t1", begun + "\x00\x00": "t1",
	} {
		path := filepath.Join(t.TempDir(), "r.jsonl")
		must.Do(t, os.WriteFile(path, []byte(text), 0o600))
		if got, err := openTurn(t.Context(), path); err != nil || got != want {
			t.Errorf("%q: turn %q, %v; want %q", text, got, err, want)
		}
	}
}
