package tray_test

import (
	"slices"
	"testing"
	"time"

	"github.com/godbus/dbus/v5"

	"rollcall/internal/must"
	"rollcall/proc"
	"rollcall/tray/model"
)

// withSubmenu starts a tray whose menu has a submenu, and returns its menu, the id of the row with the submenu, the ids of the
// rows beside it and those of the rows below it.
func withSubmenu(t *testing.T) (m *trayMenu, parent int32, top, below []int32) {
	t.Helper()
	b := startBus(t)
	p := startPanel(t, b, 0)
	shop := working("a", "shop", "Fix", time.Hour)
	shop.Process = proc.Identity{PID: 1, Start: 1}
	startTray(t, snap(shop), long, b.env(), terminalsVariable+"=1")
	m = p.menu()
	for _, row := range m.rows {
		top = append(top, row.id)
	}
	parent = m.id("Show terminal")
	var revision uint32
	var l menuLayout
	must.Do(t, m.call("GetLayout", parent, int32(-1), []string{"type"}).Store(&revision, &l))
	for _, row := range children(t, l) {
		below = append(below, row.ID)
	}
	if len(below) != model.MaxSessions {
		t.Fatalf("the submenu has %d rows", len(below))
	}
	return m, parent, top, below
}

func children(t *testing.T, l menuLayout) (rows []menuLayout) {
	t.Helper()
	for _, c := range l.Children {
		var row menuLayout
		must.Do(t, dbus.Store([]any{c.Value()}, &row))
		rows = append(rows, row)
	}
	return rows
}

// TestChildrenDisplay: every answer with a row that has a submenu says so, whichever properties it was asked for, and no other row
// says it.
func TestChildrenDisplay(t *testing.T) {
	m, parent, top, below := withSubmenu(t)
	check := func(call string, id int32, values map[string]dbus.Variant) {
		t.Helper()
		value, has := values["children-display"]
		if want := id == 0 || id == parent; has != want || has && value.Value() != "submenu" {
			t.Errorf("%s: row %d has children-display %v", call, id, value)
		}
	}
	for name, names := range map[string][]string{
		"all":         {},
		"libdbusmenu": {"type", "label", "visible", "enabled", "children-display", "accessible-desc"},
		"label":       {"label"},
		"unknown":     {"colour"},
	} {
		for _, depth := range []int32{0, 1, -1} {
			for _, from := range []int32{0, parent, below[0]} {
				var revision uint32
				var l menuLayout
				must.Do(t, m.call("GetLayout", from, depth, names).Store(&revision, &l))
				for rows := []menuLayout{l}; len(rows) > 0; rows = rows[1:] {
					check("GetLayout of "+name, rows[0].ID, rows[0].Values)
					rows = append(rows, children(t, rows[0])...)
				}
			}
		}
		for _, ids := range [][]int32{nil, append([]int32{0}, top...), {parent}, below} {
			var rows []struct {
				ID     int32
				Values map[string]dbus.Variant
			}
			must.Do(t, m.call("GetGroupProperties", ids, names).Store(&rows))
			for _, row := range rows {
				check("GetGroupProperties of "+name, row.ID, row.Values)
			}
		}
	}
	for id, want := range map[int32]bool{0: true, parent: true, top[0]: false, below[0]: false} {
		var value dbus.Variant
		if err := m.call("GetProperty", id, "children-display").Store(&value); (err == nil) != want || want && value.Value() != "submenu" {
			t.Errorf("GetProperty: row %d has children-display %v, %v", id, value, err)
		}
	}
}

// TestSubmenuAnsweredInOrder asks as libdbusmenu does (GTK panels): after the layout, for the properties of the rows and at once for
// those of the submenu's rows. A submenu's row that is described before the row with the submenu is missing in the panel.
func TestSubmenuAnsweredInOrder(t *testing.T) {
	m, _, top, below := withSubmenu(t)
	names := []string{"type", "label", "visible", "enabled", "children-display", "accessible-desc"}
	const times = 500
	wrong := 0
	for range times {
		m.must("GetLayout", int32(0), int32(-1), names)
		replies := make(chan *dbus.Call, 2)
		rows := m.object.Go("com.canonical.dbusmenu.GetGroupProperties", 0, replies, append([]int32{0}, top...), []string{})
		submenu := m.object.Go("com.canonical.dbusmenu.GetGroupProperties", 0, replies, below, []string{})
		for range 2 {
			if call := <-replies; call.Err != nil {
				t.Fatal(call.Err)
			}
		}
		if submenu.ResponseSequence < rows.ResponseSequence {
			wrong++
		}
	}
	if wrong > 0 {
		t.Errorf("%d of %d times the rows of the submenu were described before the row that has it", wrong, times)
	}
}

// TestSubmenuOffered reads the top rows as Qt panels do: once it has them, the panel is told to read the submenu as well, by a
// signal that GTK panels ignore.
func TestSubmenuOffered(t *testing.T) {
	m, parent, _, _ := withSubmenu(t)
	for range 20 {
		call := <-m.object.Go("com.canonical.dbusmenu.GetLayout", 0, nil, int32(0), int32(1), []string{}).Done
		if call.Err != nil {
			t.Fatal(call.Err)
		}
		m.until("the offer of the submenu after the row that has it", func() bool {
			m.mu.Lock()
			defer m.mu.Unlock()
			return slices.ContainsFunc(m.signals, func(s *dbus.Signal) bool {
				return s.Name == "com.canonical.dbusmenu.LayoutUpdated" && s.Sequence > call.ResponseSequence &&
					s.Body[0] == uint32(1000) && s.Body[1] == parent
			})
		})
	}
}
