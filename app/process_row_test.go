package app

import (
	"testing"
	"time"

	"rollcall/adapters"
	"rollcall/internal/agentname"
	"rollcall/proc"
)

// processIn is the row of process n, without a session, in a folder.
func processIn(dir string, n int, started time.Time) adapters.Session {
	return adapters.ProcessSession(agentname.ClaudeCode, proc.Process{Identity: pid(n), Started: started}, dir)
}

// stored is a session in /w that has stopped: begun and last active at these times.
func stored(id string, begun, last time.Time) adapters.Session {
	return changed(done(id), func(s *adapters.Session) {
		s.CWD = "/w"
		s.StartedAt = begun
		s.LastActivityAt = last
	})
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
