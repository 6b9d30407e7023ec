package agentproc

import (
	"context"
	"testing"
	"time"

	"rollcall/adapters"
)

func TestAsk(t *testing.T) {
	at := time.Now()
	clock := at
	now := func() time.Time { // Windows's clock may stand still for a while
		clock = clock.Add(time.Millisecond)
		if t := time.Now(); t.After(clock) {
			clock = t
		}
		return clock
	}
	before := func() time.Time { return time.Now().Add(-time.Minute) }
	same := func() time.Time { return at }
	for name, test := range map[string]struct {
		status  adapters.Status
		outcome adapters.Outcome
		active  func() time.Time
		cancel  bool
		want    int
	}{
		"stopped long ago":           {adapters.Stopped, "", before, false, 1},
		"stopped just now":           {adapters.Stopped, "", same, false, 2},
		"writes all the time":        {adapters.Stopped, "", now, false, attempts},
		"works just now":             {adapters.Working, "", now, false, 1},
		"nobody waits for it":        {adapters.Stopped, "", now, true, 1},
		"died just now, and is open": {adapters.Idle, adapters.Died, same, false, 2},
		"died long ago, and is open": {adapters.Idle, adapters.Died, before, false, 1},
		"waits since just now":       {adapters.Waiting, "", same, false, 2},
		"waits since long ago":       {adapters.Waiting, "", before, false, 1},
		"completed a turn just now":  {adapters.Idle, adapters.Completed, same, false, 1},
	} {
		t.Run(name, func(t *testing.T) {
			at = time.Now()
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			calls := 0
			roll, err := Ask(ctx, nil, func() (adapters.Roll, error) {
				if calls++; test.cancel {
					cancel()
				}
				return adapters.Roll{Sessions: []adapters.Session{{
					State: adapters.State{Status: test.status, Outcome: test.outcome},
					Times: adapters.Times{LastActivityAt: test.active()},
				}}}, nil
			})
			if calls != test.want || len(roll.Sessions) != 1 || err != nil {
				t.Errorf("%d calls, want %d; %v %v", calls, test.want, roll, err)
			}
		})
	}
}

// The second look sees the process.
func TestResumedMeanwhile(t *testing.T) {
	calls := 0
	roll, _ := Ask(t.Context(), nil, func() (adapters.Roll, error) {
		calls++
		status := adapters.Stopped
		if calls == 2 {
			status = adapters.Working
		}
		return adapters.Roll{Sessions: []adapters.Session{{State: adapters.State{Status: status}, Times: adapters.Times{LastActivityAt: time.Now()}}}}, nil
	})
	if calls != 2 || roll.Sessions[0].Status != adapters.Working {
		t.Errorf("%d calls, %v", calls, roll.Sessions)
	}
}
