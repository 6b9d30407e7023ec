package app

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"rollcall/adapters"
	"rollcall/internal/agentname"
	"rollcall/proc"
)

// died is a session whose files leave its turn open, last active at at.
func died(id string, at time.Time) adapters.Session {
	return changed(on(id, adapters.Stopped, 0), func(s *adapters.Session) { s.Outcome, s.LastActivityAt = adapters.Died, at })
}

func active(s adapters.Session, at time.Time) adapters.Session {
	s.LastActivityAt = at
	return s
}

func outcome(s adapters.Session, o adapters.Outcome) adapters.Session {
	s.Outcome = o
	return s
}

// TestIdleBeforeItsEnd: of a session that was seen idle no death in mid-turn is told, whatever its files leave open, unless it recorded
// something since. Its row says what its files say, as a program that begins now does.
func TestIdleBeforeItsEnd(t *testing.T) {
	for name, c := range map[string]struct {
		seen   adapters.Outcome
		listed func(turn, look time.Time) adapters.Session
		want   string
	}{
		"prompt taken back": {adapters.Interrupted, func(turn, _ time.Time) adapters.Session { return died("a", turn) }, "stopped/interrupted"},
		"outcome not known": {"", func(turn, _ time.Time) adapters.Session { return died("a", turn) }, "stopped"},
		"the files still say working": {adapters.Completed,
			func(turn, _ time.Time) adapters.Session { return active(on("a", adapters.Working, 1), turn) }, "stopped/completed"},
		"a prompt after the look": {adapters.Interrupted,
			func(_, look time.Time) adapters.Session { return died("a", look.Add(100*time.Millisecond)) }, "stopped/died"},
		"a prompt before the look, stored after it": {adapters.Completed,
			func(_, look time.Time) adapters.Session { return died("a", look.Add(-time.Millisecond)) }, "stopped/died"},
		"another outcome than died": {adapters.Interrupted,
			func(turn, _ time.Time) adapters.Session {
				return outcome(active(on("a", adapters.Stopped, 0), turn), adapters.Failed)
			}, "stopped/failed"},
	} {
		t.Run(name, func(t *testing.T) {
			play(t, []adapters.Session{on("a", adapters.Working, 1)}, func(s *scene) {
				turn := time.Now()
				time.Sleep(time.Minute)
				s.agent.says(nil, outcome(active(on("a", adapters.Idle, 1), turn), c.seen))
				s.refresh()
				look := time.Now()
				time.Sleep(time.Second)
				s.agent.says(nil, c.listed(turn, look))
				s.machine.end(pid(1))
				synctest.Wait()
				s.want("status a idle"+suffix(c.seen), "ended a "+c.want)
				if changed := s.events.all()[1].Session.Outcome == c.seen; changed != strings.Contains(s.events.all()[1].Session.Evidence, "its turn was over when Rollcall last saw it alive") {
					t.Errorf("evidence: %s", s.events.all()[1].Session.Evidence)
				}
				fresh := New(Config{Adapters: []adapters.Adapter{s.agent}, Table: s.machine, Since: time.Hour}).Refresh(s.Context()).Sessions()[0]
				for range 3 {
					s.settle()
					s.refresh()
					if x := s.core.Snapshot().Sessions()[0]; rowOf(x) != rowOf(fresh) || x.Evidence != fresh.Evidence {
						t.Errorf("shown as %+v %s, by a new core as %+v %s", rowOf(x), x.Evidence, rowOf(fresh), fresh.Evidence)
					}
				}
			})
		})
	}
}

// TestAnsweredOrAskedBeforeItsEnd: where the agent does not record whether it answered or asked, the end is told as the last look saw the session, which a terminal's
// title may have shown, and its row goes on to say that it is not known.
func TestAnsweredOrAskedBeforeItsEnd(t *testing.T) {
	for name, c := range map[string]struct {
		seen  adapters.Session
		since time.Duration // that the agent recorded something after the look
		want  string
	}{
		"complete by its title": {outcome(on("a", adapters.Idle, 1), adapters.Completed), 0, "stopped/completed"},
		"waiting by its title":  {waiting(on("a", adapters.Waiting, 1)), 0, "stopped/died"},
		"not known":             {changed(on("a", adapters.Idle, 1), func(s *adapters.Session) { s.MayAsk = true }), 0, "stopped"},
		"recorded since":        {waiting(on("a", adapters.Waiting, 1)), 10 * time.Second, "stopped"},
		"at work":               {on("a", adapters.Working, 1), 0, "stopped"},
	} {
		t.Run(name, func(t *testing.T) {
			turn := time.Now()
			play(t, []adapters.Session{active(c.seen, turn)}, func(s *scene) {
				s.agent.says(nil, changed(active(on("a", adapters.Stopped, 0), turn.Add(c.since)), func(s *adapters.Session) { s.MayAsk = true }))
				s.machine.end(pid(1))
				synctest.Wait()
				s.want("ended a " + c.want)
				if e := s.events.all()[0].Session; e.MayAsk != (e.Outcome == "") {
					t.Errorf("%+v", e)
				}
				if row := s.core.Snapshot().Sessions()[0]; row.Outcome != "" || !row.MayAsk {
					t.Errorf("%+v", row)
				}
			})
		})
	}
}

func waiting(s adapters.Session) adapters.Session {
	s.WaitingFor = adapters.ForPermission
	return s
}

func suffix(o adapters.Outcome) string {
	if o == "" {
		return ""
	}
	return "/" + string(o)
}

// TestWorkingAgainBeforeItsEnd: what an earlier look saw of a session says nothing
// of a turn that a later look saw.
func TestWorkingAgainBeforeItsEnd(t *testing.T) {
	play(t, []adapters.Session{on("a", adapters.Idle, 1)}, func(s *scene) {
		now := time.Now().Add(-time.Hour) // its files have no time for the new turn
		s.agent.says(nil, active(on("a", adapters.Working, 1), now))
		s.refresh()
		s.agent.says(nil, died("a", now))
		s.machine.end(pid(1))
		synctest.Wait()
		s.want("status a working", "ended a stopped/died")
	})
}

// TestStaleIdleIsNoEvidence: an answer that was not given is no look.
func TestStaleIdleIsNoEvidence(t *testing.T) {
	play(t, []adapters.Session{on("a", adapters.Idle, 1)}, func(s *scene) {
		time.Sleep(time.Minute)
		prompt := time.Now()
		s.agent.says(partly)
		time.Sleep(time.Minute)
		s.refresh()
		s.agent.says(nil, died("a", prompt))
		s.machine.end(pid(1))
		synctest.Wait()
		s.want("ended a stopped/died")
	})
}

// TestOpenTurnOfAnotherProcess: a session is opened again after its process died
// in mid-turn, as its adapter says. Closing it kills nothing; a turn of its
// own is its process's.
func TestOpenTurnOfAnotherProcess(t *testing.T) {
	play(t, nil, func(s *scene) {
		record := time.Now()
		time.Sleep(time.Minute)
		s.born(pid(1), "claude", 0)
		s.agent.says(nil, outcome(active(on("a", adapters.Idle, 1), record), adapters.Died))
		time.Sleep(time.Second)
		s.refresh()
		x := s.core.Snapshot().Sessions()[0]
		if x.Status != adapters.Idle || x.Outcome != adapters.Died {
			s.Errorf("opened again: %+v", x)
		}
		s.refresh()
		s.agent.says(nil, died("a", record))
		s.machine.end(pid(1))
		synctest.Wait()
		s.want("started a idle/died", "ended a stopped") // nothing died
		if x := s.core.Snapshot().Sessions()[0]; x.Outcome != adapters.Died {
			s.Errorf("closed again: %+v", x)
		}

		time.Sleep(time.Minute)
		s.born(pid(2), "claude", 0)
		s.agent.says(nil, outcome(active(on("a", adapters.Idle, 2), record), adapters.Died))
		s.refresh()
		time.Sleep(time.Second)
		s.agent.says(nil, active(on("a", adapters.Working, 2), time.Now()))
		s.refresh()
		s.agent.says(nil, died("a", time.Now()))
		s.machine.end(pid(2))
		synctest.Wait()
		s.want("started a idle/died", "ended a stopped", "started a idle/died", "status a working", "ended a stopped/died")
	})
}

// TestClockSetForward: the start of a process moves when the clock is set, and the times of records do not. What an adapter
// calls working stays working.
func TestClockSetForward(t *testing.T) {
	play(t, nil, func(s *scene) {
		record := time.Now()
		time.Sleep(time.Hour)
		s.born(pid(1), "claude", 0)
		s.agent.says(nil, active(on("a", adapters.Working, 1), record))
		s.refresh()
		if x := s.core.Snapshot().Sessions()[0]; x.Status != adapters.Working || x.MayStopIdle() {
			s.Errorf("%+v", x)
		}
	})
}

// TestClosedAfterItsTurnDied: a session whose turn died with an earlier process is opened and closed again. Nothing died with its second
// process, whatever that recorded when it ended; a turn that it began did.
func TestClosedAfterItsTurnDied(t *testing.T) {
	for name, c := range map[string]struct {
		turn time.Duration // from the turn that died to the one that is listed at the end
		want string
	}{
		"a record without a turn": {0, "ended a stopped"},
		"a turn of its own":       {time.Minute, "ended a stopped/died"},
	} {
		t.Run(name, func(t *testing.T) {
			play(t, nil, func(s *scene) {
				turn := time.Now()
				in := func(x adapters.Session, at time.Time) adapters.Session {
					x.TurnStartedAt = at
					return x
				}
				time.Sleep(time.Minute)
				s.born(pid(1), "claude", 0)
				s.agent.says(nil, in(outcome(active(on("a", adapters.Idle, 1), time.Now()), adapters.Died), turn))
				s.refresh()
				time.Sleep(time.Second)
				s.agent.says(nil, in(died("a", time.Now()), turn.Add(c.turn)))
				s.machine.end(pid(1))
				synctest.Wait()
				s.want("started a idle/died", c.want)
			})
		})
	}
}

// TestOpenTurnStaysItsOwn: what looks like a turn of another process and is not.
func TestOpenTurnStaysItsOwn(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*adapters.Session)
		status adapters.Status
	}{
		"recorded a moment before the start, by a coarse clock": {func(s *adapters.Session) { s.LastActivityAt = time.Now().Add(-time.Second) }, adapters.Working},
		"no time is recorded":         {func(s *adapters.Session) { s.LastActivityAt = time.Time{} }, adapters.Working},
		"a daemon that many share":    {func(s *adapters.Session) { s.Shared = true }, adapters.Working},
		"on another machine":          {func(s *adapters.Session) { s.Remote = "gw" }, adapters.Working},
		"a wait is the agent's word":  {func(s *adapters.Session) { s.Status, s.WaitingFor = adapters.Waiting, adapters.ForQuestion }, adapters.Waiting},
		"no process is known for it":  {func(s *adapters.Session) { s.Process = proc.Identity{} }, adapters.Working},
		"a process of another moment": {func(s *adapters.Session) { s.Process = pid(9) }, adapters.Stopped},
	} {
		t.Run(name, func(t *testing.T) {
			play(t, nil, func(s *scene) {
				x := active(on("a", adapters.Working, 1), time.Now().Add(-time.Hour))
				c.change(&x)
				s.born(pid(1), "claude", 0)
				s.agent.says(nil, x)
				s.refresh()
				if got := s.core.Snapshot().Sessions()[0]; got.Status != c.status {
					t.Errorf("%+v", got)
				}
			})
		})
	}
}

// TestClockIsSetWhileWorking: the start of a process is reckoned by the wall
// clock, so a clock that is set forward makes its records look older than it.
func TestClockIsSetWhileWorking(t *testing.T) {
	play(t, nil, func(s *scene) {
		s.born(pid(1), "claude", 0)
		s.agent.says(nil, active(on("a", adapters.Working, 1), time.Now()))
		s.refresh()
		s.machine.change(pid(1), func(p *proc.Process) { p.Started = time.Now().Add(time.Hour) })
		s.refresh()
		if got := s.core.Snapshot().Sessions()[0]; got.Status != adapters.Working {
			s.Errorf("%+v", got)
		}
	})
}

// process is the row of a process without a session.
func process(n int) adapters.Session {
	return adapters.ProcessSession(agentname.ClaudeCode, proc.Process{Identity: pid(n), Started: time.Now()}, "/w")
}

// TestProcessWithoutSession: it is shown and watched, and nothing is reported of it.
// Its session, once it has one, starts.
func TestProcessWithoutSession(t *testing.T) {
	play(t, nil, func(s *scene) {
		s.machine.start(pid(1))
		s.machine.start(pid(2))
		s.agent.says(nil, process(1), process(2))
		s.refresh()
		if n := len(s.core.Snapshot().Sessions()); n != 2 {
			s.Fatalf("%d rows", n)
		}
		if n := len(s.machine.watching()); n != 2 {
			s.Errorf("%d processes are watched", n)
		}
		s.machine.change(pid(1), func(p *proc.Process) { p.Suspended = true })
		s.refresh()
		s.want()

		// The first prompt: only the session is asked about, and the row goes.
		s.agent.says(nil, on("a", adapters.Working, 1), process(2))
		s.machine.change(pid(1), func(p *proc.Process) { p.Suspended = false })
		s.core.RefreshOne(s.Context(), agentname.ClaudeCode, "a")
		synctest.Wait()
		s.want("started a working")
		if got := rowsOf(s.core.Snapshot().Sessions()); len(got) != 2 || got[0].ID != "a" || got[1].PID != 2 {
			s.Errorf("rows: %+v", got)
		}

		// Its row goes with the process, though nobody answers.
		s.agent.says(partly)
		s.machine.end(pid(2))
		synctest.Wait()
		if got := rowsOf(s.core.Snapshot().Sessions()); len(got) != 1 {
			s.Errorf("rows: %+v", got)
		}
		s.agent.says(nil, done("a"))
		s.machine.end(pid(1))
		synctest.Wait()
		s.settle()
		s.want("started a working", "ended a stopped/completed")
		for _, q := range s.agent.questions() { // no agent's storage knows such an id
			if slices.ContainsFunc(q.IDs, func(id string) bool { return strings.HasPrefix(id, "process-") }) {
				t.Errorf("asked for %q", q.IDs)
			}
		}
	})
}

// TestGoodbyeOverAProcess: an agent that has stored its session's end runs on for a
// moment, as a process without a session. The end is reported nevertheless.
func TestGoodbyeOverAProcess(t *testing.T) {
	play(t, []adapters.Session{on("a", adapters.Idle, 1), on("b", adapters.Idle, 2)}, func(s *scene) {
		s.agent.says(nil, done("a"), on("b", adapters.Idle, 2), process(1))
		s.refresh()
		s.want("status a stopped/completed")
		s.agent.says(nil, done("a"), on("b", adapters.Idle, 2))
		s.machine.end(pid(1))
		synctest.Wait()
		s.settle()
		s.want("status a stopped/completed", "ended a stopped/completed")
		if n := len(s.core.Snapshot().Sessions()); n != 2 {
			s.Errorf("%d rows: the stopped one is gone", n)
		}
	})
}

// TestEndedElsewhereIsKept: a session of a home that was found through its process
// stays listed for a day, as long as its adapter remembers the home.
func TestEndedElsewhereIsKept(t *testing.T) {
	playPolling(t, nil, func(s *scene) {
		long := time.Now().Add(-40 * 24 * time.Hour) // older than what is listed of stopped ones
		s.born(pid(1), "claude", time.Hour)
		s.agent.says(nil, active(on("a", adapters.Idle, 1), long))
		s.glance()
		s.agent.says(nil, active(done("a"), long))
		s.machine.end(pid(1))
		synctest.Wait()
		shown := func() int { s.refresh(); return len(s.core.Snapshot().Sessions()) }
		time.Sleep(23 * time.Hour)
		if n := shown(); n != 1 {
			s.Errorf("%d rows after 23 h", n)
		}
		time.Sleep(2 * time.Hour)
		if n := shown(); n != 0 {
			s.Errorf("%d rows after 25 h", n)
		}
		s.want("started a idle", "ended a stopped/completed")
	})
}
