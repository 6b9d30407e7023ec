package tray_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/godbus/dbus/v5"
	"github.com/google/go-cmp/cmp"

	"rollcall/internal/desktoptest"
	"rollcall/internal/eventually"
	"rollcall/internal/must"
)

// overheard is what a panel has been told of the menu, from its answers and
// signals on the bus.
type overheard struct {
	mu    sync.Mutex
	rows  map[int32]map[string]dbus.Variant
	order []int32
	calls []string // methods of the menu that the panel called
	last  time.Time
}

func overhear(t *testing.T, d *desktoptest.Desktop) *overheard {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(cancel)
	messages := must.Get(d.Eavesdrop(ctx))(t)
	o := &overheard{rows: map[int32]map[string]dbus.Variant{}}
	go func() {
		for m := range messages {
			o.take(m)
		}
	}()
	return o
}

func (o *overheard) take(m desktoptest.Message) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if m.Headers[dbus.FieldInterface].Value() == "com.canonical.dbusmenu" && m.Type == dbus.TypeMethodCall {
		o.calls = append(o.calls, m.Headers[dbus.FieldMember].Value().(string))
	}
	signature, _ := m.Headers[dbus.FieldSignature].Value().(dbus.Signature)
	switch signature.String() {
	case "u(ia{sv}av)": // the layout, or a part of it
		var revision uint32
		var l menuLayout
		if dbus.Store(m.Body, &revision, &l) != nil || l.ID != 0 {
			return
		}
		o.order = nil
		for _, c := range l.Children {
			var child menuLayout
			if dbus.Store([]any{c.Value()}, &child) == nil {
				o.order = append(o.order, child.ID)
				o.put(child.ID, child.Values)
			}
		}
		o.last = m.At
	case "a(ia{sv})", "a(ia{sv})a(ias)": // GetGroupProperties, ItemsPropertiesUpdated
		var rows []struct {
			ID     int32
			Values map[string]dbus.Variant
		}
		if dbus.Store(m.Body[:1], &rows) == nil {
			for _, r := range rows {
				o.put(r.ID, r.Values)
			}
			o.last = m.At
		}
	}
}

func (o *overheard) put(id int32, values map[string]dbus.Variant) {
	if o.rows[id] == nil {
		o.rows[id] = map[string]dbus.Variant{}
	}
	maps.Copy(o.rows[id], values)
}

// labels returns the rows that the panel must show now.
func (o *overheard) labels() []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	var out []string
	for _, id := range o.order {
		r := o.rows[id]
		if r["visible"].Value() == false {
			continue
		}
		if r["type"].Value() == "separator" {
			out = append(out, "—")
		} else if label, ok := r["label"].Value().(string); ok {
			out = append(out, strings.TrimRight(label, "\u2003"))
		}
	}
	return out
}

func (o *overheard) called() []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.Clone(o.calls)
}

// until waits until the panel has been told of rows, and returns when it was.
func (o *overheard) until(t *testing.T, want []string) time.Time {
	t.Helper()
	eventually.Nil(t, "the panel's rows", func() error {
		if labels := o.labels(); !cmp.Equal(labels, want) {
			return fmt.Errorf("rows (-want +the panel's):\n%s\nit called %v", cmp.Diff(want, labels), o.called())
		}
		return nil
	})
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.last
}
