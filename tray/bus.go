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

// connectLimit is how long the bus may take to greet.
const connectLimit = 5 * time.Second

// connect connects to the session bus: the connection that systray shares, and
// one of our own. The first must not be given matches for signals: systray
// reads all that arrive on it, and stops registering with new panels on one
// that it does not expect.
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
		return nil, nil, fmt.Errorf("%w: no greeting in %v", ErrNoBus, connectLimit)
	}
}

// haveBus says whether there is a bus to connect to. It is asked first because
// the D-Bus library otherwise starts one, which nobody else is on and which
// nobody ends.
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
