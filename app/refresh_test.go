package app

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"rollcall/adapters"
)

func state(t *testing.T, s *Snapshot, name adapters.Name) Health {
	t.Helper()
	for _, h := range s.Adapters {
		if h.Name == name {
			return h
		}
	}
	t.Fatalf("no health of %s", name)
	return Health{}
}

// TestOneHangs: an adapter that ignores its context costs 5 s once; the others'
// rows are there at once; it isn't asked again while it hangs; its late answer
// is dropped.
func TestOneHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		quick := &agent{name: "quick"}
		quick.says(nil, on("q", adapters.Idle, 1))
		slow := &agent{name: "slow", before: func(ctx context.Context, _ adapters.Query) {
			select {
			case <-time.After(2 * time.Second):
			case <-ctx.Done():
			}
		}}
		slow.says(nil, on("s", adapters.Idle, 1))
		broken := &agent{name: "broken"}
		broken.says(adapters.Unrecognised("/b", "no braces"))
		hung := &agent{name: "hung", before: func(context.Context, adapters.Query) { <-release }}
		hung.says(nil, on("late", adapters.Working, 1))
		c := New(Config{Adapters: []adapters.Adapter{quick, slow, broken, hung}, Table: newMachine(pid(1))})

		if s := c.Snapshot(); len(s.Adapters) != 4 || s.Adapters[0].State != Pending {
			t.Fatalf("before the first answer: %+v", s)
		}
		start := time.Now()
		began := start
		first := make(chan time.Duration, 100)
		cancel := c.Subscribe(func(s *Snapshot) {
			if len(s.Sessions()) > 0 {
				first <- time.Since(start)
			}
		})
		defer cancel()
		s := c.Refresh(t.Context())
		if took := time.Since(began); took != 5*time.Second {
			t.Errorf("the refresh took %s, want 5 s", took)
		}
		if d := <-first; d != 0 {
			t.Errorf("the quick rows were there after %s", d)
		}
		if got := len(s.Sessions()); got != 2 {
			t.Errorf("%d sessions, want those of quick and slow", got)
		}
		want := map[adapters.Name]AdapterState{"quick": OK, "slow": OK, "broken": Failed, "hung": Failed}
		for name, st := range want {
			if h := state(t, s, name); h.State != st || h.Asking {
				t.Errorf("%s: %+v, want %s", name, h, st)
			}
		}
		if p := state(t, s, "hung").Problems; len(p) != 1 || p[0] != "no answer in 5 s" {
			t.Errorf("the row of the hung one says %q", p)
		}
		if e := state(t, s, "slow").Elapsed; e != 2*time.Second {
			t.Errorf("slow took %s", e)
		}

		began = time.Now()
		s = c.Refresh(t.Context())
		if took := time.Since(began); took != 2*time.Second {
			t.Errorf("the second refresh took %s, want slow's 2 s", took)
		}
		if n := len(hung.questions()); n != 1 {
			t.Errorf("the hung one was asked %d times", n)
		}
		if p := state(t, s, "hung").Problems; len(p) != 1 || !strings.Contains(p[0], "asked again once it answers") {
			t.Errorf("its row says %q", p)
		}
		close(release)
		synctest.Wait()
		for _, x := range c.Snapshot().Sessions() {
			if x.ID == "late" {
				t.Error("the late answer was shown")
			}
		}
		s = c.Refresh(t.Context())
		if h := state(t, s, "hung"); h.State != OK || h.Sessions != 1 {
			t.Errorf("after it came back: %+v", h)
		}
	})
}

// TestPartInTime: an adapter that heeds its context hands in what it has.
func TestPartInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := &agent{name: "a", before: func(ctx context.Context, _ adapters.Query) { <-ctx.Done() }}
		a.says(partly, on("x", adapters.Idle, 1))
		c := New(Config{Adapters: []adapters.Adapter{a}, Table: newMachine(pid(1))})
		s := c.Refresh(t.Context())
		if h := state(t, s, "a"); h.State != Failed || len(s.Sessions()) != 1 || h.Answered.IsZero() {
			t.Errorf("%+v, %d sessions", h, len(s.Sessions()))
		}
	})
}

func TestFailureKeepsSessions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := &agent{name: "a"}
		a.says(nil, on("x", adapters.Working, 1), on("y", adapters.Working, 2))
		m := newMachine(pid(1), pid(2))
		c := New(Config{Adapters: []adapters.Adapter{a}, Table: m})
		answered := state(t, c.Refresh(t.Context()), "a").Answered
		time.Sleep(time.Minute)
		a.says(partly)
		m.vanish(pid(2))
		s := c.Refresh(t.Context())
		want := []shownRow{{"x", adapters.Working, "", 1, partly.Error()}, {"y", adapters.Stopped, "", 0, partly.Error()}}
		if d := cmp.Diff(want, rowsOf(s.Sessions())); d != "" {
			t.Error(d)
		}
		if h := state(t, s, "a"); h.State != Failed || h.Answered != answered {
			t.Errorf("%+v; it last answered %s", h, answered)
		}
	})
}

func TestAbsent(t *testing.T) {
	a := &agent{name: "a"}
	a.says(adapters.ErrAbsent)
	c := New(Config{Adapters: []adapters.Adapter{a}})
	if h := state(t, c.Refresh(t.Context()), "a"); h.State != Absent || len(h.Problems) != 0 || len(h.LookedIn) == 0 {
		t.Errorf("%+v", h)
	}
	a.says(errors.Join(adapters.ErrAbsent, partly))
	if h := state(t, c.Refresh(t.Context()), "a"); h.State != Failed {
		t.Errorf("absent and unreadable: %+v", h)
	}
}

func TestPanicFailsOneAdapter(t *testing.T) {
	a := &agent{name: "a", before: func(context.Context, adapters.Query) { panic("boom") }}
	b := &agent{name: "b"}
	b.says(nil, on("x", adapters.Idle, 0))
	s := New(Config{Adapters: []adapters.Adapter{a, b}}).Refresh(t.Context())
	if h := state(t, s, "a"); h.State != Failed || !strings.Contains(h.Problems[0], "boom") {
		t.Errorf("%+v", h)
	}
	if len(s.Sessions()) != 1 {
		t.Error("the other's session is missing")
	}
}

// TestJoin: callers at the same time share one question; one that leaves does
// not end it for the others; when all left it is cancelled and changes nothing.
func TestJoin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := &agent{name: "a", before: func(ctx context.Context, _ adapters.Query) {
			select {
			case <-time.After(time.Second):
			case <-ctx.Done():
			}
		}}
		a.says(nil, on("x", adapters.Idle, 0))
		c := New(Config{Adapters: []adapters.Adapter{a}})
		hasty, leave := context.WithCancel(t.Context())
		var group sync.WaitGroup
		group.Go(func() { c.Refresh(hasty) })
		for range 5 {
			group.Go(func() {
				if s := c.Refresh(t.Context()); len(s.Sessions()) != 1 {
					t.Errorf("%d sessions", len(s.Sessions()))
				}
			})
		}
		time.Sleep(moment)
		leave()
		group.Wait()
		if n := len(a.questions()); n != 1 {
			t.Errorf("asked %d times", n)
		}

		a.says(partly)
		before := c.Snapshot()
		alone, leave := context.WithTimeout(t.Context(), moment)
		defer leave()
		began := time.Now()
		c.Refresh(alone)
		if took := time.Since(began); took != moment {
			t.Errorf("a cancelled refresh took %s", took)
		}
		synctest.Wait()
		s := c.Snapshot()
		if d := cmp.Diff(rowsOf(before.Sessions()), rowsOf(s.Sessions())); d != "" || state(t, s, "a").State != OK || s.Refreshing {
			t.Errorf("a cancelled question changed something: %+v %s", s, d)
		}
	})
}

// TestSnapshotsOnlyGrow: readers see each generation once, in order, and never a
// change of one that was published.
func TestSnapshotsOnlyGrow(t *testing.T) {
	a := &agent{name: "a"}
	var calls atomic.Int64
	a.before = func(context.Context, adapters.Query) {
		n := calls.Add(1)
		a.says(nil, on(fmt.Sprint("x", n%3), adapters.Idle, 0), on("y", adapters.Working, 0))
	}
	c := New(Config{Adapters: []adapters.Adapter{a}})
	var last uint64
	done := make(chan struct{})
	cancel := c.Subscribe(func(s *Snapshot) {
		if s.Generation <= last {
			t.Errorf("generation %d after %d", s.Generation, last)
		}
		last = s.Generation
		for _, x := range s.Sessions() {
			_ = x.Evidence
		}
		if s.Generation >= 200 {
			select {
			case <-done:
			default:
				close(done)
			}
		}
	})
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			for c.Snapshot().Generation < 250 {
				c.Refresh(t.Context())
				c.RefreshOne(t.Context(), "a", "y")
			}
		})
	}
	group.Wait()
	<-done
	cancel()
}

func TestSinceAndEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		now := time.Now()
		last := func(s adapters.Session, ago time.Duration) adapters.Session {
			s.LastActivityAt = now.Add(-ago)
			return s
		}
		a := &agent{name: "a"}
		m := newMachine(pid(1))
		a.says(nil, last(on("live", adapters.Idle, 1), 40*24*time.Hour), last(on("week", adapters.Stopped, 0), 6*24*time.Hour),
			last(on("old", adapters.Stopped, 0), 8*24*time.Hour))
		ids := func(since time.Duration) (out []string) {
			s := New(Config{Adapters: []adapters.Adapter{a}, Table: m, Since: since}).Refresh(t.Context())
			for _, x := range s.Sessions() {
				out = append(out, x.ID)
			}
			return out
		}
		for since, want := range map[time.Duration][]string{0: {"live"}, 7 * 24 * time.Hour: {"live", "week"}, All: {"live", "week", "old"}} {
			if d := cmp.Diff(want, ids(since)); d != "" {
				t.Errorf("since %s: %s", since, d)
			}
		}

		// One that ends while we look stays, however long it had been idle.
		c := New(Config{Adapters: []adapters.Adapter{a}, Table: m})
		c.Refresh(t.Context())
		m.vanish(pid(1))
		a.says(nil, last(on("live", adapters.Stopped, 0), 40*24*time.Hour))
		for range 3 {
			if s := c.Refresh(t.Context()); len(s.Sessions()) != 1 || s.Sessions()[0].Status != adapters.Stopped {
				t.Fatalf("the ended session is not listed: %+v", s.Sessions())
			}
		}
		time.Sleep(25 * time.Hour)
		if s := c.Refresh(t.Context()); len(s.Sessions()) != 0 {
			t.Error("it is still listed after a day")
		}
	})
}

func TestFind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := &agent{name: "a"}, &agent{name: "b"}
		a.says(nil, on("abc", adapters.Idle, 0), on("abcdef", adapters.Stopped, 0), on("xyz", adapters.Stopped, 0))
		b.says(nil, on("abd", adapters.Idle, 0))
		c := New(Config{Adapters: []adapters.Adapter{a, b}, Totals: true})
		for prefix, want := range map[string]string{"abc": "abc", "x": "xyz", "abd": "abd", "abcd": "abcdef"} {
			if s, _, err := c.Find(t.Context(), prefix); err != nil || s.ID != want {
				t.Errorf("Find(%q) = %q, %v", prefix, s.ID, err)
			}
		}
		var many *AmbiguousError
		if _, _, err := c.Find(t.Context(), "ab"); !errors.As(err, &many) || len(many.Matches) != 3 {
			t.Errorf("Find of an ambiguous prefix: %v", err)
		}
		if _, _, err := c.Find(t.Context(), "nope"); !errors.Is(err, ErrNoSession) {
			t.Errorf("Find of nothing: %v", err)
		}
		for _, q := range append(a.questions(), b.questions()...) {
			if q.IDs == nil && q.Totals {
				t.Error("exact tokens of every session were asked for to find one")
			}
		}
		hold := make(chan struct{})
		b.hook(func(context.Context, adapters.Query) { <-hold })
		began := time.Now()
		if s, _, err := c.Find(t.Context(), "xyz"); err != nil || s.ID != "xyz" || time.Since(began) != 0 {
			t.Errorf("with one adapter hanging: %q, %v after %s", s.ID, err, time.Since(began))
		}
		began = time.Now()
		if _, _, err := c.Find(t.Context(), "nope"); !errors.Is(err, ErrNoSession) || time.Since(began) != 5*time.Second {
			t.Errorf("not found with one adapter hanging: %v after %s", err, time.Since(began))
		}
		close(hold)
	})
}

func TestQuestionsOfARefresh(t *testing.T) {
	a := &agent{name: "a"}
	a.says(nil, on("x", adapters.Idle, 0))
	c := New(Config{Adapters: []adapters.Adapter{a}, Since: All, Totals: true})
	c.Refresh(t.Context())
	c.RefreshOne(t.Context(), "a", "x")
	c.RefreshOne(t.Context(), "nobody", "x")
	want := []adapters.Query{{Totals: true}, {IDs: []string{"x"}, Totals: true}}
	if d := cmp.Diff(want, a.questions(), cmpopts.IgnoreFields(adapters.Query{}, "Later")); d != "" {
		t.Error(d)
	}
	if !slices.Equal(rowsOf(c.Snapshot().Sessions()), []shownRow{{"x", adapters.Idle, "", 0, ""}}) {
		t.Errorf("%+v", c.Snapshot().Sessions())
	}
}
