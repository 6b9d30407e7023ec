package desktoptest_test

import (
	"bytes"
	"context"
	"image"
	"image/color"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"fyne.io/systray"

	"rollcall/internal/desktoptest"
	"rollcall/internal/eventually"
	"rollcall/internal/must"
)

const roleVariable = "ROLLCALL_TEST_ROLE"

func TestMain(m *testing.M) {
	switch os.Getenv(roleVariable) {
	case "tray":
		showTray()
		return
	case "desktop":
		leaveDesktop()
		return
	}
	os.Exit(m.Run())
}

// showTray runs a program with a red tray icon and a menu of two rows. The icon is
// set before the start: set while the library starts, it can get lost.
func showTray() {
	icon := image.NewRGBA(image.Rect(0, 0, 22, 22))
	for i := range 22 * 22 {
		icon.Set(i%22, i/22, color.RGBA{R: 200, A: 255})
	}
	var b bytes.Buffer
	if err := png.Encode(&b, icon); err != nil {
		panic(err)
	}
	systray.SetIcon(b.Bytes())
	systray.SetTooltip("a test icon")
	systray.AddMenuItem("first row", "")
	systray.AddMenuItem("second row", "")
	systray.Run(nil, nil)
}

// startTray runs this test binary as a program with a tray icon.
func startTray(t *testing.T, d *desktoptest.Desktop) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(d.Env(), roleVariable+"=tray", "GORACE=atexit_sleep_ms=0")
	cmd.Stderr = os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	must.Do(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
}

func limit(t *testing.T, d time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), d)
	t.Cleanup(cancel)
	return ctx
}

func shot(t *testing.T, d *desktoptest.Desktop, name string) {
	t.Helper()
	dir := os.Getenv("ROLLCALL_SHOTS")
	if dir == "" {
		dir = t.TempDir()
	}
	must.Do(t, d.Screenshot(filepath.Join(dir, name+".png")))
}

func TestTrayIcon(t *testing.T) {
	for _, panel := range []string{desktoptest.XfcePanel, desktoptest.LXQtPanel} {
		for _, dark := range []bool{false, true} {
			name := panel + map[bool]string{false: "-light", true: "-dark"}[dark]
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				begin := time.Now()
				d := desktoptest.For(t, desktoptest.Options{Panel: panel, Dark: dark, Notifications: true})
				t.Logf("up in %v", time.Since(begin))
				if icons, err := d.TrayIcons(); err != nil || len(icons) != 0 {
					t.Errorf("an empty tray has icons %v, error %v", icons, err)
				}
				shot(t, d, name+"-empty")
				startTray(t, d)
				at, err := d.TrayIcon(limit(t, eventually.Limit))
				if err != nil {
					shot(t, d, name+"-failed")
					items, itemsErr := d.TrayItems()
					t.Fatalf("%v; registered: %v, %v", err, items, itemsErr)
				}
				shot(t, d, name+"-icon")
				before := red(t, d, at)
				must.Do(t, d.Click(at.X, at.Y, 3))
				if !appears(t, d, before, image.Rect(0, 40, 600, 200)) {
					t.Error("a click on the icon opened no menu")
				}
				shot(t, d, name+"-menu")
			})
		}
	}
}

// red waits until a place on the screen has the icon's red: a panel can show
// another icon until it has fetched the program's.
func red(t *testing.T, d *desktoptest.Desktop, at image.Point) *image.RGBA {
	t.Helper()
	var img *image.RGBA
	eventually.True(t, "the icon's red", func() (is bool) {
		img = must.Get(d.Image())(t)
		c := img.RGBAAt(at.X, at.Y)
		return c.R > 150 && c.G < 60
	})
	return img
}

// appears waits until a part of the screen has changed since before.
func appears(t *testing.T, d *desktoptest.Desktop, before *image.RGBA, part image.Rectangle) bool {
	t.Helper()
	return eventually.Happens(func() bool {
		now := must.Get(d.Image())(t)
		changed := 0
		for y := part.Min.Y; y < part.Max.Y; y++ {
			for x := part.Min.X; x < part.Max.X; x++ {
				if now.RGBAAt(x, y) != before.RGBAAt(x, y) {
					changed++
				}
			}
		}
		return changed > 500
	})
}
