package machine

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"rollcall/adapters"
	_ "rollcall/adapters/claudecode" // its name
	"rollcall/app"
	"rollcall/internal/sshtest"
	"rollcall/notify"
	"rollcall/tray/model"
)

// labels returns the rows of the tray's menu.
func labels(s *app.Snapshot) string {
	var out []string
	for _, r := range model.Build(s, nil, time.Now()).Rows {
		out = append(out, r.Text)
	}
	return strings.Join(out, "\n")
}

// TestSurfaces: a core with two machines behind real servers has their sessions in the tray's menu and tells of a wait and an end with the
// machine's name; peek and stop reach the machine; a machine that is gone keeps its rows.
func TestSurfaces(t *testing.T) {
	if !inside(t) {
		return
	}
	c := sshtest.NewClient(t, t.Setenv)
	one, two := newBox(t, c, "devbox", "/tmp/bin"), newBox(t, c, "server", "/tmp/bin")
	shop, site := one.claude.Start("/src/shop", "Fix the login"), two.claude.Start("/src/site", "Deploy it")
	machines := Of(host("devbox"), host("server"))
	machines.firstPause = 100 * time.Millisecond
	core := app.New(app.Config{Machines: machines})
	news := make(chan struct{}, 1)
	defer core.Subscribe(func(*app.Snapshot) {
		select {
		case news <- struct{}{}:
		default:
		}
	})()
	events := core.Events()
	defer events.Close()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	done := make(chan struct{})
	go func() {
		defer close(done)
		machines.Run(ctx, time.Hour, core)
	}()
	defer func() { cancel(); <-done }()
	awaitRow := func(text string) {
		t.Helper()
		for !strings.Contains(labels(core.Snapshot()), text) {
			select {
			case <-news:
			case <-ctx.Done():
				t.Fatalf("no %q in\n%s", text, labels(core.Snapshot()))
			}
		}
	}
	next := func(kind app.EventKind) app.Event {
		t.Helper()
		for {
			e, err := events.Next(ctx)
			if err != nil {
				t.Fatalf("no event %s: %v", kind, err)
			}
			if e.Kind == kind {
				return e
			}
		}
	}
	awaitRow("◐ shop · devbox · Claude Code · Fix the login")
	awaitRow("◐ site · server · Claude Code · Deploy it")

	site.Ask()
	if got := notify.WaitingText(next(app.Changed).Session).Title; got != "Claude Code needs permission in site on server" {
		t.Errorf("%q", got)
	}
	awaitRow("◆ site · server · Claude Code")
	row := *rowOf(app.MachineRoll{Sessions: core.Snapshot().Sessions()}, app.MachineID("devbox", shop.ID))
	messages, err := core.Peek(ctx, row, 5)
	if err != nil || len(messages) != 1 || messages[0].Text != "Fix the login" || messages[0].Role != adapters.FromUser {
		t.Errorf("%+v, %v", messages, err)
	}
	plan, err := core.PlanStop(ctx, row)
	if err != nil || plan.Through != "Rollcall on devbox" {
		t.Fatalf("%+v, %v", plan, err)
	}
	// The process is one of a table that the test wrote: the machine's own checks refuse to signal it.
	if _, err := core.Stop(ctx, plan, nil); err == nil || !strings.Contains(err.Error(), "process") {
		t.Errorf("stop: %v", err)
	}

	if said, err := machines.Command(ctx, "devbox", nil, "status", "--", shop.ID); err != nil || !strings.Contains(said, "Fix the login") {
		t.Errorf("%q, %v", said, err)
	}
	var failed *app.CommandError
	if _, err := machines.Command(ctx, "devbox", strings.NewReader("x"), "resume", "--prompt=-", "--", "nope"); !errors.As(err, &failed) || failed.Code != 4 || !strings.HasPrefix(failed.Text, "no such session") {
		t.Errorf("%v", err)
	}
	var unknown *Error
	if _, err := machines.Command(ctx, "devbox", nil, "resume", "--later"); !errors.As(err, &unknown) || !unknown.Old {
		t.Errorf("%v", err)
	}
	shop.Answer("Done")
	shop.Exit()
	ended := next(app.Ended)
	if got := notify.EndedText([]app.Event{ended}).Title; got != "Claude Code ended in shop on devbox" || ended.Session.Outcome != adapters.Completed {
		t.Errorf("%q, %+v", got, ended.Session)
	}
	two.Down()
	awaitRow("⚠ server: ")
	awaitRow("◆ site · server · Claude Code")
}
