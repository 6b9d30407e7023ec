package adaptertest

import (
	"context"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"rollcall/adapters"
)

// Config is the moment of the recording, with nothing of this machine.
func (r *Recording) Config() adapters.Config {
	return adapters.Config{
		Home: r.Home, Env: func(string) string { return "" }, Table: r.Table,
		Now: func() time.Time { return r.CapturedAt },
	}
}

// Recordings replays every recording that the pattern matches, of which there
// must be at least that many, and asks as the program asks: with totals and
// without, twice, for single sessions. Nothing changes below the home, and no
// record is unknown.
func Recordings(t *testing.T, pattern string, least int, build func(adapters.Config) adapters.Adapter) {
	t.Helper()
	each(t, pattern, least, func(t *testing.T, r *Recording) {
		Untouched(t, r.Home)
		a := build(r.Config())
		roll := Discover(t, a, adapters.Query{Totals: true})
		Check(t, roll.Sessions, r.Expect)
		if len(roll.Skipped) > 0 {
			t.Errorf("skipped: %v", roll.Skipped)
		}
		for _, s := range roll.Sessions {
			checkTurnStart(t, s)
			checkEnds(t, a, s)
			t.Logf("%s %s %s %s: %s", s.ID, s.Status, s.WaitingFor, s.Outcome, s.Evidence)
		}
		for _, of := range []adapters.Adapter{a, build(r.Config())} { // with what was read before, and with nothing
			sessions := Discover(t, of, adapters.Query{Totals: true, Usage: true}).Sessions
			Check(t, sessions, r.Expect)
			CheckUsage(t, sessions)
			for i := range sessions {
				checkTurns(t, &sessions[i])
				turns, ok := sessions[i].Turns()
				t.Log(sessions[i].ID, turns, ok, sessions[i].Usage)
			}
		}
		Check(t, Discover(t, a, adapters.Query{}).Sessions, r.Expect)
		Check(t, Discover(t, build(r.Config()), adapters.Query{}).Sessions, r.Expect)
		for _, want := range r.Expect.Sessions {
			one := Expectation{Sessions: []Expected{want}}
			for _, a := range []adapters.Adapter{a, build(r.Config())} {
				Check(t, Discover(t, a, adapters.Query{IDs: []string{want.ID}}).Sessions, one)
			}
		}
	})
}

// Named checks that every session of every recording that the pattern matches is named by the beginning of its id, and by no other text.
func Named[A interface {
	Named(ctx context.Context, prefix string) ([]string, error)
}](t *testing.T, pattern string, least int, build func(adapters.Config) A) {
	t.Helper()
	each(t, pattern, least, func(t *testing.T, r *Recording) {
		Untouched(t, r.Home)
		a := build(r.Config())
		for _, s := range r.Expect.Sessions {
			for _, prefix := range []string{s.ID, s.ID[:len(s.ID)-4], ""} {
				if ids, err := a.Named(t.Context(), prefix); err != nil || !slices.Contains(ids, s.ID) {
					t.Errorf("%q names %v, %v", prefix, ids, err)
				}
			}
			if ids, err := a.Named(t.Context(), "x"+s.ID); err != nil || len(ids) > 0 {
				t.Errorf("another prefix names %v, %v", ids, err)
			}
		}
	})
}

// checkTurnStart checks that a session with a prompt tells when its last turn
// began: within the session, and later than it where that has several prompts.
func checkTurnStart(t *testing.T, s adapters.Session) {
	t.Helper()
	const slack = 2 * time.Second // the first record may be written after the prompt
	at := s.TurnStartedAt
	switch {
	case s.LastPrompt == "":
	case at.IsZero():
		t.Errorf("%s: it is not known when the turn of %.40q began", s.ID, s.LastPrompt)
	case at.Before(s.StartedAt.Add(-slack)) || at.After(s.LastActivityAt.Add(slack)):
		t.Errorf("%s: its last turn began %s, the session %s, and it was active %s", s.ID, at, s.StartedAt, s.LastActivityAt)
	case s.FirstPrompt != "" && s.FirstPrompt != s.LastPrompt && !at.After(s.StartedAt):
		t.Errorf("%s: its last turn began with the session, though %.40q is not its first prompt", s.ID, s.LastPrompt)
	}
}

// checkEnds checks that the last messages are the same, however many are asked for.
func checkEnds(t *testing.T, a adapters.Adapter, s adapters.Session) {
	t.Helper()
	p, ok := a.(adapters.Peeker)
	if !ok || s.IsProcess() {
		return
	}
	all, err := p.Peek(t.Context(), s, 10_000)
	if err != nil && len(all) == 0 {
		return
	}
	for _, n := range []int{1, 2, 3, 5, 8, 13, 21, 55, 200} {
		if few, err := p.Peek(t.Context(), s, n); err != nil || !slices.Equal(few, all[max(0, len(all)-n):]) {
			t.Errorf("%s: the last %d messages are %+v, %v, want %+v", s.ID, n, few, err, all[max(0, len(all)-n):])
		}
	}
}

// InContainer replays the recordings with their processes in a container that has
// the user's folder mounted under another name: they are still the ones that the
// sessions run in.
func InContainer(t *testing.T, pattern string, least int, build func(adapters.Config) adapters.Adapter) {
	t.Helper()
	each(t, pattern, least, func(t *testing.T, r *Recording) {
		if len(r.Processes(t)) == 0 {
			return
		}
		r.Contain(t, "/rollcall-no-such-folder/home")
		Check(t, Discover(t, build(r.Config()), adapters.Query{Totals: true}).Sessions, r.Expect)
	})
}

// ClockSteps replays the recordings with a clock that was set forward and back: see clockSteps.
func ClockSteps(t *testing.T, pattern string, least int, build func(adapters.Config) adapters.Adapter) {
	t.Helper()
	for _, dir := range Folders(t, pattern, least) {
		t.Run(filepath.Base(dir), func(t *testing.T) { clockSteps(t, dir, build) })
	}
}

func each(t *testing.T, pattern string, least int, do func(*testing.T, *Recording)) {
	t.Helper()
	for _, dir := range Folders(t, pattern, least) {
		t.Run(filepath.Base(dir), func(t *testing.T) { do(t, Replay(t, dir)) })
	}
}

// Folders are those of the recordings that the pattern matches, of which there
// must be at least that many.
func Folders(t testing.TB, pattern string, least int) []string {
	t.Helper()
	dirs, err := filepath.Glob(pattern)
	if err != nil || len(dirs) < least {
		t.Fatalf("%d recordings, %v", len(dirs), err)
	}
	return dirs
}

// Discover asks and wants no error.
func Discover(t testing.TB, a adapters.Adapter, q adapters.Query) adapters.Roll {
	t.Helper()
	roll, err := a.Discover(t.Context(), q)
	if err != nil {
		t.Fatalf("Discover: %v", err)
	}
	return roll
}
