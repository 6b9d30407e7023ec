package app

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"rollcall/adapters"
)

// hourOld is a stopped session of an hour ago.
func hourOld(id string) adapters.Session {
	return changed(on(id, adapters.Stopped, 0), func(s *adapters.Session) { s.LastActivityAt = time.Now().Add(-time.Hour) })
}

// isLiveQuestion reports whether a question is about live sessions alone.
func isLiveQuestion(q adapters.Query) bool { return q.IDs == nil && !q.Since.IsZero() }

// sorted returns the rows by id.
func sorted(rows []shownRow) []shownRow {
	slices.SortFunc(rows, func(a, b shownRow) int { return strings.Compare(a.ID, b.ID) })
	return rows
}

// TestRefreshLive: the live sessions are shown before the question about the others is answered. What ended since is stopped by then, as its
// files say; what had stopped is shown once, also if it is live again; and the answer that follows is that of a new core.
func TestRefreshLive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMachine(pid(1), pid(2), pid(5))
		a := &agent{name: "a"}
		a.says(nil, hourOld("deleted"), hourOld("resumed"), hourOld("stays"), on("goes on", adapters.Working, 1), on("ends", adapters.Working, 2), on("cleared", adapters.Idle, 5))
		cfg := Config{Adapters: []adapters.Adapter{a}, Table: m, Since: All}
		c := New(cfg)
		c.Refresh(t.Context())
		events := listen(t, c)
		m.vanish(pid(2))
		m.start(pid(3))
		m.start(pid(4))
		a.says(nil, on("resumed", adapters.Idle, 3), hourOld("stays"), on("goes on", adapters.Waiting, 1), on("begins", adapters.Working, 4),
			on("new", adapters.Idle, 5), hourOld("cleared"),
			changed(hourOld("ends"), func(s *adapters.Session) { s.Outcome = adapters.Completed }))
		hold := make(chan struct{})
		var asked atomic.Int32
		a.hook(func(_ context.Context, q adapters.Query) {
			if q.IDs == nil && q.Since.IsZero() {
				asked.Add(1)
				<-hold
			}
		})
		want := []shownRow{{"begins", adapters.Working, "", 4, ""}, {"cleared", adapters.Stopped, "", 0, ""},
			{"deleted", adapters.Stopped, "", 0, ""}, {"ends", adapters.Stopped, adapters.Completed, 0, ""}, {"goes on", adapters.Waiting, "", 1, ""}, {"new", adapters.Idle, "", 5, ""},
			{"resumed", adapters.Idle, "", 3, ""}, {"stays", adapters.Stopped, "", 0, ""}}
		if d := cmp.Diff(want, sorted(rowsOf(c.RefreshLive(t.Context()).Sessions()))); d != "" {
			t.Errorf("before the stored sessions are read: %s", d)
		}
		if h := c.Snapshot().Adapters[0]; h.State != OK || h.Sessions != 6 {
			t.Errorf("the state of the adapter is that of its last answer about all: %+v", h)
		}
		told := events.told
		time.Sleep(restAfter / 2)
		if asked.Load() > 0 {
			t.Error("the question about all is asked while the live sessions are still to be drawn")
		}
		if time.Sleep(restAfter); asked.Load() != 1 {
			t.Errorf("asked about all %d times", asked.Load())
		}
		if want := []string{"status goes on waiting", "status cleared stopped", "started begins working", "started new idle", "started resumed idle", "ended ends stopped/completed"}; !cmp.Equal(want, told()) {
			t.Errorf("told %q", told())
		}
		close(hold)
		synctest.Wait()
		fresh := New(cfg).Refresh(t.Context())
		if d := cmp.Diff(sorted(rowsOf(fresh.Sessions())), sorted(rowsOf(c.Snapshot().Sessions()))); d != "" || len(fresh.Sessions()) != 7 {
			t.Errorf("after it: %s", d)
		}
		if n := len(told()); n != 6 {
			t.Errorf("told %q", told())
		}
	})
}

// TestRefreshLiveWhileAsking: what changed after the question that is under way was read is shown.
func TestRefreshLiveWhileAsking(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := &late{agent: &agent{name: "a"}, hold: make(chan struct{}, 9)}
		a.hold <- struct{}{}
		a.says(nil, on("s", adapters.Working, 1))
		c := New(Config{Adapters: []adapters.Adapter{a}, Table: newMachine(pid(1)), Since: All})
		c.Refresh(t.Context())
		go c.Refresh(t.Context())
		synctest.Wait()
		a.says(nil, on("s", adapters.Waiting, 1))
		time.AfterFunc(time.Millisecond, func() { close(a.hold) })
		if list := c.RefreshLive(t.Context()).Sessions(); list[0].Status != adapters.Waiting {
			t.Errorf("%+v", list)
		}
		synctest.Wait()
	})
}

// TestRefreshLiveInterrupts: the live sessions are shown at once while a question about all is under way, which is then asked again for those
// who wait for it.
func TestRefreshLiveInterrupts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := &agent{name: "a"}
		a.says(nil, on("s", adapters.Working, 1), hourOld("old"))
		c := New(Config{Adapters: []adapters.Adapter{a}, Table: newMachine(pid(1)), Since: All})
		c.Refresh(t.Context())
		events := listen(t, c)
		var cut atomic.Int32
		release := make(chan struct{})
		a.hook(func(ctx context.Context, q adapters.Query) {
			if isLiveQuestion(q) {
				return
			}
			select {
			case <-ctx.Done():
				cut.Add(1)
			case <-release:
			}
		})
		refreshed := make(chan *Snapshot, 1)
		go func() { refreshed <- c.Refresh(t.Context()) }()
		began := time.Now()
		for range 3 {
			synctest.Wait()
			a.says(nil, on("s", adapters.Waiting, 1), hourOld("old"), hourOld("stored"))
			if list := c.RefreshLive(t.Context()).Sessions(); list[0].Status != adapters.Waiting || len(list) != 2 || time.Since(began) > 0 {
				t.Errorf("after %v: %+v", time.Since(began), rowsOf(list))
			}
		}
		close(release)
		if list := (<-refreshed).Sessions(); len(list) != 3 || cut.Load() != 3 || time.Since(began) > 0 {
			t.Errorf("interrupted %d times, after %v: %+v", cut.Load(), time.Since(began), rowsOf(list))
		}
		synctest.Wait()
		if told := events.told(); !cmp.Equal(told, []string{"status s waiting"}) || c.Snapshot().Refreshing {
			t.Errorf("told %q, refreshing %v", told, c.Snapshot().Refreshing)
		}
	})
}

// late returns what it read of all sessions only when it may.
type late struct {
	*agent
	hold chan struct{}
}

func (l *late) Discover(ctx context.Context, q adapters.Query) (adapters.Roll, error) {
	r, err := l.agent.Discover(ctx, q)
	if q.IDs == nil && q.Since.IsZero() {
		<-l.hold
	}
	return r, err
}

// TestRefreshLiveIncomplete: an incomplete answer about the live sessions shows nothing, and after an incomplete answer there is no such question.
func TestRefreshLiveIncomplete(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := &agent{name: "a"}
		c := New(Config{Adapters: []adapters.Adapter{a}, Table: newMachine(pid(1)), Since: All})
		all := []adapters.Session{on("live", adapters.Working, 1), hourOld("old")}
		live := 0
		a.hook(func(_ context.Context, q adapters.Query) {
			if a.says(nil, all...); isLiveQuestion(q) {
				live++
				a.says(partly)
			}
		})
		want := []shownRow{{"live", adapters.Working, "", 1, ""}, {"old", adapters.Stopped, "", 0, ""}}
		for i, questions := range []int{0, 1, 2} {
			snap := c.RefreshLive(t.Context())
			if d := cmp.Diff(want, rowsOf(snap.Sessions())); d != "" || snap.Adapters[0].State != OK || live != questions {
				t.Errorf("refresh %d: %d questions about live sessions, %+v %s", i, live, snap.Adapters[0], d)
			}
		}
		a.hook(nil)
		a.says(errors.Join(partly), all...)
		c.Refresh(t.Context())
		a.hook(func(_ context.Context, q adapters.Query) {
			if isLiveQuestion(q) {
				t.Error("asked for live sessions although the last answer was not complete")
			}
		})
		if snap := c.RefreshLive(t.Context()); snap.Adapters[0].State != Failed || len(snap.Sessions()) != 2 {
			t.Errorf("%+v", snap)
		}
	})
}

// TestRefreshLiveLaunches: the row of a launch that its agent does not list stays that of a launch.
func TestRefreshLiveLaunches(t *testing.T) {
	a := &agent{name: "a"}
	a.says(nil, on("live", adapters.Working, 1))
	own := unlistedLaunch{}
	c := New(Config{Adapters: []adapters.Adapter{a}, Table: newMachine(pid(1)), Since: All, Launches: own})
	c.Refresh(t.Context())
	for _, snap := range []*Snapshot{c.RefreshLive(t.Context()), c.Refresh(t.Context())} {
		x, err := findExact(snap, "l-1")
		if err != nil || x.Launch == nil || !x.Launch.Unlisted || snap.Adapters[0].Sessions != 1 {
			t.Errorf("%+v %v", x, err)
		}
	}
}

// unlistedLaunch is the record of a launch that has ended, and that no agent lists.
type unlistedLaunch struct{}

func (unlistedLaunch) Complete(_ adapters.Name, listed []adapters.Session) ([]adapters.Session, func(*adapters.Session) *Launch) {
	of := func(x *adapters.Session) *Launch {
		if x.ID == "l-1" {
			return &Launch{ID: "l-1"}
		}
		return nil
	}
	if slices.ContainsFunc(listed, func(x adapters.Session) bool { return x.ID == "l-1" }) {
		return nil, of
	}
	return []adapters.Session{hourOld("l-1")}, of
}

func (unlistedLaunch) Output(string, int64) (string, error) { return "", nil }
