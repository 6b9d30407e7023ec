//go:build linux || freebsd || openbsd || netbsd

package dbusmenu

import "github.com/godbus/dbus/v5/introspect"

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
