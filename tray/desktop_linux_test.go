package tray_test

import (
	"context"
	"image"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/godbus/dbus/v5"

	"rollcall/adapters"
	"rollcall/app"
	"rollcall/internal/agentname"
	"rollcall/internal/desktoptest"
	"rollcall/internal/eventually"
	"rollcall/internal/must"
)

// shots returns where the screenshots are kept for people to look at.
func shots(t *testing.T, name string) string {
	t.Helper()
	dir := must.Get(filepath.Abs("../build/shots"))(t)
	return filepath.Join(dir, "tray-"+strings.NewReplacer("/", "-", " ", "-").Replace(name)+".png")
}

// desktop is a real desktop with a tray in it.
type desktop struct {
	*desktoptest.Desktop
	t    *testing.T
	tray *trayProcess
	said *overheard
	name string

	closed *image.RGBA // the screen before the menu opened
}

func onDesktop(t *testing.T, panel string, dark bool, first *app.Snapshot) *desktop {
	t.Helper()
	d := desktoptest.For(t, desktoptest.Options{Panel: panel, Dark: dark, Size: image.Pt(900, 760)})
	name := panel + "-light"
	if dark {
		name = panel + "-dark"
	}
	return &desktop{Desktop: d, t: t, said: overhear(t, d), tray: startTray(t, first, long, d.Env()...), name: name}
}

func (d *desktop) shot(what string) {
	d.t.Helper()
	if err := d.Screenshot(shots(d.t, d.name+"-"+what)); err != nil {
		d.t.Error(err)
	}
}

// icon returns the place of the tray's icon.
func (d *desktop) icon() image.Point {
	d.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), eventually.Limit)
	defer cancel()
	at, err := d.TrayIcon(ctx)
	if err != nil {
		d.shot("no-icon")
		d.t.Fatal(err)
	}
	return at
}

func (d *desktop) click(at image.Point, button int) {
	d.t.Helper()
	must.Do(d.t, d.Click(at.X, at.Y, button))
}

func (d *desktop) keys(keys ...string) {
	d.t.Helper()
	for _, k := range keys {
		must.Do(d.t, d.Key(context.Background(), k))
		time.Sleep(50 * time.Millisecond) // as fast as fingers
	}
}

// sample returns a snapshot with something of everything.
func sample() *app.Snapshot {
	codex := working("c", "api", "Move the client to HTTP/3", 3*time.Minute)
	codex.Agent = agentname.Codex
	stale := idle("s", "infra", "Plan the migration", time.Hour)
	stale.Agent = agentname.Codex
	stale.Stale = &app.Stale{Since: time.Now().Add(-8 * time.Minute), Reason: "no answer in 5 s"}
	s := snap(
		waiting("w", "web_shop", "Run npm publish & tag", 4*time.Minute),
		working("f", "rollcall", "Fix the flaky tray test", 2*time.Minute), codex,
		idle("i", "notes", "Summarise the meeting", 26*time.Minute), stale,
	)
	s.Adapters[1] = app.Health{Name: agentname.Codex, State: app.Failed, Answered: time.Now().Add(-8 * time.Minute), Problems: []string{"no answer in 5 s"}}
	return s
}

// TestDesktop goes through everything on one desktop per panel and theme.
func TestDesktop(t *testing.T) {
	for _, panel := range []string{desktoptest.XfcePanel, desktoptest.LXQtPanel} {
		for _, dark := range []bool{false, true} {
			name := panel + "/light"
			if dark {
				name = panel + "/dark"
			}
			t.Run(name, func(t *testing.T) {
				d := onDesktop(t, panel, dark, &app.Snapshot{})
				d.icon()
				shown := d.tray.wait("shown", 1)
				if !eventually.Happens(func() bool { return len(d.said.labels()) > 0 }) { // a click before the panel has read the menu shows none
					t.Log("the panel reads the menu when it opens")
				}
				d.still()
				t.Logf("shown by %s %v after the start of the process", shown.Arg, shown.At.Sub(d.tray.start).Round(time.Millisecond))
				for _, step := range []struct {
					name string
					run  func(*desktop, *testing.T)
				}{
					{"loading", loadingMenu},
					{"icons", icons},
					{"closed", closedMenu},
					{"fresh", freshMenu},
					{"grown", grownMenu},
					{"many", manyRows},
					{"left click", leftClick},
					{"restart", panelRestart},
					{"quit", quitRow},
				} {
					t.Run(step.name, func(t *testing.T) {
						d.t, d.tray.t = t, t
						step.run(d, t)
					})
				}
			})
		}
	}
}

// open opens the menu by the right mouse button and returns when the tray was
// asked to refresh.
func (d *desktop) open() time.Time {
	d.t.Helper()
	before := d.tray.count("refresh")
	at := d.icon()
	d.closed = d.image()
	start := time.Now()
	d.click(at, 3)
	d.tray.wait("refresh", before+1)
	return start
}

// close closes the menu, and forgets the opening.
func (d *desktop) close() {
	d.t.Helper()
	d.keys("Escape")
	d.forget()
}

// forget tells the tray that the menu was closed, so that it takes the next
// opening for a new one. Qt panels report that, GTK panels do not.
func (d *desktop) forget() {
	d.t.Helper()
	items, err := d.TrayItems()
	if err != nil || len(items) != 1 {
		d.t.Fatalf("icons %q, %v", items, err)
	}
	name, _, _ := strings.Cut(items[0], "/")
	err = d.Bus().Object(name, "/StatusNotifierItem/menu").
		Call("com.canonical.dbusmenu.Event", 0, int32(0), "closed", dbus.MakeVariant(""), uint32(0)).Err
	must.Do(d.t, err)
}

func (d *desktop) set(s *app.Snapshot) {
	d.t.Helper()
	d.tray.tell(order{Snapshot: s, Answer: s})
}

func (d *desktop) image() *image.RGBA {
	d.t.Helper()
	img := must.Get(d.Image())(d.t)
	return img
}

// still waits until the screen changes no more.
func (d *desktop) still() {
	d.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	must.Do(d.t, d.WaitStill(ctx))
}

// drawn waits until the menu is on the screen, and keeps a picture of it.
func (d *desktop) drawn(shot string) {
	d.t.Helper()
	const smallest = 5000 // pixels of a menu; a lit icon has fewer
	if !eventually.Happens(func() bool { return differing(d.closed, d.image()) > smallest }) {
		d.t.Error("no menu is on the screen")
	}
	d.still()
	d.shot(shot)
}

// differing returns the number of pixels in which two pictures of one size differ. With the race detector it would take 0.1 s.
//
//go:norace
func differing(a, b *image.RGBA) (n int) {
	for i := 0; i+4 <= len(a.Pix); i += 4 {
		if [4]byte(a.Pix[i:]) != [4]byte(b.Pix[i:]) {
			n++
		}
	}
	return n
}

func loadingMenu(d *desktop, t *testing.T) {
	d.open()
	d.said.until(t, rows("Reading the agents…"))
	d.drawn("menu-loading")
	// The first answer comes while it is open.
	d.set(snap())
	d.said.until(t, rows("No agents at work"))
	d.drawn("menu-empty")
	d.close()
}

// icons: each state looks different in the panel.
func icons(d *desktop, t *testing.T) {
	trouble := snap()
	trouble.Adapters[1] = app.Health{Name: agentname.Codex, State: app.Failed}
	if err := d.Move(450, 400); err != nil { // away from the icon, which panels light up
		t.Fatal(err)
	}
	d.still()
	var looks []string
	for _, state := range []struct {
		name string
		*app.Snapshot
	}{
		{"quiet", snap()},
		{"working", snap(working("a", "x", "", time.Minute))},
		{"needs-you", snap(waiting("a", "x", "", time.Minute))},
		{"trouble", trouble},
	} {
		d.set(state.Snapshot)
		at := d.icon()
		look := func() string {
			path := shots(t, d.name+"-icon-"+state.name)
			must.Do(t, d.ScreenshotOf(path, image.Rect(0, 0, 32, 32).Add(at.Sub(image.Pt(16, 16)))))
			pixels := must.Get(os.ReadFile(path))(t)
			return string(pixels)
		}
		if !eventually.Happens(func() bool { return !slices.Contains(looks, look()) }) {
			t.Errorf("%s looks like a state before", state.name)
		}
		d.still()
		looks = append(looks, look())
	}
}

var sampleRows = []string{
	"◆ web__shop · Claude Code · needs permission: Run npm publ… · 4 m",
	"◐ rollcall · Claude Code · Fix the flaky tray test · 2 m",
	"◐ api · Codex · Move the client to HTTP/3 · 3 m",
	"○ notes · Claude Code · Summarise the meeting · 26 m",
	"○ infra · Codex · Plan the migration · seen %s",
	"⚠ Codex: no answer in 5 s, list from %s",
}

func sampleMenu(s *app.Snapshot) []string {
	answered := s.Adapters[1].Answered.UTC()
	from := answered.Format("15:04")
	if answered.YearDay() != time.Now().UTC().YearDay() { // soon after midnight
		from = answered.Format("2 Jan 15:04")
	}
	var out []string
	for _, r := range sampleRows {
		out = append(out, strings.Replace(r, "%s", from, 1))
	}
	return rows(out...)
}

// closedMenu: what changed while the menu was closed stands in it when it opens,
// at its right size.
func closedMenu(d *desktop, t *testing.T) {
	d.set(sample())
	s := sample()
	d.tray.tell(order{Answer: s})
	d.open()
	d.said.until(t, sampleMenu(s))
	d.drawn("menu")
	d.keys("Down", "Return")
	if r := d.tray.wait("open", 1); r.Arg != "w" {
		t.Errorf("opened at %q; rows %q", r.Arg, d.said.labels())
	}
	d.forget()
}

// freshMenu: what the refresh finds stands in the menu in that same opening, and
// so does what changes while it is open.
func freshMenu(d *desktop, t *testing.T) {
	old := sample()
	for i := range old.Sessions() {
		old.Sessions()[i].Title = "Old"
	}
	d.set(old)
	s := sample()
	d.tray.tell(order{Answer: s, Delay: 20 * time.Millisecond})
	start := d.open()
	fresh := d.said.until(t, sampleMenu(s))
	t.Logf("fresh rows at the panel %v after the click", fresh.Sub(start).Round(time.Millisecond))
	d.drawn("menu-fresh")

	live := sample()
	live.Sessions()[0].Status, live.Sessions()[0].WaitingFor = adapters.Idle, ""
	live.Sessions()[0].Title = "Is it done?"
	app.Sort(live.Sessions())
	d.tray.tell(order{Snapshot: live, Answer: live})
	want := sampleMenu(live)
	want[0], want[1], want[2] = want[1], want[2], "○ web__shop · Claude Code · Is it done? · 4 m"
	d.said.until(t, want)
	d.drawn("menu-live")
	// It is still open, and its rows are the new ones.
	d.keys("Down", "Down", "Down", "Return")
	if r := d.tray.wait("open", 2); r.Arg != "w" {
		t.Errorf("opened at %q", r.Arg)
	}
	d.forget()
}

// grownMenu: rows that are found only when the menu is open already.
func grownMenu(d *desktop, t *testing.T) {
	d.set(snap(idle("i", "notes", "Summarise", 26*time.Minute)))
	s := sample()
	d.tray.tell(order{Answer: s, Delay: 50 * time.Millisecond})
	d.open()
	d.said.until(t, sampleMenu(s))
	d.drawn("menu-grown")
	d.keys("Down", "Return")
	if r := d.tray.wait("open", 3); r.Arg != "w" {
		t.Errorf("opened at %q", r.Arg)
	}
	d.forget()
}

func manyRows(d *desktop, t *testing.T) {
	many := []app.Session{waiting("w", "web_shop", "Run npm publish & tag", 4*time.Minute)}
	for i := range 20 {
		many = append(many, working("x", "service-"+string(rune('a'+i)), strings.Repeat("漢字 and a long title ", 4), time.Duration(i)*time.Minute))
	}
	d.set(snap(many...))
	d.open()
	d.drawn("menu-many")
	if got := d.said.labels(); len(got) != 16+len(foot) || got[15] != "6 more… (6 working)" {
		t.Errorf("rows %q", got)
	}
	d.close()
	d.set(sample())
}

func leftClick(d *desktop, t *testing.T) {
	d.click(d.icon(), 1)
	if r := d.tray.wait("open", 4); r.Arg != "" {
		t.Errorf("opened at %q", r.Arg)
	}
}

// panelRestart: the icon comes back with the panel, and so does the menu.
func panelRestart(d *desktop, t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), eventually.Limit)
	defer cancel()
	must.Do(t, d.RestartPanel(ctx))
	d.tray.wait("shown", 2)
	s := sample()
	d.tray.tell(order{Answer: s})
	d.open()
	d.said.until(t, sampleMenu(s))
	d.drawn("menu-restarted")
	d.close()
}

func quitRow(d *desktop, t *testing.T) {
	d.open()
	d.drawn("menu-quit")
	d.keys("Up", "Return")
	if code := d.tray.exit(); code != 0 || d.tray.count("quit") != 1 {
		t.Errorf("exit code %d, reports %v", code, d.tray.all())
	}
	waitNoIcon(t, d.Desktop)
}

// waitNoIcon waits until the tray's icon has gone from the panel.
func waitNoIcon(t *testing.T, d *desktoptest.Desktop) {
	t.Helper()
	eventually.True(t, "the icon to leave the panel", func() bool {
		icons := must.Get(d.TrayIcons())(t)
		return len(icons) == 0
	})
}
