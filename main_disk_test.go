//go:build desktop && linux && !headless

package main

import (
	"os"
	"strings"
	"testing"

	"rollcall/internal/adaptertest"
	"rollcall/internal/desktoptest"
	"rollcall/internal/keepertest"
	"rollcall/internal/must"
	"rollcall/internal/testfs"
)

// TestHomeCannotBeWritten: where settings, state and caches are on a full or read-only disk, the tray shows what waits, and the window opens.
func TestHomeCannotBeWritten(t *testing.T) {
	for name, spoil := range map[string]func(*testing.T, *testfs.Disk){
		"full":      func(t *testing.T, d *testfs.Disk) { d.Fill(t) },
		"read-only": func(t *testing.T, d *testfs.Disk) { d.ReadOnly(t) },
	} {
		t.Run(name, func(t *testing.T) {
			disk := testfs.NewDisk(t)
			spoil(t, disk)
			d := desktoptest.For(t, desktoptest.Options{Panel: desktoptest.XfcePanel, Notifications: true})
			rec := adaptertest.Replay(t, "adapters/claudecode/testdata/recordings/claude-2.1.329-permission")
			p := newDesktopProgram(t, d, append(adaptertest.Env(rec), "XDG_CONFIG_HOME="+disk.Path, "XDG_STATE_HOME="+disk.Path, "XDG_CACHE_HOME="+disk.Path, "XDG_DATA_HOME="+disk.Path)...)
			t.Cleanup(func() { keepertest.End(t, os.Args[0], p.env) })
			tray := p.command()
			must.Do(t, tray.Start())
			defer func() {
				_ = tray.Process.Signal(os.Interrupt)
				_ = tray.Wait()
			}()
			p.until("the icon", p.hasIcon)
			waits := func() bool {
				return strings.Contains(strings.Join(p.labels(), "\n"), "proj · Claude Code · wants to ")
			}
			p.until("the session that waits", waits)
			if err := p.command().Run(); err != nil { // a second start asks the first one for its window
				t.Fatalf("%v: %s", err, p.said())
			}
			p.until("the window", func() bool { return len(p.windows()) == 1 })
			t.Logf("menu %q; rollcall said:\n%s", p.labels(), p.said())
			if err := d.Screenshot("build/shots/home-" + name + ".png"); err != nil {
				t.Error(err)
			}
			p.closeWindow()
			if !waits() {
				t.Error("the tray is gone")
			}
		})
	}
}
