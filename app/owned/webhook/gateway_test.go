package webhook

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"rollcall/adapters"
	"rollcall/adapters/openclaw"
	"rollcall/app"
	"rollcall/app/store"
	"rollcall/internal/gatewaytest"
	"rollcall/internal/must"
	"rollcall/proc"
)

// nothingRuns is a process table without processes.
type nothingRuns struct{ *proc.Table }

func (nothingRuns) List(context.Context) ([]proc.Process, error) { return nil, nil }

// TestSessionThatItsGatewayRemoved runs a real adapter on a gateway that removes a session at work.
func TestSessionThatItsGatewayRemoved(t *testing.T) {
	gateway := must.Get(gatewaytest.Start(gatewaytest.Options{}))(t)
	t.Cleanup(gateway.Close)
	now := time.Now()
	gateway.Set([]gatewaytest.Session{
		{Key: "agent:main:one", SessionID: "one", Label: "Tidy up", Running: true, UpdatedAt: now, StartedAt: now},
		{Key: "agent:main:two", SessionID: "two", Running: true, UpdatedAt: now, StartedAt: now},
	})
	home := t.TempDir()
	adapter := openclaw.New(openclaw.Config{
		Config:   adapters.Config{Home: home, Env: func(string) string { return "" }, Table: nothingRuns{proc.Open()}},
		Gateways: []openclaw.Gateway{{URL: gateway.URL(), Token: gateway.Token(), Name: "office"}},
	})
	core := app.New(app.Config{Adapters: []adapters.Adapter{adapter}})
	receiver := listen(t, 204)
	table := proc.Open()
	s := New(Config{Target: at(receiver.URL, ""), Folder: store.In(t.TempDir()), Alive: table.Alive})
	told, sent := core.Events(), core.Events()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx, core, sent, nil) }()
	t.Cleanup(func() { cancel(); told.Close(); sent.Close(); <-done })

	if snap := core.Refresh(ctx); len(snap.Sessions()) != 2 {
		t.Fatalf("%+v", snap)
	}
	gateway.Delete("agent:main:one")
	core.Refresh(ctx)
	e, err := told.Next(ctx)
	if err != nil || e.Kind != app.Ended || e.Session.ID != "one" || e.Session.Status != adapters.Stopped || e.Session.Outcome != "" ||
		e.Before.Status != adapters.Working {
		t.Fatalf("%+v, %v", e, err)
	}
	for receiver.calls() == 0 && ctx.Err() == nil {
		time.Sleep(time.Millisecond)
	}
	if receiver.calls() != 1 {
		t.Fatalf("%d messages", receiver.calls())
	}
	var p Payload
	if err := json.Unmarshal(receiver.bodies[0], &p); err != nil || p.SessionID != "one" || p.Summary != "Tidy up" || p.Outcome != "" || p.ExitStatus != nil {
		t.Errorf("%s, %v", receiver.bodies[0], err)
	}

	// A gateway that does not answer removes nothing: the session is stale.
	gateway.Close()
	snap := core.Refresh(ctx)
	if len(snap.Sessions()) != 1 || snap.Sessions()[0].Stale == nil || snap.Sessions()[0].Status != adapters.Working {
		t.Errorf("%+v", snap.Sessions())
	}
	if receiver.calls() != 1 {
		t.Errorf("%d messages", receiver.calls())
	}
}
