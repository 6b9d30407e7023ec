//go:build linux || freebsd || openbsd || netbsd

package tray

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/godbus/dbus/v5"
)

const (
	watcherName = "org.kde.StatusNotifierWatcher"
	watcherPath = dbus.ObjectPath("/StatusNotifierWatcher")
	callLimit   = 2 * time.Second
	// registerAfter is the time that systray has to register with a new panel before watchHost does it.
	registerAfter = time.Second
)

// host tracks which host shows the icon.
type host struct {
	ctx    context.Context
	own    *dbus.Conn // receives signals
	shared *dbus.Conn // systray's connection, which owns the item
	opts   *Options
	shown  string // unique name of the watcher that lists the icon; empty: none
	tried  string // the watcher with which register was tried
}

// watchHost logs each host that shows the icon, reports if there is none, and registers the icon if systray has not,
// until ctx or own is done.
func watchHost(ctx context.Context, own, shared *dbus.Conn, opts *Options) {
	h := &host{ctx: ctx, own: own, shared: shared, opts: opts}
	signals := make(chan *dbus.Signal, 16)
	own.Signal(signals)
	for _, match := range [][]dbus.MatchOption{
		{dbus.WithMatchInterface("org.freedesktop.DBus"), dbus.WithMatchMember("NameOwnerChanged"), dbus.WithMatchArg(0, watcherName)},
		{dbus.WithMatchInterface(watcherName)},
	} {
		if err := own.AddMatchSignalContext(ctx, match...); err != nil {
			opts.Log.Warn("tray: panels that start later are not noticed", "error", err)
		}
	}
	grace := time.NewTimer(opts.Grace)
	defer grace.Stop()
	register := time.NewTimer(0)
	defer register.Stop()
	for everShown := false; ; {
		missing := h.update()
		if missing != "" && missing != h.tried {
			register.Reset(registerAfter)
		} else {
			register.Stop()
		}
		everShown = everShown || h.shown != ""
		select {
		case <-ctx.Done():
			return
		case _, ok := <-signals:
			if !ok {
				return
			}
		case <-register.C:
			h.tried = missing
			h.register()
		case <-grace.C:
			if !everShown {
				opts.noHost()
			}
		}
	}
}

// update asks which host shows the icon. It returns the unique name of a watcher that has a host but does not list the
// icon.
func (h *host) update() (missing string) {
	last := h.shown
	h.shown = ""
	var owner string
	if err := h.call(h.own.BusObject(), "org.freedesktop.DBus.GetNameOwner", watcherName).Store(&owner); err != nil {
		return ""
	}
	var values map[string]dbus.Variant
	watcher := h.own.Object(owner, watcherPath)
	if err := h.call(watcher, "org.freedesktop.DBus.Properties.GetAll", watcherName).Store(&values); err != nil {
		return ""
	}
	if !hasHost(values) {
		return ""
	}
	items, _ := values["RegisteredStatusNotifierItems"].Value().([]string)
	if !listed(items, h.shared.Names()) {
		return owner
	}
	h.shown = owner
	if owner != last {
		h.opts.shown(h.program(owner))
	}
	return ""
}

// hasHost reports whether a watcher with these properties has a host. A watcher without that property counts as having one.
func hasHost(values map[string]dbus.Variant) bool {
	there, ok := values["IsStatusNotifierHostRegistered"].Value().(bool)
	return there || !ok
}

// HasHost reports whether the desktop shows tray icons. It returns an error if that cannot be read from the session bus.
func HasHost(ctx context.Context) (bool, error) {
	if !haveBus(os.Getenv(busVariable), fmt.Sprintf("/run/user/%d", os.Getuid())) {
		return false, ErrNoBus
	}
	ctx, cancel := context.WithTimeout(ctx, connectLimit)
	defer cancel()
	conn, err := dbus.ConnectSessionBus(dbus.WithContext(ctx))
	if err != nil {
		return false, fmt.Errorf("%w: %w", ErrNoBus, err)
	}
	defer conn.Close()
	h := &host{ctx: ctx, own: conn}
	var owned bool
	if err := h.call(conn.BusObject(), "org.freedesktop.DBus.NameHasOwner", watcherName).Store(&owned); err != nil || !owned {
		return false, err
	}
	var values map[string]dbus.Variant
	if err := h.call(conn.Object(watcherName, watcherPath), "org.freedesktop.DBus.Properties.GetAll", watcherName).Store(&values); err != nil {
		return false, err
	}
	return hasHost(values), nil
}

// listed reports whether the items of a watcher contain the item of a connection that has these names. Watchers write
// an item as a bus name, which a path or "@" and a path may follow.
func listed(items, names []string) bool {
	for _, item := range items {
		for _, name := range names {
			if rest, ok := strings.CutPrefix(item, name); ok && (rest == "" || rest[0] == '/' || rest[0] == '@') {
				return true
			}
		}
	}
	return false
}

// register registers the item with the watcher, from the connection that owns the item.
func (h *host) register() {
	watcher := h.shared.Object(watcherName, watcherPath)
	if err := h.call(watcher, watcherName+".RegisterStatusNotifierItem", string(itemPath)).Err; err != nil {
		h.opts.Log.Warn("tray: cannot register the icon with the panel", "error", err)
	}
}

// program returns the name of the program that owns a connection, for the log.
func (h *host) program(owner string) string {
	var pid uint32
	if err := h.call(h.own.BusObject(), "org.freedesktop.DBus.GetConnectionUnixProcessID", owner).Store(&pid); err != nil {
		return owner
	}
	comm, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid))
	if err != nil {
		return fmt.Sprintf("process %d", pid)
	}
	return strings.TrimSpace(string(comm))
}

func (h *host) call(object dbus.BusObject, method string, args ...any) *dbus.Call {
	ctx, cancel := context.WithTimeout(h.ctx, callLimit)
	defer cancel()
	return object.CallWithContext(ctx, method, 0, args...)
}

const busVariable = "DBUS_SESSION_BUS_ADDRESS"

// connectLimit is the longest time that connecting to the bus may take.
const connectLimit = 5 * time.Second

// connect returns two connections to the session bus: shared, which systray uses, and own, for this package. Callers
// must not add signal matches to shared: systray reads all signals on it, and after a signal that it does not expect it
// no longer registers with new panels.
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
		c.shared, c.err = dbus.SessionBus()
		if c.err == nil {
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

// haveBus reports whether a session bus exists. Without this check the D-Bus library would start a bus that no other
// program uses and that never ends.
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
