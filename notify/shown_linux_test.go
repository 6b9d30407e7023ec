package notify_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/godbus/dbus/v5"

	"rollcall/adapters"
	"rollcall/app"
	"rollcall/internal/agentname"
	"rollcall/internal/desktoptest"
	"rollcall/internal/eventually"
	"rollcall/internal/must"
	"rollcall/notify"
)

// notifyUntilKilled is a Rollcall that says that three sessions wait, and then
// goes on until the test kills it.
func notifyUntilKilled() {
	events := newSource()
	events.put(becomes("stays", adapters.Working, adapters.Waiting), becomes("over", adapters.Working, adapters.Waiting),
		becomes("other", adapters.Working, adapters.Waiting))
	n := notify.New(notify.Options{Bus: os.Getenv("TEST_BUS"), State: os.Getenv("TEST_STATE")})
	_ = n.Run(context.Background(), events)
}

// killed leaves the notifications of a Rollcall that is killed on the screen.
func killed(t *testing.T, d *desktoptest.Desktop, state string) map[string]uint32 {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), roleVariable+"=notifier", "TEST_BUS="+d.BusAddress(), "TEST_STATE="+state)
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	must.Do(t, cmd.Start())
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	list := must.Get(d.WaitNotifications(ctx, answered(3)))(t)
	awaitFile(t, state, 3)
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	ids := map[string]uint32{}
	for _, n := range shown(list) {
		ids[n.Summary] = n.ID
	}
	return ids
}

// awaitFile waits until so many notifications are remembered; 0: no file.
func awaitFile(t *testing.T, state string, want int) {
	t.Helper()
	file := filepath.Join(state, "shown.json")
	eventually.Nil(t, "the waits to be remembered", func() error {
		waits := notify.RememberedWaits(t, state)
		_, err := os.Stat(file)
		if waits == want && (want > 0 || os.IsNotExist(err)) {
			return nil
		}
		return fmt.Errorf("%d waits are remembered in %s (%s), want %d", waits, file, fmt.Sprint(err), want)
	})
}

// picture is a core whose pictures the test makes.
type picture struct {
	mu   sync.Mutex
	snap *app.Snapshot
	tell func(*app.Snapshot)
}

func (p *picture) Snapshot() *app.Snapshot {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.snap
}

func (p *picture) Subscribe(f func(*app.Snapshot)) func() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.tell = f
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.tell = nil
	}
}

func (p *picture) subscribed() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.tell != nil
}

func (p *picture) show(state app.AdapterState, sessions ...app.Session) {
	p.mu.Lock()
	p.snap = &app.Snapshot{At: time.Now(), Own: sessions, Adapters: []app.Health{{Name: agentname.ClaudeCode, State: state}}}
	snap, tell := p.snap, p.tell
	p.mu.Unlock()
	if tell != nil {
		tell(snap)
	}
}

// The next Rollcall withdraws the waits that are over, says what another waits for
// now, and keeps the rest until they are over.
func TestWaitsOfAKilledRollcall(t *testing.T) {
	d := desktoptest.For(t, desktoptest.Options{Notifications: true})
	state := filepath.Join(t.TempDir(), "notifications")
	ids := killed(t, d, state)
	var p picture
	p.show(app.Pending)
	r := startOn(t, d, notify.Options{State: state, Sessions: &p})
	other := one("other", adapters.Waiting, 3)
	other.WaitingFor = adapters.ForQuestion
	p.show(app.Failed)
	p.show(app.OK, one("stays", adapters.Waiting, 1), one("over", adapters.Working, 2), other)
	list := r.wait(t, "one withdrawn, one replaced", func(l []desktoptest.Notification) bool {
		return len(shown(l)) == 4 && !byID(l, ids["Claude Code needs permission in over"]).Withdraw.IsZero()
	})
	if last := list[3]; last.Summary != "Claude Code asks you in other" || last.Replaces != ids["Claude Code needs permission in other"] {
		t.Errorf("the changed wait was shown as %+v", last)
	}
	if n := byID(list, ids["Claude Code needs permission in stays"]); !n.Withdraw.IsZero() {
		t.Errorf("a wait that goes on was withdrawn: %+v", n)
	}
	awaitFile(t, state, 2)
	eventually.True(t, "the end of the subscription: every wait is decided about", func() bool { return !p.subscribed() })
	r.events.put(becomes("stays", adapters.Waiting, adapters.Working))
	r.wait(t, "withdrawal", func(l []desktoptest.Notification) bool {
		return !byID(l, ids["Claude Code needs permission in stays"]).Withdraw.IsZero()
	})
	r.stop()
	awaitFile(t, state, 0)
	exactlyOnce(t, d.Notifications(), 4)
}

func byID(l []desktoptest.Notification, id uint32) desktoptest.Notification {
	for _, n := range l {
		if n.ID == id {
			return n
		}
	}
	return desktoptest.Notification{}
}

// A notification service that was restarted meanwhile gives the same numbers to
// other notifications, which are none of ours. What the old one had on the screen
// went with it: of that the next Rollcall shows again what still waits.
func TestWaitsOfAKilledRollcallAndAnotherService(t *testing.T) {
	d := desktoptest.For(t, desktoptest.Options{Notifications: true})
	state := filepath.Join(t.TempDir(), "notifications")
	ids := killed(t, d, state)
	must.Do(t, d.StopNotifications(t.Context()))
	must.Do(t, d.StartNotifications(t.Context()))
	taken := map[uint32]bool{}
	for range 3 {
		var id uint32
		err := d.Bus().Object("org.freedesktop.Notifications", "/org/freedesktop/Notifications").Call("org.freedesktop.Notifications.Notify", 0,
			"mail", uint32(0), "", "You have mail", "", []string{}, map[string]dbus.Variant{}, int32(0)).Store(&id)
		must.Do(t, err)
		taken[id] = true
	}
	for name, id := range ids {
		if !taken[id] {
			t.Logf("%q was number %d, which nobody has now", name, id)
		}
	}
	var p picture
	p.show(app.OK, one("stays", adapters.Waiting, 1))
	r := startOn(t, d, notify.Options{State: state, Sessions: &p})
	r.events.put(ends("z", 9))
	list := r.wait(t, "a wait and an end", answered(8))
	for _, n := range list {
		if !n.Withdraw.IsZero() {
			t.Errorf("closed %+v", n)
		}
	}
	if got := shown(list)[6]; got.Summary != "Claude Code needs permission in stays" || got.Replaces != 0 {
		t.Errorf("shown again: %+v", got)
	}
	awaitFile(t, state, 1)
	r.stop()
	awaitFile(t, state, 0)
	exactlyOnce(t, d.Notifications()[6:], 2)
}

// The service goes while Rollcall runs, and what it showed with it. The next one
// shows the waits again that were on the screen and still go on.
func TestWaitsOutliveTheirService(t *testing.T) {
	d := desktoptest.For(t, desktoptest.Options{Notifications: true})
	state := filepath.Join(t.TempDir(), "notifications")
	r := startOn(t, d, notify.Options{State: state})
	r.events.put(becomes("dismissed", adapters.Working, adapters.Waiting))
	dismissed := r.wait(t, "a wait", answered(1))[0]
	must.Do(t, d.Bus().Object("org.freedesktop.Notifications", "/org/freedesktop/Notifications").
		Call("org.freedesktop.Notifications.CloseNotification", 0, dismissed.ID).Err)
	awaitFile(t, state, 0)
	r.events.put(becomes("a", adapters.Working, adapters.Waiting), becomes("over", adapters.Working, adapters.Waiting), ends("b", 2))
	r.wait(t, "two waits and an end", answered(4))
	awaitFile(t, state, 2)
	must.Do(t, d.StopNotifications(t.Context()))
	r.events.put(becomes("over", adapters.Waiting, adapters.Idle))
	must.Do(t, d.StartNotifications(t.Context()))
	list := shown(r.wait(t, "the wait, shown again", answered(5)))
	if got := titles(list[4:]); !slices.Equal(got, []string{"Claude Code needs permission in a"}) {
		t.Errorf("shown by the next service: %q", got)
	}
	r.events.put(becomes("a", adapters.Waiting, adapters.Working))
	r.wait(t, "withdrawal", func(l []desktoptest.Notification) bool { return !byID(l[4:], list[4].ID).Withdraw.IsZero() })
	r.stop()
	awaitFile(t, state, 0)
	exactlyOnce(t, d.Notifications()[:4], 4)
	exactlyOnce(t, d.Notifications()[4:], 1)
}

// A Rollcall that is killed while nobody shows notifications leaves its waits to
// the next.
func TestWaitsOfAKilledRollcallWithoutAService(t *testing.T) {
	d := desktoptest.For(t, desktoptest.Options{Notifications: true})
	state := filepath.Join(t.TempDir(), "notifications")
	killed(t, d, state)
	must.Do(t, d.StopNotifications(t.Context()))
	var p picture
	p.show(app.Pending)
	r := startOn(t, d, notify.Options{State: state, Sessions: &p})
	p.show(app.OK, one("stays", adapters.Waiting, 1), one("over", adapters.Idle, 2))
	must.Do(t, d.StartNotifications(t.Context()))
	list := shown(r.wait(t, "the wait, shown again", answered(4)))
	if got := titles(list[3:]); !slices.Equal(got, []string{"Claude Code needs permission in stays"}) {
		t.Errorf("shown by the next service: %q", got)
	}
	awaitFile(t, state, 1)
}

// told gets what is logged.
type told chan string

func (c told) Write(line []byte) (int, error) {
	c <- string(line)
	return len(line), nil
}

// What could not be stored is stored later, without a further change: a killed Rollcall would leave it on the screen.
func TestWaitsAreRememberedWhenThereIsRoom(t *testing.T) {
	d := desktoptest.For(t, desktoptest.Options{Notifications: true})
	state := filepath.Join(t.TempDir(), "notifications")
	must.Do(t, os.WriteFile(state, nil, 0o600)) // no folder can be made in its place
	logged := make(told, 16)
	r := startOn(t, d, notify.Options{State: state, Log: slog.New(slog.NewTextHandler(logged, nil))})
	r.events.put(becomes("a", adapters.Working, adapters.Waiting))
	for !strings.Contains(<-logged, "outdated notifications will stay") {
	}
	must.Do(t, os.Remove(state))
	awaitFile(t, state, 1)
}

// When the bus ends and Rollcall with it, nothing was withdrawn: the next Rollcall
// shows the wait again.
func TestWaitsAreRememberedWhenTheBusEnds(t *testing.T) {
	d := desktoptest.For(t, desktoptest.Options{Notifications: true})
	for i := range 10 {
		dir := t.TempDir()
		front, state := filepath.Join(dir, "bus"), filepath.Join(dir, "notifications")
		cut := relay(t, front, busSocket(d))
		r := startOn(t, d, notify.Options{Bus: "unix:path=" + front, State: state})
		r.events.put(becomes("a", adapters.Working, adapters.Waiting))
		r.wait(t, "a wait", answered(i+1))
		awaitFile(t, state, 1)
		cut()
		r.stop()
		if n := notify.RememberedWaits(t, state); n != 1 {
			t.Fatalf("try %d: %d waits are remembered, want 1", i, n)
		}
	}
}
