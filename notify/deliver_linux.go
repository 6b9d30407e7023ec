package notify

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"time"

	"github.com/godbus/dbus/v5"
)

const (
	serviceName = "org.freedesktop.Notifications"
	servicePath = "/org/freedesktop/Notifications"
	clicksKept  = 256
	tries       = 4
	absentPause = time.Minute
)

// desktop delivers over D-Bus. One call is under way at a time and none is
// waited for: a hung daemon costs nothing but its own notifications, which stay
// in the outbox. All fields belong to the goroutine of run.
//
// The calls are made with godbus itself, since those of esiqveland/notify can
// neither be limited nor given up, and its signal loop trusts what any peer sends.
type desktop struct {
	n      *Notifier
	link   *link
	icon   string
	caps   capabilities
	flight *flight
	retry  time.Time // no call before
	quit   bool

	plainDone chan error
	plainOf   order

	shown  map[string]uint32 // what is on the screen, by key
	clicks map[uint32]string // sessions by notification; also closed ones, they may stand in a history
	order  []uint32          // keys of clicks, oldest first
}

// flight is the call under way.
type flight struct {
	call  *dbus.Call
	what  string // "capabilities", "show" or "withdraw"
	order order
	since time.Time
	slow  bool // reported
}

func (n *Notifier) deliver(ctx context.Context) {
	d := &desktop{n: n, plainDone: make(chan error, 1), shown: map[string]uint32{}, clicks: map[uint32]string{}}
	var err error
	if d.icon, err = iconName(n.opts.Icon); err != nil {
		n.opts.Log.Warn("notifications go without Rollcall's icon", "error", err)
	}
	backoff := time.Second
	for ctx.Err() == nil {
		if d.link, err = connect(n.opts.Bus); err == nil {
			backoff = time.Second
			n.recovered(ErrNoBus)
			err = d.run(ctx)
			d.forget()
		}
		if ctx.Err() != nil {
			return
		}
		n.report(fmt.Errorf("%w: %w", ErrNoBus, err))
		select {
		case <-time.After(backoff):
		case <-ctx.Done():
		}
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
		if d.quit && d.flight == nil && (d.n.box.len() == 0 || d.link.owner == "") {
			return ctx.Err()
		}
		timer.Reset(d.alarm())
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

// next begins the next call, if none is under way and somebody may take it.
func (d *desktop) next() {
	for d.flight == nil && d.plainOf.key == "" && time.Now().After(d.retry) {
		if !d.caps.known && (d.link.owner != "" || d.n.box.len() > 0) {
			d.call("capabilities", order{}, "GetCapabilities")
			return
		}
		o, ok := d.n.box.take()
		switch {
		case !ok:
			return
		case !o.withdraw:
			d.call("show", o, "Notify", d.notification(o)...)
		case d.shown[o.key] != 0:
			id := d.shown[o.key]
			delete(d.shown, o.key)
			d.call("withdraw", o, "CloseNotification", id)
		default:
			d.n.box.done()
		}
	}
}

func (d *desktop) call(what string, o order, method string, args ...any) {
	d.flight = &flight{what: what, order: o, since: time.Now()}
	d.flight.call = d.link.conn.Object(serviceName, servicePath).
		Go(serviceName+"."+method, 0, d.link.replies, args...)
}

// answer takes the reply to the call under way. Replies to calls that were
// given up come too late to matter.
func (d *desktop) answer(call *dbus.Call) {
	f := d.flight
	if f == nil || f.call != call {
		return
	}
	d.flight = nil
	switch {
	case f.what == "withdraw":
		d.n.box.done() // also with an error: what isn't there needn't go
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

// taken keeps the daemon's number for what it shows now.
func (d *desktop) taken(o order, call *dbus.Call) {
	d.n.box.done()
	var id uint32
	if err := call.Store(&id); err != nil {
		d.n.report(fmt.Errorf("answer of the notification service: %w", err))
		return
	}
	d.keep(o, id)
	d.n.report(nil)
}

// failed puts an order back that the daemon did not carry out. When it went away
// without an answer, what it may have shown went with it.
func (d *desktop) failed(o order, err error) {
	if o.tries++; o.tries >= tries {
		d.n.report(fmt.Errorf("notification %q given up after %d tries: %w", o.text.Title, o.tries, err))
		d.n.box.done()
		return
	}
	d.n.report(fmt.Errorf("send a notification: %w", err))
	d.retry = time.Now().Add(time.Duration(o.tries*o.tries) * 500 * time.Millisecond)
	d.n.box.back(o)
}

// noDaemon holds everything back until somebody takes the name. Once in a while
// it is tried all the same: the bus may have learned to start somebody.
func (d *desktop) noDaemon(f *flight) {
	if f.what == "show" {
		d.n.box.back(f.order)
	}
	d.retry = time.Now().Add(absentPause)
	d.n.report(fmt.Errorf("%w: start one, such as dunst, or your desktop's own", ErrNoDaemon))
	d.fallBack()
}

// fallBack tries the library's other ways with the next order. Of those only
// kdialog gets by without the service that was just found missing.
func (d *desktop) fallBack() {
	if _, err := exec.LookPath("kdialog"); err != nil || d.quit {
		return
	}
	for {
		o, ok := d.n.box.take()
		if !ok {
			return
		}
		if o.withdraw {
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
	d.n.report(nil)
	if d.link.owner == "" {
		d.fallBack()
	}
}

// tick gives up on what hangs.
func (d *desktop) tick() {
	f := d.flight
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
	// The call stays with the daemon, which may still carry it out: it is not
	// sent again, or the user could see it twice.
	if waited >= giveUpLimit {
		d.giveUp()
	}
}

func (d *desktop) giveUp() {
	f := d.flight
	if f == nil {
		return
	}
	d.flight = nil
	if f.what != "capabilities" {
		d.n.box.done()
	}
	f.call.ContextCancel()
}

// alarm is how long until tick or next have something to do.
func (d *desktop) alarm() time.Duration {
	switch now := time.Now(); {
	case d.flight != nil && d.flight.slow:
		return d.flight.since.Add(giveUpLimit).Sub(now)
	case d.flight != nil:
		return d.flight.since.Add(answerLimit).Sub(now)
	case now.Before(d.retry) && d.n.box.len() > 0:
		return d.retry.Sub(now) + time.Millisecond
	}
	return time.Hour
}

// lost returns what was under way to the outbox: with the bus, the daemon and
// what it showed are gone.
func (d *desktop) lost() error {
	switch f := d.flight; {
	case f != nil && f.what == "show":
		d.n.box.back(f.order)
	case f != nil && f.what == "withdraw":
		d.n.box.done()
	}
	d.flight = nil
	return errors.New("the bus closed the connection")
}
