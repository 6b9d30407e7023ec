//go:build linux

package desktoptest

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"syscall"
	"time"

	"github.com/godbus/dbus/v5"
	"github.com/jezek/xgb/xproto"
)

const (
	watcherName = "org.kde.StatusNotifierWatcher"
	xfconfName  = "org.xfce.Xfconf"
	panelHeight = 32
)

// StartPanel starts the panel of the options and returns when its tray takes
// icons.
func (d *Desktop) StartPanel(ctx context.Context) error {
	if d.opts.Panel == XfcePanel {
		if err := d.startXfconf(ctx); err != nil {
			return err
		}
	}
	argv := []string{d.opts.Panel}
	if d.opts.Panel == XfcePanel {
		argv = append(argv, "--disable-wm-check", "--sm-client-disable")
	}
	p, err := d.start(nil, d.Env(), argv...)
	if err != nil {
		return err
	}
	d.mu.Lock()
	d.panel = p
	d.mu.Unlock()
	err = d.until(ctx, "tray of "+d.opts.Panel, p, func() (bool, error) {
		if hosted, err := d.hosted(); !hosted || err != nil {
			return false, err
		}
		shown, err := d.dock()
		return !shown.Empty(), err
	})
	if err != nil {
		return err
	}
	return d.painted(ctx)
}

// painted waits until the panel looks the same for a while.
func (d *Desktop) painted(ctx context.Context) error {
	if err := d.still(ctx, d.dock); err != nil {
		return fmt.Errorf("paint %s: %w", d.opts.Panel, err)
	}
	return nil
}

// WaitStill waits until the screen looks the same for a while.
func (d *Desktop) WaitStill(ctx context.Context) error {
	return d.still(ctx, func() (image.Rectangle, error) { return image.Rectangle{Max: d.opts.Size}, nil })
}

// still waits until the place looks the same for a while. Pixels send no event.
func (d *Desktop) still(ctx context.Context, where func() (image.Rectangle, error)) error {
	var last []byte
	for same := 0; same < 3; {
		select {
		case <-time.After(30 * time.Millisecond):
		case <-ctx.Done():
			return ctx.Err()
		}
		place, err := where()
		if err != nil {
			return err
		}
		if place.Empty() { // between two states of its window
			same = 0
			continue
		}
		img, err := d.grab(place.Intersect(image.Rectangle{Max: d.opts.Size}))
		if err != nil {
			return err
		}
		if same++; !bytes.Equal(last, img.Pix) {
			last, same = img.Pix, 0
		}
	}
	return nil
}

// StopPanel ends the panel, and with it the tray; it returns when it is gone.
func (d *Desktop) StopPanel() {
	d.mu.Lock()
	p := d.panel
	d.panel = nil
	d.mu.Unlock()
	if p != nil {
		p.stop()
	}
}

// RestartPanel ends the panel and starts it anew, as after a crash.
func (d *Desktop) RestartPanel(ctx context.Context) error {
	d.StopPanel()
	return d.StartPanel(ctx)
}

func (d *Desktop) startXfconf(ctx context.Context) error {
	d.mu.Lock()
	running := d.xfconf != nil && d.xfconf.alive()
	d.mu.Unlock()
	if running {
		return nil
	}
	program, err := xfconfd()
	if err != nil {
		return err
	}
	p, err := d.start(nil, d.Env(), program)
	if err != nil {
		return err
	}
	d.mu.Lock()
	d.xfconf = p
	d.mu.Unlock()
	return d.until(ctx, "settings of xfce", p, func() (bool, error) { return d.owned(xfconfName) })
}

// hosted reports whether a tray takes icons: a watcher is there, and a host that
// shows them.
func (d *Desktop) hosted() (bool, error) {
	if owned, err := d.owned(watcherName); !owned || err != nil {
		return false, err
	}
	v, err := d.bus.Object(watcherName, "/StatusNotifierWatcher").GetProperty(watcherName + ".IsStatusNotifierHostRegistered")
	if err != nil {
		return false, nil // gone again, or not exported yet
	}
	hosted, _ := v.Value().(bool)
	return hosted, nil
}

// dock returns where the panel is on the screen; empty if it isn't shown.
func (d *Desktop) dock() (image.Rectangle, error) {
	clients, err := d.windowProperty(d.root(), "_NET_CLIENT_LIST")
	if err != nil {
		return image.Rectangle{}, err
	}
	kind, err := xproto.InternAtom(d.x, false, uint16(len("_NET_WM_WINDOW_TYPE_DOCK")), "_NET_WM_WINDOW_TYPE_DOCK").Reply()
	if err != nil {
		return image.Rectangle{}, err
	}
	for _, c := range clients {
		w := xproto.Window(c)
		types, err := d.windowProperty(w, "_NET_WM_WINDOW_TYPE")
		if err != nil || len(types) == 0 || types[0] != uint32(kind.Atom) {
			continue // it may be gone by now
		}
		if r := d.place(w); !r.Empty() {
			return r, nil
		}
	}
	return image.Rectangle{}, nil
}

// place returns where a window is on the screen; empty if it isn't visible.
func (d *Desktop) place(w xproto.Window) image.Rectangle {
	a, err := xproto.GetWindowAttributes(d.x, w).Reply()
	if err != nil || a.MapState != xproto.MapStateViewable {
		return image.Rectangle{}
	}
	g, err := xproto.GetGeometry(d.x, xproto.Drawable(w)).Reply()
	if err != nil {
		return image.Rectangle{}
	}
	at, err := xproto.TranslateCoordinates(d.x, w, d.root(), 0, 0).Reply()
	if err != nil {
		return image.Rectangle{}
	}
	return image.Rect(0, 0, int(g.Width), int(g.Height)).Add(image.Pt(int(at.DstX), int(at.DstY)))
}

// StartNotifications starts the notification daemon and returns when it takes
// notifications.
func (d *Desktop) StartNotifications(ctx context.Context) error {
	p, err := d.start(nil, d.Env(), "dunst", "-conf", d.dunstConfig())
	if err != nil {
		return err
	}
	d.mu.Lock()
	d.daemon = p
	d.mu.Unlock()
	return d.until(ctx, "notification daemon", p, func() (bool, error) { return d.owned(notificationsName) })
}

// StopNotifications ends the notification daemon and returns when its name is
// free.
func (d *Desktop) StopNotifications(ctx context.Context) error {
	d.mu.Lock()
	p := d.daemon
	d.daemon = nil
	d.mu.Unlock()
	if p == nil {
		return nil
	}
	p.stop()
	return d.until(ctx, "end of the notification daemon", nil, func() (bool, error) {
		owned, err := d.owned(notificationsName)
		return !owned, err
	})
}

// FreezeNotifications stops the notification daemon in mid-run, as one that
// hangs: it keeps its name, takes calls and answers none. False thaws it.
func (d *Desktop) FreezeNotifications(frozen bool) {
	d.mu.Lock()
	p := d.daemon
	d.mu.Unlock()
	if p == nil {
		return
	}
	if frozen {
		p.signal(syscall.SIGSTOP)
	} else {
		p.signal(syscall.SIGCONT)
	}
}

// TrayItems returns the tray icons that are registered, as their hosts name them:
// unique bus name and object path.
func (d *Desktop) TrayItems() ([]string, error) {
	var v dbus.Variant
	err := d.bus.Object(watcherName, "/StatusNotifierWatcher").
		Call("org.freedesktop.DBus.Properties.Get", 0, watcherName, "RegisteredStatusNotifierItems").Store(&v)
	if err != nil {
		return nil, fmt.Errorf("ask the tray for its icons: %w", err)
	}
	items, _ := v.Value().([]string)
	return items, nil
}
