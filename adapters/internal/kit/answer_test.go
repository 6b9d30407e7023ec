package kit

import (
	"context"
	"errors"
	"testing"
	"time"

	"rollcall/adapters"
)

func isLive(s *adapters.Session) bool { return s.Live() }

func TestAnswer(t *testing.T) {
	a := NewAnswer()
	old, young := time.Unix(1, 0), time.Unix(2, 0)
	stopped := func(at time.Time) adapters.Session {
		return adapters.Session{ID: "a", Version: "1", State: adapters.State{Status: adapters.Stopped}, Times: adapters.Times{LastActivityAt: at}}
	}
	a.AddOnce(stopped(old), "copy", isLive)
	a.AddOnce(stopped(young), "copy", isLive)
	a.AddOnce(stopped(old), "copy", isLive)
	other := NewAnswer()
	other.AddOnce(stopped(young), "copy", isLive)
	other.AddOnce(adapters.Session{ID: "a", State: adapters.State{Status: adapters.Idle}, Times: adapters.Times{LastActivityAt: old}}, "copy", isLive)
	other.AddOnce(stopped(young.Add(time.Hour)), "copy", isLive)
	a.Skip("nothing", 0)
	a.LookedIn("/x", "/x", "")
	a.Problem(nil, errors.New("broken"))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	roll, err := a.Result(ctx, "agent")
	if len(roll.Sessions) != 1 || !roll.Sessions[0].LastActivityAt.Equal(young) || roll.Skipped["copy"] != 2 ||
		len(roll.Skipped) != 1 || roll.Versions["1"] != 1 || len(roll.LookedIn) != 1 {
		t.Errorf("%+v", roll)
	}
	if len(adapters.Problems(err)) != 2 || !errors.Is(err, adapters.ErrTimeout) {
		t.Errorf("%v", err)
	}
	roll, err = other.Result(t.Context(), "agent")
	if len(roll.Sessions) != 1 || roll.Sessions[0].Status != adapters.Idle || roll.Skipped["copy"] != 2 || err != nil {
		t.Errorf("%+v, %v", roll, err)
	}
}

func TestCountSkipped(t *testing.T) {
	one := CountSkipped(nil, "a")
	two := CountSkipped(one, "a")
	if one["a"] != 1 || two["a"] != 2 {
		t.Errorf("%v, %v", one, two)
	}
	for i := range 100 {
		two = CountSkipped(two, string(rune('b'+i)))
	}
	if len(two) != maxReasons+1 || two["further kinds of records"] != 100-maxReasons+1 {
		t.Errorf("%v", two)
	}
}
