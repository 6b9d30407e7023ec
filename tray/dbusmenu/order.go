//go:build linux || freebsd || openbsd || netbsd

package dbusmenu

import (
	"sync"
	"time"

	"github.com/godbus/dbus/v5"
)

// orderLimit is the longest time for which an answer waits for the answer that must precede it. A panel without libdbusmenu may
// request only a submenu's rows.
const orderLimit = time.Second

// order keeps the order of two answers to a panel. After libdbusmenu (xfce4-panel, mate-panel) has read the layout, it requests
// the properties of the top rows and at once, in separate calls, those of the rows below them. It creates the submenu when the
// first answer arrives. If the answer about a row of a submenu arrives before the submenu exists, it drops that row with the
// warning "Children but no menu, someone's been naughty with their 'children-display' property". The D-Bus library answers each
// call on its own goroutine, in any order.
type order struct {
	mu sync.Mutex
	// expected has a channel for each panel that has read the whole layout, and that the properties of the top rows were not sent
	// to since. The channel is closed when they are sent.
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

// answer calls send, which sends the properties of the top rows to a panel.
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

// done removes the channel of a panel and closes it. The caller holds the lock.
func (o *order) done(panel dbus.Sender) {
	if sent := o.expected[panel]; sent != nil {
		close(sent)
		delete(o.expected, panel)
	}
}
