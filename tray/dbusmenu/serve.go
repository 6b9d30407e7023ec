//go:build linux || freebsd || openbsd || netbsd

package dbusmenu

import (
	"fmt"
	"maps"
	"runtime"
	"slices"

	"github.com/godbus/dbus/v5"
	"github.com/godbus/dbus/v5/introspect"
	"github.com/godbus/dbus/v5/prop"
)

// export serves the three interfaces of the path, in place of former handlers.
func (s *Server) export() error {
	if err := s.conn.ExportMethodTable(s.methods(), s.path, iface); err != nil {
		return err
	}
	constant := func(v any) *prop.Prop { return &prop.Prop{Value: v, Emit: prop.EmitConst} }
	_, err := prop.Export(s.conn, s.path, prop.Map{iface: {
		"Version":       constant(uint32(3)),
		"TextDirection": constant("ltr"),
		"Status":        constant("normal"),
		"IconThemePath": constant([]string{}),
	}})
	if err != nil {
		return err
	}
	node := &introspect.Node{Name: string(s.path), Interfaces: []introspect.Interface{
		introspect.IntrospectData, prop.IntrospectData, introspection,
	}}
	return s.conn.Export(introspect.NewIntrospectable(node), s.path, "org.freedesktop.DBus.Introspectable")
}

func (s *Server) methods() map[string]any {
	return map[string]any{
		"GetLayout":          s.getLayout,
		"GetGroupProperties": s.getGroupProperties,
		"GetProperty":        s.getProperty,
		"Event":              s.event,
		"EventGroup":         s.eventGroup,
		"AboutToShow":        s.aboutToShow,
		"AboutToShowGroup":   s.aboutToShowGroup,
	}
}

// layout is a row with its properties and children: (ia{sv}av).
type layout struct {
	ID       int32
	Values   map[string]dbus.Variant
	Children []dbus.Variant
}

// getLayout returns the rows below parent, to a depth; -1: all.
func (s *Server) getLayout(call dbus.Message, parent, depth int32, names []string) (uint32, layout, *dbus.Error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	l, err := s.layout(parent, depth, names)
	switch {
	case parent == root && depth == 1:
		s.reply(call, uint32(firstRevision), l)
		s.offerSubmenus()
		runtime.Goexit() // see getGroupProperties
	case parent == root && depth != 0:
		s.order.expect(sender(call))
	}
	return firstRevision, l, err
}

// offerSubmenus makes panels read the submenus. At first, Qt panels (Plasma, LXQt) read only the top rows, and read a submenu when
// it is shown. Plasma then shows the submenu empty, and later too far to the right for its rows to be on the screen. The revision
// does not grow, so that GTK panels ignore the signal. The caller holds the lock.
func (s *Server) offerSubmenus() {
	for _, id := range slices.Sorted(maps.Keys(s.parents)) {
		// An error means that the connection is closed.
		_ = s.conn.Emit(s.path, iface+".LayoutUpdated", uint32(firstRevision), id)
	}
}

// sender returns the connection that made a call.
func sender(call dbus.Message) dbus.Sender {
	name, _ := call.Headers[dbus.FieldSender].Value().(string)
	return dbus.Sender(name)
}

// layout returns a row with those below it. The caller holds the lock.
func (s *Server) layout(id, depth int32, names []string) (layout, *dbus.Error) {
	values, err := s.values(id, names)
	l := layout{id, values, []dbus.Variant{}}
	if err != nil || depth == 0 || id != root && !s.parents[id] {
		return l, err
	}
	for _, item := range s.items {
		if item.Parent == id {
			child, _ := s.layout(item.ID, depth-1, names) // it exists
			l.Children = append(l.Children, dbus.MakeVariant(child))
		}
	}
	return l, nil
}

// getGroupProperties returns the properties of those rows that exist. Without ids it returns those of all rows. An answer that
// has only rows of a submenu waits for the answer with the rows that have a submenu: see order.
func (s *Server) getGroupProperties(call dbus.Message, ids []int32, names []string) ([]properties, *dbus.Error) {
	if len(ids) == 0 || slices.ContainsFunc(ids, func(id int32) bool { return s.parents[id] }) {
		s.order.answer(sender(call), func() { s.reply(call, s.group(ids, names)) })
		// Goexit keeps the library from sending a second answer. Nothing else runs on the goroutine of this call.
		runtime.Goexit()
	}
	if slices.ContainsFunc(ids, s.isBelow) {
		s.order.wait(sender(call))
	}
	return s.group(ids, names), nil
}

// reply sends the answer to a call, unless the caller wants none.
func (s *Server) reply(call dbus.Message, values ...any) {
	if call.Flags&dbus.FlagNoReplyExpected != 0 {
		return
	}
	// An error means that the connection is closed.
	s.conn.Send(&dbus.Message{
		Type: dbus.TypeMethodReply,
		Headers: map[dbus.HeaderField]dbus.Variant{
			dbus.FieldDestination: call.Headers[dbus.FieldSender],
			dbus.FieldReplySerial: dbus.MakeVariant(call.Serial()),
			dbus.FieldSignature:   dbus.MakeVariant(dbus.SignatureOf(values...)),
		},
		Body: values,
	}, nil)
}

// isBelow reports whether a row is in a submenu.
func (s *Server) isBelow(id int32) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	i, ok := s.index[id]
	return ok && s.items[i].Parent != root
}

// group returns the properties of those rows that exist.
func (s *Server) group(ids []int32, names []string) []properties {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(ids) == 0 {
		for _, item := range s.items {
			ids = append(ids, item.ID)
		}
	}
	found := []properties{}
	for _, id := range ids {
		if values, err := s.values(id, names); err == nil {
			found = append(found, properties{id, values})
		}
	}
	return found
}

func (s *Server) getProperty(id int32, name string) (dbus.Variant, *dbus.Error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	values, err := s.values(id, nil)
	if err != nil {
		return dbus.MakeVariant(""), err
	}
	if value, ok := values[name]; ok {
		return value, nil
	}
	return dbus.MakeVariant(""), invalid("row %d has no property %q", id, name)
}

// values returns the named properties of a row, or all properties if no name is given. It always includes whether the row has a
// submenu: panels drop the rows below a row for which they do not know that. The caller holds the lock.
func (s *Server) values(id int32, names []string) (map[string]dbus.Variant, *dbus.Error) {
	var values map[string]dbus.Variant
	if id == root {
		values = map[string]dbus.Variant{}
	} else {
		i, ok := s.index[id]
		if !ok {
			return nil, invalid("no row %d", id)
		}
		values = only(all(s.items[i]), names)
	}
	if id == root || s.parents[id] {
		values["children-display"] = dbus.MakeVariant("submenu")
	}
	return values, nil
}

// only removes all but the named properties. Without names it removes none.
func only(values map[string]dbus.Variant, names []string) map[string]dbus.Variant {
	maps.DeleteFunc(values, func(name string, _ dbus.Variant) bool { return len(names) > 0 && !slices.Contains(names, name) })
	return values
}

func (s *Server) event(id int32, name string, _ dbus.Variant, _ uint32) *dbus.Error {
	if !s.known(id) {
		return invalid("no row %d", id)
	}
	s.handle(id, name)
	return nil
}

// group is one event in a call with several events: (isvu).
type group struct {
	ID   int32
	Name string
	Data dbus.Variant
	Time uint32
}

func (s *Server) eventGroup(events []group) ([]int32, *dbus.Error) {
	unknown := []int32{}
	for _, e := range events {
		if !s.known(e.ID) {
			unknown = append(unknown, e.ID)
			continue
		}
		s.handle(e.ID, e.Name)
	}
	if len(unknown) > 0 && len(unknown) == len(events) {
		return nil, invalid("none of these rows exists")
	}
	return unknown, nil
}

func (s *Server) handle(id int32, name string) {
	switch {
	case name == "clicked" && s.handler.Clicked != nil && id != root:
		s.handler.Clicked(id)
	case name == "opened" && s.handler.Opening != nil && id == root:
		s.handler.Opening()
	case name == "closed" && s.handler.Closed != nil && id == root:
		s.handler.Closed()
	}
}

// aboutToShow calls Opening. It returns false, since the layout never changes and changes of rows have already been sent.
func (s *Server) aboutToShow(id int32) (bool, *dbus.Error) {
	if !s.known(id) {
		return false, invalid("no row %d", id)
	}
	if id == root && s.handler.Opening != nil {
		s.handler.Opening()
	}
	return false, nil
}

func (s *Server) aboutToShowGroup(ids []int32) (updates, unknown []int32, _ *dbus.Error) {
	updates, unknown = []int32{}, []int32{}
	for _, id := range ids {
		if _, err := s.aboutToShow(id); err != nil {
			unknown = append(unknown, id)
		}
	}
	return updates, unknown, nil
}

func (s *Server) known(id int32) bool {
	_, ok := s.index[id]
	return ok || id == root
}

func invalid(format string, args ...any) *dbus.Error {
	return dbus.NewError("org.freedesktop.DBus.Error.InvalidArgs", []any{fmt.Sprintf(format, args...)})
}

func in(name, kind string) introspect.Arg {
	return introspect.Arg{Name: name, Type: kind, Direction: "in"}
}

func out(name, kind string) introspect.Arg {
	return introspect.Arg{Name: name, Type: kind, Direction: "out"}
}

// introspection is the published interface. Qt panels read it before they call methods.
var introspection = introspect.Interface{
	Name: iface,
	Methods: []introspect.Method{
		{Name: "GetLayout", Args: []introspect.Arg{
			in("parentId", "i"), in("recursionDepth", "i"), in("propertyNames", "as"),
			out("revision", "u"), out("layout", "(ia{sv}av)")}},
		{Name: "GetGroupProperties", Args: []introspect.Arg{
			in("ids", "ai"), in("propertyNames", "as"), out("properties", "a(ia{sv})")}},
		{Name: "GetProperty", Args: []introspect.Arg{
			in("id", "i"), in("name", "s"), out("value", "v")}},
		{Name: "Event", Args: []introspect.Arg{
			in("id", "i"), in("eventId", "s"), in("data", "v"), in("timestamp", "u")}},
		{Name: "EventGroup", Args: []introspect.Arg{
			in("events", "a(isvu)"), out("idErrors", "ai")}},
		{Name: "AboutToShow", Args: []introspect.Arg{
			in("id", "i"), out("needUpdate", "b")}},
		{Name: "AboutToShowGroup", Args: []introspect.Arg{
			in("ids", "ai"), out("updatesNeeded", "ai"), out("idErrors", "ai")}},
	},
	Signals: []introspect.Signal{
		{Name: "ItemsPropertiesUpdated", Args: []introspect.Arg{
			out("updatedProps", "a(ia{sv})"), out("removedProps", "a(ias)")}},
		{Name: "LayoutUpdated", Args: []introspect.Arg{
			out("revision", "u"), out("parent", "i")}},
		{Name: "ItemActivationRequested", Args: []introspect.Arg{
			out("id", "i"), out("timestamp", "u")}},
	},
	Properties: []introspect.Property{
		{Name: "Version", Type: "u", Access: "read"},
		{Name: "TextDirection", Type: "s", Access: "read"},
		{Name: "Status", Type: "s", Access: "read"},
		{Name: "IconThemePath", Type: "as", Access: "read"},
	},
}
