package desktoptest_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"image"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/godbus/dbus/v5"
	"go.uber.org/goleak"

	"rollcall/internal/desktoptest"
	"rollcall/internal/eventually"
	"rollcall/internal/must"
)

// leaveDesktop starts a desktop, says where it is, and waits to be killed.
func leaveDesktop() {
	d, err := desktoptest.Start(context.Background(), desktoptest.Options{Panel: desktoptest.XfcePanel, Notifications: true})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(d.Home())
	time.Sleep(time.Hour)
}

// belonging returns the pids of the processes that have home as their HOME.
func belonging(t *testing.T, home string) []int {
	t.Helper()
	dirs := must.Get(os.ReadDir("/proc"))(t)
	var pids []int
	for _, e := range dirs {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		env, err := os.ReadFile("/proc/" + e.Name() + "/environ")
		if err == nil && strings.Contains("\x00"+string(env), "\x00HOME="+home+"\x00") {
			pids = append(pids, pid)
		}
	}
	return pids
}

func TestCloseLeavesNothing(t *testing.T) {
	o := desktoptest.Options{Panel: desktoptest.XfcePanel, Notifications: true}
	desktoptest.Require(t, o)
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	for range 2 { // one after the other
		d := must.Get(desktoptest.Start(t.Context(), o))(t)
		if n := len(belonging(t, d.Home())); n < 6 {
			t.Errorf("%d processes, want X, bus, window manager, settings, panel, daemon", n)
		}
		if err := errors.Join(d.Close(), d.Close()); err != nil {
			t.Error(err)
		}
		if pids := belonging(t, d.Home()); len(pids) != 0 {
			t.Errorf("left running: %v", pids)
		}
		if _, err := os.Stat(d.Home()); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("left behind: %s (%v)", d.Home(), err)
		}
		if _, err := os.Stat("/tmp/.X" + d.Display()[1:] + "-lock"); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("the display's lock is left: %v", err)
		}
	}
}

func TestStarterKilled(t *testing.T) {
	desktoptest.Require(t, desktoptest.Options{Panel: desktoptest.XfcePanel, Notifications: true})
	temp := t.TempDir()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), roleVariable+"=desktop", "TMPDIR="+temp)
	cmd.Stderr = os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	out := must.Get(cmd.StdoutPipe())(t)
	must.Do(t, cmd.Start())
	home, err := bufio.NewReader(out).ReadString('\n')
	home = strings.TrimSpace(home)
	if err != nil || len(belonging(t, home)) == 0 {
		t.Errorf("no desktop in %q: %v", home, err)
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	eventually.True(t, "the end of what their starter left", func() bool { return len(belonging(t, home)) == 0 })
	t.Setenv("TMPDIR", temp) // the next start clears away what is left
	d := desktoptest.For(t, desktoptest.Options{})
	other := desktoptest.For(t, desktoptest.Options{})
	if _, err := os.Stat(home); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("left behind: %s (%v)", home, err)
	}
	for _, alive := range []*desktoptest.Desktop{d, other} {
		if _, err := os.Stat(alive.Home()); err != nil {
			t.Errorf("a living desktop was cleared away: %v", err)
		}
	}
}

func TestRestartPanel(t *testing.T) {
	for _, panel := range []string{desktoptest.XfcePanel, desktoptest.LXQtPanel} {
		t.Run(panel, func(t *testing.T) {
			t.Parallel()
			d := desktoptest.For(t, desktoptest.Options{Panel: panel})
			startTray(t, d)
			if _, err := d.TrayIcon(limit(t, eventually.Limit)); err != nil {
				t.Fatal(err)
			}
			d.StopPanel()
			if _, err := d.TrayIcon(limit(t, 100*time.Millisecond)); !errors.Is(err, desktoptest.ErrNoIcon) {
				t.Errorf("without a panel: %v, want ErrNoIcon", err)
			}
			must.Do(t, d.RestartPanel(limit(t, eventually.Limit)))
			if _, err := d.TrayIcon(limit(t, eventually.Limit)); err != nil {
				t.Error(err)
			}
			if items, err := d.TrayItems(); len(items) != 1 || err != nil {
				t.Errorf("registered icons %v, error %v", items, err)
			}
		})
	}
}

func TestNotificationsAreSeen(t *testing.T) {
	d := desktoptest.For(t, desktoptest.Options{Notifications: true})
	before := time.Now()
	object := d.Bus().Object("org.freedesktop.Notifications", "/org/freedesktop/Notifications")
	var id uint32
	err := object.Call("org.freedesktop.Notifications.Notify", 0, "test", uint32(0), "", "a title", "a <b>body</b>",
		[]string{"default", "Open"}, map[string]dbus.Variant{"urgency": dbus.MakeVariant(byte(1))}, int32(-1)).Store(&id)
	must.Do(t, err)
	list, err := d.WaitNotifications(limit(t, eventually.Limit), func(l []desktoptest.Notification) bool {
		return len(l) == 1 && !l[0].Answered.IsZero()
	})
	if err != nil {
		t.Fatalf("%v: %+v", err, list)
	}
	n := list[0]
	if n.Summary != "a title" || n.Body != "a <b>body</b>" || n.ID != id || n.At.Before(before) || len(n.Actions) != 2 {
		t.Errorf("recorded %+v, id %d", n, id)
	}
	must.Do(t, object.Call("org.freedesktop.Notifications.CloseNotification", 0, id).Err)
	if _, err := d.WaitNotifications(limit(t, eventually.Limit), func(l []desktoptest.Notification) bool {
		return !l[0].Withdraw.IsZero() && !l[0].Closed.IsZero()
	}); err != nil {
		t.Error(err)
	}
	must.Do(t, d.StopNotifications(limit(t, eventually.Limit)))
	object.Call("org.freedesktop.Notifications.Notify", 0, "test", uint32(0), "", "lost", "", []string{}, map[string]dbus.Variant{}, int32(-1))
	list, err = d.WaitNotifications(limit(t, eventually.Limit), func(l []desktoptest.Notification) bool {
		return len(l) == 2 && l[1].Error != ""
	})
	if err != nil {
		t.Errorf("%v: a call without a daemon: %+v", err, list)
	}
	if err := d.StartNotifications(limit(t, eventually.Limit)); err != nil {
		t.Error(err)
	}
}

func TestKeysReachTheMenu(t *testing.T) {
	d := desktoptest.For(t, desktoptest.Options{Panel: desktoptest.XfcePanel})
	startTray(t, d)
	at := must.Get(d.TrayIcon(limit(t, eventually.Limit)))(t)
	closed := must.Get(d.Image())(t)
	must.Do(t, d.Click(at.X, at.Y, 3))
	part := image.Rect(0, 40, 600, 200)
	if !appears(t, d, closed, part) {
		t.Fatal("a click on the icon opened no menu")
	}
	open := must.Get(d.Image())(t)
	must.Do(t, d.Key(t.Context(), "Escape"))
	if !appears(t, d, open, part) {
		t.Error("Escape did not close the menu")
	}
}

func TestMissingPackagesAreNamed(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	_, err := desktoptest.Start(t.Context(), desktoptest.Options{Notifications: true})
	if err == nil || !strings.Contains(err.Error(), "apt-get install dbus-daemon dunst openbox xdotool xvfb") {
		t.Errorf("error %v", err)
	}
	said := &verdict{TB: t}
	t.Setenv("CI", "")
	desktoptest.Require(said, desktoptest.Options{})
	t.Setenv("CI", "true")
	desktoptest.Require(said, desktoptest.Options{})
	if said.skipped != 1 || said.failed != 1 {
		t.Errorf("skipped %d times, failed %d times, want one each", said.skipped, said.failed)
	}
}

type verdict struct {
	desktoptest.TB
	skipped, failed int
}

func (v *verdict) Skipf(string, ...any)  { v.skipped++ }
func (v *verdict) Fatalf(string, ...any) { v.failed++ }
