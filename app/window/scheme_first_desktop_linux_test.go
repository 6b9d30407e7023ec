//go:build desktop && !headless

package window

import (
	"image/color"
	"sync"
	"syscall"
	"testing"

	"github.com/godbus/dbus/v5"

	"rollcall/internal/desktoptest"
	"rollcall/internal/eventually"
	"rollcall/internal/must"
)

// latePortal is a portal that says that the desktop is dark once it may answer.
type latePortal struct{ answers chan struct{} }

func (p *latePortal) Read(_, _ string) (dbus.Variant, *dbus.Error) {
	<-p.answers
	return dbus.MakeVariant(dbus.MakeVariant(uint32(preferDark))), nil
}

// sampleThemes looks at the screen until the returned function is called, which returns how often it saw a dark window and how often a light one. Where
// the screen has the colour of the wallpaper there is no window, or one that is not drawn yet.
func (d *screen) sampleThemes(wallpaper color.RGBA) (stop func() (dark, light int)) {
	var sampling sync.WaitGroup
	var dark, light int
	done := make(chan struct{})
	sampling.Go(func() {
		for last := false; !last && !d.t.Failed(); {
			select {
			case <-done:
				last = true
			default:
			}
			switch c := d.middle(); {
			case c == wallpaper:
			case isDarkPixel(c):
				dark++
			default:
				light++
			}
		}
	})
	return func() (int, int) {
		close(done)
		sampling.Wait()
		return dark, light
	}
}

// TestDesktopFirstFrame: every frame that the window draws has the theme that stays: where the desktop says nothing, where its settings say that it is dark, and where
// its portal says the same, but only after the first frame.
func TestDesktopFirstFrame(t *testing.T) {
	for name, tt := range map[string]struct{ dark, late bool }{"nothing": {}, "dark": {dark: true}, "late": {dark: true, late: true}} {
		t.Run(name, func(t *testing.T) {
			d := newScreen(t, desktoptest.Options{})
			portal := &latePortal{make(chan struct{})}
			if tt.late {
				conn := must.Get(dbus.Connect(d.BusAddress()))(t)
				t.Cleanup(func() { conn.Close() })
				must.Do(t, conn.Export(portal, portalPath, portalIface))
				must.Get(conn.RequestName(portalName, dbus.NameFlagDoNotQueue))(t)
			}
			wallpaper := d.middle()
			stop := d.sampleThemes(wallpaper)
			p := d.open("FYNE_THEME=", "XDG_CONFIG_HOME="+configOf(t, tt.dark))
			p.activate()
			eventually.True(t, "the first frame", func() bool { return d.middle() != wallpaper })
			close(portal.answers)
			for range 3 { // the window takes in the answer meanwhile
				d.key("F5")
				p.hear("refreshed")
			}
			if dark, light := stop(); (dark > 0) != tt.dark || (light > 0) == tt.dark {
				t.Errorf("%d samples are dark and %d are light", dark, light)
			}
			must.Do(t, p.cmd.Process.Signal(syscall.SIGTERM))
			p.end()
		})
	}
}
