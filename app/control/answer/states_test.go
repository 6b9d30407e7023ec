package answer

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"rollcall/adapters"
	"rollcall/app"
)

// stoppable is an agent whose turn can be ended. It does so, unless deaf is set.
type stoppable struct {
	*agent
	deaf  bool
	stops int
}

func (a *stoppable) Stop(context.Context, adapters.Session) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.stops++
	if !a.deaf {
		a.status = adapters.Idle
	}
	return nil
}

// shown is a core whose session is in a state.
type shown struct {
	core
	change func(*app.Session)
}

func (c *shown) Current(ctx context.Context, name adapters.Name, id string) (app.Session, error) {
	s, err := c.core.Current(ctx, name, id)
	c.change(&s)
	return s, err
}

// An action that reports success has done something, and what is done to a session that is in no state for it is refused with the reason. Each row is a state,
// each column an action with its error; an action that fails must not reach the agent.
func TestActionsInEveryState(t *testing.T) {
	plain := func(*app.Session) {}
	for _, tt := range []struct {
		state                  string
		status                 adapters.Status
		change                 func(*app.Session)
		interrupt, send, queue error
	}{
		{"working", adapters.Working, plain, nil, adapters.ErrBusy, nil},
		{"waiting", adapters.Waiting, plain, nil, adapters.ErrBusy, nil},
		{"idle", adapters.Idle, plain, ErrNoInterrupt, nil, nil},
		{"stopped", adapters.Stopped, plain, ErrNoInterrupt, ErrNoPrompts, ErrNoPrompts},
		{"unknown", adapters.Unknown, plain, nil, adapters.ErrBusy, nil},
		{"suspended", adapters.Working, func(s *app.Session) { s.Suspended = true }, ErrNoInterrupt, ErrNoPrompts, ErrNoPrompts},
		{"stale", adapters.Working, func(s *app.Session) { s.Stale = &app.Stale{Reason: "no answer"} }, app.ErrNoAnswer, app.ErrNoAnswer, app.ErrNoAnswer},
	} {
		for action, want := range map[string]error{"interrupt": tt.interrupt, "send": tt.send, "queue": tt.queue} {
			a := &stoppable{agent: asks()}
			a.status = tt.status
			answers := New(&shown{core{a.agent, a}, tt.change}, nil)
			var err error
			if action == "interrupt" {
				err = answers.Interrupt(t.Context(), "example", "s1")
			} else {
				err = answers.Send(t.Context(), "example", "s1", "go on", action == "queue")
			}
			reached := a.stops+len(a.prompts) > 0
			if !errors.Is(err, want) || (err == nil) != (want == nil) || reached != (want == nil) {
				t.Errorf("%s a session that is %s: %v, want %v; it reached the agent: %v", action, tt.state, err, want, reached)
			}
		}
	}
}

// A turn that goes on is not called interrupted.
func TestInterruptUnconfirmed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := &stoppable{agent: asks(), deaf: true}
		a.status = adapters.Working
		err := New(&core{a.agent, a}, nil).Interrupt(t.Context(), "example", "s1")
		if !errors.Is(err, adapters.ErrUnconfirmed) || a.stops != 1 {
			t.Errorf("%v after %d stops", err, a.stops)
		}
	})
}
