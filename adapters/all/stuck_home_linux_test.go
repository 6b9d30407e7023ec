package all_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"rollcall/adapters"
	"rollcall/adapters/all"
	"rollcall/adapters/cline"
	"rollcall/internal/agentname"
	"rollcall/internal/eventually"
	"rollcall/internal/must"
	"rollcall/internal/testfs"
	"rollcall/proc"
)

// nothing is the process table of a machine on which no agent runs.
type nothing struct{ *proc.Table }

func (nothing) List(context.Context) ([]proc.Process, error) { return nil, nil }

func (nothing) Find(int) (proc.Process, error) { return proc.Process{}, proc.ErrGone }

// A home that answers, with a folder below it that never does, costs only its own sessions: those of the other homes are
// listed, the home is named, and it is not read again before it answers.
func TestStuckHome(t *testing.T) {
	const id = "11111111-2222-4333-8444-555555555555"
	for agent, tt := range map[adapters.Name]struct {
		folder string // that hangs, in the home
		path   string // of a session
		text   string
	}{
		agentname.ClaudeCode: {"projects", "projects/-p/" + id + ".jsonl",
			`{"type":"user","sessionId":"` + id + `","cwd":"/p","timestamp":"2026-01-01T00:00:00Z","uuid":"u","message":{"role":"user","content":"hi"}}` + "\n"},
		agentname.Codex: {"sessions", "sessions/2026/01/01/rollout-2026-01-01T00-00-00-" + id + ".jsonl",
			`{"timestamp":"2026-01-01T00:00:00.000Z","type":"session_meta","payload":{"session_id":"` + id + `","id":"` + id + `","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/p","originator":"codex_cli_rs","cli_version":"0.142.5","source":"cli"}}` + "\n"},
		cline.Name: {"sessions", "sessions/" + id + "/" + id + ".json",
			`{"version":1,"session_id":"` + id + `","status":"idle","pid":1,"started_at":"2026-01-01T00:00:00.000Z","cwd":"/p"}`},
		agentname.OpenCode: {"storage", "", ""},
		agentname.Pi: {"sessions/--p--", "sessions/--p--/2026-01-01T00-00-00-000Z_" + id + ".jsonl",
			`{"type":"session","version":3,"id":"` + id + `","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/p"}` + "\n" +
				`{"type":"message","id":"a","parentId":null,"timestamp":"2026-01-01T00:00:00.000Z","message":{"role":"user","content":"hi"}}` + "\n"},
	} {
		t.Run(string(agent), func(t *testing.T) {
			top := t.TempDir()
			good, stuck := filepath.Join(top, "good"), filepath.Join(top, "stuck")
			must.Do(t, os.MkdirAll(filepath.Join(stuck, tt.folder), 0o700))
			must.Do(t, os.MkdirAll(filepath.Join(good, filepath.Dir(tt.path)), 0o700))
			if tt.path != "" {
				must.Do(t, os.WriteFile(filepath.Join(good, tt.path), []byte(tt.text), 0o600))
			}
			mount := testfs.Cover(t, filepath.Join(stuck, tt.folder))
			list := all.New(nothing{proc.OpenAt("/proc", "/etc")}, all.Config{Home: filepath.Join(top, "none"),
				Homes: func(name adapters.Name) []string { return map[adapters.Name][]string{agent: {good, stuck}}[name] }})
			i := slices.IndexFunc(list, func(a adapters.Adapter) bool { return a.Name() == agent })
			mount.Hang(t)
			defer mount.Answer(t)
			for range 2 {
				roll, err := discover(t, list[i])
				if err == nil || !strings.Contains(err.Error(), stuck) || !errors.Is(err, adapters.ErrTimeout) {
					t.Errorf("%v", err)
				}
				if listed := slices.ContainsFunc(roll.Sessions, func(s adapters.Session) bool { return s.ID == id }); listed != (tt.path != "") {
					t.Errorf("%+v", roll.Sessions)
				}
			}
			mount.Answer(t)
			eventually.Nil(t, "an answer", func() error {
				_, err := discover(t, list[i])
				return err
			})
		})
	}
}

// discover asks an adapter, which must answer.
func discover(t *testing.T, a adapters.Adapter) (adapters.Roll, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 4500*time.Millisecond)
	defer cancel()
	type answer struct {
		roll adapters.Roll
		err  error
	}
	done := make(chan answer, 1)
	go func() {
		roll, err := a.Discover(ctx, adapters.Query{})
		done <- answer{roll, err}
	}()
	select {
	case got := <-done:
		return got.roll, got.err
	case <-time.After(time.Minute):
		t.Fatal("no answer")
		return adapters.Roll{}, nil
	}
}
