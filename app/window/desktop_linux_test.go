//go:build desktop && !headless

package window

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"image"
	"image/color"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"rollcall/internal/desktoptest"
	"rollcall/internal/eventually"
	"rollcall/internal/must"
)

// wait is how long anything may take on a busy machine.
const wait = time.Minute

// screen is a virtual desktop and what the tests do on it.
type screen struct {
	*desktoptest.Desktop
	t   *testing.T
	ctx context.Context
}

func newScreen(t *testing.T, o desktoptest.Options) *screen {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 6*time.Minute)
	t.Cleanup(cancel)
	return &screen{desktoptest.For(t, o), t, ctx}
}

// xdotool runs it and returns what it prints, empty if it failed.
func (d *screen) xdotool(args ...string) string {
	cmd := exec.CommandContext(d.ctx, "xdotool", args...)
	cmd.Env = d.Env()
	out, _ := cmd.Output()
	return strings.TrimSpace(string(out))
}

func (d *screen) key(keys ...string) {
	d.t.Helper()
	if err := d.Key(d.ctx, keys...); err != nil {
		d.t.Fatal(err)
	}
}

// process is a window process and its window.
type process struct {
	d      *screen
	cmd    *exec.Cmd
	said   chan string
	lines  []string // that it said while another one was waited for
	stdin  io.Writer
	stderr bytes.Buffer
	id     string
}

func (d *screen) open(env ...string) *process {
	d.t.Helper()
	p := &process{d: d, cmd: exec.Command(os.Args[0]), said: make(chan string, 100)}
	p.cmd.Env = slices.Concat(d.Env(), env, []string{roleVariable + "=window", "GORACE=atexit_sleep_ms=0"})
	out := must.Get(p.cmd.StdoutPipe())(d.t)
	p.cmd.Stderr = &p.stderr
	p.stdin = must.Get(p.cmd.StdinPipe())(d.t)
	if err := p.cmd.Start(); err != nil {
		d.t.Fatal(err)
	}
	d.t.Cleanup(func() {
		if p.cmd.ProcessState == nil {
			_ = p.cmd.Process.Kill()
			_ = p.cmd.Wait()
		}
	})
	go func() {
		for s := bufio.NewScanner(out); s.Scan(); {
			p.said <- s.Text()
		}
		close(p.said)
	}()
	p.hear("running")
	eventually.True(d.t, "the window", func() bool {
		p.id = d.xdotool("search", "--all", "--onlyvisible", "--pid", fmt.Sprint(p.cmd.Process.Pid), "--name", "^Rollcall$")
		return p.id != ""
	})
	return p
}

func (p *process) hear(want string) {
	p.d.t.Helper()
	select {
	case got, ok := <-p.said:
		if !ok || got != want {
			p.d.t.Fatalf("the window process said %q, want %q\n%s", got, want, p.stderr.String())
		}
	case <-time.After(wait):
		p.d.t.Fatalf("the window process didn't say %q", want)
	}
}

// activate gives the window the keyboard.
func (p *process) activate() {
	p.d.t.Helper()
	p.d.xdotool("windowactivate", p.id)
	eventually.True(p.d.t, "the window to be active", func() bool { return p.d.xdotool("getactivewindow") == p.id })
}

// end waits for the process to end well.
func (p *process) end() {
	p.d.t.Helper()
	timer := time.AfterFunc(wait, func() { _ = p.cmd.Process.Signal(syscall.SIGQUIT) }) // its error shows what it does
	defer timer.Stop()
	for range p.said { // until it closes its end
	}
	if err := p.cmd.Wait(); err != nil {
		p.d.t.Errorf("the window process ended with %v\n%s", err, p.stderr.String())
	}
	said := strings.ReplaceAll(p.stderr.String(), "Fyne error:  failed to watch theme settings", "") // said where there is no session bus
	if strings.Contains(said, "Fyne error") || strings.Contains(p.stderr.String(), "Failed to focus") {
		p.d.t.Errorf("Fyne complains:\n%s", p.stderr.String())
	}
	if strings.Contains(p.stderr.String(), "Error in Fyne call thread") { // with the race detector: see checksCalls
		p.d.t.Errorf("a call was not made on Fyne's goroutine:\n%s", p.stderr.String())
	}
}

// shoot keeps a picture of the screen.
func (d *screen) shoot(name string) {
	d.t.Helper()
	if err := d.Screenshot(filepath.Join("..", "..", "build", "shots", name+".png")); err != nil {
		d.t.Fatal(err)
	}
}

// drawn waits until the window is drawn: a window that has drawn nothing has few colours.
func (d *screen) drawn() {
	d.t.Helper()
	eventually.True(d.t, "the window to be drawn", func() bool {
		img := must.Get(d.Image())(d.t)
		return coloursOf(img) > 150
	})
}

// coloursOf returns how many colours a picture has. With the race detector it would take seconds.
//
//go:norace
func coloursOf(img *image.RGBA) int {
	colours := map[[4]byte]bool{}
	var last [4]byte
	for i := 0; i+4 <= len(img.Pix); i += 4 {
		if c := [4]byte(img.Pix[i:]); i == 0 || c != last {
			colours[c], last = true, c
		}
	}
	return len(colours)
}

// middle returns a colour of the middle of the window, which is the wallpaper's until the window is drawn.
func (d *screen) middle() color.RGBA {
	d.t.Helper()
	img, err := d.Image()
	if err != nil {
		d.t.Error(err)
		return color.RGBA{}
	}
	return img.RGBAAt(img.Rect.Dx()/2+100, img.Rect.Dy()*9/10)
}

// isDark reports whether the middle of the window is dark.
func (d *screen) isDark() bool {
	d.t.Helper()
	return isDarkPixel(d.middle())
}

func isDarkPixel(c color.RGBA) bool { return int(c.R)+int(c.G)+int(c.B) < 3*128 }

// shootSoon keeps a picture of what the last keys led to. Nothing is derived
// from it but what a person sees.
func (d *screen) shootSoon(name string) {
	time.Sleep(700 * time.Millisecond) // with a cursor that blinks the screen is never still
	d.shoot(name)
}

func TestDesktopWindow(t *testing.T) {
	for look, dark := range map[string]bool{"light": false, "dark": true} {
		t.Run(look, func(t *testing.T) {
			d := newScreen(t, desktoptest.Options{Dark: dark})
			p := d.open()
			p.activate()
			d.drawn()
			d.key("F5")
			p.hear("refreshed")
			d.shootSoon("window-" + look)
			if d.isDark() != dark {
				t.Errorf("the %s window is dark: %v", look, !dark)
			}
			// In the filter field, which the slash focuses, F5 works as well.
			d.key("slash")
			must.Do(t, d.Type(d.ctx, "number 1"))
			d.key("F5")
			p.hear("refreshed")
			d.key("Down", "Down")
			d.shootSoon("window-" + look + "-filter")
			d.key("ctrl+w")
			p.end()
		})
	}
}

func TestDesktopSecondStartRaisesTheFirst(t *testing.T) {
	d := newScreen(t, desktoptest.Options{})
	first := d.open()
	apart := t.TempDir() // a window of its own, as another user's would be
	must.Do(t, os.Chmod(apart, 0o700))
	d.open("XDG_RUNTIME_DIR=" + apart).activate()

	second := exec.CommandContext(d.ctx, os.Args[0])
	second.Env = append(d.Env(), roleVariable+"=window", "GORACE=atexit_sleep_ms=0")
	if out, err := second.CombinedOutput(); err != nil {
		t.Fatalf("second start: %v\n%s", err, out)
	}
	eventually.True(d.t, "the first window to be raised", func() bool { return d.xdotool("getactivewindow") == first.id })
	d.shoot("window-raised")
	must.Do(t, first.cmd.Process.Signal(syscall.SIGTERM))
	first.end()
}

// close lets the window manager close the window, as Alt+F4 does, and asks again
// while the keys go elsewhere.
func (p *process) close() {
	p.d.t.Helper()
	eventually.True(p.d.t, "the window to close", func() bool {
		if p.d.xdotool("getwindowname", p.id) == "" {
			return true
		}
		p.d.xdotool("windowactivate", p.id)
		p.d.xdotool("key", "alt+F4")
		return false
	})
}

// TestDesktopClosedTwice: a window that is closed again before it has taken the first request ends, too.
func TestDesktopClosedTwice(t *testing.T) {
	d := newScreen(t, desktoptest.Options{})
	p := d.open()
	p.activate()
	d.drawn()
	signal := func(s syscall.Signal) {
		t.Helper()
		must.Do(t, p.cmd.Process.Signal(s))
	}
	signal(syscall.SIGSTOP) // so that it finds both requests at once
	d.xdotool("key", "alt+F4")
	d.xdotool("key", "alt+F4")
	time.Sleep(100 * time.Millisecond) // for the window manager, which shows by nothing that it has passed them on
	signal(syscall.SIGCONT)
	p.end()
}

// TestDesktopWindowAfterSleep: a window that drew nothing for longer than Fyne keeps what it draws, as while the computer slept, and then draws at once because the
// pointer was moved, still shows what changes.
func TestDesktopWindowAfterSleep(t *testing.T) {
	d := newScreen(t, desktoptest.Options{})
	p := d.open("FYNE_CACHE=1s")
	p.activate()
	d.drawn()
	colour := func(over bool) color.RGBA { // of the button New agent
		place := func(y string) (at image.Point) {
			d.xdotool("mousemove", "--window", p.id, "30", y)
			_, err := fmt.Sscanf(d.xdotool("getmouselocation"), "x:%d y:%d", &at.X, &at.Y)
			must.Do(t, err)
			return at
		}
		at := place("625")
		if !over {
			place("500")
		}
		return must.Get(d.Image())(t).RGBAAt(at.X, at.Y)
	}
	must.Do(t, p.cmd.Process.Signal(syscall.SIGSTOP))
	was := colour(true)
	time.Sleep(11 * time.Second) // the sleep: Fyne looks only every 10 s for what it did not draw
	must.Do(t, p.cmd.Process.Signal(syscall.SIGCONT))
	for i := range 6 {
		eventually.True(t, "another colour of the button", func() bool { return (colour(i%2 == 0) == was) == (i%2 == 1) })
	}
	d.key("ctrl+w")
	p.end()
}

func TestDesktopWindowSizeIsRemembered(t *testing.T) {
	d := newScreen(t, desktoptest.Options{})
	has := func(p *process) func() bool {
		return func() bool {
			g := d.xdotool("getwindowgeometry", "--shell", p.id)
			return strings.Contains(g, "WIDTH=900\n") && strings.Contains(g, "HEIGHT=600\n")
		}
	}
	p := d.open()
	p.activate()
	eventually.True(d.t, "the new size", func() bool {
		d.xdotool("windowsize", p.id, "900", "600") // Fyne may still be setting its own
		return has(p)()
	})
	time.Sleep(1500 * time.Millisecond) // Fyne takes it with a later event, and shows that by nothing
	p.close()
	p.end()
	p = d.open()
	eventually.True(d.t, "the size of last time", has(p))
}

// TestDesktopNoBusIsStarted: see startNoBus.
func TestDesktopNoBusIsStarted(t *testing.T) {
	d := newScreen(t, desktoptest.Options{})
	bin := t.TempDir()
	ran := filepath.Join(bin, "ran")
	script := "#!/bin/sh\ntouch '" + ran + "'\nexit 1\n"
	must.Do(t, os.WriteFile(filepath.Join(bin, "dbus-launch"), []byte(script), 0o755))
	p := d.open("FYNE_THEME=", "DBUS_SESSION_BUS_ADDRESS=", "PATH="+bin+":"+os.Getenv("PATH"))
	d.drawn()
	must.Do(t, p.cmd.Process.Signal(syscall.SIGTERM))
	p.end()
	if _, err := os.Stat(ran); err == nil {
		t.Error("dbus-launch was run: its daemon would outlive the window")
	}
}

// TestDesktopQueue: the window opens at what waits; a key allows the oldest, another denies the next, and a digit answers the
// question.
func TestDesktopQueue(t *testing.T) {
	for look, c := range map[string]struct {
		dark  bool
		scale int
	}{"light": {false, 1}, "dark-2x": {true, 2}} {
		t.Run(look, func(t *testing.T) {
			d := newScreen(t, desktoptest.Options{Dark: c.dark, Scale: c.scale, Size: image.Pt(1280*c.scale, 800*c.scale)})
			p := d.open(askingVariable + "=1")
			if got, want := d.xdotool("getwindowgeometry", p.id), fmt.Sprintf("Geometry: %dx", 1040*c.scale); !strings.Contains(got, want) {
				t.Errorf("the window does not follow the desktop's scale: %s, want %s", got, want)
			}
			p.activate()
			d.drawn()
			d.shootSoon("queue-" + look)
			d.press(p, "a y", "asks-0 allow []")
			d.shootSoon("queue-" + look + "-danger")
			d.press(p, "d Return Escape", "asks-1 deny []") // Return sends it without a reason; Escape leaves what it opens where d came too early
			d.shootSoon("queue-" + look + "-question")
			d.press(p, "2", "asks-2 reply [[us-east-1]]")
			d.shootSoon("queue-" + look + "-done")
			d.key("ctrl+w")
			p.end()
		})
	}
}

// press presses a key, or several in turn, until the agent has got an answer: keys count only once the request was visible for a moment, which
// begins anew with each key that comes too early. More presses than one must not answer more than one request.
func (d *screen) press(p *process, keys, want string) {
	d.t.Helper()
	var got string
	pause := 2 * time.Second // longer than that moment, and longer each time: a busy machine draws slowly
	eventually.True(d.t, "the answer "+want, func() bool {
		key, others, _ := strings.Cut(keys, " ")
		keys = strings.TrimSpace(others + " " + key)
		d.key(key)
		select {
		case got = <-p.said:
		case <-time.After(pause):
			pause *= 2
		}
		return got != ""
	})
	if got != want {
		d.t.Fatalf("the agent got %q, want %q", got, want)
	}
}
