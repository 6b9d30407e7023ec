package notify

import (
	"context"
	"fmt"
	"time"

	"github.com/godbus/dbus/v5"
)

// link is Rollcall's own connection to the session bus. It stays open, so that a notification needs only one message.
type link struct {
	conn    *dbus.Conn
	id      string // unique id of the bus
	owner   string // unique bus name of the notification service; empty: none
	signals chan *dbus.Signal
	replies chan *dbus.Call
}

// connect connects to the bus at address, or to the session bus. It never starts a bus: no desktop would use that bus,
// and it would never end.
func connect(address string) (*link, error) {
	conn, err := dial(address)
	if err != nil {
		return nil, err
	}
	l := &link{conn: conn, signals: make(chan *dbus.Signal, 32), replies: make(chan *dbus.Call, 32)}
	if err := l.listen(); err != nil {
		l.close()
		return nil, err
	}
	return l, nil
}

func dial(address string) (*dbus.Conn, error) {
	var conn *dbus.Conn
	var err error
	if address == "" {
		conn, err = dbus.SessionBusPrivateNoAutoStartup()
	} else {
		conn, err = dbus.Dial(address)
	}
	if err != nil {
		return nil, err
	}
	// A bus that hangs must not delay the end of the program. Closing the connection ends the wait.
	limit := time.AfterFunc(answerLimit, func() { conn.Close() })
	defer limit.Stop()
	err = conn.Auth(nil)
	if err == nil {
		err = conn.Hello()
	}
	if err != nil {
		conn.Close()
		return nil, fmt.Errorf("cannot connect to the session bus: %w", err)
	}
	return conn, nil
}

// listen subscribes to signals and then asks for the owner of the service, so that it misses no change of owner.
func (l *link) listen() error {
	ctx, cancel := context.WithTimeout(context.Background(), answerLimit)
	defer cancel()
	l.conn.Signal(l.signals)
	for _, match := range [][]dbus.MatchOption{
		{dbus.WithMatchSender("org.freedesktop.DBus"), dbus.WithMatchInterface("org.freedesktop.DBus"),
			dbus.WithMatchMember("NameOwnerChanged"), dbus.WithMatchArg(0, serviceName)},
		{dbus.WithMatchSender(serviceName), dbus.WithMatchInterface(serviceName), dbus.WithMatchObjectPath(servicePath)},
	} {
		if err := l.conn.AddMatchSignalContext(ctx, match...); err != nil {
			return fmt.Errorf("cannot watch the notification service: %w", err)
		}
	}
	if err := l.conn.BusObject().CallWithContext(ctx, "org.freedesktop.DBus.GetId", 0).Store(&l.id); err != nil {
		return fmt.Errorf("cannot read the id of the session bus: %w", err)
	}
	err := l.conn.BusObject().CallWithContext(ctx, "org.freedesktop.DBus.GetNameOwner", 0, serviceName).Store(&l.owner)
	if err != nil && !isAbsent(err) {
		return fmt.Errorf("cannot find the notification service: %w", err)
	}
	return nil
}

func (l *link) close() { l.conn.Close() }
