//go:build !linux

package notify

import (
	"context"
	"fmt"
	"time"
)

// plainLimit is the time after which a notification counts as hung. macOS and older versions of Windows start a program
// for each notification.
const plainLimit = 10 * time.Second

// deliver carries out orders one after the other. It reports a call that takes too long, and starts the next one only
// when that call has ended, so that a desktop that hangs blocks only one goroutine.
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
		if o.withdraw || o.onlyShown { // not possible on this platform
			n.box.done()
			continue
		}
		done := make(chan error, 1)
		go func() { done <- plain(o, n.opts.Icon) }()
		limit := time.NewTimer(plainLimit)
		select {
		case err := <-done:
			n.shown(o, err)
		case <-limit.C:
			n.report(fmt.Errorf("%w for %v", ErrHung, plainLimit))
			select {
			case err := <-done:
				n.shown(o, err)
			case <-ctx.Done():
				return
			}
		}
		limit.Stop()
		n.box.done()
	}
}

func (n *Notifier) shown(o order, err error) {
	if err == nil {
		n.handedOver(o, false)
	} else {
		err = fmt.Errorf("cannot send a notification: %w", err)
	}
	n.report(err)
}

// DesktopQuiet reads whether the desktop shows no notifications at the moment, which is not possible on this platform.
type DesktopQuiet struct{}

// NewDesktopQuiet returns a reader.
func NewDesktopQuiet(string) *DesktopQuiet { return &DesktopQuiet{} }

// Is returns false.
func (*DesktopQuiet) Is(context.Context) bool { return false }
