package cli

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"rollcall/adapters"
	"rollcall/app/settings"
	"rollcall/internal/agentname"
	"rollcall/internal/eventually"
	"rollcall/internal/must"
	"rollcall/proc"
)

// TestWatchLeavesOut: an agent that the settings begin to leave out gets one line that its status is not known, and no more, not even for its end.
func TestWatchLeavesOut(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config.toml")
	write := func(text string) {
		t.Helper()
		must.Do(t, os.WriteFile(path, []byte(text), 0o600))
	}
	write("")
	live := settings.NewLive(path, slog.New(slog.DiscardHandler))
	left := running(t, simple("left", agentname.ClaudeCode, adapters.Waiting, time.Second), "sleep", "60")
	kept := running(t, simple("kept", agentname.Codex, adapters.Working, time.Second), "sleep", "60")
	d := withTable(becomesBusy(left), codex(kept))
	d.Live, d.Settings = func() (*settings.Live, error) { return live, nil }, live.Get
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // at its end there are no more lines
	defer cancel()
	out, in := io.Pipe()
	go func() {
		runOn(ctx, t, Streams{Out: in}, d, "watch", "--json")
		_ = in.Close()
	}()
	lines := bufio.NewScanner(out)
	next := func() (e eventJSON) {
		t.Helper()
		if !lines.Scan() {
			t.Fatal("no more lines")
		}
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil || e.Session == nil {
			t.Fatalf("%v in %s", err, lines.Text())
		}
		return e
	}
	if e := next(); e.Session.ID != "left" || e.Session.Status != adapters.Waiting {
		t.Fatalf("first came %s", lines.Text())
	}
	write(`leave_out_agents = ["claude-code"]`)
	live.Read()
	if e := next(); e.Session.ID != "left" || e.Session.Status != adapters.Unknown || e.Before != string(adapters.Waiting) {
		t.Fatalf("the wait is not withdrawn: %s", lines.Text())
	}
	for _, s := range []adapters.Session{left, kept} {
		end(s.Process)
		eventually.True(t, "the end of a process", func() bool { return !proc.OpenAt("/proc", "/etc").Alive(s.Process) })
	}
	if e := next(); e.Session.ID != "kept" || e.Event != "ended" {
		t.Errorf("a line of an agent that is left out: %s", lines.Text())
	}
	cancel()
	for lines.Scan() {
		t.Errorf("another line: %s", lines.Text())
	}
}
