package notify

import (
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/esiqveland/notify"
	"github.com/godbus/dbus/v5"
)

// capabilities are what the daemon says it can do.
type capabilities struct {
	known   bool
	guessed bool // it did not say
	list    []string
}

func (c capabilities) has(name string) bool { return slices.Contains(c.list, name) }

func readCapabilities(call *dbus.Call) capabilities {
	var list []string
	if err := call.Store(&list); err != nil {
		return capabilities{known: true, guessed: true}
	}
	return capabilities{known: true, list: list}
}

// notification is the arguments of Notify.
func (d *desktop) notification(o order) []any {
	title, body := o.text.Title, o.text.Body
	switch {
	case d.caps.guessed:
		body = inert(body)
	case d.caps.has("body-markup"):
		body = escape(body)
	}
	if !d.caps.guessed && !d.caps.has("body") && body != "" {
		first, _, _ := strings.Cut(o.text.Body, "\n")
		title, body = title+": "+first, ""
	}
	actions := []string{}
	if d.n.opts.Open != nil && d.caps.has("actions") {
		action := notify.NewDefaultAction("Open")
		actions = append(actions, action.Key, action.Label)
	}
	return []any{appName, d.shown[o.key], d.icon, title, body, actions, d.hints(o), int32(-1)}
}

func (d *desktop) hints(o order) map[string]dbus.Variant {
	n := notify.Notification{}
	n.SetUrgency(notify.UrgencyNormal)
	n.AddHint(notify.Hint{ID: "desktop-entry", Variant: dbus.MakeVariant(appID)})
	n.AddHint(notify.Hint{ID: "category", Variant: dbus.MakeVariant("x-rollcall." + string(o.kind))})
	return n.Hints
}

// keep remembers what the daemon shows for an order.
func (d *desktop) keep(o order, id uint32) {
	d.shown[o.key] = id
	if _, ok := d.clicks[id]; !ok {
		d.order = append(d.order, id)
	}
	d.clicks[id] = o.session
	if len(d.order) > clicksKept {
		delete(d.clicks, d.order[0])
		d.order = d.order[1:]
	}
}

// forget drops everything that only the last daemon knew.
func (d *desktop) forget() {
	d.caps, d.retry = capabilities{}, time.Time{}
	clear(d.shown)
	clear(d.clicks)
	d.order = nil
}

// signal takes what the daemon says of notifications, those of other programs
// among them, and what the bus says of the daemon.
func (d *desktop) signal(s *dbus.Signal) {
	var name, old, owner, action string
	var id, reason uint32
	switch s.Name {
	case "org.freedesktop.DBus.NameOwnerChanged":
		if dbus.Store(s.Body, &name, &old, &owner) == nil && name == serviceName {
			d.link.owner = owner
			d.forget()
		}
	case serviceName + ".NotificationClosed":
		if s.Sender == d.link.owner && dbus.Store(s.Body, &id, &reason) == nil {
			for key, shown := range d.shown {
				if shown == id {
					delete(d.shown, key)
				}
			}
		}
	case serviceName + ".ActionInvoked":
		if s.Sender == d.link.owner && dbus.Store(s.Body, &id, &action) == nil {
			if session, ok := d.clicks[id]; ok && action == "default" && d.n.opts.Open != nil {
				go d.n.opts.Open(session)
			}
		}
	}
}

// withdrawWaits takes questions from the screen that nobody will follow any more.
func (d *desktop) withdrawWaits() {
	for key := range d.shown {
		if strings.HasPrefix(key, waitingPrefix) {
			d.n.box.put(order{key: key, kind: Waiting, withdraw: true})
		}
	}
}

// isAbsent says whether a call failed because nobody has the name.
func isAbsent(err error) bool {
	var e dbus.Error
	if !errors.As(err, &e) {
		return false
	}
	return e.Name == "org.freedesktop.DBus.Error.ServiceUnknown" ||
		e.Name == "org.freedesktop.DBus.Error.NameHasNoOwner" ||
		strings.HasPrefix(e.Name, "org.freedesktop.DBus.Error.Spawn.")
}

// isGone says whether a call failed because who got it went away.
func isGone(err error) bool {
	var e dbus.Error
	return errors.Is(err, dbus.ErrClosed) ||
		errors.As(err, &e) && (e.Name == "org.freedesktop.DBus.Error.NoReply" || e.Name == "org.freedesktop.DBus.Error.Disconnected")
}
