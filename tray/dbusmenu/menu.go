//go:build linux || freebsd || openbsd || netbsd

// Package dbusmenu serves a flat menu to a desktop's panel over D-Bus, as
// com.canonical.dbusmenu.
//
// The rows are fixed when the menu is exported: their ids never change, and
// unused ones are invisible. So every later change is a change of properties
// (ItemsPropertiesUpdated), which all panels show in an open menu; a changed
// layout would close an open menu in Qt panels (lxqt, Plasma) and is ignored by
// GTK ones (xfce) until the next opening.
package dbusmenu

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/godbus/dbus/v5"
)

const iface = "com.canonical.dbusmenu"

// root is the id of the menu itself.
const root int32 = 0

// firstRevision lies above what another server at the same path may have
// announced before: panels ignore a revision that does not grow.
const firstRevision = 1000

// Item is one row. Its label is plain text.
type Item struct {
	ID        int32 // above 0, unique
	Label     string
	Disabled  bool
	Hidden    bool
	Separator bool
}

// Handler is told what the user does. Its functions are called on goroutines of
// the connection, several at a time; nil ones are skipped.
type Handler struct {
	// Opening is called when the menu is about to be shown. The panel waits for
	// its return, so it must be quick; what Update changes meanwhile is shown in
	// the same opening.
	Opening func()
	// Closed is called when the menu was closed. GTK panels don't tell.
	Closed func()
	// Clicked is called with the row's id.
	Clicked func(id int32)
}

// Server is an exported menu. It is safe for concurrent use.
type Server struct {
	conn    *dbus.Conn
	path    dbus.ObjectPath
	handler Handler

	mu    sync.Mutex
	items []Item
	index map[int32]int
}

// Export serves items at path on conn, in place of any menu that is served
// there, and tells panels to read it anew. The caller keeps owning conn.
func Export(conn *dbus.Conn, path dbus.ObjectPath, items []Item, h Handler) (*Server, error) {
	s := &Server{conn: conn, path: path, handler: h, items: slices.Clone(items), index: map[int32]int{}}
	for i, item := range items {
		if _, twice := s.index[item.ID]; twice || item.ID <= root {
			return nil, fmt.Errorf("menu row %d: id %d is not above 0 and unique", i, item.ID)
		}
		s.index[item.ID] = i
	}
	if err := s.export(); err != nil {
		return nil, fmt.Errorf("serve the menu on the bus: %w", err)
	}
	if err := conn.Emit(path, iface+".LayoutUpdated", uint32(firstRevision), root); err != nil {
		return nil, fmt.Errorf("announce the menu: %w", err)
	}
	return s, nil
}

// Update makes the rows those of items, which must have the ids of the exported
// ones in the same order, and tells panels what has changed, if anything.
func (s *Server) Update(items []Item) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(items) != len(s.items) {
		return fmt.Errorf("menu of %d rows given %d", len(s.items), len(items))
	}
	var changed []properties
	for i, item := range items {
		if item.ID != s.items[i].ID {
			return fmt.Errorf("menu row %d: id %d given %d", i, s.items[i].ID, item.ID)
		}
		if item != s.items[i] {
			changed = append(changed, properties{item.ID, difference(s.items[i], item)})
		}
	}
	if len(changed) == 0 {
		return nil
	}
	copy(s.items, items)
	// Emitted under the lock, so that signals leave in the order of updates.
	return s.conn.Emit(s.path, iface+".ItemsPropertiesUpdated", changed, []removed{})
}

// properties is a row's id with its properties: (ia{sv}).
type properties struct {
	ID     int32
	Values map[string]dbus.Variant
}

// removed is a row's id with the names of properties back at their default.
type removed struct {
	ID    int32
	Names []string
}

// all are an item's properties. Those with a default are stated as well: a
// panel that keeps what it was told needs to be told of the way back.
func all(i Item) map[string]dbus.Variant {
	p := map[string]dbus.Variant{
		"enabled": dbus.MakeVariant(!i.Disabled),
		"visible": dbus.MakeVariant(!i.Hidden),
	}
	if i.Separator {
		p["type"] = dbus.MakeVariant("separator")
	} else {
		p["label"] = dbus.MakeVariant(escape(i.Label))
	}
	return p
}

func difference(old, now Item) map[string]dbus.Variant {
	p := all(now)
	for name, value := range all(old) {
		if p[name] == value {
			delete(p, name)
		}
	}
	return p
}

// escape keeps an underscore from marking the next letter as the access key.
func escape(label string) string { return strings.ReplaceAll(label, "_", "__") }
