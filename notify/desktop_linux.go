package notify

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/esiqveland/notify"
	"github.com/godbus/dbus/v5"

	"rollcall/app/control/answer"
)

// capabilities are the capabilities of the daemon.
type capabilities struct {
	known   bool
	guessed bool // the daemon did not list them
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

// notification returns the arguments of Notify.
func (d *desktop) notification(o order) []any {
	title, body := o.text.Title, o.text.Body
	switch {
	case d.caps.guessed:
		body = withoutMarkup(body)
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
		if o.ask != nil && d.n.opts.Answer != nil {
			actions = append(actions, o.ask.actions(d.caps.has("body"))...)
		}
	}
	return []any{appName, d.shown[o.key], d.icon, title, body, actions, d.hints(o), lasts(o)}
}

// lasts returns how long a notification stays on the screen, as the specification of desktop notifications has it: -1 as long as the desktop wants, 0 until the
// user closes it. What needs the user stays: it is withdrawn when the wait is over.
func lasts(o order) int32 {
	if o.needsUser() {
		return 0
	}
	return -1
}

func (d *desktop) hints(o order) map[string]dbus.Variant {
	n := notify.Notification{}
	n.SetUrgency(notify.UrgencyNormal)
	n.AddHint(notify.Hint{ID: "desktop-entry", Variant: dbus.MakeVariant(appID)})
	if o.needsUser() && d.caps.has("persistence") { // a click does not remove it, and a desktop with a list of notifications keeps it there
		n.AddHint(notify.Hint{ID: "resident", Variant: dbus.MakeVariant(true)})
	}
	if o.sound {
		n.AddHint(notify.Hint{ID: soundHint(o.soundName), Variant: dbus.MakeVariant(o.soundName)})
	} else {
		n.AddHint(notify.Hint{ID: "suppress-sound", Variant: dbus.MakeVariant(true)})
	}
	n.AddHint(notify.Hint{ID: "category", Variant: dbus.MakeVariant("x-rollcall." + string(o.kind))})
	return n.Hints
}

// keep stores the number of an order's notification.
func (d *desktop) keep(o order, id uint32) {
	d.shown[o.key] = id
	if _, ok := d.clicks[id]; !ok {
		d.order = append(d.order, id)
	}
	d.clicks[id] = clickOf(o, d.clicks[id])
	if len(d.order) > clicksKept {
		delete(d.clicks, d.order[0])
		d.order = d.order[1:]
	}
}

// clickOf returns what a click on the notification of an order does. before is what the click did until now; the zero
// value for a new notification.
func clickOf(o order, before click) click {
	c := click{session: o.session, waits: o.opensRequest || strings.HasPrefix(o.key, waitingPrefix), refs: map[string]answer.Ref{}, askedAt: before.askedAt}
	if o.ask != nil {
		c.asked = o.ask.ref.Key
		c.refs[c.asked] = o.ask.ref
	}
	if c.asked != before.asked {
		c.askedAt = time.Now()
	}
	for k, ref := range before.refs { // the user may have clicked one of them already
		if len(c.refs) < refsKept {
			c.refs[k] = ref
		}
	}
	return c
}

// refsKept is the number of requests that one notification remembers, earlier ones included. A click on an earlier one then
// shows that this request no longer waits.
const refsKept = 8

// forget removes all data about the last daemon.
func (d *desktop) forget() {
	d.caps, d.retry = capabilities{}, time.Time{}
	clear(d.shown)
	clear(d.waits)
	clear(d.clicks)
	d.order = nil
}

// signal handles signals of the daemon, which may concern notifications of other programs, and signals of the bus about a new daemon.
func (d *desktop) signal(s *dbus.Signal) {
	var name, old, owner, action string
	var id, reason uint32
	switch s.Name {
	case "org.freedesktop.DBus.NameOwnerChanged":
		if dbus.Store(s.Body, &name, &old, &owner) == nil && name == serviceName {
			d.owned(owner)
		}
	case serviceName + ".NotificationClosed":
		if s.Sender == d.link.owner && dbus.Store(s.Body, &id, &reason) == nil {
			for key, shown := range d.shown {
				if shown == id {
					delete(d.shown, key)
					d.forgetWait(key)
				}
			}
			d.remember()
		}
	case serviceName + ".ActionInvoked":
		if s.Sender == d.link.owner && dbus.Store(s.Body, &id, &action) == nil {
			d.clicked(id, action)
		}
	}
}

// clicked carries out a click on a notification of Rollcall.
func (d *desktop) clicked(id uint32, action string) {
	c, ok := d.clicks[id]
	switch {
	case !ok:
	case action == actOpen:
		go d.n.open(c)
	case (strings.HasPrefix(action, actAllow) || strings.HasPrefix(action, actDeny)) && d.n.opts.Answer != nil:
		go d.n.act(c, action)
	}
}

// withdrawWaits withdraws the notifications of waits, which are outdated once the process has ended. It does nothing if
// another process takes them over.
func (d *desktop) withdrawWaits() {
	if d.n.opts.Leaves != nil && d.n.opts.Leaves() {
		return
	}
	for key := range d.shown {
		if strings.HasPrefix(key, waitingPrefix) {
			d.n.box.put(order{key: key, kind: Permission, withdraw: true})
		}
	}
}

// isAbsent reports whether a call failed because no daemon runs.
func isAbsent(err error) bool {
	e, _ := errors.AsType[dbus.Error](err)
	return e.Name == "org.freedesktop.DBus.Error.ServiceUnknown" ||
		e.Name == "org.freedesktop.DBus.Error.NameHasNoOwner" ||
		strings.HasPrefix(e.Name, "org.freedesktop.DBus.Error.Spawn.")
}

// isCut reports whether a call failed because the connection to the bus ended. Notifications may then still be shown.
func isCut(err error) bool {
	_, replied := errors.AsType[dbus.Error](err)
	return err != nil && !replied
}

// isGone reports whether a call failed because the daemon ended.
func isGone(err error) bool {
	e, _ := errors.AsType[dbus.Error](err)
	return errors.Is(err, dbus.ErrClosed) || e.Name == "org.freedesktop.DBus.Error.NoReply" || e.Name == "org.freedesktop.DBus.Error.Disconnected"
}

// iconName returns the icon of notifications: the URL of a file with the PNG, or without a PNG the name of the installed
// icon. Sending the pixels would make each message ten times as large.
func iconName(png []byte) (string, error) {
	if len(png) == 0 {
		return appID, nil
	}
	dir := os.Getenv("XDG_RUNTIME_DIR")
	if dir == "" {
		var err error
		dir, err = os.UserCacheDir()
		if err != nil {
			return appID, err
		}
	}
	path := filepath.Join(dir, "rollcall", "notification.png")
	if err := replaceFile(path, png); err != nil {
		return appID, fmt.Errorf("cannot write the icon of notifications: %w", err)
	}
	return (&url.URL{Scheme: "file", Path: path}).String(), nil
}

func replaceFile(path string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), "notification-*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // nothing has this name any more once the file is renamed
	_, err = f.Write(data)
	err = errors.Join(err, f.Close())
	if err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}
