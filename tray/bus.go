//go:build linux || freebsd || openbsd || netbsd

package tray

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/godbus/dbus/v5"
)

const busVariable = "DBUS_SESSION_BUS_ADDRESS"

// connectLimit is the longest time that connecting to the bus may take.
const connectLimit = 5 * time.Second

// connect returns two connections to the session bus: the one that systray uses, and one of our own. Callers must not
// add signal matches to the first: systray reads all signals on it, and stops registering with new panels after one that
// it does not expect.
func connect(ctx context.Context) (shared, own *dbus.Conn, err error) {
	if !haveBus(os.Getenv(busVariable), fmt.Sprintf("/run/user/%d", os.Getuid())) {
		return nil, nil, fmt.Errorf("%w: %s is not set", ErrNoBus, busVariable)
	}
	type conns struct {
		shared, own *dbus.Conn
		err         error
	}
	done := make(chan conns, 1)
	go func() {
		var c conns
		if c.shared, c.err = dbus.SessionBus(); c.err == nil {
			c.own, c.err = dbus.ConnectSessionBus()
		}
		done <- c
	}()
	ctx, cancel := context.WithTimeout(ctx, connectLimit)
	defer cancel()
	select {
	case c := <-done:
		if c.err != nil {
			return nil, nil, fmt.Errorf("%w: %w", ErrNoBus, c.err)
		}
		return c.shared, c.own, nil
	case <-ctx.Done():
		return nil, nil, fmt.Errorf("%w: the bus did not answer within %v", ErrNoBus, connectLimit)
	}
}

// haveBus reports whether a session bus exists. Without this check the D-Bus library would start one of its own that no
// other program uses and that never ends.
func haveBus(address, runtime string) bool {
	if address != "" && address != "autolaunch:" {
		return true
	}
	for _, name := range []string{"bus", "dbus-session"} {
		if _, err := os.Stat(runtime + "/" + name); err == nil {
			return true
		}
	}
	return false
}
