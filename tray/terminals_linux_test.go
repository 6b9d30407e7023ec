package tray_test

import (
	"testing"
	"time"

	"github.com/godbus/dbus/v5"

	"rollcall/internal/eventually"
	"rollcall/internal/must"
	"rollcall/proc"
	"rollcall/tray/model"
)

// TestTerminals: the submenu has the sessions with a process here, also when they change; a click names the session.
func TestTerminals(t *testing.T) {
	b := startBus(t)
	p := startPanel(t, b, 0)
	shop := working("a", "shop", "Fix", time.Hour)
	far := working("b", "far", "Fix", time.Hour)
	other := waiting("c", "other", "Ask", time.Hour)
	shop.Process, other.Process = proc.Identity{PID: 1, Start: 1}, proc.Identity{PID: 2, Start: 1}
	far.Remote = "gateway"
	tray := startTray(t, snap(shop, far), long, b.env(), terminalsVariable+"=1")
	m := p.menu()
	parent := m.id("Show terminal")
	submenu := func() (ids []int32, labels []string) {
		t.Helper()
		var revision uint32
		var l menuLayout
		must.Do(t, m.call("GetLayout", parent, int32(-1), []string{}).Store(&revision, &l))
		if l.Values["children-display"].Value() != "submenu" || len(l.Children) != model.MaxSessions {
			t.Fatalf("the row %v has %d rows below it", l.Values, len(l.Children))
		}
		for _, c := range l.Children {
			var row menuLayout
			must.Do(t, dbus.Store([]any{c.Value()}, &row))
			if row.Values["visible"].Value() == true {
				ids, labels = append(ids, row.ID), append(labels, row.Values["label"].Value().(string))
			}
		}
		return ids, labels
	}
	if _, labels := submenu(); len(labels) != 1 || labels[0] != "◐ shop · Claude Code · Fix · 1 h" {
		t.Errorf("the submenu has %q", labels)
	}
	tray.tell(order{Snapshot: snap(shop, far, other)})
	var ids []int32
	eventually.True(tray.t, "the other session", func() bool { ids, _ = submenu(); return len(ids) == 2 })
	m.must("Event", ids[0], "clicked", dbus.MakeVariant(""), uint32(0))
	if r := tray.wait("terminal", 1); r.Arg != "c" { // it waits, and so comes first
		t.Errorf("shown is %q", r.Arg)
	}
	m.must("Event", ids[1], "clicked", dbus.MakeVariant(""), uint32(0))
	if r := tray.wait("terminal", 2); r.Arg != "a" {
		t.Errorf("shown is %q", r.Arg)
	}
	tray.tell(order{Snapshot: snap(far)})
	eventually.True(tray.t, "no terminals", func() bool { ids, _ = submenu(); return len(ids) == 0 })
	for _, label := range m.labels() {
		if label == "Show terminal" {
			t.Error("an empty submenu is shown")
		}
	}
}
