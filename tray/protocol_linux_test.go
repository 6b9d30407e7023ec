package tray_test

import (
	"strings"
	"testing"
	"time"

	"github.com/godbus/dbus/v5"
	"github.com/google/go-cmp/cmp"

	"rollcall/internal/must"
	"rollcall/tray/model"
)

// The menu answers every call of com.canonical.dbusmenu, also those that ask
// for a part of it or for what isn't there.
func TestMenuProtocol(t *testing.T) {
	b := startBus(t)
	p := startPanel(t, b, 0)
	startTray(t, snap(working("a", "shop", "Fix", time.Hour)), long, b.env())
	m := p.menu()
	row := m.id("shop")

	var xml string
	must.Do(t, m.object.Call("org.freedesktop.DBus.Introspectable.Introspect", 0).Store(&xml))
	for _, method := range []string{"GetLayout", "GetGroupProperties", "GetProperty", "Event", "EventGroup", "AboutToShow", "AboutToShowGroup", "ItemsPropertiesUpdated"} {
		if !strings.Contains(xml, `"`+method+`"`) {
			t.Errorf("introspection lacks %s", method)
		}
	}
	for name, want := range map[string]any{"Version": uint32(3), "TextDirection": "ltr", "Status": "normal", "IconThemePath": []string{}} {
		v, err := m.object.GetProperty("com.canonical.dbusmenu." + name)
		if err != nil || !cmp.Equal(v.Value(), want) {
			t.Errorf("%s is %v, %v, want %v", name, v.Value(), err, want)
		}
	}

	var revision uint32
	var l menuLayout
	if err := m.call("GetLayout", int32(0), int32(0), []string{}).Store(&revision, &l); err != nil || len(l.Children) != 0 {
		t.Errorf("depth 0: %d children, %v", len(l.Children), err)
	}
	l = menuLayout{} // Store adds to a map
	if err := m.call("GetLayout", row, int32(-1), []string{"label"}).Store(&revision, &l); err != nil || len(l.Values) != 1 || len(l.Children) != 0 {
		t.Errorf("one row: %v, %v", l, err)
	}
	if err := m.call("GetLayout", int32(999), int32(-1), []string{}).Err; err == nil {
		t.Error("a row that isn't there has a layout")
	}

	var values []struct {
		ID     int32
		Values map[string]dbus.Variant
	}
	if err := m.call("GetGroupProperties", []int32{row, 999}, []string{"label", "visible"}).Store(&values); err != nil || len(values) != 1 || len(values[0].Values) != 2 {
		t.Errorf("group: %v, %v", values, err)
	}
	if err := m.call("GetGroupProperties", []int32{}, []string{}).Store(&values); err != nil || len(values) != len(m.rows)+model.MaxSessions { // and those of the submenu
		t.Errorf("group of all: %d rows, %v", len(values), err)
	}
	var label dbus.Variant
	if err := m.call("GetProperty", row, "label").Store(&label); err != nil || label.Value() != "◐ shop · Claude Code · Fix · 1 h" {
		t.Errorf("label %v, %v", label, err)
	}
	for _, unknown := range [][]any{{row, "colour"}, {int32(999), "label"}} {
		if err := m.call("GetProperty", unknown...).Err; err == nil {
			t.Errorf("property %v has a value", unknown)
		}
	}
	var updates, missing []int32
	if err := m.call("AboutToShowGroup", []int32{row, 999}).Store(&updates, &missing); err != nil || len(updates) != 0 || !cmp.Equal(missing, []int32{999}) {
		t.Errorf("about to show: %v, %v, %v", updates, missing, err)
	}
	if err := m.call("AboutToShow", int32(999)).Err; err == nil {
		t.Error("a row that isn't there is about to be shown")
	}
}
