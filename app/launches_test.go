package app

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"rollcall/adapters"
)

// oneLaunch is a launch of Rollcall's own: the processes 1, a wrapper, and 2, its
// agent, whose session is "a".
type oneLaunch struct{}

func (oneLaunch) Complete(_ adapters.Name, listed []adapters.Session) ([]adapters.Session, func(*adapters.Session) *Launch) {
	of := func(s *adapters.Session) *Launch {
		if s.ID == "l-1" || s.ID == "a" || s.Process == pid(1) || s.Process == pid(2) {
			return &Launch{ID: "l-1", Prompt: "do it"}
		}
		return nil
	}
	if slices.ContainsFunc(listed, func(s adapters.Session) bool { return of(&s) != nil }) {
		return nil, of
	}
	return []adapters.Session{on("l-1", adapters.Working, 1)}, of
}

func (oneLaunch) Output(string, int64) (string, error) { return "", nil }

// TestLaunchedProcessWithoutSession: until its agent lists a session, a launch and
// the agent's process are one row under the launch's id, in the agent's process.
// A process that was not launched keeps its row.
func TestLaunchedProcessWithoutSession(t *testing.T) {
	playWith(t, oneLaunch{}, nil, func(s *scene) {
		for n := range 3 {
			s.machine.start(pid(n + 1))
		}
		s.agent.says(nil, process(2), process(3))
		s.refresh()
		rows := s.core.Snapshot().Sessions()
		i := slices.IndexFunc(rows, func(x Session) bool { return x.ID == "l-1" })
		if len(rows) != 2 || i < 0 {
			s.Fatalf("rows %+v", rows)
		}
		x, other := rows[i], rows[1-i]
		if x.Process != pid(2) || x.Status != adapters.Working || x.Launch == nil || !x.Launch.Unlisted || !x.Launch.Open {
			s.Errorf("the launch: %+v, %+v", x, x.Launch)
		}
		if !other.IsProcess() || other.Process != pid(3) || other.Launch != nil {
			s.Errorf("the other: %+v", other)
		}

		s.agent.says(nil, on("a", adapters.Working, 2), process(3)) // its first record
		s.refresh()
		if got := rowsOf(s.core.Snapshot().Sessions()); len(got) != 2 || got[0].ID != "a" {
			s.Errorf("rows %+v", got)
		}
		s.agent.says(nil, done("a"), process(3))
		s.machine.end(pid(1))
		s.machine.end(pid(2))
		synctest.Wait()
		s.settle()
		s.want("started l-1 working", "ended a stopped/completed")
	})
}

// TestLaunchIsListed: a launch that its agent lists for the first time, under an id
// of its own, has started once: what is news is its status, or its end.
func TestLaunchIsListed(t *testing.T) {
	for name, c := range map[string]struct {
		listed adapters.Session
		want   []string
	}{
		"in the same status": {on("a", adapters.Working, 2), []string{"started l-1 working", "ended a stopped/completed"}},
		"in another status":  {on("a", adapters.Waiting, 2), []string{"started l-1 working", "status a waiting", "ended a stopped/completed"}},
		"as stopped":         {done("a"), []string{"started l-1 working", "ended a stopped/completed"}},
	} {
		t.Run(name, func(t *testing.T) {
			launches := &endedLaunch{}
			playWith(t, launches, nil, func(s *scene) {
				s.machine.start(pid(1))
				s.machine.start(pid(2))
				launches.alive = func() bool { return s.machine.Alive(pid(2)) }
				s.agent.says(nil)
				s.refresh()
				s.agent.says(nil, active(c.listed, time.Now()))
				if !c.listed.Live() {
					s.machine.vanish(pid(2))
					s.machine.end(pid(1))
				}
				s.refresh()
				s.agent.says(nil, done("a"))
				s.machine.end(pid(2)) // the wrapper lives on
				synctest.Wait()
				s.settle()
				s.want(c.want...)
			})
		})
	}
}

// TestLaunchedProcessEnds: a launch that ends before its agent lists a session is
// reported as one end, under the launch's id. Nothing reports how its turn ended.
func TestLaunchedProcessEnds(t *testing.T) {
	launches := &endedLaunch{}
	playWith(t, launches, nil, func(s *scene) {
		s.machine.start(pid(1))
		s.machine.start(pid(2))
		launches.alive = func() bool { return s.machine.Alive(pid(2)) }
		s.agent.says(nil, process(2))
		s.refresh()
		s.agent.says(nil)
		s.machine.end(pid(2))
		s.machine.end(pid(1))
		synctest.Wait()
		s.settle()
		s.want("started l-1 working", "ended l-1 stopped")
	})
}

// endedLaunch is oneLaunch while its agent lives.
type endedLaunch struct {
	oneLaunch
	alive func() bool
}

func (e *endedLaunch) Complete(agent adapters.Name, listed []adapters.Session) ([]adapters.Session, func(*adapters.Session) *Launch) {
	more, of := e.oneLaunch.Complete(agent, listed)
	if e.alive == nil || !e.alive() {
		more = nil
	}
	return more, of
}

// unreadLaunch is a launch whose records can't be read until readable is set.
type unreadLaunch struct {
	oneLaunch
	readable bool
}

func (u *unreadLaunch) Complete(adapters.Name, []adapters.Session) ([]adapters.Session, func(*adapters.Session) *Launch) {
	return nil, func(s *adapters.Session) *Launch {
		if !u.readable || s.ID != "a" {
			return nil
		}
		return &Launch{ID: "l-1"}
	}
}

// TestLaunchIsFoundAtTheEnd: the end of a session that its agent no longer lists is reported with its launch, although the
// records could not be read while the session was listed.
func TestLaunchIsFoundAtTheEnd(t *testing.T) {
	launches := &unreadLaunch{}
	playWith(t, launches, []adapters.Session{on("a", adapters.Working, 1)}, func(s *scene) {
		launches.readable = true
		s.agent.says(nil)
		s.machine.end(pid(1))
		synctest.Wait()
		s.settle()
		for _, e := range s.events.all() {
			if e.Kind == Ended && (e.Session.Launch == nil || e.Session.Launch.ID != "l-1") {
				s.Errorf("the end has the launch %+v", e.Session.Launch)
			}
		}
		s.want("ended a stopped/died")
	})
}
