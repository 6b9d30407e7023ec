package app

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"rollcall/adapters"
	"rollcall/proc"
)

// processIn is the row of process n, without a session, in a folder.
func processIn(dir string, n int, started time.Time) adapters.Session {
	return adapters.ProcessSession(adapters.ClaudeCode, proc.Process{Identity: pid(n), Started: started}, dir)
}

// stored is a session in /w that has stopped: begun and last active at these times.
func stored(id string, begun, last time.Time) adapters.Session {
	return changed(done(id), func(s *adapters.Session) { s.CWD, s.StartedAt, s.LastActivityAt = "/w", begun, last })
}

// ends takes processes off the table and the list, and says what is stored by now.
func (s *scene) ends(now []adapters.Session, processes ...int) {
	s.Helper()
	for _, n := range processes {
		s.machine.vanish(pid(n))
	}
	s.agent.says(nil, now...)
	for _, n := range processes {
		s.machine.tell(pid(n))
	}
	s.settle()
}

// TestStoredAtTheEnd: a session that is stored right before its process ends was
// never seen in it, and its end is reported once.
func TestStoredAtTheEnd(t *testing.T) {
	play(t, nil, func(s *scene) {
		began := time.Now()
		s.machine.start(pid(1))
		s.agent.says(nil, processIn("/w", 1, began))
		s.refresh()
		time.Sleep(5 * time.Second)
		s.ends([]adapters.Session{stored("a", began.Add(time.Second), time.Now())}, 1)
		s.want("ended a stopped/completed")
		if e := s.events.all(); len(e) != 1 || e[0].Process != pid(1) || e[0].Before.ID != "" {
			s.Errorf("%+v", e)
		}
		s.refresh()
		s.settle()
		s.want("ended a stopped/completed")
	})
}

// TestSeenBetweenStoringAndTheEnd: a session that is listed as stopped between the moment
// at which its process stores it and the end of the process has ended with it.
func TestSeenBetweenStoringAndTheEnd(t *testing.T) {
	for _, later := range []time.Duration{time.Second, 8 * time.Second} {
		play(t, nil, func(s *scene) {
			began := time.Now()
			s.machine.start(pid(1))
			s.agent.says(nil, processIn("/w", 1, began))
			s.refresh()
			time.Sleep(5 * time.Second)
			a := stored("a", began.Add(time.Second), time.Now())
			s.agent.says(nil, processIn("/w", 1, began), a)
			s.refresh()
			time.Sleep(later)
			s.ends([]adapters.Session{a}, 1)
			s.want("ended a stopped/completed")
		})
	}
}

// TestTakenUpRightBeforeTheEnd: a session of before that a process without a
// session wrote to has ended with it, also when its end was reported before.
func TestTakenUpRightBeforeTheEnd(t *testing.T) {
	play(t, []adapters.Session{changed(on("a", adapters.Idle, 1), func(s *adapters.Session) { s.CWD = "/w" })}, func(s *scene) {
		first := time.Now()
		s.ends([]adapters.Session{stored("a", first, first)}, 1)
		time.Sleep(time.Minute)
		began := time.Now()
		s.machine.start(pid(2))
		s.agent.says(nil, stored("a", first, first), processIn("/w", 2, began))
		s.refresh()
		time.Sleep(5 * time.Second)
		s.ends([]adapters.Session{stored("a", first, time.Now())}, 2)
		s.want("ended a stopped/completed", "ended a stopped/completed")
	})
}

// TestNotStoredByTheProcess: the end of a process without a session is not reported as
// that of a session which is not surely its own.
func TestNotStoredByTheProcess(t *testing.T) {
	for name, c := range map[string]struct {
		first []adapters.Session // when the process is seen first, beside it
		then  []adapters.Session // 15 s later, when it has ended, as with the next
		alive []adapters.Session // further processes that live
	}{
		"nothing":                 {},
		"of before, found late":   {then: []adapters.Session{storedAfter("a", -time.Hour, -time.Second)}},
		"stopped beside it":       {first: []adapters.Session{storedAfter("a", 1, 1)}, then: []adapters.Session{storedAfter("a", 1, 1)}},
		"in another folder":       {then: []adapters.Session{changed(storedAfter("a", 1, 2), func(s *adapters.Session) { s.CWD = "/w/other" })}},
		"in a container":          {then: []adapters.Session{changed(storedAfter("a", 1, 2), func(s *adapters.Session) { s.Container = "1" })}},
		"a sub-agent's":           {then: []adapters.Session{changed(storedAfter("a", 1, 2), func(s *adapters.Session) { s.Parent = "b" })}},
		"written after it":        {then: []adapters.Session{storedAfter("a", time.Second, time.Hour)}},
		"of a process that lives": {alive: []adapters.Session{processIn("/w", 2, time.Time{})}, then: []adapters.Session{storedAfter("a", 1, 2)}},
		"not known when": {then: []adapters.Session{changed(storedAfter("a", 1, 2), func(s *adapters.Session) {
			s.LastActivityAt = time.Time{}
		})}},
	} {
		t.Run(name, func(t *testing.T) {
			play(t, nil, func(s *scene) {
				time.Sleep(2 * time.Hour)
				began := time.Now()
				s.machine.start(pid(1))
				s.machine.start(pid(2))
				s.agent.says(nil, slices.Concat(at(began, c.first), at(began, c.alive), []adapters.Session{processIn("/w", 1, began)})...)
				s.refresh()
				time.Sleep(15 * time.Second)
				s.ends(slices.Concat(at(began, c.then), at(began, c.alive)), 1)
				s.refresh()
				s.want()
			})
		})
	}
}

// storedAfter is a session whose times are given by at: since a process began.
func storedAfter(id string, begun, last time.Duration) adapters.Session {
	return stored(id, time.Time{}.Add(begun), time.Time{}.Add(last))
}

// at moves times that are given since the zero time.
func at(began time.Time, list []adapters.Session) []adapters.Session {
	list = slices.Clone(list)
	for i := range list {
		for _, t := range []*time.Time{&list[i].StartedAt, &list[i].LastActivityAt} {
			if d := t.Sub(time.Time{}); d != 0 || list[i].IsProcess() {
				*t = began.Add(d)
			}
		}
	}
	return list
}

// TestProcessesEndTogether: of two processes of one folder that end at once each
// has stored a session: two ends, one for each process.
func TestProcessesEndTogether(t *testing.T) {
	for _, both := range []bool{true, false} {
		play(t, nil, func(s *scene) {
			began := time.Now()
			s.machine.start(pid(1))
			s.machine.start(pid(2))
			later := began.Add(10 * time.Second)
			time.Sleep(10 * time.Second)
			s.agent.says(nil, processIn("/w", 1, began), processIn("/w", 2, later))
			s.refresh()
			time.Sleep(5 * time.Second)
			now := []adapters.Session{stored("a", began.Add(time.Second), time.Now())}
			if both {
				now = append(now, stored("b", later.Add(time.Second), time.Now()))
			}
			s.ends(now, 1, 2)
			told := map[string]proc.Identity{}
			for _, e := range s.events.all() {
				if _, twice := told[e.Session.ID]; twice || e.Kind != Ended || len(e.With) != 0 {
					s.Errorf("told %+v", e)
				}
				told[e.Session.ID] = e.Process
			}
			if told["a"] != pid(1) || both && told["b"] != pid(2) || len(told) != len(now) {
				s.Errorf("both %v: told %v", both, told)
			}
		})
	}
}

// TestStoredBesideAnother: a session that a living process may have stored is reported
// as ended once that process turns out to have another one, or has ended as well.
func TestStoredBesideAnother(t *testing.T) {
	for _, ends := range []bool{true, false} {
		play(t, nil, func(s *scene) {
			began := time.Now()
			s.machine.start(pid(1))
			s.machine.start(pid(2))
			s.agent.says(nil, processIn("/w", 1, began), processIn("/w", 2, began))
			s.refresh()
			time.Sleep(5 * time.Second)
			a := stored("a", began.Add(time.Second), time.Now())
			s.ends([]adapters.Session{a, processIn("/w", 2, began)}, 1)
			s.want()
			if ends {
				s.ends([]adapters.Session{a}, 2)
				s.want("ended a stopped/completed")
				return
			}
			s.agent.says(nil, a, on("b", adapters.Working, 2))
			s.refresh()
			s.want("started b working", "ended a stopped/completed")
			s.ends([]adapters.Session{a, done("b")}, 2)
			s.want("started b working", "ended a stopped/completed", "ended b stopped/completed")
		})
	}
}

// TestProcessHasItsSession: a process whose session is shown before it ends has one
// end, whatever else was stored meanwhile.
func TestProcessHasItsSession(t *testing.T) {
	play(t, nil, func(s *scene) {
		began := time.Now()
		s.machine.start(pid(1))
		s.agent.says(nil, processIn("/w", 1, began))
		s.refresh()
		time.Sleep(time.Second)
		s.agent.says(nil, changed(on("a", adapters.Working, 1), func(s *adapters.Session) { s.CWD = "/w" }))
		s.refresh()
		time.Sleep(time.Second)
		s.ends([]adapters.Session{stored("a", began, time.Now()), stored("b", began.Add(time.Millisecond), time.Now())}, 1)
		s.want("started a working", "ended a stopped/completed")
	})
}

// TestStoredWhileItsAgentFails: the answer that shows the session comes later than
// the end, after one that failed, or that was read before the end.
func TestStoredWhileItsAgentFails(t *testing.T) {
	play(t, nil, func(s *scene) {
		began := time.Now()
		s.machine.start(pid(1))
		s.agent.says(nil, processIn("/w", 1, began))
		s.refresh()
		time.Sleep(5 * time.Second)
		s.agent.says(partly)
		s.machine.end(pid(1))
		synctest.Wait()
		s.want()
		s.agent.says(nil, stored("a", began.Add(time.Second), time.Now()))
		s.settle()
		s.want("ended a stopped/completed")
	})
}

// TestStoredAfterItWasRead: the agent's files were read before the session was
// stored, and the process is gone when the answer is judged.
func TestStoredAfterItWasRead(t *testing.T) {
	play(t, nil, func(s *scene) {
		began := time.Now()
		s.machine.start(pid(1))
		s.agent.says(nil, processIn("/w", 1, began))
		s.refresh()
		time.Sleep(5 * time.Second)
		s.machine.vanish(pid(1)) // the watcher is late as well
		s.refresh()
		s.ends([]adapters.Session{stored("a", began.Add(time.Second), time.Now())}, 1)
		s.want("ended a stopped/completed")
	})
}

// TestUnstoredRunEnds: a run of which its agent stores nothing starts and ends like a
// session, once, and nothing is claimed of how it ended.
func TestUnstoredRunEnds(t *testing.T) {
	play(t, nil, func(s *scene) {
		row := changed(processIn("/w", 1, time.Now()), func(s *adapters.Session) { s.Status, s.Unstored = adapters.Working, true })
		s.machine.start(pid(1))
		s.agent.says(nil, row)
		s.refresh()
		time.Sleep(5 * time.Second)
		s.ends(nil, 1)
		s.refresh()
		s.settle()
		s.want("started "+row.ID+" working", "ended "+row.ID+" stopped")
	})
}
