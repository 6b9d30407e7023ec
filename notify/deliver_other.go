//go:build !linux

package notify

import (
	"context"
	"fmt"
	"time"
)

// plainLimit is long: macOS and older Windows start a program for each
// notification.
const plainLimit = 10 * time.Second

// deliver carries orders out one after the other. A call that takes too long is
// reported and left behind; the next begins only when it ended after all, so
// that a hung desktop costs one goroutine.
func (n *Notifier) deliver(ctx context.Context) {
	for {
		o, ok := n.box.take()
		if !ok {
			select {
			case <-n.box.signal:
				continue
			case <-ctx.Done():
				return
			}
		}
		if o.withdraw { // not possible here
			n.box.done()
			continue
		}
		done := make(chan error, 1)
		go func() { done <- plain(o, n.opts.Icon) }()
		limit := time.NewTimer(plainLimit)
		select {
		case err := <-done:
			n.shown(err)
		case <-limit.C:
			n.report(fmt.Errorf("%w for %v", ErrHung, plainLimit))
			select {
			case err := <-done:
				n.shown(err)
			case <-ctx.Done():
				return
			}
		}
		limit.Stop()
		n.box.done()
	}
}

func (n *Notifier) shown(err error) {
	if err != nil {
		err = fmt.Errorf("send a notification: %w", err)
	}
	n.report(err)
}
