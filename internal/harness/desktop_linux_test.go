package harness

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/godbus/dbus/v5"
	"github.com/godbus/dbus/v5/prop"

	"rollcall/internal/desktoptest"
	"rollcall/internal/must"
)

const (
	watcherName = "org.kde.StatusNotifierWatcher"
	noticeName  = "org.freedesktop.Notifications"
	noticePath  = "/org/freedesktop/Notifications"
)

// desktop is a session bus with a panel and a notification service, whose memory
// outlives both.
type desktop struct {
	t      testing.TB
	dir    string
	daemon *exec.Cmd

	mu      sync.Mutex
	panel   *panel
	service *dbus.Conn
	notices []*notice
	unread  []*notice
	lastID  uint32
}

// notice is a notification. id is 0 once it has left the screen.
type notice struct {
	id    uint32
	title string
	body  string
	// buttons are as the caller named them. update reports that it took the place of another one on the screen that had something else.
	buttons string
	update  bool
	at      time.Time
}

func newDesktop(t testing.TB, dir string) *desktop {
	t.Helper()
	d := &desktop{t: t, dir: dir}
	must.Do(t, os.MkdirAll(dir, 0o700))
	must.Do(t, os.WriteFile(filepath.Join(dir, "bus.conf"), fmt.Appendf(nil, desktoptest.BusConfig, d.socket()), 0o600))
	d.startBus()
	t.Cleanup(d.killBus)
	return d
}

func (d *desktop) socket() string  { return filepath.Join(d.dir, "bus") }
func (d *desktop) address() string { return "unix:path=" + d.socket() }

func (d *desktop) startBus() {
	d.t.Helper()
	_ = os.Remove(d.socket())
	d.daemon = exec.Command("dbus-daemon", "--nofork", "--nopidfile", "--nosyslog", "--config-file="+filepath.Join(d.dir, "bus.conf"), "--print-address=1")
	out := must.Get(d.daemon.StdoutPipe())(d.t)
	must.Do(d.t, d.daemon.Start())
	if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		d.t.Fatalf("dbus-daemon: %v", err)
	}
	d.startService()
	d.startPanel()
}

func (d *desktop) killBus() {
	_ = d.daemon.Process.Kill()
	_ = d.daemon.Wait()
	d.clear()
}

// killService ends the notification service, and what it shows.
func (d *desktop) killService() {
	d.service.Close()
	d.clear()
}

// clear leaves no notification on the screen.
func (d *desktop) clear() {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, n := range d.notices {
		n.id = 0
	}
}

func (d *desktop) connect() *dbus.Conn {
	d.t.Helper()
	conn := must.Get(dbus.Connect(d.address()))(d.t)
	return conn
}

// startService begins to show notifications.
func (d *desktop) startService() {
	d.t.Helper()
	conn := d.connect()
	must.Do(d.t, conn.ExportMethodTable(map[string]any{
		"GetCapabilities":      func() ([]string, *dbus.Error) { return []string{"actions", "body"}, nil },
		"GetServerInformation": func() (string, string, string, string, *dbus.Error) { return "harness", "rollcall", "1", "1.2", nil },
		"Notify":               d.notify,
		"CloseNotification": func(id uint32) *dbus.Error {
			d.close(id)
			_ = conn.Emit(noticePath, noticeName+".NotificationClosed", id, uint32(3))
			return nil
		},
	}, noticePath, noticeName))
	must.Get(conn.RequestName(noticeName, dbus.NameFlagDoNotQueue))(d.t)
	d.service = conn
}

func (d *desktop) notify(_ string, replaces uint32, _, title, body string, buttons []string, _ map[string]dbus.Variant, _ int32) (uint32, *dbus.Error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	shown := &notice{title: title, body: body, buttons: strings.Join(buttons, " "), at: time.Now()}
	for _, n := range d.notices {
		if replaces != 0 && n.id == replaces {
			shown.update = n.title != title || n.body != body || n.buttons != shown.buttons
			n.id = 0
		}
	}
	if replaces == 0 {
		d.lastID++
		replaces = d.lastID
	}
	shown.id = replaces
	d.notices, d.unread = append(d.notices, shown), append(d.unread, shown)
	return replaces, nil
}

func (d *desktop) close(id uint32) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, n := range d.notices {
		if n.id == id {
			n.id = 0
		}
	}
}

// news returns the notifications since the last call.
func (d *desktop) news() []*notice {
	d.mu.Lock()
	defer d.mu.Unlock()
	out := d.unread
	d.unread = nil
	return out
}

// onScreen reports whether a notification was not taken back.
func (d *desktop) onScreen(n *notice) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return n.id != 0
}

// panel is a host of tray icons.
type panel struct {
	conn  *dbus.Conn
	props *prop.Properties
	mu    sync.Mutex
	items []string
}

func (d *desktop) startPanel() {
	d.t.Helper()
	p := &panel{conn: d.connect()}
	must.Do(d.t, p.conn.ExportMethodTable(map[string]any{
		"RegisterStatusNotifierItem": p.register,
		"RegisterStatusNotifierHost": func(string) *dbus.Error { return nil },
	}, "/StatusNotifierWatcher", watcherName))
	p.props = must.Get(prop.Export(p.conn, "/StatusNotifierWatcher", prop.Map{watcherName: {
		"RegisteredStatusNotifierItems":  {Value: []string{}, Emit: prop.EmitTrue},
		"IsStatusNotifierHostRegistered": {Value: true, Emit: prop.EmitTrue},
		"ProtocolVersion":                {Value: int32(0), Emit: prop.EmitTrue},
	}}))(d.t)
	must.Get(p.conn.RequestName(watcherName, dbus.NameFlagDoNotQueue))(d.t)
	d.panel = p
}

func (d *desktop) killPanel() { d.panel.conn.Close() }

func (p *panel) register(service string, sender dbus.Sender) *dbus.Error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.items = append(p.items, string(sender)+service)
	p.props.SetMust(watcherName, "RegisteredStatusNotifierItems", append([]string{}, p.items...))
	_ = p.conn.Emit("/StatusNotifierWatcher", watcherName+".StatusNotifierItemRegistered", p.items[len(p.items)-1])
	return nil
}

// open opens the menu, which asks every agent again.
func (d *desktop) open() {
	d.panel.mu.Lock()
	defer d.panel.mu.Unlock()
	if len(d.panel.items) == 0 {
		return
	}
	owner, _, _ := strings.Cut(d.panel.items[len(d.panel.items)-1], "/")
	d.panel.conn.Object(owner, "/StatusNotifierItem/menu").Call("com.canonical.dbusmenu.AboutToShow", 0, int32(0))
}

var errNoIcon = errors.New("no icon in the tray")

// rows reads the visible rows of the menu of the icon that came last.
func (d *desktop) rows() ([]string, error) {
	d.panel.mu.Lock()
	items := append([]string{}, d.panel.items...)
	d.panel.mu.Unlock()
	if len(items) == 0 {
		return nil, errNoIcon
	}
	owner, _, _ := strings.Cut(items[len(items)-1], "/")
	var revision uint32
	var layout struct {
		ID       int32
		Values   map[string]dbus.Variant
		Children []dbus.Variant
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	err := d.panel.conn.Object(owner, "/StatusNotifierItem/menu").
		CallWithContext(ctx, "com.canonical.dbusmenu.GetLayout", 0, int32(0), int32(-1), []string{}).Store(&revision, &layout)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errNoIcon, err)
	}
	var labels []string
	for _, child := range layout.Children {
		row, _ := child.Value().([]any)
		if len(row) < 2 {
			continue
		}
		values, _ := row[1].(map[string]dbus.Variant)
		if visible, ok := values["visible"].Value().(bool); ok && !visible {
			continue
		}
		if label, ok := values["label"].Value().(string); ok {
			labels = append(labels, strings.ReplaceAll(strings.TrimSpace(label), "__", "_"))
		}
	}
	return labels, nil
}
