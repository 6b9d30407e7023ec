//go:build desktop

package keep

import (
	"os"
	"os/exec"
	"slices"
	"sync"
	"testing"

	"golang.org/x/sys/unix"

	"rollcall/internal/desktoptest"
)

// buildDesktop builds the desktop program, with what tests need.
var buildDesktop = sync.OnceValues(func() (string, error) { return buildWith("x11,gles,faults", "1") })

// TestKilledBesideTray is TestKilled beside a tray with a real panel, which attends the keeper too.
func TestKilledBesideTray(t *testing.T) {
	w := inWorldOf(t, buildDesktop)
	if w == nil {
		return
	}
	d := desktoptest.For(t, desktoptest.Options{Panel: desktoptest.XfcePanel, Notifications: true})
	tray := exec.Command(insideProgram)
	tray.Env = slices.Concat(d.Env(), w.env, []string{"XDG_CONFIG_HOME=", "XDG_STATE_HOME=", "XDG_DATA_HOME=", "XDG_CACHE_HOME="})
	tray.Stderr = os.Stderr
	w.check(tray.Start())
	ended := make(chan error, 1)
	go func() { ended <- tray.Wait() }()
	if _, err := d.TrayIcon(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.killed()
	select {
	case err := <-ended:
		t.Fatalf("the tray ended by itself: %v", err)
	default:
	}
	if items, err := d.TrayItems(); err != nil || len(items) != 1 {
		t.Errorf("icons %q, %v", items, err)
	}
	w.check(tray.Process.Signal(unix.SIGTERM))
	if err := <-ended; err != nil {
		t.Errorf("the tray ended with %v", err)
	}
}
