package notify

import (
	"context"
	"time"

	"rollcall/app"
)

// keptFor is how long SendOne stays connected after the desktop has accepted the notification: GNOME Shell removes the notifications
// of a program that leaves the bus.
const keptFor = time.Minute

// SendOne sends one notification, as a Notifier with these options does. It returns nil once the desktop has accepted the notification, else
// the first reason why it could not be delivered, which contains advice. Do not disturb does not hold the notification back if o.Quiet is nil.
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
	select {
	case <-taken:
		time.AfterFunc(keptFor, cancel)
		return nil
	case err := <-n.troubles:
		cancel()
		<-ended
		return err
	case <-ctx.Done():
		cancel()
		<-ended
		return ctx.Err()
	}
}

// noEvents is a source without events.
type noEvents struct{}

// Next implements Source.
func (noEvents) Next(ctx context.Context) (app.Event, error) {
	<-ctx.Done()
	return app.Event{}, ctx.Err()
}
