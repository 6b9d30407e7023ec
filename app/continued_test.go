package app

import (
	"testing"
	"testing/synctest"

	"rollcall/adapters"
)

// A session that another one goes on with has no end, whether its process is seen to end before that one is listed or after it.
func TestContinued(t *testing.T) {
	moves := changed(done("a"), func(s *adapters.Session) {
		s.Status = adapters.Unknown
		s.Outcome = ""
		s.ContinuedIn = "b"
	})
	next := changed(on("b", adapters.Working, 2), func(s *adapters.Session) { s.Continues = "a" })
	t.Run("before", func(t *testing.T) {
		play(t, []adapters.Session{on("a", adapters.Working, 1)}, func(s *scene) {
			s.agent.says(nil, moves)
			s.machine.end(pid(1))
			synctest.Wait()
			s.want("status a unknown")
			s.settle()
			s.refresh()
			s.want("status a unknown")
			s.machine.start(pid(2))
			s.agent.says(nil, next)
			s.refresh()
			s.want("status a unknown", "started b working")
		})
	})
	t.Run("after", func(t *testing.T) {
		play(t, []adapters.Session{on("a", adapters.Working, 1)}, func(s *scene) {
			s.machine.start(pid(2))
			s.agent.says(nil, next)
			s.refresh()
			s.machine.end(pid(1))
			s.settle()
			s.refresh()
			s.want("status a stopped", "started b working")
		})
	})
}
