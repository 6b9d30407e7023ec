//go:build desktop && linux && !headless

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rollcall/internal/adaptertest"
	"rollcall/internal/desktoptest"
	"rollcall/internal/must"
)

// TestAttention is the whole program with a real notification service: do not disturb from the command line, the
// settings as they change, and what is told of a session.
func TestAttention(t *testing.T) {
	d := desktoptest.For(t, desktoptest.Options{Panel: desktoptest.XfcePanel, Notifications: true})
	rec := adaptertest.Replay(t, "adapters/claudecode/testdata/recordings/claude-2.1.329-permission")
	p := newDesktopProgram(t, d, adaptertest.Env(rec)...)
	registry := rec.Home + "/.claude/sessions/9652.json"
	waits := must.Get(os.ReadFile(registry))(t)
	works := strings.Replace(strings.Replace(string(waits), `"status":"waiting"`, `"status":"busy"`, 1), `,"waitingFor":"permission prompt"`, "", 1)
	put := func(path, text string) {
		t.Helper()
		replace(t, path, text)
	}
	config := filepath.Join(d.Home(), ".config", "rollcall", "config.toml")
	put(config, "# mine\n[notifications]\npause = \"0s\"\n")
	put(registry, works)
	tray, _ := p.startTray()
	row := p.row
	rollcall := func(args ...string) {
		t.Helper()
		if err := p.command(args...).Run(); err != nil {
			t.Fatalf("%q: %v: %s", args, err, p.said())
		}
	}
	notified := func(n int) desktoptest.Notification {
		t.Helper()
		p.until("the notification", func() bool { return len(d.Notifications()) >= n && d.Notifications()[n-1].ID != 0 })
		if list := d.Notifications(); len(list) != n {
			t.Fatalf("%d notifications, want %d: %+v", len(list), n, list)
		}
		return d.Notifications()[n-1]
	}
	withdrawn := func(n int) {
		t.Helper()
		p.until("the withdrawal", func() bool { return !d.Notifications()[n-1].Withdraw.IsZero() })
	}
	p.until("the session at work", row("◐ proj · Claude Code"))

	// Do not disturb: the wait is in the menu, and told afterwards.
	rollcall("dnd", "on", "--for", "1h")
	p.until("the row that ends it", row("End do not disturb (until "))
	put(registry, string(waits))
	p.until("the wait", row("wants to "))
	rollcall("dnd", "off")
	if n := notified(1); n.Summary != "Claude Code wants to run a command in proj" && n.Summary != "Claude Code needs permission in proj" {
		t.Errorf("said %q", n.Summary)
	}
	put(registry, works)
	withdrawn(1)

	// A mistake in the settings is shown, and changes nothing.
	put(config, "# mine\n[notifications]\npause = \"0s\"\npermission = \"loud\"\n")
	p.until("the mistake", row("⚠ Rollcall: config.toml: line 4: notifications.permission"))
	put(registry, string(waits))
	notified(2)
	put(registry, works)
	withdrawn(2)

	// A kind that is switched off is not told; one that is switched on again is, with a sound.
	put(config, "[notifications]\npause = \"0s\"\npermission = \"off\"\n")
	p.until("no mistake", func() bool { return !row("⚠ Rollcall")() })
	put(registry, string(waits))
	p.until("the wait", row("wants to "))
	put(registry, works)
	p.until("work", row("◐ proj · Claude Code"))
	put(config, "[notifications]\npause = \"0s\"\npermission = \"sound\"\n")
	p.until("the settings to be read", func() bool { return strings.Count(p.said(), "the settings have changed") >= 2 })
	put(registry, string(waits))
	if n := notified(3); n.Hints["sound-name"].Value() == nil || n.Hints["suppress-sound"].Value() != nil {
		t.Errorf("hints %v", n.Hints)
	}
	p.endTray(tray)
}
