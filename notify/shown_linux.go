package notify

import (
	"cmp"
	"slices"
	"strings"
)

// recall restores the numbers of the notifications that an earlier process, or this one before it lost the bus, left on
// the screen. Notifications of a service that has ended are shown again.
func (d *desktop) recall() {
	s, err := d.memory.read()
	if err != nil {
		return
	}
	d.remembered = s
	for _, w := range s.Waits {
		if w.ID == 0 || s.Server != d.server() {
			d.showAgain(w)
			continue
		}
		d.waits[w.Key] = w
		d.keep(order{key: w.Key, session: w.Session}, w.ID)
	}
	d.remember()
}

// owned records which program is the notification service now. The notifications of waits that the last service had on the screen are sent to the new one.
func (d *desktop) owned(by string) {
	waits := d.shownWaits()
	d.link.owner = by
	d.forget()
	for _, w := range waits {
		d.showAgain(w)
	}
	d.remember()
}

// shownWaits returns the waits that are on the screen, or were until their service ended.
func (d *desktop) shownWaits() (waits []wait) {
	for _, w := range d.waits {
		if w.ID == d.shown[w.Key] {
			waits = append(waits, w)
		}
	}
	return waits
}

// showAgain queues the notification of a wait again. If the wait is from an earlier process, takeOver does that once
// it is known whether the wait continues.
func (d *desktop) showAgain(w wait) {
	w.ID = 0
	d.waits[w.Key] = w
	o, ok := d.standing[w.Key]
	if newer := d.pending != nil && d.pending.order.key == w.Key; ok && !newer {
		d.n.box.again(o)
	}
}

// forgetWait removes a wait that is over.
func (d *desktop) forgetWait(key string) {
	delete(d.waits, key)
	delete(d.standing, key)
}

func (d *desktop) server() server { return server{Bus: d.link.id, Owner: d.link.owner} }

// remember stores which waits are on the screen, if that has changed. What can't be stored, as on a full disk, is tried again by tick.
func (d *desktop) remember() {
	s := shownWaits{Server: d.server(), Waits: d.shownWaits()}
	slices.SortFunc(s.Waits, func(a, b wait) int { return cmp.Compare(a.Key, b.Key) })
	said := d.unsaved
	d.unsaved = false
	if slices.EqualFunc(s.Waits, d.remembered.Waits, wait.equal) && (s.Server == d.remembered.Server || len(s.Waits) == 0) {
		return
	}
	if err := d.memory.write(s); err != nil {
		d.unsaved = true
		if !said {
			d.n.opts.Log.Warn("outdated notifications will stay on the screen if Rollcall is killed", "error", err)
		}
		return
	}
	d.remembered = s
}

// showsWait records that the service shows the notification of a wait with the number id.
func (d *desktop) showsWait(o order, id uint32) {
	if !strings.HasPrefix(o.key, waitingPrefix) {
		return
	}
	d.waits[o.key] = wait{member{o.key, o.agent, o.session, o.waitingFor}, id, o.members}
	o.stands = true
	o.replaces = ""
	o.sound = false
	o.onlyShown = false
	o.tries = 0
	d.standing[o.key] = o
	d.remember()
}
