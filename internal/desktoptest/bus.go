//go:build linux

package desktoptest

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/godbus/dbus/v5"
)

// BusConfig is the configuration of a bus of one's own, with %s for the path of its
// socket. Without folders of services it starts nothing by itself.
const BusConfig = `<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig>
  <type>session</type>
  <listen>unix:path=%s</listen>
  <auth>EXTERNAL</auth>
  <policy context="default">
    <allow send_destination="*" eavesdrop="true"/>
    <allow eavesdrop="true"/>
    <allow own="*"/>
  </policy>
</busconfig>
`

func (d *Desktop) startBus(ctx context.Context) error {
	socket := filepath.Join(d.dir, "run", "bus")
	if len(socket) > 100 { // a socket's path is limited to 107 bytes
		return fmt.Errorf("%s: too long for a socket, set TMPDIR to a shorter path", socket)
	}
	config := filepath.Join(d.dir, "bus.conf")
	text := fmt.Sprintf(BusConfig, socket)
	if d.opts.Session != nil {
		services := filepath.Join(d.dir, "services")
		if err := os.Mkdir(services, 0o700); err != nil {
			return err
		}
		for _, name := range d.opts.Session.Services {
			if err := os.Symlink(filepath.Join("/usr/share/dbus-1/services", name), filepath.Join(services, name)); err != nil {
				return err
			}
		}
		text = strings.Replace(text, "</listen>", "</listen>\n  <servicedir>"+services+"</servicedir>", 1)
	}
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		return err
	}
	address, _, err := d.startTold(ctx, "dbus-daemon", "--nofork", "--nopidfile", "--nosyslog",
		"--config-file="+config, "--print-address=3")
	if err != nil {
		return err
	}
	d.address = address
	d.bus, err = d.connect()
	if err != nil {
		return err
	}
	signals := make(chan *dbus.Signal, 100)
	d.bus.Signal(signals)
	for _, match := range [][]dbus.MatchOption{
		{dbus.WithMatchInterface("org.freedesktop.DBus"), dbus.WithMatchMember("NameOwnerChanged")},
		{dbus.WithMatchInterface(watcherName)},
	} {
		if err := d.bus.AddMatchSignalContext(ctx, match...); err != nil {
			return fmt.Errorf("watch the bus: %w", err)
		}
	}
	go func() {
		for range signals {
			d.poke()
		}
	}()
	d.notes, err = d.record(ctx)
	return err
}

func (d *Desktop) connect() (*dbus.Conn, error) {
	conn, err := dbus.Connect(d.address)
	if err != nil {
		return nil, fmt.Errorf("connect to the bus: %w", err)
	}
	return conn, nil
}

// owned reports whether somebody has name on the bus.
func (d *Desktop) owned(name string) (bool, error) {
	var has bool
	err := d.bus.BusObject().Call("org.freedesktop.DBus.NameHasOwner", 0, name).Store(&has)
	return has, err
}

// Message is one message that passed over the bus.
type Message struct {
	At time.Time // when it was seen, on this process's clock
	*dbus.Message
}

// Eavesdrop passes on every message on the bus that matches one of the rules
// (D-Bus match rules; none: everything), whoever sends it to whom, in order,
// until ctx is done or the desktop is closed; then the channel is closed.
func (d *Desktop) Eavesdrop(ctx context.Context, rules ...string) (<-chan Message, error) {
	conn, err := d.connect()
	if err != nil {
		return nil, err
	}
	if rules == nil {
		rules = []string{}
	}
	call := conn.BusObject().CallWithContext(ctx, "org.freedesktop.DBus.Monitoring.BecomeMonitor", 0, rules, uint32(0))
	if call.Err != nil {
		conn.Close()
		return nil, fmt.Errorf("monitor the bus: %w", call.Err)
	}
	// The library drops what does not fit: the buffer is drained at once into a
	// queue without an end.
	raw := make(chan *dbus.Message, 10_000)
	conn.Eavesdrop(raw)
	out := make(chan Message)
	go forward(ctx, conn, raw, out)
	return out, nil
}

func forward(ctx context.Context, conn *dbus.Conn, raw <-chan *dbus.Message, out chan<- Message) {
	defer close(out)
	defer func() {
		conn.Eavesdrop(nil) // or the library may send on the channel that it closed
		conn.Close()
	}()
	var queue []Message
	for {
		var first Message
		var send chan<- Message
		if len(queue) > 0 {
			first, send = queue[0], out
		} else if raw == nil {
			return
		}
		select {
		case m, ok := <-raw:
			if !ok {
				raw = nil
				continue
			}
			queue = append(queue, Message{At: time.Now(), Message: m})
		case send <- first:
			queue = queue[1:]
		case <-ctx.Done():
			return
		}
	}
}
