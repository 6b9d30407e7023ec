package pi

import (
	"errors"
	"testing"
	"time"

	"rollcall/adapters"
	"rollcall/adapters/pirust"
	"rollcall/internal/adaptertest"
)

const recordings = "testdata/recordings/pi-*"

func newAdapter(cfg adapters.Config) adapters.Adapter { return New(cfg) }

func TestRecordings(t *testing.T) { adaptertest.Recordings(t, recordings, 7, newAdapter) }

func TestClockSteps(t *testing.T) { adaptertest.ClockSteps(t, recordings, 7, newAdapter) }

func TestProcessesInContainer(t *testing.T) { adaptertest.InContainer(t, recordings, 7, newAdapter) }

// Nothing of Pi's is pi_agent_rust's.
func TestNothingIsRust(t *testing.T) {
	for _, dir := range adaptertest.Folders(t, recordings, 7) {
		r := adaptertest.Replay(t, dir)
		roll, err := pirust.New(r.Config()).Discover(t.Context(), adapters.Query{})
		if !errors.Is(err, adapters.ErrAbsent) || len(roll.Sessions) > 0 {
			t.Errorf("%s: %v, %v", dir, roll.Sessions, err)
		}
	}
}

// Only live sessions, as the menu asks for them.
func TestSince(t *testing.T) {
	r := adaptertest.Replay(t, "testdata/recordings/pi-1.5.2-working-tool")
	roll := adaptertest.Discover(t, New(r.Config()), adapters.Query{Since: r.CapturedAt})
	if len(roll.Sessions) != 1 || roll.Sessions[0].Status != adapters.Working {
		t.Errorf("%+v", roll.Sessions)
	}
}

// A turn that the provider refused with 429 until Pi gave up has reached a limit, whose reset is in the stored answer.
func TestLimitReached(t *testing.T) {
	r := adaptertest.Replay(t, "testdata/recordings/pi-1.5.2-limit-reached")
	roll := adaptertest.Discover(t, New(r.Config()), adapters.Query{})
	if len(roll.Sessions) != 1 {
		t.Fatalf("%+v", roll.Sessions)
	}
	want := time.Date(2026, 11, 26, 9, 54, 49, 0, time.UTC)
	if s := roll.Sessions[0]; !s.Limited || s.LimitedUntil.Sub(want).Abs() > time.Minute {
		t.Errorf("limited %v until %v, want %v: %s", s.Limited, s.LimitedUntil, want, s.Evidence)
	}
}
