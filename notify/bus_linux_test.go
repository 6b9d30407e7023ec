package notify_test

import (
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"rollcall/adapters"
	"rollcall/internal/desktoptest"
	"rollcall/internal/must"
	"rollcall/notify"
)

func TestNoBus(t *testing.T) {
	d := desktoptest.For(t, desktoptest.Options{Notifications: true})
	link := filepath.Join(t.TempDir(), "bus")
	r := startOn(t, d, notify.Options{Bus: "unix:path=" + link})
	r.events.put(ends("a", 1))
	r.fails(t, notify.ErrNoBus)
	must.Do(t, os.Symlink(busSocket(d), link))
	r.wait(t, "what was held back", answered(1))
	r.fails(t, nil)
}

func TestBusIsLostAndComesBack(t *testing.T) {
	d := desktoptest.For(t, desktoptest.Options{Notifications: true})
	front := filepath.Join(t.TempDir(), "bus")
	cut := relay(t, front, busSocket(d))
	r := startOn(t, d, notify.Options{Bus: "unix:path=" + front})
	r.events.put(ends("a", 1), becomes("w", adapters.Working, adapters.Waiting))
	r.wait(t, "an end and a wait", answered(2))
	r.settled(t)
	cut()
	r.fails(t, notify.ErrNoBus)
	r.events.put(ends("b", 2), becomes("w", adapters.Waiting, adapters.Working))
	relay(t, front, busSocket(d))
	r.wait(t, "what was held back", answered(3))
	r.fails(t, nil)
	r.stop()
	exactlyOnce(t, d.Notifications(), 3)
}

// A bus that goes takes the daemon along, and what that did not show yet.
func TestBusIsReplacedInMidCall(t *testing.T) {
	old := desktoptest.For(t, desktoptest.Options{Notifications: true})
	front := filepath.Join(t.TempDir(), "bus")
	cut := relay(t, front, busSocket(old))
	r := startOn(t, old, notify.Options{Bus: "unix:path=" + front})
	r.events.put(ends("warm", 1))
	r.wait(t, "the first", answered(1))
	old.FreezeNotifications(true)
	r.events.put(ends("a", 2), ends("b", 3))
	r.wait(t, "the call", func(l []desktoptest.Notification) bool { return len(l) == 2 })
	cut()
	r.fails(t, notify.ErrNoBus)
	r.desktop = desktoptest.For(t, desktoptest.Options{Notifications: true})
	relay(t, front, busSocket(r.desktop))
	got := titles(r.wait(t, "what the old bus took along", answered(2)))
	if !slices.Equal(got, []string{"Claude Code ended in a", "Claude Code ended in b"}) {
		t.Errorf("shown %q", got)
	}
	r.fails(t, nil)
}

// busSocket returns the path of the desktop's bus.
func busSocket(d *desktoptest.Desktop) string {
	path, _, _ := strings.Cut(strings.TrimPrefix(d.BusAddress(), "unix:path="), ",")
	return path
}

// relay passes connections at front on to back until cut is called.
func relay(t *testing.T, front, back string) (cut func()) {
	t.Helper()
	listener := must.Get(net.Listen("unix", front))(t)
	var mu sync.Mutex
	var open []net.Conn
	go func() {
		for {
			in, err := listener.Accept()
			if err != nil {
				return
			}
			out, err := net.Dial("unix", back)
			if err != nil {
				in.Close()
				continue
			}
			mu.Lock()
			open = append(open, in, out)
			mu.Unlock()
			go func() { _, _ = io.Copy(in, out) }()
			go func() { _, _ = io.Copy(out, in) }()
		}
	}()
	cut = func() {
		listener.Close()
		mu.Lock()
		defer mu.Unlock()
		for _, c := range open {
			c.Close()
		}
	}
	t.Cleanup(cut)
	return cut
}

// A desktop without any bus: none is started for the purpose.
func TestNoBusAddress(t *testing.T) {
	if _, err := os.Stat("/run/user/" + strconv.Itoa(os.Getuid()) + "/bus"); err == nil {
		t.Skip("this user has a session bus")
	}
	bin := t.TempDir()
	started := filepath.Join(bin, "started")
	must.Do(t, os.WriteFile(filepath.Join(bin, "dbus-launch"), []byte("#!/bin/sh\n: >"+started+"\n"), 0o755))
	d := desktoptest.For(t, desktoptest.Options{})
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", "")
	t.Setenv("PATH", bin)
	r := startOn(t, d, notify.Options{Bus: ownSession})
	r.events.put(ends("a", 1))
	r.fails(t, notify.ErrNoBus)
	if _, err := os.Stat(started); err == nil {
		t.Error("dbus-launch was run")
	}
}
