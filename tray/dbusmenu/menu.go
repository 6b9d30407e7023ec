//go:build linux || freebsd || openbsd || netbsd

// Package dbusmenu serves a menu, whose rows may have submenus, to a desktop's panel over the D-Bus interface com.canonical.dbusmenu.
//
// The rows are fixed when the menu is exported: their ids never change, and unused rows are invisible. So all later
// changes are changes of properties (ItemsPropertiesUpdated), which all panels show in an open menu. A change of the
// layout would close an open menu in Qt panels (lxqt, Plasma), and GTK panels (xfce) would ignore it until the next
// opening.
package dbusmenu

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/godbus/dbus/v5"

	"rollcall/tray/model"
)

const iface = "com.canonical.dbusmenu"

// root is the id of the menu itself.
const root int32 = 0

// firstRevision is above the revisions that another server at the same path may have announced. Panels ignore a revision
// that does not grow.
const firstRevision = 1000

// Handler has the functions for the user's actions. They are called on goroutines of the connection, several at a time.
// Each may be nil.
type Handler struct {
	// Opening is called when the menu is about to be shown. It must be quick, since the panel waits for its return. The
	// menu then shows the changes that Update made meanwhile.
	Opening func()
	// Closed is called when the menu was closed. GTK panels do not report that.
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
	items []model.Item
	index map[int32]int

	parents map[int32]bool // ids of the rows with a submenu; never changes
	order   order
}

// Export serves items at path on conn, replaces any menu at that path, and makes panels read the menu again. The
// caller remains the owner of conn.
func Export(conn *dbus.Conn, path dbus.ObjectPath, items []model.Item, h Handler) (*Server, error) {
	s := &Server{conn: conn, path: path, handler: h, items: slices.Clone(items), index: map[int32]int{}, parents: map[int32]bool{}}
	for i, item := range items {
		if _, twice := s.index[item.ID]; twice || item.ID <= root {
			return nil, fmt.Errorf("menu row %d: the id %d is not positive and unique", i, item.ID)
		}
		s.index[item.ID] = i
		if item.Parent != root {
			s.parents[item.Parent] = true
		}
	}
	if err := s.export(); err != nil {
		return nil, fmt.Errorf("cannot serve the menu on the session bus: %w", err)
	}
	if err := conn.Emit(path, iface+".LayoutUpdated", uint32(firstRevision), root); err != nil {
		return nil, fmt.Errorf("cannot announce the menu to panels: %w", err)
	}
	return s, nil
}

// Update sets the rows to items and sends the changes to panels. items must have the ids of the exported rows, in the
// same order.
func (s *Server) Update(items []model.Item) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(items) != len(s.items) {
		return fmt.Errorf("the menu has %d rows, not %d", len(s.items), len(items))
	}
	var changed []properties
	for i, item := range items {
		if item.Parent != s.items[i].Parent {
			return fmt.Errorf("menu row %d moved to another submenu", i)
		}
		if item.ID != s.items[i].ID {
			return fmt.Errorf("menu row %d has the id %d, not %d", i, s.items[i].ID, item.ID)
		}
		if item != s.items[i] {
			changed = append(changed, properties{item.ID, difference(s.items[i], item)})
		}
	}
	if len(changed) == 0 {
		return nil
	}
	copy(s.items, items)
	// Send under the lock, so that signals have the order of the updates.
	return s.conn.Emit(s.path, iface+".ItemsPropertiesUpdated", changed, []removed{})
}

// properties is a row's id with its properties: (ia{sv}).
type properties struct {
	ID     int32
	Values map[string]dbus.Variant
}

// removed is a row's id with the names of the properties that have their default value again.
type removed struct {
	ID    int32
	Names []string
}

// all returns all properties of an item, including those with the default value: a panel may otherwise keep the former
// value.
func all(i model.Item) map[string]dbus.Variant {
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

func difference(old, now model.Item) map[string]dbus.Variant {
	p := all(now)
	for name, value := range all(old) {
		if p[name] == value {
			delete(p, name)
		}
	}
	return p
}

// escape doubles underscores, which would mark the next letter as the access key.
func escape(label string) string { return strings.ReplaceAll(label, "_", "__") }
