package pi

import (
	"errors"
	"path/filepath"
	"testing"
	"time"

	"rollcall/adapters"
	"rollcall/adapters/adaptertest"
	"rollcall/adapters/pirust"
)

func noEnv(string) string { return "" }

// replayed is the adapter as it was at the moment of the recording.
func replayed(r *adaptertest.Recording) *Adapter {
	return New(Config{Home: r.Home, Env: noEnv, Table: r.Table, Now: func() time.Time { return r.CapturedAt }})
}

func discover(t testing.TB, a adapters.Adapter, q adapters.Query) adapters.Roll {
	t.Helper()
	roll, err := a.Discover(t.Context(), q)
	if err != nil {
		t.Fatalf("Discover: %v", err)
	}
	return roll
}

func recordings(t *testing.T) []string {
	t.Helper()
	dirs, err := filepath.Glob("testdata/recordings/pi-*")
	if err != nil || len(dirs) < 5 {
		t.Fatalf("%d recordings, %v", len(dirs), err)
	}
	return dirs
}

// Every recording, asked as the program asks: with totals and without, twice,
// for single sessions. Nothing changes below the home, and nothing of it is
// pi_agent_rust's.
func TestRecordings(t *testing.T) {
	for _, dir := range recordings(t) {
		t.Run(filepath.Base(dir), func(t *testing.T) {
			r := adaptertest.Replay(t, dir)
			adaptertest.Untouched(t, r.Home)
			a := replayed(r)
			roll := discover(t, a, adapters.Query{Totals: true})
			adaptertest.Check(t, roll.Sessions, r.Expect)
			if len(roll.Skipped) > 0 {
				t.Errorf("skipped: %v", roll.Skipped)
			}
			for _, s := range roll.Sessions {
				t.Logf("%s %s %s: %s", s.ID, s.Status, s.Outcome, s.Evidence)
			}
			adaptertest.Check(t, discover(t, a, adapters.Query{}).Sessions, r.Expect)
			adaptertest.Check(t, discover(t, replayed(r), adapters.Query{}).Sessions, r.Expect)
			for _, want := range r.Expect.Sessions {
				one := adaptertest.Expectation{Sessions: []adaptertest.Expected{want}}
				for _, a := range []*Adapter{a, replayed(r)} {
					adaptertest.Check(t, discover(t, a, adapters.Query{IDs: []string{want.ID}}).Sessions, one)
				}
			}
			rust := pirust.New(pirust.Config{Home: r.Home, Env: noEnv, Table: r.Table})
			if roll, err := rust.Discover(t.Context(), adapters.Query{}); !errors.Is(err, adapters.ErrAbsent) || len(roll.Sessions) > 0 {
				t.Errorf("pi_agent_rust: %v, %v", roll.Sessions, err)
			}
		})
	}
}

// A container with the user's folder mounted into it names it differently: its
// processes are still the ones that the sessions run in.
func TestProcessesInContainer(t *testing.T) {
	for _, dir := range recordings(t) {
		t.Run(filepath.Base(dir), func(t *testing.T) {
			r := adaptertest.Replay(t, dir)
			if len(r.Processes(t)) == 0 {
				return
			}
			r.Contain(t, "/rollcall-no-such-folder/home")
			adaptertest.Check(t, discover(t, replayed(r), adapters.Query{Totals: true}).Sessions, r.Expect)
		})
	}
}

// Only live sessions, as the menu asks for them.
func TestSince(t *testing.T) {
	r := adaptertest.Replay(t, "testdata/recordings/pi-1.5.2-working-tool")
	roll := discover(t, replayed(r), adapters.Query{Since: r.CapturedAt})
	if len(roll.Sessions) != 1 || roll.Sessions[0].Status != adapters.Working {
		t.Errorf("%+v", roll.Sessions)
	}
}
