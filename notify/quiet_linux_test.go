package notify_test

import (
	"context"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/godbus/dbus/v5"
	"github.com/godbus/dbus/v5/prop"

	"rollcall/adapters"
	"rollcall/internal/desktoptest"
	"rollcall/internal/eventually"
	"rollcall/internal/must"
	"rollcall/notify"
)

// pause pauses dunst, or lets it go on.
func pause(t *testing.T, d *desktoptest.Desktop, on bool) {
	t.Helper()
	err := d.Bus().Object("org.freedesktop.Notifications", "/org/freedesktop/Notifications").
		SetProperty("org.dunstproject.cmd0.paused", dbus.MakeVariant(on))
	must.Do(t, err)
}

// TestDesktopIsQuiet: while a real dunst is paused nothing is sent, afterwards one summary of what still waits.
func TestDesktopIsQuiet(t *testing.T) {
	d := desktoptest.For(t, desktoptest.Options{Notifications: true})
	q := notify.NewDesktopQuiet(d.BusAddress())
	if q.Is(t.Context()) {
		t.Fatal("quiet from the start")
	}
	pause(t, d, true)
	if !q.Is(t.Context()) {
		t.Fatal("a paused dunst is not noticed")
	}
	changed := make(chan struct{})
	r := startOn(t, d, notify.Options{Rules: together, DesktopIsQuiet: q.Is, Changed: changed})
	r.events.put(becomes("a", adapters.Working, adapters.Waiting), becomes("b", adapters.Working, adapters.Waiting), ends("c", 3))
	r.events.put(becomes("d", adapters.Working, adapters.Waiting))
	r.events.put(becomes("d", adapters.Waiting, adapters.Working))
	eventually.True(t, "all events are handled", r.events.handled)
	changed <- struct{}{} // it looks, and is told to be quiet still
	changed <- struct{}{}
	if list := d.Notifications(); len(list) > 0 {
		t.Fatalf("sent %+v", list)
	}
	pause(t, d, false)
	changed <- struct{}{}
	if list := r.wait(t, "the summary", answered(1)); list[0].Summary != "2 sessions need you" {
		t.Errorf("sent %+v", list)
	}
	r.settled(t)
	r.stop()
	exactlyOnce(t, d.Notifications(), 1)
}

// TestDoNotDisturb: Rollcall's own state, without a desktop's.
func TestDoNotDisturb(t *testing.T) {
	var quiet atomic.Bool
	quiet.Store(true)
	changed := make(chan struct{})
	r := start(t, desktoptest.Options{Notifications: true}, notify.Options{Rules: together, Changed: changed,
		Quiet: func() (bool, time.Time) { return quiet.Load(), time.Time{} }})
	r.events.put(becomes("a", adapters.Working, adapters.Waiting))
	eventually.True(t, "all events are handled", r.events.handled)
	changed <- struct{}{}
	quiet.Store(false)
	changed <- struct{}{}
	if list := r.wait(t, "what still waits", answered(1)); list[0].Summary != "Claude Code needs permission in a" {
		t.Errorf("sent %+v", list)
	}
}

// TestInhibited: a service with the property of the specification, as KDE Plasma has it.
func TestInhibited(t *testing.T) {
	d := desktoptest.For(t, desktoptest.Options{})
	conn := must.Get(dbus.Connect(d.BusAddress()))(t)
	t.Cleanup(func() { conn.Close() })
	const name = "org.freedesktop.Notifications"
	props, err := prop.Export(conn, "/org/freedesktop/Notifications", prop.Map{name: {"Inhibited": {Value: true, Emit: prop.EmitTrue}}})
	must.Do(t, err)
	q := notify.NewDesktopQuiet(d.BusAddress())
	if q.Is(t.Context()) {
		t.Error("quiet without a service")
	}
	if _, err := conn.RequestName(name, dbus.NameFlagDoNotQueue); err != nil {
		t.Fatal(err)
	}
	if !q.Is(t.Context()) {
		t.Error("Inhibited is not noticed")
	}
	props.SetMust(name, "Inhibited", false)
	if q.Is(t.Context()) {
		t.Error("still quiet")
	}
}

// TestDesktopSetting: GNOME, Cinnamon and MATE keep their state in their settings, read here through a gsettings that
// answers as theirs does. One that hangs does not count.
func TestDesktopSetting(t *testing.T) {
	bin := t.TempDir()
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	answer := func(script string) {
		t.Helper()
		must.Do(t, os.WriteFile(filepath.Join(bin, "gsettings"), []byte("#!/bin/sh\n"+script+"\n"), 0o755))
	}
	const hangs = "exec sleep 60"
	for _, tt := range []struct {
		desktop, script string
		want            bool
	}{
		{"ubuntu:GNOME", `[ "$*" = "get org.gnome.desktop.notifications show-banners" ] && echo false`, true},
		{"GNOME", "echo true", false},
		{"X-Cinnamon", `[ "$*" = "get org.cinnamon.desktop.notifications display-notifications" ] && echo false`, true},
		{"MATE", `[ "$*" = "get org.mate.NotificationDaemon do-not-disturb" ] && echo true`, true},
		{"MATE", "echo No such schema >&2; exit 1", false},
		{"KDE", "echo false", false},
		{"GNOME", hangs, false},
	} {
		t.Setenv("XDG_CURRENT_DESKTOP", tt.desktop)
		answer(tt.script)
		q := notify.NewDesktopQuiet("unix:path=" + filepath.Join(bin, "no-bus"))
		limit := eventually.Limit
		if tt.script == hangs {
			limit = 2 * time.Second
		}
		ctx, cancel := context.WithTimeout(t.Context(), limit)
		if got := q.Is(ctx); got != tt.want {
			t.Errorf("%s with %q: %v", tt.desktop, tt.script, got)
		}
		cancel()
	}
}
