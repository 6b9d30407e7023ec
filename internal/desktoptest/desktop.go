//go:build linux

package desktoptest

import (
	"context"
	"errors"
	"fmt"
	"image"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/godbus/dbus/v5"
	"github.com/jezek/xgb"
)

// Desktop is a running virtual desktop. Its methods are safe for concurrent use.
type Desktop struct {
	opts    Options
	dir     string // everything that the desktop writes, removed by Close
	lock    *os.File
	home    string
	display string // ":7"
	address string // of the session bus

	keeper *keeper
	bus    *dbus.Conn
	x      *xgb.Conn
	notes  *recorder

	mu      sync.Mutex
	procs   []*process
	panel   *process
	xfconf  *process
	daemon  *process
	changed chan struct{} // closed and replaced whenever anything happens
	closed  bool
}

// Start brings a desktop up and returns when all of it answers: the window
// manager manages, the panel shows its tray, the daemon takes notifications.
// ctx limits the start only. The caller owns the desktop and must Close it.
func Start(ctx context.Context, o Options) (*Desktop, error) {
	if missing := Missing(o); len(missing) > 0 {
		return nil, fmt.Errorf("virtual desktop: not installed: apt-get install %s", strings.Join(missing, " "))
	}
	if o.Size == (image.Point{}) {
		o.Size = image.Pt(1280, 800)
	}
	dir, lock, err := newFolder()
	if err != nil {
		return nil, err
	}
	d := &Desktop{opts: o, dir: dir, lock: lock, home: filepath.Join(dir, "home"), keeper: newKeeper(), changed: make(chan struct{})}
	limit := 30 * time.Second
	if o.Session != nil {
		limit = 3 * time.Minute
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	if err := d.up(ctx); err != nil {
		err = fmt.Errorf("virtual desktop: %w\n%s", err, d.Logs())
		return nil, errors.Join(err, d.Close())
	}
	return d, nil
}

func (d *Desktop) up(ctx context.Context) error {
	if err := d.writeConfig(); err != nil {
		return err
	}
	if d.opts.Session != nil {
		return d.startSession(ctx)
	}
	steps := []func(context.Context) error{d.startX, d.startBus, d.startWindowManager}
	if d.opts.Notifications {
		steps = append(steps, d.StartNotifications)
	}
	if d.opts.Panel != "" {
		steps = append(steps, d.StartPanel)
	}
	for _, step := range steps {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

// For calls Require and Start for a test: the desktop is closed with the test, and
// what its programs printed is logged when the test failed.
func For(tb TB, o Options) *Desktop {
	tb.Helper()
	Require(tb, o)
	d, err := Start(context.Background(), o)
	if err != nil {
		tb.Fatalf("%v", err)
	}
	tb.Cleanup(func() {
		if tb.Failed() {
			tb.Logf("%s", d.Logs())
		}
		if err := d.Close(); err != nil {
			tb.Logf("close the desktop: %v", err)
		}
	})
	return d
}

// Close ends every process that the desktop started and removes its files. It
// may be called twice.
func (d *Desktop) Close() error {
	d.mu.Lock()
	if d.closed {
		d.mu.Unlock()
		return nil
	}
	d.closed = true
	procs := d.procs
	d.mu.Unlock()
	if d.notes != nil {
		d.notes.close()
	}
	for i := len(procs) - 1; i >= 0; i-- {
		switch procs[i].name {
		case "Xvfb":
			if d.x != nil {
				d.x.Close()
			}
		case "dbus-daemon":
			if d.bus != nil {
				d.bus.Close()
			}
		}
		procs[i].stop()
	}
	d.keeper.close()
	defer d.lock.Close()
	return os.RemoveAll(d.dir)
}

// Home returns the folder that the desktop's programs have as HOME. It is theirs and
// the caller's until Close.
func (d *Desktop) Home() string { return d.home }

// Display returns the X display, ":7".
func (d *Desktop) Display() string { return d.display }

// BusAddress returns the address of the session bus.
func (d *Desktop) BusAddress() string { return d.address }

// Bus returns a connection to the session bus that lives until Close. Callers may
// make calls and export objects on it, and must not close it.
func (d *Desktop) Bus() *dbus.Conn { return d.bus }

// Env returns the whole environment for a program in this desktop: PATH and the Go
// variables of the caller, everything else the desktop's own.
func (d *Desktop) Env() []string {
	env := []string{
		"HOME=" + d.home,
		"XDG_CONFIG_HOME=" + filepath.Join(d.home, ".config"),
		"XDG_DATA_HOME=" + filepath.Join(d.home, ".local/share"),
		"XDG_STATE_HOME=" + filepath.Join(d.home, ".local/state"),
		"XDG_CACHE_HOME=" + filepath.Join(d.home, ".cache"),
		"XDG_RUNTIME_DIR=" + filepath.Join(d.dir, "run"),
		"XDG_SESSION_TYPE=x11",
		"LANG=C.UTF-8",
		"NO_AT_BRIDGE=1",
		"QT_QPA_PLATFORM=xcb",
		"GDK_BACKEND=x11",
		"LIBGL_ALWAYS_SOFTWARE=1",
		"DISPLAY=" + d.display,
		"DBUS_SESSION_BUS_ADDRESS=" + d.address,
	}
	switch d.opts.Panel {
	case XfcePanel:
		env = append(env, "XDG_CURRENT_DESKTOP=XFCE")
	case LXQtPanel:
		env = append(env, "XDG_CURRENT_DESKTOP=LXQt")
	}
	if s := d.opts.Session; s != nil {
		env = append(env, s.Env...)
		if s.SystemBus {
			env = append(env, "DBUS_SYSTEM_BUS_ADDRESS=unix:path="+d.systemSocket())
		}
	} else if d.opts.Dark {
		env = append(env, "GTK_THEME=Adwaita:dark", "FYNE_THEME=dark")
	} else {
		env = append(env, "GTK_THEME=Adwaita", "FYNE_THEME=light")
	}
	for _, name := range []string{"PATH", "TMPDIR", "TZ", "GOCOVERDIR", "GORACE", "GOTRACEBACK", "CI"} {
		if v, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+v)
		}
	}
	return env
}

// Logs returns the end of what each of the desktop's programs printed.
func (d *Desktop) Logs() string {
	d.mu.Lock()
	procs := append([]*process(nil), d.procs...)
	d.mu.Unlock()
	var b strings.Builder
	seen := map[string]bool{}
	for _, p := range procs {
		if seen[p.log] {
			continue
		}
		seen[p.log] = true
		if t := p.tail(); t != "" {
			fmt.Fprintf(&b, "--- %s\n%s\n", p.name, t)
		}
	}
	return b.String()
}

// poke wakes every until: something happened.
func (d *Desktop) poke() {
	d.mu.Lock()
	close(d.changed)
	d.changed = make(chan struct{})
	d.mu.Unlock()
}

// until returns when ok says so, asked again whenever something happens on the
// bus, on the screen or to a process. It fails when p ends meanwhile.
func (d *Desktop) until(ctx context.Context, what string, p *process, ok func() (bool, error)) error {
	for {
		d.mu.Lock()
		changed := d.changed
		d.mu.Unlock()
		done, err := ok()
		if err != nil {
			return fmt.Errorf("%s: %w", what, err)
		}
		if done {
			return nil
		}
		if p != nil && !p.alive() {
			return fmt.Errorf("%s: %s ended: %s", what, p.name, p.tail())
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return fmt.Errorf("%s: %w", what, ctx.Err())
		}
	}
}
