//go:build desktop && linux && !headless

package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"rollcall/app/owned/launch"
	"rollcall/internal/adaptertest"
	"rollcall/internal/agentname"
	"rollcall/internal/desktoptest"
	"rollcall/internal/keepertest"
	"rollcall/internal/must"
	"rollcall/proc"
)

// TestLaunchesMissed: the tray tells once, and in one notification, of the launches
// that ended while it was off, and a tray that is killed right after does not make
// the next one tell it again.
func TestLaunchesMissed(t *testing.T) {
	d := desktoptest.For(t, desktoptest.Options{Panel: desktoptest.XfcePanel, Notifications: true})
	rec := adaptertest.Replay(t, "adapters/claudecode/testdata/recordings/claude-2.1.329-permission")
	state := t.TempDir()
	exit := 3
	dead := proc.Identity{PID: 1 << 22, Start: 1} // the recording has no such process
	now := time.Now()
	for _, r := range []launch.Record{
		{ID: "l-a", Dir: "/w/api", EndedAt: now.Add(-time.Hour), ExitCode: &exit, Unreported: true},
		{ID: "l-b", Dir: "/w/web", Unreported: true}, // nobody noted its end
		{ID: "l-told", Dir: "/w/told", EndedAt: now.Add(-time.Hour)},
		{ID: "l-old", Dir: "/w/old", LaunchedAt: now.Add(-30 * time.Hour), Unreported: true},
	} {
		r.Agent = agentname.Codex
		r.Process = dead
		r.Seen = true
		if r.LaunchedAt.IsZero() {
			r.LaunchedAt = now.Add(-2 * time.Hour)
		}
		writeRecord(t, filepath.Join(state, "rollcall", "launches"), r)
	}
	p := newDesktopProgram(t, d, append(adaptertest.Env(rec), "XDG_STATE_HOME="+state)...)
	t.Cleanup(func() { keepertest.End(t, os.Args[0], p.env) })
	for run := range 3 {
		tray := p.command()
		must.Do(t, tray.Start())
		p.until("the icon", p.hasIcon)
		list, err := d.WaitNotifications(p.ctx, func(l []desktoptest.Notification) bool { return len(l) > 0 && l[0].ID != 0 })
		if err != nil {
			t.Fatalf("run %d: %v; rollcall said:\n%s", run, err, p.said())
		}
		lines := []string{"Codex in api: exit code 3\nCodex in web", "Codex in web\nCodex in api: exit code 3"}
		if n := list[0]; len(list) != 1 || n.Summary != "2 launches ended while Rollcall was off" || !slices.Contains(lines, n.Body) {
			t.Fatalf("run %d: told %+v", run, list)
		}
		p.until("the note that it was told", func() bool {
			return !untold(t, filepath.Join(state, "rollcall", "launches"))
		})
		_ = tray.Process.Kill()
		_ = tray.Wait()
		p.until("no icon", func() bool {
			items, err := d.TrayItems()
			return err == nil && len(items) == 0
		})
	}
}

func writeRecord(t *testing.T, dir string, r launch.Record) {
	t.Helper()
	data, err := json.Marshal(r)
	if err == nil {
		err = os.MkdirAll(dir, 0o700)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, r.ID+".json"), data, 0o600)
	}
	must.Do(t, err)
}

// untold reports whether the end of some launch is still to be told.
func untold(t *testing.T, dir string) bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("records %v, %v", files, err)
	}
	for _, f := range files {
		var r launch.Record
		data, err := os.ReadFile(f)
		if err == nil {
			err = json.Unmarshal(data, &r)
		}
		must.Do(t, err)
		if r.Unreported {
			return true
		}
	}
	return false
}
