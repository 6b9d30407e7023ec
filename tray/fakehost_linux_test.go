package tray_test

import (
	"bufio"
	"fmt"
	"maps"
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
	"rollcall/internal/eventually"
	"rollcall/internal/must"
)

// bus is a D-Bus daemon of the test's own, which starts no services.
type bus struct {
	address string
	cmd     *exec.Cmd
}

func startBus(t *testing.T) *bus {
	t.Helper()
	must.Have(t, "dbus-daemon")
	dir := must.Get(os.MkdirTemp("", "rollcall-bus-"))(t) // t.TempDir is too long for a socket
	t.Cleanup(func() { os.RemoveAll(dir) })
	config := filepath.Join(dir, "bus.conf")
	must.Do(t, os.WriteFile(config, fmt.Appendf(nil, desktoptest.BusConfig, filepath.Join(dir, "bus")), 0o600))
	b := &bus{cmd: exec.Command("dbus-daemon", "--nofork", "--nopidfile", "--nosyslog", "--config-file="+config, "--print-address=1")}
	out := must.Get(b.cmd.StdoutPipe())(t)
	must.Do(t, b.cmd.Start())
	t.Cleanup(b.stop)
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("dbus-daemon: %v", err)
	}
	b.address = strings.TrimSpace(line)
	return b
}

func (b *bus) stop() {
	if b.cmd.ProcessState == nil {
		_ = b.cmd.Process.Kill()
		_ = b.cmd.Wait()
	}
}

func (b *bus) connect(t *testing.T) *dbus.Conn {
	t.Helper()
	conn := must.Get(dbus.Connect(b.address))(t)
	t.Cleanup(func() { conn.Close() })
	return conn
}

func (b *bus) env() string { return "DBUS_SESSION_BUS_ADDRESS=" + b.address }

// panel is a tray host as panels are: the watcher's name, its registrations,
// and the calls by which menus are opened and clicked.
type panel struct {
	t    *testing.T
	conn *dbus.Conn

	mu      sync.Mutex
	ignore  int // so many registrations are forgotten
	props   *prop.Properties
	items   []string
	news    chan struct{}
	signals []*dbus.Signal
}

const watcherName = "org.kde.StatusNotifierWatcher"

// startPanel brings a host up on the bus. The first ignore registrations are
// not listed.
func startPanel(t *testing.T, b *bus, ignore int) *panel {
	t.Helper()
	p := &panel{t: t, conn: b.connect(t), ignore: ignore, news: make(chan struct{}, 100)}
	must := func(err error) {
		t.Helper()
		must.Do(t, err)
	}
	must(p.conn.ExportMethodTable(map[string]any{
		"RegisterStatusNotifierItem": p.register,
		"RegisterStatusNotifierHost": func(string) *dbus.Error { return nil },
	}, "/StatusNotifierWatcher", watcherName))
	var err error
	p.props, err = prop.Export(p.conn, "/StatusNotifierWatcher", prop.Map{watcherName: {
		"RegisteredStatusNotifierItems":  {Value: []string{}, Emit: prop.EmitTrue},
		"IsStatusNotifierHostRegistered": {Value: true, Emit: prop.EmitTrue},
		"ProtocolVersion":                {Value: int32(0), Emit: prop.EmitTrue},
	}})
	must(err)
	signals := make(chan *dbus.Signal, 1000)
	p.conn.Signal(signals)
	must(p.conn.AddMatchSignal(dbus.WithMatchInterface("com.canonical.dbusmenu")))
	must(p.conn.AddMatchSignal(dbus.WithMatchInterface("org.kde.StatusNotifierItem")))
	go func() {
		for s := range signals {
			p.mu.Lock()
			p.signals = append(p.signals, s)
			p.mu.Unlock()
			p.poke()
		}
	}()
	_, err = p.conn.RequestName(watcherName, dbus.NameFlagDoNotQueue)
	must(err)
	return p
}

func (p *panel) poke() {
	select {
	case p.news <- struct{}{}:
	default:
	}
}

func (p *panel) register(service string, sender dbus.Sender) *dbus.Error {
	p.mu.Lock()
	defer p.mu.Unlock()
	defer p.poke()
	if p.ignore > 0 {
		p.ignore--
		return nil
	}
	p.items = append(p.items, string(sender)+service)
	p.props.SetMust(watcherName, "RegisteredStatusNotifierItems", append([]string{}, p.items...))
	_ = p.conn.Emit("/StatusNotifierWatcher", watcherName+".StatusNotifierItemRegistered", p.items[len(p.items)-1])
	return nil
}

// until waits for something that a signal or a registration brings about.
func (p *panel) until(what string, ok func() bool) {
	p.t.Helper()
	deadline := time.After(eventually.Limit)
	for !ok() {
		select {
		case <-p.news:
		case <-time.After(20 * time.Millisecond):
		case <-deadline:
			p.t.Fatalf("waited in vain for %s", what)
		}
	}
}

// item waits for the icon and returns its owner's unique name.
func (p *panel) item() string {
	p.t.Helper()
	var item string
	p.until("a registered icon", func() bool {
		p.mu.Lock()
		defer p.mu.Unlock()
		if len(p.items) > 0 {
			item = p.items[len(p.items)-1]
		}
		return item != ""
	})
	name, path, _ := strings.Cut(item, "/")
	if path != "StatusNotifierItem" {
		p.t.Fatalf("registered as %q", item)
	}
	return name
}

// stop leaves the bus as a panel that crashes does.
func (p *panel) stop() { p.conn.Close() }

// trayMenu is the menu as the panel knows it: read once, then kept up to date by
// signals alone.
type trayMenu struct {
	*panel
	object dbus.BusObject
	item   dbus.BusObject
	seen   int // signals already applied
	rows   []*menuRow
}

type menuRow struct {
	id    int32
	props map[string]dbus.Variant
}

func (r *menuRow) visible() bool { return r.props["visible"].Value() != false }

type menuLayout struct {
	ID       int32
	Values   map[string]dbus.Variant
	Children []dbus.Variant
}

// menu reads the icon's menu.
func (p *panel) menu() *trayMenu {
	p.t.Helper()
	name := p.item()
	m := &trayMenu{panel: p, item: p.conn.Object(name, "/StatusNotifierItem")}
	path := must.Get(m.item.GetProperty("org.kde.StatusNotifierItem.Menu"))(p.t)
	m.object = p.conn.Object(name, path.Value().(dbus.ObjectPath))
	// systray's own menu stands there for a moment.
	p.until("the menu's rows", func() bool { m.read(); return len(m.rows) > 0 })
	return m
}

func (m *trayMenu) read() {
	m.t.Helper()
	var revision uint32
	var layout menuLayout
	m.mu.Lock()
	m.seen = len(m.signals)
	m.mu.Unlock()
	must.Do(m.t, m.call("GetLayout", int32(0), int32(-1), []string{}).Store(&revision, &layout))
	m.rows = nil
	for _, c := range layout.Children {
		var l menuLayout
		must.Do(m.t, dbus.Store([]any{c.Value()}, &l))
		m.rows = append(m.rows, &menuRow{l.ID, l.Values})
	}
}

func (m *trayMenu) call(method string, args ...any) *dbus.Call {
	m.t.Helper()
	return m.object.Call("com.canonical.dbusmenu."+method, 0, args...)
}

func (m *trayMenu) must(method string, args ...any) {
	m.t.Helper()
	if err := m.call(method, args...).Err; err != nil {
		m.t.Fatalf("%s: %v", method, err)
	}
}

// apply takes in the signals that have arrived, as a panel does.
func (m *trayMenu) apply() {
	m.t.Helper()
	m.mu.Lock()
	defer m.mu.Unlock()
	for ; m.seen < len(m.signals); m.seen++ {
		s := m.signals[m.seen]
		switch s.Name {
		case "com.canonical.dbusmenu.LayoutUpdated":
			if revision := s.Body[0].(uint32); revision > 1000 {
				m.t.Errorf("layout %d announced: an open menu of a Qt panel would close", revision)
			}
		case "com.canonical.dbusmenu.ItemsPropertiesUpdated":
			var updated []struct {
				ID     int32
				Values map[string]dbus.Variant
			}
			must.Do(m.t, dbus.Store(s.Body[:1], &updated))
			for _, u := range updated {
				for _, r := range m.rows {
					if r.id == u.ID {
						maps.Copy(r.props, u.Values)
					}
				}
			}
		}
	}
}

// labels returns the visible rows, "—" for a separator.
func (m *trayMenu) labels() []string {
	m.t.Helper()
	m.apply()
	var out []string
	for _, r := range m.rows {
		switch {
		case !r.visible():
		case r.props["type"].Value() == "separator":
			out = append(out, "—")
		default:
			out = append(out, strings.TrimRight(r.props["label"].Value().(string), "\u2003"))
		}
	}
	return out
}

func (m *trayMenu) id(label string) int32 {
	m.t.Helper()
	for _, r := range m.rows {
		if l, _ := r.props["label"].Value().(string); r.visible() && strings.Contains(l, label) {
			return r.id
		}
	}
	m.t.Fatalf("no row %q in %q", label, m.labels())
	return 0
}

// names returns the names of the signals so far, without their interfaces, in their order.
func (p *panel) names() (names []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, s := range p.signals {
		names = append(names, s.Name[strings.LastIndexByte(s.Name, '.')+1:])
	}
	return names
}

// updates counts the signals of that name so far.
func (p *panel) updates(name string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := 0
	for _, s := range p.signals {
		if strings.HasSuffix(s.Name, "."+name) {
			n++
		}
	}
	return n
}
