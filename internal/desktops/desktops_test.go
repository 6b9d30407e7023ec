//go:build desktops && linux

// Package desktops runs the real program on whole desktop environments: make test-desktops.
package desktops

import (
	"bytes"
	"context"
	"image"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"rollcall/internal/adaptertest"
	"rollcall/internal/codextest"
	"rollcall/internal/desktoptest"
)

// program is Rollcall on a desktop environment.
type program struct {
	*desktoptest.Desktop
	environment
	look
	t    *testing.T
	ctx  context.Context
	name string
	env  []string
	log  *os.File

	registry     string // the agent's file with the status
	works, waits string // its contents
}

func TestDesktops(t *testing.T) {
	looks := map[string]look{"light": {false, 1}, "dark": {true, 1}, "light-2x": {false, 2}, "dark-2x": {true, 2}}
	for name, e := range environments {
		for _, title := range slices.Sorted(maps.Keys(looks)) {
			t.Run(name+"/"+title, func(t *testing.T) { run(t, name+"-"+title, e, looks[title]) })
		}
	}
}

func run(t *testing.T, name string, e environment, l look) {
	ctx, cancel := context.WithTimeout(t.Context(), 8*time.Minute)
	defer cancel()
	d := desktoptest.For(t, desktoptest.Options{Size: size.Mul(l.scale), Scale: l.scale, Dark: l.dark, Session: e.session(l)})
	p := &program{Desktop: d, environment: e, look: l, t: t, ctx: ctx, name: name}
	p.strip = image.Rectangle{Min: e.strip.Min.Mul(l.scale), Max: e.strip.Max.Mul(l.scale)}
	p.prepare()
	p.rollcall("dnd", "on", "--for", "1h")
	p.still()
	p.keys(e.keys...)
	p.still()
	p.shot("desktop")
	stop := p.start()
	at := p.icon()
	p.opensMenu(at)
	p.opensWindow(at)
	p.rollcall("dnd", "off")
	p.notifies()
	stop()
	p.offersAnswers()
	if said := d.Logs(); strings.Contains(said, "Children but no menu") {
		t.Errorf("the desktop said:\n%s", said)
	}
}

// prepare makes the home of an agent, with a session at work.
func (p *program) prepare() {
	p.t.Helper()
	rec := adaptertest.Replay(p.t, "../../adapters/claudecode/testdata/recordings/claude-2.1.329-permission")
	log, err := os.Create(filepath.Join(p.t.TempDir(), "log"))
	if err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() { log.Close() })
	p.log, p.env = log, append(p.Env(), adaptertest.Env(rec)...)
	p.registry = filepath.Join(rec.Home, ".claude/sessions/9652.json")
	waits, err := os.ReadFile(p.registry)
	if err != nil {
		p.t.Fatal(err)
	}
	p.waits = strings.Replace(string(waits), `"name":"proj-91","nameSource":"derived"`, `"name":"Fill the my_table","nameSource":"user"`, 1)
	p.works = strings.Replace(strings.Replace(p.waits, `"status":"waiting"`, `"status":"busy"`, 1), `,"waitingFor":"permission prompt"`, "", 1)
	p.put(p.works)
	config := filepath.Join(p.Home(), ".config/rollcall/config.toml")
	if err := os.MkdirAll(filepath.Dir(config), 0o700); err != nil {
		p.t.Fatal(err)
	}
	if err := os.WriteFile(config, []byte("[notifications]\npause = \"0s\"\n"), 0o600); err != nil {
		p.t.Fatal(err)
	}
}

// put writes the agent's status.
func (p *program) put(status string) {
	p.t.Helper()
	if err := os.WriteFile(p.registry, []byte(status), 0o600); err != nil {
		p.t.Fatal(err)
	}
}

func (p *program) command(args ...string) *exec.Cmd {
	c := exec.CommandContext(p.ctx, os.Getenv("ROLLCALL_BINARY"), args...)
	c.Env, c.Stderr = p.env, p.log
	return c
}

func (p *program) rollcall(args ...string) {
	p.t.Helper()
	if err := p.command(args...).Run(); err != nil {
		p.t.Fatalf("%q: %v: %s", args, err, p.said())
	}
}

func (p *program) said() string {
	text, err := os.ReadFile(p.log.Name())
	if err != nil {
		return err.Error()
	}
	return string(text)
}

func (p *program) until(what string, ok func() bool) {
	p.t.Helper()
	limit := time.After(time.Minute)
	for !ok() {
		select {
		case <-limit:
			p.shot("failed")
			p.t.Fatalf("waited too long for %s; rollcall said:\n%s", what, p.said())
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// still waits until the screen does not change for 2 s.
func (p *program) still() {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, time.Minute)
	defer cancel()
	last, same := p.image(), 0
	for same < 10 && ctx.Err() == nil {
		time.Sleep(200 * time.Millisecond) // pixels send no event
		now := p.image()
		if same++; !bytes.Equal(now.Pix, last.Pix) {
			last, same = now, 0
		}
	}
}

func (p *program) image() *image.RGBA {
	p.t.Helper()
	img, err := p.Image()
	if err != nil {
		p.t.Fatal(err)
	}
	return img
}

func (p *program) shot(what string) {
	p.t.Helper()
	if err := p.Screenshot("../../build/shots/desktops-" + p.name + "-" + what + ".png"); err != nil {
		p.t.Error(err)
	}
}

// changed returns the smallest part of the screen that has all differences between two pictures within a part.
func changed(a, b *image.RGBA, within image.Rectangle) (r image.Rectangle) {
	for y := within.Min.Y; y < within.Max.Y; y++ {
		for x := within.Min.X; x < within.Max.X; x++ {
			if a.RGBAAt(x, y) != b.RGBAAt(x, y) {
				r = r.Union(image.Rect(x, y, x+1, y+1))
			}
		}
	}
	return r
}

// icon finds the place of the tray's icon: what changes in the panel when the session begins to wait.
func (p *program) icon() image.Point {
	p.t.Helper()
	if err := p.Move(size.X*p.scale/2, size.Y*p.scale/2); err != nil {
		p.t.Fatal(err)
	}
	var place image.Rectangle
	p.until("an icon that shows the state", func() bool {
		p.still()
		before := p.image()
		p.put(p.waits)
		defer p.put(p.works)
		for range 50 {
			time.Sleep(100 * time.Millisecond) // pixels send no event
			place = changed(before, p.image(), p.strip)
			if !place.Empty() {
				break
			}
		}
		p.still()
		place = changed(before, p.image(), p.strip)
		p.shot("icon")
		return !place.Empty() && place.Dx() < 64*p.scale
	})
	p.t.Logf("the icon is at %v", place)
	return place.Min.Add(place.Size().Div(2))
}

// windows returns the visible windows of Rollcall.
func (p *program) windows() []string {
	c := exec.CommandContext(p.ctx, "xdotool", "search", "--onlyvisible", "--name", "^Rollcall$")
	c.Env = p.Env()
	out, _ := c.Output() // status 1: none
	return strings.Fields(string(out))
}

func (p *program) click(at image.Point, button int) {
	p.t.Helper()
	if err := p.Click(at.X, at.Y, button); err != nil {
		p.t.Fatal(err)
	}
}

// opened waits until the screen has changed by more than a lit icon, and returns the part that has.
func (p *program) opened(what string, before *image.RGBA, within image.Rectangle) (r image.Rectangle) {
	p.t.Helper()
	p.until(what, func() bool {
		r = changed(before, p.image(), within)
		return r.Dx()*r.Dy() > 5000
	})
	p.still()
	return changed(before, p.image(), within)
}

// inside returns the screen without the panel.
func (p *program) inside() image.Rectangle {
	r := image.Rectangle{Max: size.Mul(p.scale)}
	if p.strip.Min.Y == 0 {
		r.Min.Y = p.strip.Max.Y
	} else {
		r.Max.Y = p.strip.Min.Y
	}
	return r
}

// opensMenu opens the menu by the mouse, looks at its submenu, and opens the window by a click on the first row.
func (p *program) opensMenu(at image.Point) {
	p.t.Helper()
	before := p.image()
	p.click(at, p.menu)
	menu := p.opened("the menu", before, p.inside())
	p.shot("menu")
	p.t.Logf("the menu is at %v", menu)
	p.click(p.within(menu, p.submenu), 1)
	p.still()
	p.shot("submenu")
	p.keys("Escape", "Escape")
	p.still()
	before = p.image()
	p.click(at, p.menu)
	menu = p.opened("the menu again", before, p.inside())
	p.click(p.within(menu, p.row), 1)
	p.until("the window", func() bool { return len(p.windows()) == 1 })
	p.still()
	p.shot("window")
	p.closeWindow()
}

// within returns the place of a row in a menu, at a share of its height.
func (p *program) within(menu image.Rectangle, share float64) image.Point {
	return menu.Min.Add(image.Pt(60*p.scale, int(share*float64(menu.Dy()))))
}

func (p *program) keys(keys ...string) {
	p.t.Helper()
	for _, k := range keys {
		if err := p.Key(p.ctx, k); err != nil {
			p.t.Fatal(err)
		}
	}
}

// closeWindow closes the window as its user does.
func (p *program) closeWindow() {
	p.t.Helper()
	p.until("no window", func() bool {
		if len(p.windows()) == 0 {
			return true
		}
		p.keys("alt+F4") // again while the keys go elsewhere
		time.Sleep(500 * time.Millisecond)
		return len(p.windows()) == 0
	})
	p.still()
}

// opensWindow opens the window by a click on the icon.
func (p *program) opensWindow(at image.Point) {
	p.t.Helper()
	if p.window == 0 {
		return
	}
	p.click(at, p.window)
	p.until("the window by a click on the icon", func() bool { return len(p.windows()) == 1 })
	p.still()
	p.closeWindow()
}

// notified waits for a notification and returns the place of its popup.
func (p *program) notified(shot string, begin func()) image.Rectangle {
	p.t.Helper()
	if err := p.Move(20, size.Y*p.scale/2); err != nil { // away from tooltips
		p.t.Fatal(err)
	}
	p.still()
	before, n := p.image(), len(p.Notifications())
	begin()
	p.until("the notification", func() bool {
		p.refresh()
		list := p.Notifications()
		return len(list) > n && list[n].ID != 0
	})
	note := p.Notifications()[n]
	p.t.Logf("%q, %q, actions %q", note.Summary, note.Body, note.Actions)
	if !slices.Contains(note.Actions, "default") {
		p.t.Error("the notification has no action")
	}
	var at image.Rectangle
	p.until("the notification on the screen", func() bool { // MATE draws in it how the few seconds pass for which it shows it
		last := at
		at = changed(before, p.image(), p.inside())
		return at.Dx()*at.Dy() > 5000 && at == last
	})
	p.shot(shot)
	p.t.Logf("the notification is at %v", at)
	return at
}

// refresh asks the agents again, as an opened menu does.
func (p *program) refresh() {
	p.t.Helper()
	items, err := p.TrayItems()
	if err != nil || len(items) != 1 {
		p.t.Fatalf("icons %q, %v", items, err)
	}
	owner, _, _ := strings.Cut(items[0], "/")
	owner, _, _ = strings.Cut(owner, "@")
	_ = p.Bus().Object(owner, "/StatusNotifierItem/menu").Call("com.canonical.dbusmenu.AboutToShow", 0, int32(0)).Err
}

// notifies clicks on the notification of a wait.
func (p *program) notifies() {
	p.t.Helper()
	at := p.notified("notification", func() { p.put(p.waits) })
	p.pointAt(at)
	for _, part := range []string{"mousedown", "mouseup"} { // as slowly as a hand, for Cinnamon
		c := exec.CommandContext(p.ctx, "xdotool", part, "1")
		c.Env = p.Env()
		if err := c.Run(); err != nil {
			p.t.Fatal(err)
		}
		time.Sleep(150 * time.Millisecond)
	}
	p.until("the window by a click on the notification", func() bool { return len(p.windows()) == 1 })
	p.still()
	p.shot("window-waits")
	p.closeWindow()
}

// pointAt moves the pointer to the middle of a notification. Some desktops then draw it larger.
func (p *program) pointAt(at image.Rectangle) {
	p.t.Helper()
	middle := at.Min.Add(at.Size().Div(2))
	if err := p.Move(middle.X, middle.Y); err != nil {
		p.t.Fatal(err)
	}
	time.Sleep(400 * time.Millisecond) // pixels send no event
}

// offersAnswers looks at the notification of a command that can be answered.
func (p *program) offersAnswers() {
	p.t.Helper()
	rec := adaptertest.Replay(p.t, "../../adapters/codex/testdata/recordings/codex-0.169.0-tui-daemon")
	daemon := codextest.Serve(p.t, rec.Home)
	p.env = append(p.Env(), adaptertest.Env(rec)...)
	stop := p.start()
	defer stop()
	at := p.notified("answers", func() { daemon.Ask("make release") })
	p.pointAt(at)
	p.shot("answers-pointed")
}

// start starts the tray and returns when it has an icon.
func (p *program) start() (stop func()) {
	p.t.Helper()
	tray := p.command()
	if err := tray.Start(); err != nil {
		p.t.Fatal(err)
	}
	p.until("the icon", func() bool {
		items, err := p.TrayItems()
		return err == nil && len(items) == 1
	})
	return func() {
		if err := tray.Process.Signal(syscall.SIGTERM); err != nil {
			p.t.Fatal(err)
		}
		if err := tray.Wait(); err != nil {
			p.t.Errorf("the tray ended with %v: %s", err, p.said())
		}
		p.until("no icon", func() bool {
			items, err := p.TrayItems()
			return err == nil && len(items) == 0
		})
	}
}
