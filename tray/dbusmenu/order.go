//go:build linux || freebsd || openbsd || netbsd

package dbusmenu

import (
	"sync"
	"time"

	"github.com/godbus/dbus/v5"
)

// orderLimit is the longest time for which an answer waits for the one that must precede it. Panels without libdbusmenu may ask
// for a submenu's rows alone.
const orderLimit = time.Second

// order keeps the order of two answers to a panel. After the layout libdbusmenu (xfce4-panel, mate-panel) asks for the properties
// of the top rows and at once for those of the rows below them, in calls of their own. It makes the submenu when the first answer
// arrives, and drops each row of a submenu that it does not have yet, with the warning "Children but no menu, someone's been
// naughty with their 'children-display' property". The D-Bus library answers each call on a goroutine, in any order.
type order struct {
	mu sync.Mutex
	// expected has a channel for each panel that read the whole layout and was not sent the properties of the top rows since. The
	// channel is closed when they are sent.
	expected map[dbus.Sender]chan struct{}
}

// expect records that a panel has read the layout.
func (o *order) expect(panel dbus.Sender) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.expected == nil {
		o.expected = map[dbus.Sender]chan struct{}{}
	}
	if o.expected[panel] == nil {
		o.expected[panel] = make(chan struct{})
	}
}

// answer calls send, which sends a panel the properties of the top rows.
func (o *order) answer(panel dbus.Sender, send func()) {
	send()
	o.mu.Lock()
	defer o.mu.Unlock()
	o.done(panel)
}

// wait returns when the properties of the top rows have been sent to a panel that has read the layout, or after orderLimit.
func (o *order) wait(panel dbus.Sender) {
	o.mu.Lock()
	sent := o.expected[panel]
	o.mu.Unlock()
	if sent == nil {
		return
	}
	limit := time.NewTimer(orderLimit)
	defer limit.Stop()
	select {
	case <-sent:
	case <-limit.C:
		o.mu.Lock()
		defer o.mu.Unlock()
		o.done(panel)
	}
}

// done ends the expectation of a panel. The caller holds the lock.
func (o *order) done(panel dbus.Sender) {
	if sent := o.expected[panel]; sent != nil {
		close(sent)
		delete(o.expected, panel)
	}
}
