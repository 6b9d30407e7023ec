package notify

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"time"

	"rollcall/bounded"

	"github.com/godbus/dbus/v5"
)

const (
	serviceName = "org.freedesktop.Notifications"
	servicePath = "/org/freedesktop/Notifications"
	clicksKept  = 256
	tries       = 4
	absentPause = time.Minute
	// unsavedPause is the time between two attempts to store which waits are on the screen.
	unsavedPause = 2 * time.Second
)

// desktop delivers notifications over D-Bus. It makes one call at a time and does not block on it. A daemon that hangs
// therefore delays only its own notifications, which stay in the outbox. All fields belong to the goroutine of run.
//
// It calls the daemon with godbus, not with esiqveland/notify: the calls of that package have no time limit and cannot be
// cancelled, and it accepts signals from any peer.
type desktop struct {
	n       *Notifier
	link    *link
	icon    string
	caps    capabilities
	pending *pendingCall
	retry   time.Time // no call before this time
	quit    bool

	plainDone chan error
	plainOf   order

	memory     memory
	remembered shownWaits        // the content of memory
	unsaved    bool              // memory could not be written
	waits      map[string]wait   // notifications of waits that are on the screen, or were until their daemon ended, by key
	standing   map[string]order  // the orders of this process for waits, by key
	shown      map[string]uint32 // numbers of the notifications on the screen, by key
	clicks     map[uint32]click  // what a click does, by the number of the notification; a history may also show closed ones
	order      []uint32          // keys of clicks, oldest first
}

// pendingCall is a call that waits for its reply.
type pendingCall struct {
	call  *dbus.Call
	what  string // "capabilities", "show" or "withdraw"
	order order
	since time.Time
	slow  bool // the call was reported as hung
}

func (n *Notifier) deliver(ctx context.Context) {
	d := &desktop{n: n, plainDone: make(chan error, 1), shown: map[string]uint32{}, clicks: map[uint32]click{},
		memory: newMemory(n.opts.State), waits: map[string]wait{}, standing: map[string]order{}}
	var err error
	d.icon, err = iconName(n.opts.Icon)
	if err != nil {
		n.opts.Log.Warn("notifications will not have Rollcall's icon", "error", err)
	}
	backoff := time.Second
	for ctx.Err() == nil {
		d.link, err = connect(n.opts.Bus)
		if err == nil {
			backoff = time.Second
			if errors.Is(n.LastError(), ErrNoBus) {
				n.report(nil)
			}
			d.recall()
			err = d.run(ctx)
			d.forget()
		}
		if ctx.Err() != nil {
			return
		}
		n.report(fmt.Errorf("%w: %w", ErrNoBus, err))
		_ = bounded.Wait(ctx, backoff)
		backoff = min(2*backoff, time.Minute)
	}
}

// run carries out orders until the connection ends or ctx is done.
func (d *desktop) run(ctx context.Context) error {
	defer d.link.close()
	timer := time.NewTimer(0)
	defer timer.Stop()
	var late <-chan time.Time
	done := ctx.Done()
	for {
		d.next()
		if d.quit && d.pending == nil && (d.n.box.len() == 0 || d.link.owner == "") {
			return ctx.Err()
		}
		timer.Reset(d.nextTick())
		select {
		case <-d.n.box.signal:
		case call := <-d.link.replies:
			d.answer(call)
		case s, ok := <-d.link.signals:
			if !ok {
				return d.lost()
			}
			d.signal(s)
		case <-d.link.conn.Context().Done():
			return d.lost()
		case err := <-d.plainDone:
			d.plainEnded(err)
		case <-timer.C:
			d.tick()
		case <-done:
			done, d.quit = nil, true
			d.retry = time.Time{}
			d.withdrawWaits()
			late = time.After(quitLimit)
		case <-late:
			return ctx.Err()
		}
	}
}

// next starts the next call, unless one is pending or the daemon is not available.
func (d *desktop) next() {
	for d.pending == nil && d.plainOf.key == "" && time.Now().After(d.retry) {
		if !d.caps.known && (d.link.owner != "" || d.n.box.len() > 0) {
			d.call("capabilities", order{}, "GetCapabilities")
			return
		}
		o, ok := d.n.box.take()
		if !ok {
			return
		}
		d.replace(o)
		o.replaces = ""
		switch {
		case o.onlyShown && d.shown[o.key] == 0:
			d.n.box.done() // the user closed it
		case o.stands && d.shown[o.key] != 0:
			d.standing[o.key] = o
			d.n.box.done()
		case !o.withdraw:
			d.call("show", o, "Notify", d.notification(o)...)
		case d.shown[o.key] != 0:
			id := d.shown[o.key]
			delete(d.shown, o.key)
			delete(d.standing, o.key)
			d.call("withdraw", o, "CloseNotification", id)
		default:
			d.forgetWait(o.key)
			d.remember()
			d.n.box.done()
		}
	}
}

// replace makes an order replace a notification that is on the screen, if the order names one.
func (d *desktop) replace(o order) {
	if o.replaces == "" {
		return
	}
	if id := d.shown[o.replaces]; id != 0 {
		d.shown[o.key] = id
	}
	delete(d.shown, o.replaces)
	d.forgetWait(o.replaces)
}

func (d *desktop) call(what string, o order, method string, args ...any) {
	d.pending = &pendingCall{what: what, order: o, since: time.Now()}
	d.pending.call = d.link.conn.Object(serviceName, servicePath).
		Go(serviceName+"."+method, 0, d.link.replies, args...)
}

// answer handles the reply to the pending call. It ignores replies to calls that were given up.
func (d *desktop) answer(call *dbus.Call) {
	f := d.pending
	if f == nil || f.call != call {
		return
	}
	d.pending = nil
	switch {
	case f.what == "withdraw":
		d.n.box.done() // also after an error: the notification was removed before
		if !isCut(call.Err) {
			d.forgetWait(f.order.key)
			d.remember()
		}
	case isAbsent(call.Err):
		d.noDaemon(f)
	case f.what == "capabilities" && isGone(call.Err):
		d.retry = time.Now().Add(time.Second)
	case f.what == "capabilities":
		d.caps = readCapabilities(call)
	case call.Err != nil:
		d.failed(f.order, call.Err)
	default:
		d.taken(f.order, call)
	}
}

// taken stores the number that the daemon gave to a notification.
func (d *desktop) taken(o order, call *dbus.Call) {
	d.n.box.done()
	var id uint32
	if err := call.Store(&id); err != nil {
		d.n.report(fmt.Errorf("the notification service sent an invalid reply: %w", err))
		return
	}
	d.n.handedOver(o, d.shown[o.key] != 0)
	d.keep(o, id)
	d.showsWait(o, id)
	d.n.report(nil)
}

// failed returns an order to the outbox, or gives it up after several attempts. A daemon that ended without an answer no
// longer shows the notification.
func (d *desktop) failed(o order, err error) {
	if o.tries++; o.tries >= tries {
		d.n.report(fmt.Errorf("the notification %q was given up after %d attempts: %w", o.text.Title, o.tries, err))
		d.n.box.done()
		return
	}
	d.n.report(fmt.Errorf("cannot send a notification: %w", err))
	d.retry = time.Now().Add(time.Duration(o.tries*o.tries) * 500 * time.Millisecond)
	d.n.box.back(o)
}

// noDaemon keeps all notifications until a daemon appears. It tries again after absentPause, since the bus may now be
// able to start a daemon.
func (d *desktop) noDaemon(f *pendingCall) {
	if f.what == "show" {
		d.n.box.back(f.order)
	}
	d.retry = time.Now().Add(absentPause)
	d.n.report(fmt.Errorf("%w: start your desktop's own, or one such as dunst", ErrNoDaemon))
	d.fallBack()
}

// fallBack shows the next notification with kdialog, which does not need the notification service.
func (d *desktop) fallBack() {
	if _, err := exec.LookPath("kdialog"); err != nil || d.quit {
		return
	}
	for {
		o, ok := d.n.box.take()
		if !ok {
			return
		}
		if o.withdraw || o.onlyShown { // kdialog can neither withdraw nor correct a notification
			d.n.box.done()
		} else {
			d.plainOf = o
			go func() { d.plainDone <- plain(o, d.n.opts.Icon) }()
			return
		}
	}
}

func (d *desktop) plainEnded(err error) {
	o := d.plainOf
	d.plainOf = order{}
	if err != nil {
		d.n.box.back(o)
		return
	}
	d.n.box.done()
	d.n.handedOver(o, false)
	d.n.report(nil)
	if d.link.owner == "" {
		d.fallBack()
	}
}

// tick reports a pending call that takes too long, and gives it up after giveUpLimit.
func (d *desktop) tick() {
	if d.unsaved {
		d.remember()
	}
	f := d.pending
	if f == nil {
		return
	}
	waited := time.Since(f.since)
	if waited >= answerLimit && !f.slow {
		f.slow = true
		d.n.report(fmt.Errorf("%w since %s: restart it", ErrHung, f.since.Format(time.TimeOnly)))
		if f.what == "capabilities" {
			d.caps = capabilities{known: true, guessed: true}
		}
		if f.what != "show" {
			d.giveUp()
		}
	}
	// The daemon may still carry out the call. It is not sent again, because the user could then see the notification twice.
	if waited >= giveUpLimit {
		d.giveUp()
	}
}

func (d *desktop) giveUp() {
	f := d.pending
	if f == nil {
		return
	}
	d.pending = nil
	if f.what != "capabilities" {
		d.n.box.done()
	}
	f.call.ContextCancel()
}

// nextTick returns the time until tick or next must be called.
func (d *desktop) nextTick() time.Duration {
	next := time.Hour
	if d.unsaved {
		next = unsavedPause
	}
	switch now := time.Now(); {
	case d.pending != nil && d.pending.slow:
		next = min(next, d.pending.since.Add(giveUpLimit).Sub(now))
	case d.pending != nil:
		next = min(next, d.pending.since.Add(answerLimit).Sub(now))
	case now.Before(d.retry) && d.n.box.len() > 0:
		next = min(next, d.retry.Sub(now)+time.Millisecond)
	}
	return next
}

// lost returns the order of the pending call to the outbox: with the connection to the bus, the daemon and its notifications are lost.
func (d *desktop) lost() error {
	switch f := d.pending; {
	case f != nil && f.what == "show":
		d.n.box.back(f.order)
	case f != nil && f.what == "withdraw":
		d.n.box.done()
	}
	d.pending = nil
	return errors.New("the bus closed the connection")
}
