//go:build desktop && linux && !headless

package main

import (
	"context"
	"errors"
	"image"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/godbus/dbus/v5"

	"rollcall/internal/adaptertest"
	"rollcall/internal/desktoptest"
	"rollcall/internal/eventually"
	"rollcall/internal/must"
)

// asProgram makes the test binary run as Rollcall itself.
const asProgram = "ROLLCALL_TEST_AS_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		os.Exit(run())
	}
	os.Exit(m.Run())
}

// desktopProgram is Rollcall on a desktop, with a recorded home and process table.
type desktopProgram struct {
	*desktoptest.Desktop
	t   *testing.T
	ctx context.Context
	env []string
	log *os.File // a file, not a pipe: the window outlives the tray and keeps it open
}

// programLimit is how long all that a test does with the program may take, on a machine on which other programs take every processor.
const programLimit = 4 * eventually.Limit

// newDesktopProgram returns Rollcall on d, for programLimit at most, with env besides the desktop's environment.
func newDesktopProgram(t *testing.T, d *desktoptest.Desktop, env ...string) *desktopProgram {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), programLimit)
	log := must.Get(os.Create(filepath.Join(t.TempDir(), "log")))(t)
	t.Cleanup(func() { cancel(); _ = log.Close() })
	own := []string{asProgram + "=1", "GORACE=exitcode=0 atexit_sleep_ms=0"} // systray's own start races now and then
	return &desktopProgram{Desktop: d, t: t, ctx: ctx, log: log, env: slices.Concat(d.Env(), env, own)}
}

// replace writes a file as careful programs do: no reader finds it empty or half written.
func replace(t *testing.T, path, text string) {
	t.Helper()
	part := filepath.Join(t.TempDir(), "part")
	must.Do(t, errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(part, []byte(text), 0o600), os.Rename(part, path)))
}

// startTray starts the tray and waits until its icon is shown.
func (p *desktopProgram) startTray() (tray *exec.Cmd, icon image.Point) {
	p.t.Helper()
	tray = p.command()
	must.Do(p.t, tray.Start())
	icon, err := p.TrayIcon(p.ctx)
	if err != nil {
		p.t.Fatal(err, p.said())
	}
	return tray, icon
}

// endTray ends the tray as a log-out does.
func (p *desktopProgram) endTray(tray *exec.Cmd) {
	p.t.Helper()
	must.Do(p.t, tray.Process.Signal(syscall.SIGTERM))
	if err := tray.Wait(); err != nil {
		p.t.Errorf("the tray ended with %v: %s", err, p.said())
	}
}

// hasIcon reports whether the tray has its icon.
func (p *desktopProgram) hasIcon() bool {
	items, err := p.TrayItems()
	return err == nil && len(items) == 1
}

// row returns a function that reports whether a row of the menu contains text.
func (p *desktopProgram) row(text string) func() bool {
	return func() bool {
		return slices.ContainsFunc(p.labels(), func(l string) bool { return strings.Contains(l, text) })
	}
}

func (p *desktopProgram) command(args ...string) *exec.Cmd {
	c := exec.CommandContext(p.ctx, os.Args[0], args...)
	c.Env, c.Stderr = p.env, p.log
	return c
}

// said is what the processes printed.
func (p *desktopProgram) said() string {
	text, err := os.ReadFile(p.log.Name())
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// windows are the visible windows of Rollcall.
func (p *desktopProgram) windows() []string {
	c := exec.CommandContext(p.ctx, "xdotool", "search", "--onlyvisible", "--name", "^Rollcall$")
	c.Env = p.Env()
	out, _ := c.Output() // status 1: none
	return strings.Fields(string(out))
}

func (p *desktopProgram) until(what string, ok func() bool) {
	p.t.Helper()
	for !ok() {
		select {
		case <-p.ctx.Done():
			p.t.Fatalf("waited too long for %s; rollcall said:\n%s", what, p.said())
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// labels opens the menu from the panel's side of the bus and reads it.
func (p *desktopProgram) labels() (labels []string) {
	p.t.Helper()
	items, err := p.TrayItems()
	if err != nil || len(items) != 1 {
		p.t.Fatalf("tray items %q, %v", items, err)
	}
	owner, _, _ := strings.Cut(items[0], "/")
	menu := p.Bus().Object(owner, "/StatusNotifierItem/menu")
	must.Do(p.t, menu.Call("com.canonical.dbusmenu.AboutToShow", 0, int32(0)).Err)
	var revision uint32
	var layout struct {
		ID       int32
		Values   map[string]dbus.Variant
		Children []dbus.Variant
	}
	must.Do(p.t, menu.Call("com.canonical.dbusmenu.GetLayout", 0, int32(0), int32(-1), []string{}).Store(&revision, &layout))
	for _, child := range layout.Children {
		row, _ := child.Value().([]any)
		values, _ := row[1].(map[string]dbus.Variant)
		if visible, ok := values["visible"].Value().(bool); ok && !visible {
			continue
		}
		if label, ok := values["label"].Value().(string); ok {
			labels = append(labels, strings.TrimSpace(label))
		}
	}
	return labels
}

// TestProgram is the program as its user has it: the tray says who waits, a
// click opens the window, second starts go to the first, the tray's end leaves
// the window alone. Nothing below the agent's home changes.
func TestProgram(t *testing.T) {
	d := desktoptest.For(t, desktoptest.Options{Panel: desktoptest.XfcePanel, Notifications: true})
	rec := adaptertest.Replay(t, "adapters/claudecode/testdata/recordings/claude-2.1.329-permission")
	adaptertest.Untouched(t, filepath.Join(rec.Home, ".claude"))
	p := newDesktopProgram(t, d, adaptertest.Env(rec)...)

	tray, icon := p.startTray()
	p.until("the session that waits", func() bool { // the icon is drawn before the menu is there
		labels := p.labels()
		return len(labels) >= 3 && strings.Contains(labels[0], "proj · Claude Code · wants to ")
	})
	must.Do(t, d.Click(icon.X, icon.Y, 1))
	p.until("the window", func() bool { return len(p.windows()) == 1 })
	for _, args := range [][]string{nil, {"window"}, {"window", "--session", rec.Expect.Sessions[0].ID}} {
		if err := p.command(args...).Run(); err != nil {
			t.Errorf("second start %q: %v: %s", args, err, p.said())
		}
	}
	if w := p.windows(); len(w) != 1 {
		t.Errorf("%d windows after second starts", len(w))
	}
	if err := d.Screenshot("build/shots/program.png"); err != nil {
		t.Error(err)
	}

	p.endTray(tray)
	if len(p.windows()) != 1 {
		t.Error("the window ended with the tray")
	}
	p.closeWindow()
}

// closeWindow closes the window by the keyboard and waits until it is gone. A window manager may leave the focus elsewhere, as
// Openbox does after a key that came while the window was being opened.
func (p *desktopProgram) closeWindow() {
	p.t.Helper()
	p.until("the window's end", func() bool {
		list := p.windows()
		if len(list) == 0 {
			return true
		}
		activate := exec.CommandContext(p.ctx, "xdotool", "windowactivate", list[0])
		activate.Env = p.Env()
		_ = activate.Run() // the window may have ended
		must.Do(p.t, p.Key(p.ctx, "alt+F4"))
		return false
	})
}
