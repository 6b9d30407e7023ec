package notify_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
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
	"rollcall/proc"
)

// ownSession, as Options.Bus, is the bus of the environment.
const ownSession = "own session"

// source is a queue of events as the core's is.
type source struct {
	mu     sync.Mutex
	queue  []app.Event
	idle   bool // all have been handled: the notifier waits for the next one
	signal chan struct{}
}

func newSource() *source { return &source{signal: make(chan struct{}, 1)} }

func (s *source) put(events ...app.Event) {
	s.mu.Lock()
	s.queue, s.idle = append(s.queue, events...), false
	s.mu.Unlock()
	select {
	case s.signal <- struct{}{}:
	default:
	}
}

func (s *source) Next(ctx context.Context) (app.Event, error) {
	for {
		s.mu.Lock()
		if len(s.queue) > 0 {
			ev := s.queue[0]
			s.queue = s.queue[1:]
			s.mu.Unlock()
			return ev, nil
		}
		s.idle = ctx.Err() == nil
		s.mu.Unlock()
		select {
		case <-ctx.Done():
			return app.Event{}, ctx.Err()
		case <-s.signal:
		}
	}
}

// rig is a notifier at work on a desktop of its own.
type rig struct {
	*notify.Notifier
	desktop *desktoptest.Desktop
	events  *source
	opened  chan string
	stop    func() time.Duration // ends Run and says how long that took
}

func start(t *testing.T, o desktoptest.Options, opts notify.Options) *rig {
	t.Helper()
	return startOn(t, desktoptest.For(t, o), opts)
}

func startOn(t *testing.T, d *desktoptest.Desktop, opts notify.Options) *rig {
	t.Helper()
	r := &rig{desktop: d, events: newSource(), opened: make(chan string, 10)}
	switch opts.Bus {
	case "":
		opts.Bus = d.BusAddress()
	case ownSession:
		opts.Bus = ""
	}
	opts.Open = func(id string) { r.opened <- id }
	r.Notifier = notify.New(opts)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- r.Run(ctx, r.events) }()
	var took time.Duration
	var once sync.Once
	r.stop = func() time.Duration {
		once.Do(func() {
			begin := time.Now()
			cancel()
			if err := <-done; !errors.Is(err, context.Canceled) {
				t.Errorf("Run returned %v", err)
			}
			took = time.Since(begin)
		})
		return took
	}
	t.Cleanup(func() { r.stop() })
	return r
}

// wait returns the notifications seen on the bus once ok accepts them.
func (r *rig) wait(t *testing.T, what string, ok func([]desktoptest.Notification) bool) []desktoptest.Notification {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	list, err := r.desktop.WaitNotifications(ctx, ok)
	if err != nil {
		t.Fatalf("%s: %v; last error %v; seen %+v", what, err, r.LastError(), list)
	}
	return list
}

// answered accepts when n notifications have got their id.
func answered(n int) func([]desktoptest.Notification) bool {
	return func(l []desktoptest.Notification) bool { return len(shown(l)) >= n }
}

// shown returns those that a daemon took.
func shown(l []desktoptest.Notification) []desktoptest.Notification {
	var out []desktoptest.Notification
	for _, n := range l {
		if n.ID != 0 {
			out = append(out, n)
		}
	}
	return out
}

// fails waits until LastError is of that kind; nil: none.
func (r *rig) fails(t *testing.T, kind error) {
	t.Helper()
	eventually.Nil(t, "another last error", func() error {
		err := r.LastError()
		if kind == nil && err == nil || kind != nil && errors.Is(err, kind) {
			return nil
		}
		return fmt.Errorf("last error %s, want %s", fmt.Sprint(err), fmt.Sprint(kind))
	})
}

// settled waits until the notifier knows that everything was taken.
func (r *rig) settled(t *testing.T) {
	t.Helper()
	eventually.Nil(t, "what is pending", func() error {
		if n := r.Pending(); n != 0 {
			return fmt.Errorf("%d pending; last error %s", n, fmt.Sprint(r.LastError()))
		}
		return nil
	})
}

func titles(l []desktoptest.Notification) []string {
	var out []string
	for _, n := range l {
		out = append(out, n.Summary)
	}
	return out
}

func one(id string, status adapters.Status, pid int) app.Session {
	s := adapters.Session{
		ID: id, Agent: agentname.ClaudeCode,
		State: adapters.State{Status: status},
		Owner: adapters.Owner{Process: proc.Identity{PID: pid, Start: 1}},
		Place: adapters.Place{CWD: "/w/" + id},
		Topic: adapters.Topic{Title: "about " + id},
	}
	if status == adapters.Waiting {
		s.WaitingFor = adapters.ForPermission
	}
	return app.Session{Session: s}
}

func ends(id string, pid int) app.Event {
	s := one(id, adapters.Stopped, 0)
	s.Outcome = adapters.Died
	return app.Event{Kind: app.Ended, At: time.Now(), Session: s, Before: one(id, adapters.Working, pid)}
}

func becomes(id string, from, to adapters.Status) app.Event {
	return app.Event{Kind: app.Changed, At: time.Now(), Session: one(id, to, 1), Before: one(id, from, 1)}
}

// fake is a notification daemon that does as its fields say.
type fake struct {
	caps    []string
	noCaps  bool // GetCapabilities is an unknown method
	refuses int  // so many calls of Notify fail first

	mu    sync.Mutex
	calls int
	conn  *dbus.Conn
}

// click is what the daemon says when the user clicks on a button.
func (f *fake) click(t *testing.T, id uint32, action string) {
	t.Helper()
	must.Do(t, f.conn.Emit("/org/freedesktop/Notifications", "org.freedesktop.Notifications.ActionInvoked", id, action))
}

func (f *fake) serve(t *testing.T, d *desktoptest.Desktop) {
	t.Helper()
	conn := must.Get(dbus.Connect(d.BusAddress()))(t)
	t.Cleanup(func() { conn.Close() })
	f.conn = conn
	methods := map[string]any{
		"Notify": f.notify,
		"CloseNotification": func(id uint32) *dbus.Error {
			_ = conn.Emit("/org/freedesktop/Notifications", "org.freedesktop.Notifications.NotificationClosed", id, uint32(3))
			return nil
		},
	}
	if !f.noCaps {
		methods["GetCapabilities"] = func() ([]string, *dbus.Error) { return f.caps, nil }
	}
	must.Do(t, conn.ExportMethodTable(methods, "/org/freedesktop/Notifications", "org.freedesktop.Notifications"))
	if reply, err := conn.RequestName("org.freedesktop.Notifications", dbus.NameFlagDoNotQueue); err != nil || reply != dbus.RequestNameReplyPrimaryOwner {
		t.Fatalf("own the name: %v, %v", reply, err)
	}
}

func (f *fake) notify(_ string, replaces uint32, _, _, _ string, _ []string, _ map[string]dbus.Variant, _ int32) (uint32, *dbus.Error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.calls++; f.calls <= f.refuses {
		return 0, dbus.NewError("org.freedesktop.DBus.Error.LimitsExceeded", []any{"too many"})
	}
	if replaces != 0 {
		return replaces, nil
	}
	return uint32(100 + f.calls), nil
}

func (s *source) handled() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.idle
}
