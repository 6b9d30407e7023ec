package qwen

import (
	"testing"
	"time"

	"rollcall/adapters"
	"rollcall/internal/adaptertest"
	"rollcall/internal/adaptertest/scene"
)

func TestClockSetForward(t *testing.T) {
	adaptertest.ClockSetForward(t, scene.Qwen, func(c adapters.Config) adapters.Adapter { return New(c) })
}

// A run with -p is in no registry, so that its start is all that shows its session: with a clock that was set, it may have the open turn.
func TestClockSetForwardInRun(t *testing.T) {
	r := adaptertest.Replay(t, "testdata/recordings/qwen-0.24.4-oneshot-working")
	r.SetClock(t, time.Hour)
	cfg := r.Config()
	cfg.Now = func() time.Time { return r.CapturedAt.Add(2 * time.Hour) }
	for _, s := range adaptertest.Discover(t, New(cfg), adapters.Query{}).Sessions {
		if s.Status != adapters.Unknown {
			t.Errorf("%s: %s; %s", s.ID, s.Status, s.Evidence)
		}
	}
}
