// Package notify tells the user, through the desktop's notifications, that an
// agent's process ended or that a session needs them. What is said and when is
// pure; delivery differs per platform: over D-Bus on Linux, with clicks and with
// notifications that vanish once they no longer hold, elsewhere by the
// platform's plain way.
package notify

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"rollcall/app"
)

const (
	appName = "Rollcall"
	appID   = "io.github.rollcall.Rollcall" // of the .desktop file
)

// How long things may take.
const (
	answerLimit = 3 * time.Second        // until a silent daemon counts as hung
	giveUpLimit = 2 * time.Minute        // until a hung daemon's answer is no longer awaited
	quitLimit   = 500 * time.Millisecond // for what is queued when Run ends
)

// Errors that LastError can return, told apart with errors.Is.
var (
	// ErrNoDaemon: nobody shows notifications here. They are kept and sent once
	// somebody does.
	ErrNoDaemon = errors.New("no notification service is running")
	// ErrHung: the notification service takes calls and does not answer.
	ErrHung = errors.New("the notification service does not answer")
	// ErrNoBus: the session bus can't be reached. It is tried again.
	ErrNoBus = errors.New("no connection to the session bus")
)

// Options say how to notify. The zero value notifies of everything.
type Options struct {
	// Wants says whether to notify of that kind for that session; nil: always.
	// It is called on Run's goroutine.
	Wants func(Kind, app.Session) bool
	// Open is called, on a goroutine of its own, with a session's id when the
	// user clicks its notification; nil: clicks do nothing. Linux only.
	Open func(sessionID string)
	// Icon is a PNG; nil: the desktop chooses.
	Icon []byte
	// Bus is the address of the session bus; empty: the session's own.
	Bus string
	Log *slog.Logger // nil: discard
}

// Source is where events come from; *app.Events is one. Next returns what is
// queued even when ctx is done.
type Source interface {
	Next(ctx context.Context) (app.Event, error)
}

// Notifier sends notifications. Its methods are safe for concurrent use.
type Notifier struct {
	opts Options
	box  *outbox

	mu      sync.Mutex
	lastErr error
}

// New makes a Notifier; nothing is sent and nothing connected before Run.
func New(o Options) *Notifier {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return &Notifier{opts: o, box: newOutbox()}
}

// Run notifies of the events of source until ctx is done or source fails, and
// returns that error. Events are taken at once, whatever the desktop does; what
// is queued when Run ends still has half a second. Call it once.
func (n *Notifier) Run(ctx context.Context, source Source) error {
	deliver, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	done := make(chan struct{})
	go func() {
		defer close(done)
		n.deliver(deliver)
	}()
	err := n.consume(ctx, source)
	stop()
	select {
	case <-done:
	case <-time.After(2 * quitLimit): // the bus itself hangs: leave it behind
	}
	return err
}

func (n *Notifier) consume(ctx context.Context, source Source) error {
	p := newPolicy(n.opts.Wants)
	queued, cancel := context.WithCancel(ctx)
	cancel() // Next with it takes what is there and never waits
	for {
		ev, err := source.Next(ctx)
		if err != nil {
			return err
		}
		events := []app.Event{ev}
		for {
			if ev, err = source.Next(queued); err != nil {
				break
			}
			events = append(events, ev)
		}
		n.box.put(p.take(events)...)
	}
}

// LastError is why the last notification could not be delivered, nil when all is
// well. It names what to do.
func (n *Notifier) LastError() error {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.lastErr
}

// Pending is how many notifications and withdrawals the desktop has not taken
// yet.
func (n *Notifier) Pending() int { return n.box.open() }

// report keeps err for LastError and logs it once; nil says that all is well.
func (n *Notifier) report(err error) {
	n.mu.Lock()
	before := n.lastErr
	n.lastErr = err
	n.mu.Unlock()
	switch {
	case err == nil && before != nil:
		n.opts.Log.Info("notifications are delivered again")
	case err != nil && fmt.Sprint(err) != fmt.Sprint(before):
		n.opts.Log.Warn("notification not delivered", "error", err, "pending", n.Pending())
	}
}

// recovered clears the last error if it is of that kind.
func (n *Notifier) recovered(kind error) {
	if errors.Is(n.LastError(), kind) {
		n.report(nil)
	}
}
