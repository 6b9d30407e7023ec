//go:build desktop && linux && !headless

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/godbus/dbus/v5"

	"rollcall/internal/adaptertest"
	"rollcall/internal/desktoptest"
)

const askingThread = "01a1fc98-2ae2-7d22-950f-41838ad69663"

// codexDaemon is Codex's daemon as 0.169.0 is: its thread asks for commands, one after the other. It repeats the open
// request to everyone who joins, takes the first answer to it, and passes over all others.
type codexDaemon struct {
	mu     sync.Mutex
	open   string // the command that is asked for; empty: the thread works
	id     int    // of the open request
	taken  []string
	joined map[*websocket.Conn]bool
}

// serve listens where the daemon of a home does.
func (d *codexDaemon) serve(t *testing.T, home string) {
	t.Helper()
	dir, err := os.MkdirTemp("", "cx") // a socket's path is limited to 108 bytes
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("unix", filepath.Join(dir, "s"))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	server := &http.Server{ReadHeaderTimeout: time.Minute, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if c, err := websocket.Accept(w, r, nil); err == nil {
			d.handle(ctx, c)
			_ = c.CloseNow()
		}
	})}
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(func() {
		cancel()
		_ = server.Close()
		_ = os.RemoveAll(dir)
	})
	control := filepath.Join(home, ".codex", "app-server-control")
	if err := os.MkdirAll(control, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(dir, "s"), filepath.Join(control, "app-server-control.sock")); err != nil {
		t.Fatal(err)
	}
}

func (d *codexDaemon) handle(ctx context.Context, c *websocket.Conn) {
	for {
		_, b, err := c.Read(ctx)
		var m struct {
			ID     json.RawMessage
			Method string
			Result json.RawMessage
		}
		if err != nil || json.Unmarshal(b, &m) != nil {
			d.mu.Lock()
			delete(d.joined, c)
			d.mu.Unlock()
			return
		}
		d.mu.Lock()
		d.obey(ctx, c, m.Method, string(m.ID), string(m.Result))
		d.mu.Unlock()
	}
}

func (d *codexDaemon) obey(ctx context.Context, c *websocket.Conn, method, id, result string) {
	say := func(c *websocket.Conn, format string, args ...any) {
		_ = c.Write(ctx, websocket.MessageText, fmt.Appendf(nil, format, args...))
	}
	switch method {
	case "initialize", "thread/unsubscribe":
		say(c, `{"id":%s,"result":{}}`, id)
	case "thread/list":
		flags := ""
		if d.open != "" {
			flags = `"waitingOnApproval"`
		}
		say(c, `{"id":%s,"result":{"data":[{"id":%q,"status":{"type":"active","activeFlags":[%s]}}]}}`, id, askingThread, flags)
	case "thread/resume":
		d.joined[c] = true
		if d.open != "" {
			command, _ := json.Marshal(d.open)
			say(c, `{"id":%d,"method":"item/commandExecution/requestApproval","params":{"threadId":%q,"turnId":"t","itemId":"item%d","startedAtMs":%d,"command":%s,"cwd":"/home/dev/proj","availableDecisions":["accept","cancel"]}}`,
				d.id, askingThread, d.id, time.Now().UnixMilli(), command)
		}
		say(c, `{"id":%s,"result":{}}`, id)
	case "": // an answer
		if d.open == "" || id != fmt.Sprint(d.id) {
			return
		}
		d.taken = append(d.taken, d.open+": "+result)
		d.open = ""
		for o := range d.joined {
			say(o, `{"method":"serverRequest/resolved","params":{"threadId":%q,"requestId":%s}}`, askingThread, id)
			status := "completed"
			if strings.Contains(result, "decline") {
				status = "declined"
			}
			say(o, `{"method":"item/completed","params":{"threadId":%q,"item":{"id":"item%s","type":"commandExecution","status":%q}}}`, askingThread, id, status)
		}
	}
}

// ask lets the thread ask for a command, in the place of what it asked for before.
func (d *codexDaemon) ask(command string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.id++
	d.open = command
}

func (d *codexDaemon) took() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.taken)
}

// service is a notification service with buttons, whose user is the test.
type service struct {
	conn *dbus.Conn
	mu   sync.Mutex
	next uint32
}

func (s *service) serve(t *testing.T, d *desktoptest.Desktop) {
	t.Helper()
	var err error
	if s.conn, err = dbus.Connect(d.BusAddress()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.conn.Close() })
	err = s.conn.ExportMethodTable(map[string]any{
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
	if err != nil {
		t.Fatal(err)
	}
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
			if err := s.conn.Emit("/org/freedesktop/Notifications", "org.freedesktop.Notifications.ActionInvoked", n.ID, key); err != nil {
				t.Fatal(err)
			}
			return
		}
	}
	t.Fatalf("no button %q: %q", begin, n.Actions)
}

// TestAnswerFromTheDesktop is the whole program with a recorded Codex whose daemon takes answers: from a notification, from the
// window that a click on a row opens, and from both at once.
func TestAnswerFromTheDesktop(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	d := desktoptest.For(t, desktoptest.Options{Panel: desktoptest.XfcePanel})
	rec := adaptertest.Replay(t, "adapters/codex/testdata/recordings/codex-0.169.0-tui-daemon")
	daemon := &codexDaemon{joined: map[*websocket.Conn]bool{}}
	daemon.serve(t, rec.Home)
	user := &service{}
	user.serve(t, d)
	log, err := os.Create(filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	p := &desktopProgram{Desktop: d, log: log, t: t, ctx: ctx, env: append(append(d.Env(), adaptertest.Env(rec)...), asProgram+"=1", "GORACE=exitcode=0")}
	tray := p.command()
	if err := tray.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := d.TrayIcon(ctx); err != nil {
		t.Fatal(err, p.said())
	}
	row := func(text string) func() bool {
		return func() bool {
			return slices.ContainsFunc(p.labels(), func(l string) bool { return strings.Contains(l, text) })
		}
	}
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

	// From the notification.
	daemon.ask("git push origin main")
	n := last(says("git push origin main\nin /home/dev/proj"))
	p.until("the row", row("wants to run: git push origin main"))
	user.click(t, n, "allow:")
	p.until("the answer", func() bool { return len(daemon.took()) == 1 })
	p.until("the withdrawal", func() bool { return p.labels() != nil && !d.Notifications()[0].Withdraw.IsZero() })

	// What looks dangerous can only be denied there. The notification of a request that was replaced answers nothing.
	daemon.ask("rm -rf build")
	n = last(says("Looks dangerous"))
	if slices.ContainsFunc(n.Actions, func(a string) bool { return strings.HasPrefix(a, "allow:") }) {
		t.Errorf("a dangerous command has the buttons %q", n.Actions)
	}
	daemon.ask("make deploy")
	user.click(t, n, "deny:")
	told := last(func(n desktoptest.Notification) bool { return n.Summary == "Nothing was answered" })
	if !strings.Contains(told.Body, "the request has changed") || len(daemon.took()) != 1 {
		t.Errorf("told %q; taken %q", told.Body, daemon.took())
	}

	// In the window: a click on the notification opens it at the request, and a key answers.
	user.click(t, told, "default")
	p.until("the window", func() bool { return len(p.windows()) == 1 })
	p.until("the answer", func() bool {
		if err := d.Key(ctx, "a"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second) // a key that comes too early begins the wait anew
		return len(daemon.took()) == 2
	})
	if err := d.Screenshot(filepath.Join("build", "shots", "answered.png")); err != nil {
		t.Error(err)
	}

	// The notification and the command line at once: one of them answers.
	daemon.ask("make release")
	n = last(says("make release"))
	p.until("the row", row("make release"))
	key := n.Actions[slices.IndexFunc(n.Actions, func(a string) bool { return strings.HasPrefix(a, "allow:") })]
	both := p.command("answer", askingThread, "--request", strings.TrimPrefix(key, "allow:"), "--deny")
	<-time.After(time.Until(n.At.Add(time.Second))) // as click does
	if err := both.Start(); err != nil {
		t.Fatal(err)
	}
	user.click(t, n, "allow:")
	_ = both.Wait()
	p.until("the answer", func() bool { return len(daemon.took()) >= 3 })
	p.until("the work", row("◐ proj · Codex"))
	got := daemon.took()
	want := []string{`git push origin main: {"decision":"accept"}`, `make deploy: {"decision":"accept"}`}
	if len(got) != 3 || !slices.Equal(got[:2], want) || !strings.HasPrefix(got[2], "make release: ") {
		t.Errorf("the daemon took %q", got)
	}
	if err := tray.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := tray.Wait(); err != nil {
		t.Errorf("the tray ended with %v: %s", err, p.said())
	}
}
