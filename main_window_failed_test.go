//go:build desktop && linux && !headless

package main

import (
	"os"
	"slices"
	"strings"
	"testing"

	"rollcall/internal/adaptertest"
	"rollcall/internal/desktoptest"
	"rollcall/internal/keepertest"
	"rollcall/internal/must"
)

// TestWindowCannotOpen: where the window cannot be opened, the tray stays and a notification names what is missing and the
// package that brings it.
func TestWindowCannotOpen(t *testing.T) {
	for name, tt := range map[string]struct {
		env  []string // of the tray, in addition
		want string
	}{
		"Wayland without Xwayland": {[]string{"DISPLAY=", "WAYLAND_DISPLAY=wayland-0"}, "has no Xwayland, which it needs. Install xwayland (Debian, Ubuntu)"},
		"a display without OpenGL": {[]string{"__EGL_VENDOR_LIBRARY_FILENAMES=/nowhere", "__GLX_VENDOR_LIBRARY_NAME=nowhere", "LIBGL_DRIVERS_PATH=/nowhere"}, "install libegl1, libgles2 and libgl1-mesa-dri (Debian, Ubuntu)"},
	} {
		t.Run(name, func(t *testing.T) {
			d := desktoptest.For(t, desktoptest.Options{Panel: desktoptest.XfcePanel, Notifications: true})
			rec := adaptertest.Replay(t, "adapters/claudecode/testdata/recordings/claude-2.1.329-permission")
			p := newDesktopProgram(t, d, slices.Concat(adaptertest.Env(rec), tt.env, []string{"XDG_STATE_HOME=" + t.TempDir()})...)
			t.Cleanup(func() { keepertest.End(t, os.Args[0], p.env) })
			tray := p.command()
			must.Do(t, tray.Start())
			defer func() {
				_ = tray.Process.Signal(os.Interrupt)
				_ = tray.Wait()
			}()
			p.until("the icon", p.hasIcon)
			// A second start asks the first one for its window.
			if err := p.command().Run(); err != nil {
				t.Fatalf("%v: %s", err, p.said())
			}
			told := func(l []desktoptest.Notification) bool {
				return slices.ContainsFunc(l, func(n desktoptest.Notification) bool {
					return n.Summary == "The window could not be opened" && strings.Contains(n.Body, tt.want)
				})
			}
			if list, err := d.WaitNotifications(p.ctx, told); err != nil {
				t.Fatalf("%v: told %+v; rollcall said:\n%s", err, list, p.said())
			}
			if !p.hasIcon() {
				t.Error("the tray is gone")
			}
		})
	}
}
