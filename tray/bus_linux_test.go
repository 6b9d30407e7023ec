package tray_test

import (
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/godbus/dbus/v5"
	"github.com/google/go-cmp/cmp"

	"rollcall/app"
	"rollcall/assets"
	"rollcall/internal/must"
)

const long = time.Minute // a grace that no test outlives

var foot = []string{"—", "Open Rollcall", "Needs you", "New agent…", "Settings…", "—", "Quit"}

// rows returns the whole menu. The white space that widens it is left out of what
// is compared.
func rows(top ...string) []string { return append(top, foot...) }

func wantRows(t *testing.T, m *trayMenu, want ...string) {
	t.Helper()
	if diff := cmp.Diff(rows(want...), m.labels()); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
}

func TestItem(t *testing.T) {
	b := startBus(t)
	p := startPanel(t, b, 0)
	tray := startTray(t, snap(waiting("a", "my_shop", "Deploy & restart", 5*time.Minute), working("b", "site", "Fix_it", time.Hour)), long, b.env())
	m := p.menu()

	// The underscore is doubled for panels that take it for an access key.
	wantRows(t, m, "◆ my__shop · Claude Code · needs permission: Deploy & rest… · 5 m", "◐ site · Claude Code · Fix__it · 1 h")

	property := func(name string) any {
		v := must.Get(m.item.GetProperty("org.kde.StatusNotifierItem." + name))(t)
		return v.Value()
	}
	var tip struct {
		Icon   string
		Pixmap []any
		Title  string
		Text   string
	}
	if err := dbus.Store([]any{property("ToolTip")}, &tip); err != nil || tip.Title != "Rollcall: 1 needs you, 1 working" {
		t.Errorf("tooltip %+v, %v", tip, err)
	}
	for name, want := range map[string]any{"Title": "Rollcall", "Id": "Rollcall", "ItemIsMenu": false, "Status": "Active"} {
		if got := property(name); got != want {
			t.Errorf("%s is %v, want %v", name, got, want)
		}
	}
	var pixmaps []struct {
		W, H int32
		Data []byte
	}
	// Panels choose among the sizes: some scale without smoothing.
	sizes := func() (sizes []int) {
		pixmaps = nil // Store adds to a list
		must.Do(t, dbus.Store([]any{property("IconPixmap")}, &pixmaps))
		for _, p := range pixmaps {
			if p.W != p.H || len(p.Data) != int(p.W*p.H*4) {
				t.Errorf("%d bytes for %d × %d pixels", len(p.Data), p.W, p.H)
			}
			sizes = append(sizes, int(p.W))
		}
		return sizes
	}
	if got := sizes(); !slices.Equal(got, assets.Sizes) {
		t.Errorf("pixmaps of %d pixels", got)
	}
	waiting := pixmaps
	if r := tray.wait("shown", 1); r.Arg == "" {
		t.Error("shown by nobody")
	}

	// What the icon says changes with the sessions.
	icons := p.updates("NewIcon")
	tips := p.updates("NewToolTip")
	before := len(p.names())
	tray.tell(order{Snapshot: snap(working("b", "site", "Fix_it", time.Hour))})
	p.until("a new icon and tooltip", func() bool { return p.updates("NewIcon") > icons && p.updates("NewToolTip") > tips })
	if since := p.names()[before:]; slices.Index(since, "ItemsPropertiesUpdated") > slices.Index(since, "NewIcon") {
		t.Errorf("%q: the rows come first, since a panel that opens the menu waits for them", since)
	}
	if err := dbus.Store([]any{property("ToolTip")}, &tip); err != nil || tip.Title != "Rollcall: 1 working" {
		t.Errorf("tooltip %+v, %v", tip, err)
	}
	if got := sizes(); !slices.Equal(got, assets.Sizes) || reflect.DeepEqual(pixmaps, waiting) {
		t.Errorf("pixmaps of %d pixels, as those before or in other sizes", got)
	}
}

// Panels tell in different ways that a menu opens. With each, the rows that the
// refresh brings stand in the menu before the call returns, with the old ids.
func TestFreshRowsInTheSameOpening(t *testing.T) {
	for name, open := range map[string]func(*trayMenu){
		"xfce": func(m *trayMenu) { m.must("AboutToShowGroup", []int32{0}) },
		"lxqt": func(m *trayMenu) {
			m.must("AboutToShow", int32(0))
			m.must("Event", int32(0), "opened", dbus.MakeVariant(""), uint32(0))
		},
		"gnome": func(m *trayMenu) {
			m.must("Event", int32(0), "opened", dbus.MakeVariant(int32(0)), uint32(0))
			m.must("AboutToShow", int32(0))
		},
		"group": func(m *trayMenu) {
			m.must("EventGroup", []struct {
				ID   int32
				Name string
				Data dbus.Variant
				Time uint32
			}{{0, "opened", dbus.MakeVariant(""), 0}})
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := startBus(t)
			p := startPanel(t, b, 0)
			tray := startTray(t, snap(working("a", "shop", "Old", time.Hour), working("b", "site", "Gone", 2*time.Hour)), long, b.env())
			m := p.menu()
			wantRows(t, m, "◐ shop · Claude Code · Old · 1 h", "◐ site · Claude Code · Gone · 2 h")
			first := m.rows[1].id

			tray.tell(order{Answer: snap(waiting("a", "shop", "New", time.Minute)), Delay: 10 * time.Millisecond})
			began := time.Now()
			open(m)
			took := time.Since(began)
			// The signal with the rows precedes the reply on the bus; the panel's
			// side takes it on another goroutine.
			fresh := rows("◆ shop · Claude Code · needs permission: New · 1 m")
			p.until("fresh rows", func() bool { return cmp.Equal(m.labels(), fresh) })
			wantRows(t, m, "◆ shop · Claude Code · needs permission: New · 1 m")
			if m.rows[1].id != first {
				t.Errorf("row has id %d, had %d", m.rows[1].id, first)
			}
			refreshes := tray.count("refresh")
			if refreshes != 1 && took < 300*time.Millisecond { // calls that are further apart are those of two openings
				t.Errorf("%d refreshes for one opening", refreshes)
			}
			// What changes while it is open is shown in it.
			tray.tell(order{Snapshot: snap(idle("a", "shop", "New", time.Minute))})
			p.until("the live change", func() bool {
				return cmp.Equal(m.labels(), rows("○ shop · Claude Code · New · 1 m"))
			})
			m.must("Event", int32(0), "closed", dbus.MakeVariant(""), uint32(0))
			began = time.Now()
			open(m)
			took = time.Since(began)
			if n := tray.count("refresh") - refreshes; n != 1 && (n < 1 || took < 300*time.Millisecond) {
				t.Errorf("%d refreshes for the second opening", n)
			}
		})
	}
}

// A slow adapter keeps the menu from opening no longer than the budget; what it
// answers comes into the open menu.
func TestOpeningBudget(t *testing.T) {
	b := startBus(t)
	p := startPanel(t, b, 0)
	tray := startTray(t, snap(working("a", "shop", "Old", time.Hour)), long, b.env())
	m := p.menu()
	tray.tell(order{Answer: snap(working("a", "shop", "New", time.Hour)), Delay: time.Second})
	m.must("AboutToShow", int32(0))
	wantRows(t, m, "◐ shop · Claude Code · Old · 1 h")
	p.until("the late answer", func() bool { return cmp.Equal(m.labels(), rows("◐ shop · Claude Code · New · 1 h")) })
}

func TestClicks(t *testing.T) {
	b := startBus(t)
	p := startPanel(t, b, 0)
	var many []app.Session
	many = append(many, waiting("id-first", "shop", "Ask", time.Second))
	for range 20 {
		many = append(many, idle("other", "x", "", time.Hour))
	}
	tray := startTray(t, snap(many...), long, b.env())
	m := p.menu()
	click := func(id int32) { m.must("Event", id, "clicked", dbus.MakeVariant(""), uint32(0)) }

	click(m.id("needs permission"))
	if r := tray.wait("open", 1); r.Arg != "id-first" {
		t.Errorf("opened %q", r.Arg)
	}
	click(m.id("6 more… (6 idle)"))
	if r := tray.wait("open", 2); r.Arg != "" {
		t.Errorf("opened %q", r.Arg)
	}
	click(m.id("Open Rollcall"))
	tray.wait("open", 3)
	// The icon itself.
	if err := m.item.Call("org.kde.StatusNotifierItem.Activate", 0, int32(0), int32(0)).Err; err != nil {
		t.Error(err)
	}
	tray.wait("open", 4)
	click(m.id("New agent…"))
	tray.wait("launch", 1)

	if err := m.call("Event", int32(999), "clicked", dbus.MakeVariant(""), uint32(0)).Err; err == nil {
		t.Error("a row that isn't there could be clicked")
	}
	// As xfce clicks, with a row among them that is not there.
	m.must("EventGroup", []struct {
		ID   int32
		Name string
		Data dbus.Variant
		Time uint32
	}{{999, "clicked", dbus.MakeVariant(""), 0}, {m.id("Quit"), "clicked", dbus.MakeVariant(""), 0}})
	if code := tray.exit(); code != 0 || tray.count("quit") != 1 {
		t.Errorf("exit code %d, reports %v", code, tray.all())
	}
}

// In a closed menu nothing is sent for ages that grow, and a burst of changes is
// sent in few signals, the last state among them.
func TestPace(t *testing.T) {
	b := startBus(t)
	p := startPanel(t, b, 0)
	tray := startTray(t, snap(working("a", "shop", "T0", time.Hour)), long, b.env())
	m := p.menu()
	m.labels()
	const signal = "ItemsPropertiesUpdated"
	before := p.updates(signal)
	for i := range 30 {
		tray.tell(order{Snapshot: snap(working("a", "shop", "T0", time.Duration(i)*time.Hour))})
	}
	tray.tell(order{Snapshot: snap(working("a", "shop", "T1", time.Hour))})
	p.until("the new topic", func() bool { return p.updates(signal) > before })
	if n := p.updates(signal) - before; n != 1 {
		t.Errorf("%d signals for ages in a closed menu and one change, want 1", n)
	}
	before, began := p.updates(signal), time.Now()
	for i := range 100 {
		tray.tell(order{Snapshot: snap(working("a", "shop", strings.Repeat("x", i%5)+"T"+string(rune('0'+i%10)), time.Hour))})
		time.Sleep(5 * time.Millisecond) // a burst that takes longer than some intervals between signals
	}
	p.until("the last state", func() bool { return cmp.Equal(m.labels(), rows("◐ shop · Claude Code · xxxxT9 · 1 h")) })
	if n, most := p.updates(signal)-before, 2+int(time.Since(began)/(200*time.Millisecond)); n > most {
		t.Errorf("%d signals for a burst, want at most %d, one for each 200 ms", n, most)
	}
}

func TestHosts(t *testing.T) {
	t.Run("none, then one", func(t *testing.T) {
		b := startBus(t)
		tray := startTray(t, snap(), 300*time.Millisecond, b.env())
		tray.wait("nohost", 1)
		p := startPanel(t, b, 0)
		p.item()
		tray.wait("shown", 1)
		wantRows(t, p.menu(), "No agents at work")
		if n := tray.count("nohost"); n != 1 {
			t.Errorf("reported %d times that there is no host", n)
		}
	})
	t.Run("one, then another", func(t *testing.T) {
		b := startBus(t)
		p := startPanel(t, b, 0)
		tray := startTray(t, snap(), long, b.env())
		p.item()
		tray.wait("shown", 1)
		p.stop()
		p = startPanel(t, b, 0)
		p.item()
		tray.wait("shown", 2)
		wantRows(t, p.menu(), "No agents at work")
		if n := tray.count("nohost"); n != 0 {
			t.Errorf("reported %d times that there is no host", n)
		}
	})
	t.Run("one that forgets the registration", func(t *testing.T) {
		b := startBus(t)
		p := startPanel(t, b, 1)
		tray := startTray(t, snap(), long, b.env())
		p.item()
		tray.wait("shown", 1)
	})
	t.Run("one that never lists it is not pestered", func(t *testing.T) {
		b := startBus(t)
		p := startPanel(t, b, 1000)
		startTray(t, snap(), long, b.env())
		registered := func() int {
			p.mu.Lock()
			defer p.mu.Unlock()
			return 1000 - p.ignore
		}
		p.until("a registration", func() bool { return registered() > 0 })
		time.Sleep(4 * time.Second) // the time for which it is watched: no event shows that it does not register again
		if n := registered(); n > 2 {
			t.Errorf("registered %d times", n)
		}
	})
}

func TestBusLost(t *testing.T) {
	b := startBus(t)
	startPanel(t, b, 0)
	tray := startTray(t, snap(), long, b.env())
	tray.wait("shown", 1)
	b.stop()
	if r := tray.wait("end", 1); r.Arg != "bus lost" {
		t.Errorf("ended with %q", r.Arg)
	}
	if code := tray.exit(); code != 1 {
		t.Errorf("exit code %d", code)
	}
}

// Without a bus the tray ends at once, and starts none: a dbus-launch would
// leave a daemon behind.
func TestNoBus(t *testing.T) {
	for name, address := range map[string]string{"unset": "", "autolaunch": "autolaunch:", "gone": "unix:path=/nonexistent/bus"} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			ran := filepath.Join(dir, "ran")
			script := "#!/bin/sh\ntouch " + ran + "\nexit 1\n"
			must.Do(t, os.WriteFile(filepath.Join(dir, "dbus-launch"), []byte(script), 0o700))
			env := []string{"PATH=" + dir + ":" + os.Getenv("PATH")}
			if address != "" {
				env = append(env, "DBUS_SESSION_BUS_ADDRESS="+address)
			}
			if haveRuntimeBus() && name != "gone" {
				t.Skip("this user has a session bus at its well-known place")
			}
			tray := startTray(t, snap(), long, env...)
			if r := tray.wait("end", 1); r.Arg != "no bus" {
				t.Errorf("ended with %q", r.Arg)
			}
			if code := tray.exit(); code != 1 {
				t.Errorf("exit code %d", code)
			}
			if _, err := os.Stat(ran); err == nil {
				t.Error("dbus-launch was run")
			}
		})
	}
}

func haveRuntimeBus() bool {
	matches, _ := filepath.Glob("/run/user/" + strconv.Itoa(os.Getuid()) + "/*bus*")
	return len(matches) > 0
}
