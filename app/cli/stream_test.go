package cli

import (
	"context"
	"sync"
	"testing"
	"time"

	"rollcall/adapters"
	"rollcall/app"
	"rollcall/internal/agentname"
)

// changing is an adapter with one session, whose status is another in each answer.
type changing struct {
	*agent
	mu   sync.Mutex
	asks int
}

func (c *changing) Discover(ctx context.Context, q adapters.Query) (adapters.Roll, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.asks++
	roll, err := c.agent.Discover(ctx, q)
	for i := range roll.Sessions {
		roll.Sessions[i].Status = []adapters.Status{adapters.Idle, adapters.Working}[c.asks%2]
	}
	return roll, err
}

// TestStreamOfEachEvent: each event is written at once, also where the snapshot that it led to is seen before the event is delivered. Many
// subscriptions make that time long.
func TestStreamOfEachEvent(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	s := simple("one", agentname.OpenClaw, adapters.Idle, time.Second)
	s.Remote = "gateway"
	a := &changing{agent: &agent{name: agentname.OpenClaw, roll: adapters.Roll{Sessions: []adapters.Session{s}}}}
	core := app.New(app.Config{Adapters: []adapters.Adapter{a}})
	for range 2_000 {
		defer core.Events().Close()
	}
	events := core.Events()
	defer events.Close()
	for range 2_000 {
		defer core.Events().Close()
	}
	lines := make(chan eventJSON, 1000)
	var stream sync.WaitGroup
	defer stream.Wait()
	defer cancel()
	c := &watchCommand{stream: streamOptions{heartbeat: 10 * time.Minute}, env: newEnv(ctx, Streams{}, complete(Deps{}))}
	stream.Go(func() { c.streamTo(ctx, core, events, func(l eventJSON) { lines <- l }) })
	told := func(what string) {
		t.Helper()
		for limit := time.After(time.Minute); ; {
			select {
			case l := <-lines:
				if l.Event == what {
					return
				}
			case <-limit:
				t.Fatalf("no %s line although it is %s", what, core.Snapshot().Own[0].Status)
			}
		}
	}
	core.Refresh(ctx)
	told(streamRoll) // the first answer is no event
	for range 20 {
		core.Refresh(ctx)
		told(string(app.Changed))
	}
}
