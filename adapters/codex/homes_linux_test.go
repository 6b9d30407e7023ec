package codex

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"rollcall/adapters"
	"rollcall/adapters/internal/kit"
	"rollcall/internal/must"
)

// A home that only a process names is looked at and watched from the first answer
// after the start of that process, and for 24 hours after its end.
func TestHomeOfAProcess(t *testing.T) {
	own, other := home(t), filepath.Join(t.TempDir(), "profile")
	rollout := filepath.Join(other, "sessions", "2026", "11", "21", "rollout-2026-11-21T05-00-00-"+threadA+".jsonl")
	a := atNow(own)
	ask := func() (adapters.Roll, adapters.Session) {
		t.Helper()
		roll, err := a.Discover(t.Context(), adapters.Query{})
		must.Do(t, err)
		for _, s := range roll.Sessions {
			if s.ID == threadA {
				return roll, s
			}
		}
		return roll, adapters.Session{}
	}
	if roll, _ := ask(); slices.Contains(roll.LookedIn, other) {
		t.Fatalf("looked in %s before a process named it", other)
	}
	p := startCodex(t, "codex", []string{"CODEX_HOME=" + other})
	if roll, _ := ask(); !slices.Contains(roll.LookedIn, other) {
		t.Errorf("looked in %q, not in %s, which a process will make", roll.LookedIn, other)
	}
	write(t, rollout, begunNow("0.169.0").text())
	p.do("open", rollout)
	_, s := ask()
	want(t, s, adapters.Working, "", p.cmd.Process.Pid)
	if paths := a.WatchPaths(); !slices.Contains(paths, filepath.Dir(rollout)) {
		t.Errorf("watches %q, not %s", paths, filepath.Dir(rollout))
	}
	p.kill()
	_, s = ask()
	want(t, s, adapters.Stopped, adapters.Died, 0)
	ids, err := a.Named(t.Context(), threadA[:8])
	if err != nil || !slices.Contains(ids, threadA) {
		t.Errorf("named %q, %v", ids, err)
	}
	now := time.Now()
	a.Now = func() time.Time { return now.Add(kit.RecentTime - time.Hour) }
	_, s = ask()
	want(t, s, adapters.Stopped, adapters.Died, 0)
	a.Now = func() time.Time { return now.Add(kit.RecentTime + time.Hour) }
	if roll, s := ask(); s.ID != "" || slices.ContainsFunc(roll.LookedIn, func(p string) bool { return strings.HasPrefix(p, other) }) {
		t.Errorf("after a day still %s in %q", s.ID, roll.LookedIn)
	}
}

// TestNamedHome: a home that the user named is read and looked at without a process, until the user removes it.
func TestNamedHome(t *testing.T) {
	other := filepath.Join(t.TempDir(), "profile")
	write(t, filepath.Join(other, "sessions", "2026", "11", "21", "rollout-2026-11-21T05-00-00-"+threadA+".jsonl"), begunNow("0.169.0").text())
	a := atNow(home(t))
	for _, named := range [][]string{{other, filepath.Join(other, "missing")}, nil} {
		a.Base.Named = func() []string { return named }
		roll, err := a.Discover(t.Context(), adapters.Query{})
		must.Do(t, err)
		if found := slices.ContainsFunc(roll.Sessions, func(s adapters.Session) bool { return s.ID == threadA }); found != (named != nil) {
			t.Errorf("homes %q: found %v in %q", named, found, roll.LookedIn)
		}
	}
}

// TestOneHomeOfManyNames: the processes of a container have different names for one home, below their own roots. It is read once.
func TestOneHomeOfManyNames(t *testing.T) {
	own := home(t)
	path := write(t, rolloutPath(own, threadA), newScript(threadA, "0.169.0").turn("a", "x").text())
	for range 3 {
		p := startCodex(t, "codex", nil).do("read", "/dev/null")
		other := startCodex(t, "codex", []string{fmt.Sprintf("CODEX_HOME=/proc/%d/root%s/.codex", p.cmd.Process.Pid, own)})
		other.do("open", path)
		roll, err := atNow(own).Discover(t.Context(), adapters.Query{})
		if err != nil || len(roll.Skipped) > 0 {
			t.Errorf("skipped %v, %v", roll.Skipped, err)
		}
		want(t, below(own, roll)[threadA], adapters.Idle, adapters.Completed, other.cmd.Process.Pid)
		other.kill()
	}
}
