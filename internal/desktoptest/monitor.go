//go:build linux

package desktoptest

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/godbus/dbus/v5"
)

const notificationsName = "org.freedesktop.Notifications"

// Notification is one call of Notify that passed over the bus, with what became
// of it. Times are on this process's clock.
type Notification struct {
	At       time.Time // when the call was seen
	Sender   string    // unique bus name of who sent it
	App      string
	Replaces uint32
	Icon     string
	Summary  string
	Body     string
	Actions  []string
	Hints    map[string]dbus.Variant
	Timeout  int32 // ms; -1: up to the daemon, 0: never

	ID       uint32    // the daemon's answer; 0: none yet, or an error
	Answered time.Time // when the answer was seen; zero: none yet
	Error    string    // name of the D-Bus error, if it answered with one
	Withdraw time.Time // when its sender asked to close it; zero: never
	Closed   time.Time // when the daemon said that it is closed; zero: not yet
}

// recorder keeps every notification that passes over the bus.
type recorder struct {
	cancel context.CancelFunc
	done   chan struct{}

	mu   sync.Mutex
	list []*Notification
	open map[string]*Notification // by sender and serial, not answered
}

func (d *Desktop) record(ctx context.Context) (*recorder, error) {
	run, cancel := context.WithCancel(context.WithoutCancel(ctx))
	messages, err := d.Eavesdrop(run,
		"type='method_call',interface='"+notificationsName+"'",
		"type='signal',interface='"+notificationsName+"'",
		"type='method_return',sender='"+notificationsName+"'",
		"type='error'")
	if err != nil {
		cancel()
		return nil, err
	}
	r := &recorder{cancel: cancel, done: make(chan struct{}), open: map[string]*Notification{}}
	go func() {
		defer close(r.done)
		for m := range messages {
			r.take(m)
			d.poke()
		}
	}()
	return r, nil
}

func (r *recorder) close() {
	r.cancel()
	<-r.done
}

func (r *recorder) take(m Message) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch m.Type {
	case dbus.TypeMethodCall:
		r.call(m)
	case dbus.TypeMethodReply, dbus.TypeError:
		r.answer(m)
	case dbus.TypeSignal:
		var id, reason uint32
		if header(m, dbus.FieldMember) == "NotificationClosed" && dbus.Store(m.Body, &id, &reason) == nil {
			r.mark(id, func(n *Notification) { n.Closed = m.At })
		}
	}
}

func (r *recorder) call(m Message) {
	sender := header(m, dbus.FieldSender)
	switch header(m, dbus.FieldMember) {
	case "Notify":
		n := &Notification{At: m.At, Sender: sender}
		if err := dbus.Store(m.Body, &n.App, &n.Replaces, &n.Icon, &n.Summary, &n.Body, &n.Actions, &n.Hints, &n.Timeout); err != nil {
			n.Error = err.Error()
		}
		r.list = append(r.list, n)
		r.open[fmt.Sprint(sender, " ", m.Serial())] = n
	case "CloseNotification":
		var id uint32
		if dbus.Store(m.Body, &id) == nil {
			r.mark(id, func(n *Notification) { n.Withdraw = m.At })
		}
	}
}

func (r *recorder) answer(m Message) {
	serial, _ := m.Headers[dbus.FieldReplySerial].Value().(uint32)
	key := fmt.Sprint(header(m, dbus.FieldDestination), " ", serial)
	n, ok := r.open[key]
	if !ok {
		return
	}
	delete(r.open, key)
	n.Answered = m.At
	if m.Type == dbus.TypeError {
		n.Error = header(m, dbus.FieldErrorName)
		return
	}
	_ = dbus.Store(m.Body, &n.ID)
}

// mark changes the last notification with that id.
func (r *recorder) mark(id uint32, change func(*Notification)) {
	for _, n := range slices.Backward(r.list) {
		if n.ID == id {
			change(n)
			return
		}
	}
}

func header(m Message, field dbus.HeaderField) string {
	switch v := m.Headers[field].Value().(type) {
	case string:
		return v
	}
	return ""
}

// Notifications returns every notification that anybody sent over the bus since
// the start, in order, answered or not.
func (d *Desktop) Notifications() []Notification {
	d.notes.mu.Lock()
	defer d.notes.mu.Unlock()
	out := make([]Notification, len(d.notes.list))
	for i, n := range d.notes.list {
		out[i] = *n
	}
	return out
}

// Shown returns what a user saw: Notifications, with the updates of one that was on the screen merged into it. It keeps the texts of the
// first call, and has what became of the last.
func (d *Desktop) Shown() []Notification {
	var out []Notification
	for _, n := range d.Notifications() {
		at := slices.IndexFunc(out, func(o Notification) bool { return n.Replaces != 0 && o.ID == n.Replaces && o.Closed.IsZero() })
		if at < 0 {
			out = append(out, n)
			continue
		}
		out[at].Withdraw, out[at].Closed = n.Withdraw, n.Closed
	}
	return out
}

// WaitNotifications returns the notifications once ok accepts them, or what
// there is and an error when ctx is done.
func (d *Desktop) WaitNotifications(ctx context.Context, ok func([]Notification) bool) ([]Notification, error) {
	var seen []Notification
	err := d.until(ctx, "wait for notifications", nil, func() (bool, error) {
		seen = d.Notifications()
		return ok(seen), nil
	})
	return seen, err
}
