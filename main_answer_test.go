//go:build desktop && linux && !headless

package main

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/godbus/dbus/v5"

	"rollcall/internal/adaptertest"
	"rollcall/internal/codextest"
	"rollcall/internal/desktoptest"
	"rollcall/internal/must"
)

// service is a notification service with buttons, whose user is the test.
type service struct {
	conn *dbus.Conn
	mu   sync.Mutex
	next uint32
}

func (s *service) serve(t *testing.T, d *desktoptest.Desktop) {
	t.Helper()
	s.conn = must.Get(dbus.Connect(d.BusAddress()))(t)
	t.Cleanup(func() { _ = s.conn.Close() })
	err := s.conn.ExportMethodTable(map[string]any{
		"GetCapabilities": func() ([]string, *dbus.Error) { return []string{"body", "actions"}, nil },
		"Notify": func(_ string, replaces uint32, _, _, _ string, _ []string, _ map[string]dbus.Variant, _ int32) (uint32, *dbus.Error) {
			s.mu.Lock()
			defer s.mu.Unlock()
			if replaces == 0 {
				s.next++
				replaces = s.next
			}
			return replaces, nil
		},
		"CloseNotification": func(id uint32) *dbus.Error {
			_ = s.conn.Emit("/org/freedesktop/Notifications", "org.freedesktop.Notifications.NotificationClosed", id, uint32(3))
			return nil
		},
	}, "/org/freedesktop/Notifications", "org.freedesktop.Notifications")
	must.Do(t, err)
	if reply, err := s.conn.RequestName("org.freedesktop.Notifications", dbus.NameFlagDoNotQueue); err != nil || reply != dbus.RequestNameReplyPrimaryOwner {
		t.Fatalf("own the name: %v, %v", reply, err)
	}
}

// click clicks the button of a notification whose key begins so. A click before the user can have read it
// answers nothing.
func (s *service) click(t *testing.T, n desktoptest.Notification, begin string) {
	t.Helper()
	<-time.After(time.Until(n.At.Add(time.Second)))
	for _, key := range n.Actions {
		if strings.HasPrefix(key, begin) {
			must.Do(t, s.conn.Emit("/org/freedesktop/Notifications", "org.freedesktop.Notifications.ActionInvoked", n.ID, key))
			return
		}
	}
	t.Fatalf("no button %q: %q", begin, n.Actions)
}

// TestAnswerFromTheDesktop is the whole program with a recorded Codex whose daemon takes answers: from a notification, from the
// window that a click on a row opens, and from both at once.
func TestAnswerFromTheDesktop(t *testing.T) {
	d := desktoptest.For(t, desktoptest.Options{Panel: desktoptest.XfcePanel})
	rec := adaptertest.Replay(t, "adapters/codex/testdata/recordings/codex-0.169.0-tui-daemon")
	daemon := codextest.Serve(t, rec.Home)
	user := &service{}
	user.serve(t, d)
	p := newDesktopProgram(t, d, adaptertest.Env(rec)...)
	// The waits are over within 10 s, and each shall have its notification at once.
	config := filepath.Join(d.Home(), ".config", "rollcall")
	must.Do(t, errors.Join(os.MkdirAll(config, 0o700), os.WriteFile(filepath.Join(config, "config.toml"), []byte("[notifications]\npause = \"0s\"\n"), 0o600)))
	tray, _ := p.startTray()
	row := p.row
	last := func(ok func(desktoptest.Notification) bool) (n desktoptest.Notification) {
		t.Helper()
		p.until("the notification", func() bool {
			p.labels() // the tray asks again when its menu opens
			list := d.Notifications()
			i := slices.IndexFunc(list, func(n desktoptest.Notification) bool { return n.ID != 0 && ok(n) })
			if i >= 0 {
				n = list[i]
			}
			return i >= 0
		})
		return n
	}
	says := func(body string) func(desktoptest.Notification) bool {
		return func(n desktoptest.Notification) bool { return strings.Contains(n.Body, body) }
	}
	p.until("the session at work", row("◐ proj · Codex"))

	// From the notification: what is not known to be harmless can only be denied there.
	daemon.Ask("git push origin main")
	n := last(says("git push origin main\nin /home/dev/proj"))
	p.until("the row", row("wants to run: git push origin main"))
	if slices.ContainsFunc(n.Actions, func(a string) bool { return strings.HasPrefix(a, "allow:") }) {
		t.Errorf("an ordinary command has the buttons %q", n.Actions)
	}
	user.click(t, n, "deny:")
	p.until("the answer", func() bool { return len(daemon.Took()) == 1 })
	p.until("the withdrawal", func() bool { return p.labels() != nil && !d.Notifications()[0].Withdraw.IsZero() })

	// What looks dangerous can only be denied there. The notification of a request that was replaced answers nothing.
	daemon.Ask("rm -rf src")
	n = last(says("Looks dangerous"))
	if slices.ContainsFunc(n.Actions, func(a string) bool { return strings.HasPrefix(a, "allow:") }) {
		t.Errorf("a dangerous command has the buttons %q", n.Actions)
	}
	daemon.Ask("make deploy")
	user.click(t, n, "deny:")
	told := last(func(n desktoptest.Notification) bool { return n.Summary == "Nothing was answered" })
	if !strings.Contains(told.Body, "the request has changed") || len(daemon.Took()) != 1 {
		t.Errorf("told %q; taken %q", told.Body, daemon.Took())
	}

	// In the window: a click on the notification opens it at the request, and two keys allow it.
	user.click(t, told, "default")
	p.until("the window", func() bool { return len(p.windows()) == 1 })
	p.until("the answer", func() bool {
		for _, key := range []string{"a", "y"} {
			must.Do(t, d.Key(p.ctx, key))
			// A key that comes too early begins the wait again.
			for end := time.Now().Add(time.Second); len(daemon.Took()) != 2 && time.Now().Before(end); {
				time.Sleep(10 * time.Millisecond)
			}
		}
		return len(daemon.Took()) == 2
	})
	if err := d.Screenshot(filepath.Join("build", "shots", "answered.png")); err != nil {
		t.Error(err)
	}

	// The notification and the command line at once: one of them answers.
	daemon.Ask("make release")
	n = last(says("make release"))
	p.until("the row", row("make release"))
	key := n.Actions[slices.IndexFunc(n.Actions, func(a string) bool { return strings.HasPrefix(a, "deny:") })]
	both := p.command("answer", codextest.Thread, "--request", strings.TrimPrefix(key, "deny:"), "--deny")
	<-time.After(time.Until(n.At.Add(time.Second))) // as click does
	must.Do(t, both.Start())
	user.click(t, n, "deny:")
	_ = both.Wait()
	p.until("the answer", func() bool { return len(daemon.Took()) >= 3 })
	p.until("the work", row("◐ proj · Codex"))
	got := daemon.Took()
	want := []string{`git push origin main: {"decision":"decline"}`, `make deploy: {"decision":"accept"}`}
	if len(got) != 3 || !slices.Equal(got[:2], want) || !strings.HasPrefix(got[2], "make release: ") {
		t.Errorf("the daemon took %q", got)
	}
	p.endTray(tray)
}
