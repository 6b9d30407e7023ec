package codex

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"rollcall/adapters"
	"rollcall/adapters/adaptertest"
)

// adapterOf makes an adapter that sees a recording, and nothing of this machine.
func adapterOf(r *adaptertest.Recording) *Adapter {
	return New(Config{
		Home:  r.Home,
		Env:   func(string) string { return "" },
		Table: r.Table,
		Now:   func() time.Time { return r.CapturedAt },
	})
}

// Each recording of a real home gives exactly what a correct monitor must say,
// again and again, and nothing in it changes.
func TestRecordings(t *testing.T) {
	entries, err := os.ReadDir(recordings)
	if err != nil || len(entries) < 7 {
		t.Fatalf("%d recordings, %v", len(entries), err)
	}
	for _, e := range entries {
		t.Run(e.Name(), func(t *testing.T) {
			r := adaptertest.Replay(t, filepath.Join(recordings, e.Name()))
			adaptertest.Untouched(t, r.Home)
			a := adapterOf(r)
			for range 2 {
				roll, err := a.Discover(t.Context(), adapters.Query{})
				if err != nil {
					t.Error(err)
				}
				adaptertest.Check(t, roll.Sessions, r.Expect)
				for _, s := range roll.Sessions {
					t.Logf("%s %s %s %q %d shared=%v %v %v title=%q last=%q v=%s %v", s.ID[24:], s.Status, s.Outcome, s.Evidence, s.Process.PID, s.Shared, s.Tokens, s.Context, s.Title, s.LastPrompt, s.Version, s.LastActivityAt)
				}
				t.Log(roll.Skipped, roll.Versions, roll.LookedIn, err)
			}
		})
	}
}

// A container with the user's folder mounted into it names it differently: its
// processes are still the ones that host the threads.
func TestProcessesInContainer(t *testing.T) {
	for _, name := range []string{"codex-0.45.0-approval", "codex-0.169.0-exec-killed", "codex-0.169.0-tui-daemon", "codex-0.169.0-subagent"} {
		t.Run(name, func(t *testing.T) {
			r := adaptertest.Replay(t, filepath.Join(recordings, name))
			r.Contain(t, "/rollcall-no-such-folder/home")
			roll, err := adapterOf(r).Discover(t.Context(), adapters.Query{})
			if err != nil {
				t.Error(err)
			}
			adaptertest.Check(t, roll.Sessions, r.Expect)
		})
	}
}
