package opencode

import (
	"path/filepath"
	"testing"
	"time"

	"rollcall/adapters"
	"rollcall/adapters/adaptertest"
)

// replayed is the adapter as it was at the moment of the recording.
func replayed(t testing.TB, r *adaptertest.Recording) *Adapter {
	t.Helper()
	return New(Config{
		Home: r.Home, Env: func(string) string { return "" }, Table: r.Table,
		Now: func() time.Time { return r.CapturedAt },
	})
}

func discover(t testing.TB, a *Adapter, q adapters.Query) adapters.Roll {
	t.Helper()
	roll, err := a.Discover(t.Context(), q)
	if err != nil {
		t.Fatalf("Discover: %v", err)
	}
	return roll
}

func recordings(t testing.TB) []string {
	t.Helper()
	dirs, err := filepath.Glob("testdata/recordings/opencode-*")
	if err != nil || len(dirs) < 7 {
		t.Fatalf("%d recordings, %v", len(dirs), err)
	}
	return dirs
}

// Every recording, asked as the program asks: with totals and without, twice,
// for single sessions. Nothing changes below the home.
func TestRecordings(t *testing.T) {
	for _, dir := range recordings(t) {
		t.Run(filepath.Base(dir), func(t *testing.T) {
			r := adaptertest.Replay(t, dir)
			adaptertest.Untouched(t, r.Home)
			a := replayed(t, r)
			roll := discover(t, a, adapters.Query{Totals: true})
			adaptertest.Check(t, roll.Sessions, r.Expect)
			if len(roll.Skipped) > 0 {
				t.Errorf("skipped: %v", roll.Skipped)
			}
			for _, s := range roll.Sessions {
				t.Logf("%s %s %s %s: %s", s.ID, s.Status, s.WaitingFor, s.Outcome, s.Evidence)
			}
			adaptertest.Check(t, discover(t, a, adapters.Query{}).Sessions, r.Expect)
			adaptertest.Check(t, discover(t, replayed(t, r), adapters.Query{}).Sessions, r.Expect)
			for _, want := range r.Expect.Sessions {
				one := adaptertest.Expectation{Sessions: []adaptertest.Expected{want}}
				for _, a := range []*Adapter{a, replayed(t, r)} {
					adaptertest.Check(t, discover(t, a, adapters.Query{IDs: []string{want.ID}}).Sessions, one)
				}
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
			adaptertest.Check(t, discover(t, replayed(t, r), adapters.Query{Totals: true}).Sessions, r.Expect)
		})
	}
}
