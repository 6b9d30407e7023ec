package notify_test

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"rollcall/adapters"
	"rollcall/app/owned/notices"
	"rollcall/internal/desktoptest"
	"rollcall/internal/eventually"
	"rollcall/internal/must"
	"rollcall/notify"
)

func shot(t *testing.T, d *desktoptest.Desktop, name string) {
	t.Helper()
	dir := os.Getenv("ROLLCALL_SHOTS")
	if dir == "" {
		dir = "../build/shots"
	}
	if err := d.Screenshot(filepath.Join(dir, name+".png")); err != nil {
		t.Error(err)
	}
}

func square(t *testing.T) []byte {
	t.Helper()
	img := image.NewRGBA(image.Rect(0, 0, 48, 48))
	for i := range 48 * 48 {
		img.Set(i%48, i/48, color.RGBA{B: 200, A: 255})
	}
	var b bytes.Buffer
	must.Do(t, png.Encode(&b, img))
	return b.Bytes()
}

func TestEndIsShownAndClicked(t *testing.T) {
	run := t.TempDir()
	t.Setenv("XDG_RUNTIME_DIR", run)
	r := start(t, desktoptest.Options{Notifications: true}, notify.Options{Icon: square(t)})
	ev := ends("proj", 10)
	ev.Session.Title = "\x1b[31m<b>rm -rf</b> & <img src='x'>"
	ev.Session.StartedAt = ev.At.Add(-3 * time.Hour)
	r.events.put(ev)
	n := r.wait(t, "an end", answered(1))[0]
	want := "&lt;b&gt;rm -rf&lt;/b&gt; &amp; &lt;img src='x'&gt;\nDied in mid-turn, ran 3 h"
	if n.Summary != "Claude Code ended in proj" || n.Body != want {
		t.Errorf("said %q, %q", n.Summary, n.Body)
	}
	if !slices.Equal(n.Actions, []string{"default", "Open"}) || n.App != "Rollcall" || n.Timeout != -1 || n.Replaces != 0 {
		t.Errorf("sent %+v", n)
	}
	if file := run + "/rollcall/notification.png"; n.Icon != "file://"+file {
		t.Errorf("icon %q", n.Icon)
	} else if _, err := os.Stat(file); err != nil {
		t.Error(err)
	}
	for hint, want := range map[string]any{
		"desktop-entry": "io.github.rollcall.Rollcall", "category": "x-rollcall.failed", "urgency": byte(1),
	} {
		if got := n.Hints[hint].Value(); got != want {
			t.Errorf("hint %s is %v", hint, got)
		}
	}
	popup := waitPopup(t, r.desktop)
	shot(t, r.desktop, "notification")
	must.Do(t, r.desktop.Click(popup.Min.X+popup.Dx()/2, popup.Min.Y+popup.Dy()/2, 1))
	select {
	case id := <-r.opened:
		if id != "proj" {
			t.Errorf("opened %q", id)
		}
	case <-time.After(eventually.Limit):
		t.Error("a click on the notification opened nothing")
	}
}

// waitPopup finds the notification on the screen: the one thing on a plain desktop.
func waitPopup(t *testing.T, d *desktoptest.Desktop) image.Rectangle {
	t.Helper()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		img := must.Get(d.Image())(t)
		var r image.Rectangle
		back := img.RGBAAt(0, img.Rect.Max.Y-1)
		for y := range img.Rect.Max.Y {
			for x := range img.Rect.Max.X {
				if img.RGBAAt(x, y) != back {
					r = r.Union(image.Rect(x, y, x+1, y+1))
				}
			}
		}
		if r.Dx() > 50 && r.Dy() > 20 {
			return r
		}
	}
	t.Fatal("no notification on the screen")
	return image.Rectangle{}
}

func TestWaitIsShownOnceAndWithdrawn(t *testing.T) {
	r := start(t, desktoptest.Options{Notifications: true}, notify.Options{})
	r.events.put(becomes("a", adapters.Working, adapters.Waiting))
	first := r.wait(t, "a wait", answered(1))[0]
	again := becomes("a", adapters.Waiting, adapters.Waiting)
	r.events.put(again)
	again.Session.WaitingFor = adapters.ForQuestion
	r.events.put(again)
	second := r.wait(t, "another question", answered(2))
	if got := titles(second); !slices.Equal(got, []string{"Claude Code needs permission in a", "Claude Code asks you in a"}) {
		t.Errorf("said %q", got)
	}
	if second[1].Replaces != first.ID || second[1].ID != first.ID {
		t.Errorf("the second, %+v, does not replace the first", second[1])
	}
	r.events.put(becomes("a", adapters.Waiting, adapters.Working))
	r.wait(t, "withdrawal", func(l []desktoptest.Notification) bool {
		return !l[1].Withdraw.IsZero() && !l[1].Closed.IsZero()
	})
	// What still waits when Rollcall quits is withdrawn too, an end stays.
	r.events.put(becomes("b", adapters.Working, adapters.Waiting), ends("c", 3))
	r.wait(t, "a wait and an end", answered(4))
	r.stop()
	last := r.wait(t, "withdrawal on quit", func(l []desktoptest.Notification) bool { return !l[2].Withdraw.IsZero() })
	if len(last) != 4 || !last[3].Withdraw.IsZero() {
		t.Errorf("seen %+v", last)
	}
}

func TestHungDaemon(t *testing.T) {
	r := start(t, desktoptest.Options{Notifications: true}, notify.Options{})
	r.events.put(ends("warm", 1))
	r.wait(t, "the first", answered(1))
	r.desktop.FreezeNotifications(true)
	before := runtime.NumGoroutine()
	for pid := range 100 {
		r.events.put(ends(strconv.Itoa(pid), 10+pid))
	}
	r.events.put(becomes("x", adapters.Working, adapters.Waiting))
	r.events.put(becomes("x", adapters.Waiting, adapters.Working))
	r.fails(t, notify.ErrHung)
	if now := runtime.NumGoroutine(); now > before+5 {
		t.Errorf("%d goroutines, %d before the daemon hung", now, before)
	}
	if got := r.Pending(); got < 99 {
		t.Errorf("%d pending", got)
	}
	r.desktop.FreezeNotifications(false)
	r.fails(t, nil)
	list := r.wait(t, "what was held back", answered(101))
	r.stop()
	exactlyOnce(t, r.desktop.Notifications(), 101)
	if last := list[100].Summary; last != "Claude Code ended in w/99" {
		t.Errorf("the last is %q: order not kept", last)
	}
}

func exactlyOnce(t *testing.T, l []desktoptest.Notification, want int) {
	t.Helper()
	times := map[string]int{}
	for _, n := range shown(l) {
		times[n.Summary]++
	}
	for title, n := range times {
		if n != 1 {
			t.Errorf("%q was shown %d times", title, n)
		}
	}
	if len(times) != want {
		t.Errorf("%d shown, want %d", len(times), want)
	}
}

func TestHungDaemonIsReplaced(t *testing.T) {
	r := start(t, desktoptest.Options{Notifications: true}, notify.Options{})
	r.events.put(ends("warm", 1))
	r.wait(t, "the first", answered(1))
	r.desktop.FreezeNotifications(true)
	r.events.put(ends("a", 2), ends("b", 3))
	r.fails(t, notify.ErrHung)
	must.Do(t, r.desktop.StopNotifications(t.Context()))
	must.Do(t, r.desktop.StartNotifications(t.Context()))
	r.wait(t, "what the hung daemon took along", answered(3))
	r.fails(t, nil)
	r.stop()
	exactlyOnce(t, r.desktop.Notifications(), 3)
}

func TestQuitWithHungDaemon(t *testing.T) {
	d := desktoptest.For(t, desktoptest.Options{Notifications: true})
	leak := goleak.IgnoreCurrent()
	r := startOn(t, d, notify.Options{})
	r.events.put(ends("warm", 1))
	r.wait(t, "the first", answered(1))
	d.FreezeNotifications(true)
	r.events.put(ends("a", 2), ends("b", 3))
	r.wait(t, "the call", func(l []desktoptest.Notification) bool { return len(l) == 2 })
	if took := r.stop(); took > time.Minute { // the call itself is given up after two
		t.Errorf("Run ended after %v", took)
	}
	goleak.VerifyNone(t, leak)
}

func TestDaemonAppearsLater(t *testing.T) {
	r := start(t, desktoptest.Options{}, notify.Options{})
	r.events.put(ends("a", 1), becomes("b", adapters.Working, adapters.Waiting))
	r.fails(t, notify.ErrNoDaemon)
	r.events.put(becomes("b", adapters.Waiting, adapters.Idle), ends("c", 2))
	must.Do(t, r.desktop.StartNotifications(t.Context()))
	got := titles(shown(r.wait(t, "what was held back", answered(2))))
	if !slices.Equal(got, []string{"Claude Code ended in a", "Claude Code ended in c"}) {
		t.Errorf("shown %q", got)
	}
	r.fails(t, nil)
}

func TestServersDiffer(t *testing.T) {
	for name, c := range map[string]struct {
		server        *fake
		title, body   string
		actions, more int
	}{
		"everything":       {&fake{caps: []string{"body", "body-markup", "actions"}}, "Claude Code ended in p", "a &lt;b&gt; &amp; c\nDied in mid-turn", 2, 0},
		"no markup":        {&fake{caps: []string{"body", "actions"}}, "Claude Code ended in p", "a <b> & c\nDied in mid-turn", 2, 0},
		"no actions":       {&fake{caps: []string{"body"}}, "Claude Code ended in p", "a <b> & c\nDied in mid-turn", 0, 0},
		"no body":          {&fake{caps: []string{}}, "Claude Code ended in p: a <b> & c", "", 0, 0},
		"does not tell":    {&fake{noCaps: true}, "Claude Code ended in p", "a ‹b› ＆ c\nDied in mid-turn", 0, 0},
		"refuses at first": {&fake{caps: []string{"body"}, refuses: 2}, "Claude Code ended in p", "a <b> & c\nDied in mid-turn", 0, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := desktoptest.For(t, desktoptest.Options{})
			c.server.serve(t, d)
			r := startOn(t, d, notify.Options{})
			ev := ends("p", 1)
			ev.Session.Title = "a <b> & c"
			r.events.put(ev)
			list := r.wait(t, name, answered(1))
			n := shown(list)[0]
			if n.Summary != c.title || n.Body != c.body || len(n.Actions) != c.actions {
				t.Errorf("said %q, %q, actions %q", n.Summary, n.Body, n.Actions)
			}
			if len(list) != 1+c.more {
				t.Errorf("%d calls", len(list))
			}
			r.fails(t, nil)
		})
	}
}

// TestWhatNeedsTheUserStays: the notification of a wait has no end of its own, and none that a click makes where the desktop keeps a list; others last as long as the
// desktop wants.
func TestWhatNeedsTheUserStays(t *testing.T) {
	for _, keeps := range []bool{true, false} {
		d, server := desktoptest.For(t, desktoptest.Options{}), &fake{caps: []string{"body", "actions"}}
		if keeps {
			server.caps = append(server.caps, "persistence")
		}
		server.serve(t, d)
		r := startOn(t, d, notify.Options{})
		r.events.put(becomes("a", adapters.Working, adapters.Waiting))
		r.wait(t, "a wait", answered(1))
		r.events.put(ends("b", 2))
		for _, n := range shown(r.wait(t, "an end", answered(2))) {
			wait := strings.Contains(n.Summary, "needs permission")
			if _, resident := n.Hints["resident"]; (n.Timeout == 0) != wait || resident != (wait && keeps) {
				t.Errorf("with a list: %t: %q is sent with the timeout %d, resident: %t", keeps, n.Summary, n.Timeout, resident)
			}
		}
		r.fails(t, nil)
	}
}

// TestShownIsListed: each notification that was shown is listed once, also one that was replaced on the screen; a withdrawal is none.
func TestShownIsListed(t *testing.T) {
	d, state := desktoptest.For(t, desktoptest.Options{}), t.TempDir()
	(&fake{caps: []string{"body"}}).serve(t, d)
	r := startOn(t, d, notify.Options{Notices: notices.In(state)})
	r.events.put(becomes("a", adapters.Working, adapters.Waiting))
	r.wait(t, "a wait", answered(1))
	again := becomes("a", adapters.Waiting, adapters.Waiting)
	again.Session.WaitingFor = adapters.ForQuestion
	r.events.put(again)
	r.wait(t, "another", answered(2))
	r.events.put(becomes("a", adapters.Waiting, adapters.Working), ends("b", 2))
	r.wait(t, "an end", answered(3))
	want := []string{"false b Claude Code ended in b", "true a Claude Code asks you in a"}
	var got []string
	eventually.True(t, "the list", func() bool {
		list := must.Get(notices.In(state).Last())(t)
		got = nil
		for _, x := range list {
			got = append(got, fmt.Sprint(x.Waits, " ", x.Session, " ", x.Title))
		}
		return slices.Equal(got, want)
	})
	r.fails(t, nil)
}

// Signals can come from anybody on the bus, in any form.
func TestForeignSignals(t *testing.T) {
	d := desktoptest.For(t, desktoptest.Options{})
	(&fake{caps: []string{"body", "actions"}}).serve(t, d)
	r := startOn(t, d, notify.Options{})
	r.events.put(ends("a", 1))
	id := r.wait(t, "an end", answered(1))[0].ID
	emit := func(member string, values ...any) {
		must.Do(t, d.Bus().Emit("/org/freedesktop/Notifications", "org.freedesktop.Notifications."+member, values...))
	}
	emit("ActionInvoked")
	emit("ActionInvoked", "x", id)
	emit("ActionInvoked", id, "default") // not the daemon
	emit("NotificationClosed", "x")
	emit("NotificationClosed")
	r.events.put(ends("b", 2))
	r.wait(t, "another end", answered(2))
	select {
	case id := <-r.opened:
		t.Errorf("a stranger's signal opened %q", id)
	case <-time.After(100 * time.Millisecond):
	}
}

func TestLatency(t *testing.T) {
	runs := 200
	if testing.Short() {
		runs = 20
	}
	r := start(t, desktoptest.Options{Notifications: true}, notify.Options{})
	r.events.put(ends("warm", 1))
	r.wait(t, "the first", answered(1))
	all, err := r.desktop.MeasureNotifications(t.Context(), runs, eventually.Limit, func(run int) (time.Time, error) {
		ev := ends("p", 100+run)
		at := time.Now()
		r.events.put(ev)
		return at, nil
	})
	must.Do(t, err)
	t.Logf("event to Notify on the bus, %v", all)
	if p50 := all.Percentile(50); p50 > 50*time.Millisecond {
		t.Errorf("p50 %v", p50)
	}
}

// together is a rule with which waits share a notification.
func together() notify.Rules { return notify.Rules{Together: time.Minute, AwayAfter: -1} }

// TestSeveralWaits: waits that follow each other share one place on the screen. A click opens the window, and the
// notification goes when all are over.
func TestSeveralWaits(t *testing.T) {
	r := start(t, desktoptest.Options{Notifications: true}, notify.Options{Rules: together})
	r.events.put(becomes("a", adapters.Working, adapters.Waiting))
	first := r.wait(t, "the first", answered(1))[0]
	r.events.put(becomes("b", adapters.Working, adapters.Waiting))
	list := r.wait(t, "both", answered(2))
	if both := list[1]; both.Replaces != first.ID || both.ID != first.ID || both.Summary != "2 sessions need you" {
		t.Errorf("sent %+v after %+v", both, first)
	}
	r.settled(t)
	popup := waitPopup(t, r.desktop)
	shot(t, r.desktop, "several")
	r.events.put(becomes("a", adapters.Waiting, adapters.Working))
	list = r.wait(t, "the correction", answered(3))
	if last := list[2]; last.Replaces != first.ID || last.Summary != "Claude Code needs permission in b" {
		t.Errorf("corrected by %+v", last)
	}
	_ = popup
	r.events.put(becomes("b", adapters.Waiting, adapters.Working))
	r.wait(t, "the withdrawal", func(l []desktoptest.Notification) bool { return len(l) == 3 && !l[2].Withdraw.IsZero() })
	r.stop()
}

// TestSeveralWaitsClicked: a click on the notification of several waits opens the window, not one session. What the user
// closed stays closed.
func TestSeveralWaitsClicked(t *testing.T) {
	r := start(t, desktoptest.Options{Notifications: true}, notify.Options{Rules: together})
	r.events.put(becomes("a", adapters.Working, adapters.Waiting), becomes("b", adapters.Working, adapters.Waiting), becomes("c", adapters.Working, adapters.Waiting))
	r.wait(t, "all", func(l []desktoptest.Notification) bool {
		return len(l) > 0 && l[len(l)-1].ID != 0 && l[len(l)-1].Summary == "3 sessions need you"
	})
	r.settled(t)
	popup := waitPopup(t, r.desktop)
	before := len(r.desktop.Notifications())
	must.Do(t, r.desktop.Click(popup.Min.X+popup.Dx()/2, popup.Min.Y+popup.Dy()/2, 1))
	select {
	case id := <-r.opened:
		if id != "" {
			t.Errorf("opened %q", id)
		}
	case <-time.After(30 * time.Second):
		t.Fatal("nothing opened")
	}
	r.wait(t, "the close", func(l []desktoptest.Notification) bool { return !l[len(l)-1].Closed.IsZero() })
	// The service's answer to another notification comes after its message of the close.
	r.events.put(ends("z", 7))
	r.wait(t, "the end", func(l []desktoptest.Notification) bool { return len(l) == before+1 && l[before].ID != 0 })
	r.settled(t)
	r.events.put(becomes("a", adapters.Waiting, adapters.Working))
	r.settled(t)
	r.stop()
	if after := len(r.desktop.Notifications()); after != before+1 {
		t.Errorf("%d notifications after the user closed the last of %d", after, before)
	}
}

// TestSoundOnBus: the desktop is told which sound an agent or a kind has.
func TestSoundOnBus(t *testing.T) {
	rules := notify.Rules{Kinds: map[notify.Kind]notify.Manner{notify.Permission: notify.WithSound, notify.Ended: notify.WithSound, notify.Failed: notify.WithSound},
		Sounds: map[string]string{"permission": "bell", "ended": "/s/ended.oga", "failed": "/s/ended.oga"}}
	r := start(t, desktoptest.Options{Notifications: true}, notify.Options{Rules: func() notify.Rules { return rules }})
	r.events.put(becomes("a", adapters.Working, adapters.Waiting))
	first := r.wait(t, "the wait", answered(1))[0]
	r.events.put(ends("b", 2))
	second := r.wait(t, "the end", answered(2))[1]
	r.stop()
	if first.Hints["sound-name"].Value() != "bell" || second.Hints["sound-file"].Value() != "/s/ended.oga" || second.Hints["sound-name"].Value() != nil {
		t.Errorf("%v, %v", first.Hints, second.Hints)
	}
}
