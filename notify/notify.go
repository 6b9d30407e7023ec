// Package notify notifies the user on the desktop when an agent's process has ended or a session waits for the user.
// Pure functions decide on notifications and their text. On Linux the package delivers them over D-Bus, handles clicks,
// and withdraws outdated ones. On other platforms it uses the platform's simplest notification.
package notify

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"rollcall/adapters"
	"rollcall/app"
	"rollcall/app/control/answer"
	"rollcall/app/owned/notices"
)

const (
	appName = "Rollcall"
	appID   = "io.github.rollcall.Rollcall" // of the .desktop file
)

// Time limits.
const (
	answerLimit = 3 * time.Second        // after which a daemon counts as hung
	giveUpLimit = 2 * time.Minute        // after which a call to a hung daemon is given up
	quitLimit   = 500 * time.Millisecond // for queued notifications when Run ends
)

// Errors that LastError can return; see errors.Is.
var (
	// ErrNoDaemon reports that no notification service runs. Notifications are kept and sent when one starts.
	ErrNoDaemon = errors.New("no notification service is running")
	// ErrHung reports that the notification service accepts calls and does not answer.
	ErrHung = errors.New("the notification service does not answer")
	// ErrNoBus reports that the session bus can't be reached. Run tries again.
	ErrNoBus = errors.New("no connection to the session bus")
)

// Options are the options of a Notifier. With the zero value there is a notification for every kind of event.
type Options struct {
	// Rules returns the user's current rules; nil: the zero value, without Away. It must not block.
	Rules func() Rules
	// Quiet reports whether the user must not be disturbed, and until when; a zero time means until Changed receives. It
	// may be nil, and must not block.
	Quiet func() (quiet bool, until time.Time)
	// DesktopIsQuiet reports whether the desktop itself shows no notifications at the moment. It is called before
	// a notification is sent, and may be nil.
	DesktopIsQuiet func(context.Context) bool
	// HasFocus reports whether the user looks at the session's window. It may be nil.
	HasFocus func(context.Context, *app.Session) bool
	// Acted reports whether the user has just ended the session, or its turn, with Rollcall: its end is not told then. It may be nil, and must not block.
	Acted func(*app.Session) bool
	// Launch returns how the process of a launched session ended; nil: that is not known. It waits for that until its context is done. It may be nil.
	Launch func(context.Context, *app.Session) *app.Launch
	// Changed receives when the results of Rules or Quiet may have changed; it may be nil.
	Changed <-chan struct{}
	// Away is called, on its own goroutine, for a session that has waited for Rules.AwayAfter. It may be nil. Run
	// waits for it.
	Away func(app.Session)
	// Open is called, on its own goroutine, with a session's id when the user clicks the session's notification; nil:
	// clicks do nothing. Linux only.
	Open func(sessionID string)
	// Board returns the requests of waiting sessions; nil: notifications do not show them.
	Board Board
	// Answer sends the user's decision on a request that a notification showed. It is called on its own goroutine; nil:
	// notifications have no buttons. Linux only.
	Answer func(context.Context, answer.Ref, adapters.Decision) error
	// OpenRequest is called like Open for a session that waits, and with an empty id for several sessions; nil: Open is called.
	OpenRequest func(sessionID string)
	// Icon is a PNG; nil: the desktop's default.
	Icon []byte
	// Bus is the address of the session bus; empty: the address in the environment.
	Bus string
	Log *slog.Logger // nil: discard
	// Reported is called, on its own goroutine, once the desktop has accepted the notification that these sessions
	// ended. It may be nil. Run waits for it.
	Reported func(ended []app.Event)

	// State is a folder of Rollcall that stores which notifications of waits are on the screen. If the process is
	// killed, the next process can withdraw them or take them over. Empty: nothing is stored. Linux only: other
	// platforms cannot withdraw notifications.
	State string
	// Notices keeps which notifications were shown, for the window; nil: nothing is kept.
	Notices *notices.Notices
	// Leaves is called when Run ends. It reports whether the notifications of waits stay on the screen, because the next
	// process takes them over from State; nil: they are withdrawn.
	Leaves func() bool
	// Sessions returns the current sessions. With State, they show which of the stored waits continue.
	Sessions Sessions
}

// Sessions returns the current sessions; *app.Core implements it.
type Sessions interface {
	Snapshot() *app.Snapshot
	// Subscribe calls f for each new snapshot, one at a time.
	Subscribe(f func(*app.Snapshot)) (cancel func())
}

// Board returns the requests of waiting sessions; *answer.Board implements it.
type Board interface {
	// Of returns the requests of a session; ok is false if the session does not wait. It does not block.
	Of(agent adapters.Name, session string) (e answer.Entry, ok bool)
	// Await returns once the current requests of a session are known, or when ctx is done.
	Await(ctx context.Context, s *app.Session)
}

// Source returns events one by one; *app.Events implements it. Next returns queued events even if ctx is done.
type Source interface {
	Next(ctx context.Context) (app.Event, error)
}

// Notifier sends notifications. Its methods are safe for concurrent use.
type Notifier struct {
	opts     Options
	box      *outbox
	policy   *policy
	policyMu sync.Mutex // guards policy, said and wasQuiet
	said     []order    // texts of Say that are held back while the user must not be disturbed
	wasQuiet bool       // notifications may have been withheld
	wake     app.Wakeup // set if keepTime must compute its next time again

	callbacks sync.WaitGroup // calls of Reported and of the taken functions of Say

	troubles chan error // receives the first error of report; may be nil

	mu      sync.Mutex
	lastErr error
}

// New returns a Notifier. It does not connect to the desktop before Run.
func New(o Options) *Notifier {
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	n := &Notifier{opts: o, box: newOutbox(), policy: newPolicy(o.Rules), wake: app.NewWakeup()}
	n.policy.board = o.Board
	return n
}

// Run sends notifications for the events of source until ctx is done or source fails, and returns the error of ctx or
// source. It receives events at once, even if the desktop hangs. At the end it waits up to half a second for queued
// notifications. Run must be called at most once.
func (n *Notifier) Run(ctx context.Context, source Source) error {
	cancel := n.takeOver() // called first, since deliver changes the stored waits
	defer cancel()
	deliver, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	done := make(chan struct{})
	go func() {
		defer close(done)
		n.deliver(deliver)
	}()
	ctx, end := context.WithCancel(ctx)
	var timing sync.WaitGroup
	timing.Go(func() { n.keepTime(ctx) })
	err := n.consume(ctx, source)
	end()
	timing.Wait()
	stop()
	select {
	case <-done:
		n.callbacks.Wait()
	case <-time.After(2 * quitLimit): // the bus hangs
	}
	return err
}

// Say shows a text that does not belong to an event, as soon as the user may be disturbed. It replaces an earlier text with the same key. A click
// opens the session, or the window if session is empty. Once the desktop has accepted the notification, taken is called on its own goroutine; Run
// waits for it. If Run ends first, the notification is not shown and taken is not called.
func (n *Notifier) Say(key string, text Text, session string, taken func()) {
	o := order{key: "said " + key, kind: Ended, session: session, text: text, taken: taken}
	o.sound, o.soundName = n.policy.rules().soundFor(Ended, "")
	quiet, _ := n.ownQuiet()
	n.policyMu.Lock()
	defer n.policyMu.Unlock()
	if !quiet {
		n.box.put(o)
		return
	}
	n.said, n.wasQuiet = append(n.said, o), true
}

// handedOver keeps an order that the desktop has accepted for the list of the last notifications, and calls its callbacks. replaces reports whether it took the place of
// one on the screen.
func (n *Notifier) handedOver(o order, replaces bool) {
	if n.opts.Notices != nil && o.text.Title != "" {
		x := notices.Notice{At: time.Now(), Key: o.key, Waits: o.needsUser(), Agent: o.agent, Session: o.session, Title: o.text.Title, Body: o.text.Body}
		if err := n.opts.Notices.Add(x, replaces); err != nil {
			n.opts.Log.Warn("a notification will not be listed", "error", err)
		}
	}
	if o.taken != nil {
		n.callbacks.Go(o.taken)
	}
	if len(o.ended) > 0 && n.opts.Reported != nil {
		n.callbacks.Go(func() { n.opts.Reported(o.ended) })
	}
}

func (n *Notifier) consume(ctx context.Context, source Source) error {
	queued, cancel := context.WithCancel(ctx)
	cancel() // so that Next returns queued events and never waits
	for {
		ev, err := source.Next(ctx)
		if err != nil {
			return err
		}
		events := []app.Event{ev}
		for {
			ev, err = source.Next(queued)
			if err != nil {
				break
			}
			events = append(events, ev)
		}
		n.addCodes(ctx, events)
		n.handle(n.look(ctx, events), func(l look) []order { return n.policy.take(events, l) })
	}
}

// LastError returns the reason why the last notification could not be delivered, or nil. The text of the error also says what the user can do.
func (n *Notifier) LastError() error {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.lastErr
}

// Pending returns the number of notifications and withdrawals that the desktop has not accepted yet.
func (n *Notifier) Pending() int { return n.box.open() }

// report stores err for LastError and logs it once. A nil error means that notifications are delivered again.
func (n *Notifier) report(err error) {
	n.mu.Lock()
	before := n.lastErr
	n.lastErr = err
	n.mu.Unlock()
	if err != nil {
		select {
		case n.troubles <- err:
		default:
		}
	}
	switch {
	case err == nil && before != nil:
		n.opts.Log.Info("notifications are delivered again")
	case err != nil && fmt.Sprint(err) != fmt.Sprint(before):
		n.opts.Log.Warn("notification not delivered", "error", err, "pending", n.Pending())
	}
}

// keptFor is how long SendOne stays connected after the desktop has accepted the notification: GNOME Shell removes the notifications
// of a program that leaves the bus.
const keptFor = time.Minute

// SendOne sends one notification, as a Notifier with these options does. It returns nil once the desktop has accepted the notification.
// Otherwise it returns the first reason why the notification could not be delivered; the text also says what the user can do. If o.Quiet is
// nil, do not disturb does not hold the notification back.
func SendOne(ctx context.Context, o Options, text Text) error {
	n := New(o)
	n.troubles = make(chan error, 1)
	ctx, cancel := context.WithCancel(ctx)
	taken, ended := make(chan struct{}), make(chan struct{})
	n.Say("one", text, "", func() { close(taken) })
	go func() {
		defer close(ended)
		_ = n.Run(ctx, noEvents{})
	}()
	var err error
	select {
	case <-taken:
		time.AfterFunc(keptFor, cancel)
		return nil
	case err = <-n.troubles:
	case <-ctx.Done():
		err = ctx.Err()
	}
	cancel()
	<-ended
	return err
}

// noEvents is a source without events.
type noEvents struct{}

// Next implements Source.
func (noEvents) Next(ctx context.Context) (app.Event, error) {
	<-ctx.Done()
	return app.Event{}, ctx.Err()
}
