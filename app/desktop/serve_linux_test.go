//go:build !headless

package desktop

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"rollcall/adapters"
	"rollcall/app"
	"rollcall/app/cli"
	"rollcall/app/fuse"
	"rollcall/app/settings"
	"rollcall/app/store"
	"rollcall/app/trouble"
	"rollcall/app/webhook"
	"rollcall/proc"
)

// oneSession is an agent with one session, on a process of the test's.
type oneSession struct {
	mu      sync.Mutex
	process proc.Identity
	table   *proc.Table
}

func (a *oneSession) Name() adapters.Name { return adapters.Codex }

func (a *oneSession) Discover(context.Context, adapters.Query) (adapters.Roll, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	s := adapters.Session{ID: fmt.Sprintf("s-%d", a.process.PID), Agent: adapters.Codex, Status: adapters.Idle, Process: a.process, Evidence: "memory"}
	if !a.table.Alive(s.Process) {
		s.Status, s.Process = adapters.Stopped, proc.Identity{}
	}
	return adapters.Roll{Sessions: []adapters.Session{s}, LookedIn: []string{"memory"}}, nil
}

// begin starts a process for the session and returns what ends it.
func (a *oneSession) begin(t *testing.T) (end func()) {
	t.Helper()
	cmd := exec.Command("sleep", "600")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	end = sync.OnceFunc(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	t.Cleanup(end)
	p, err := a.table.Find(cmd.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.process = p.Identity
	return end
}

// TestServeTellsTheWebhook: what tray and window run alike tells the user's webhook of an end.
func TestServeTellsTheWebhook(t *testing.T) {
	posted := make(chan webhook.Payload, 10)
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		var p webhook.Payload
		if err := json.NewDecoder(r.Body).Decode(&p); err != nil {
			t.Error(err)
		}
		posted <- p
	}))
	defer server.Close()
	deps := &cli.Deps{
		Settings: func() (settings.Settings, error) {
			return settings.Settings{Webhook: settings.Webhook{URL: server.URL}}, nil
		},
		Fuses: func() (*fuse.Fuses, error) { return fuse.In(store.In(filepath.Join(t.TempDir(), "fuses"))), nil },
	}
	table := proc.OpenAt("/proc", "/etc")
	agent := &oneSession{table: table}
	watcher, err := proc.NewWatcher(table)
	if err != nil {
		t.Fatal(err)
	}
	p := parts{deps: deps, log: slog.New(slog.DiscardHandler), watcher: watcher, table: table}
	defer p.close()
	p.core = app.New(app.Config{Adapters: []adapters.Adapter{agent}, Table: table, Watch: watcher})
	p.troubles = trouble.NewBook(p.log, p.core.ShowTroubles)
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	defer running.Wait()
	defer cancel()
	p.serve(ctx, &running)
	running.Go(func() { _ = p.core.Run(ctx) })
	for range 30 { // the first may end before the webhook's part runs
		end := agent.begin(t)
		p.core.Refresh(ctx)
		end()
		select {
		case got := <-posted:
			if got.HookType != "session.stopped" || got.Agent != adapters.Codex {
				t.Errorf("posted %+v", got)
			}
			return
		case <-time.After(2 * time.Second):
		}
	}
	t.Fatal("nothing was posted to the webhook")
}
