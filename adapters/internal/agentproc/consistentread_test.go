package agentproc

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"rollcall/adapters"
	"rollcall/proc"
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
			roll, err := Ask(ctx, nil, func(context.Context) (adapters.Roll, error) {
				if calls++; test.cancel {
					cancel()
				}
				return adapters.Roll{Sessions: []adapters.Session{{Status: test.status, Outcome: test.outcome, LastActivityAt: test.active()}}}, nil
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
	roll, _ := Ask(t.Context(), nil, func(context.Context) (adapters.Roll, error) {
		calls++
		status := adapters.Stopped
		if calls == 2 {
			status = adapters.Working
		}
		return adapters.Roll{Sessions: []adapters.Session{{Status: status, LastActivityAt: time.Now()}}}, nil
	})
	if calls != 2 || roll.Sessions[0].Status != adapters.Working {
		t.Errorf("%d calls, %v", calls, roll.Sessions)
	}
}

// TestResumedSinceTheQuestion: the rows that all adapters share are as old as the question, so what was written since then needs newer ones.
func TestResumedSinceTheQuestion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx := proc.Together(t.Context())
		time.Sleep(time.Second)
		written := time.Now()
		time.Sleep(time.Second)
		var asked []time.Time
		_, _ = Ask(ctx, nil, func(ctx context.Context) (adapters.Roll, error) {
			asked = append(asked, proc.Asked(ctx))
			return adapters.Roll{Sessions: []adapters.Session{{Status: adapters.Stopped, LastActivityAt: written}}}, nil
		})
		if len(asked) != 2 || !asked[0].Before(written) || !asked[1].After(written) {
			t.Errorf("written at %v, rows since %v", written, asked)
		}
	})
}

// ended is a process table whose process has ended.
type ended struct{ proc.Lister }

func (ended) Args(proc.Identity) ([]string, error) { return nil, proc.ErrGone }
func (ended) Exe(proc.Identity) (string, error)    { return "", proc.ErrGone }

// TestEndedSinceTheQuestion: a process that has ended since its row was read is none of the agent's.
func TestEndedSinceTheQuestion(t *testing.T) {
	program := Program{Names: []string{"agent"}}
	if seen := program.Identify(ended{}, proc.Process{Comm: "agent"}); seen.Kind != Foreign {
		t.Errorf("%+v", seen)
	}
}
