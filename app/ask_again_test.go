package app

import (
	"testing"
	"testing/synctest"
	"time"

	"rollcall/adapters"
)

// A session whose outcome its agent may still write is asked about again when the wait is over, although nothing changes, and the end of its turn is told then.
func TestAskAgain(t *testing.T) {
	for name, decided := range map[string]struct {
		outcome adapters.Outcome
		want    string
	}{"interrupted": {adapters.Interrupted, "status a idle/interrupted"}, "not known": {"", "status a idle"}} {
		t.Run(name, func(t *testing.T) {
			play(t, []adapters.Session{on("a", adapters.Working, 1)}, func(s *scene) {
				idle := on("a", adapters.Idle, 1)
				undecided := idle
				undecided.AskAgain = time.Now().Add(2 * time.Second)
				s.agent.says(nil, undecided)
				s.core.requestRefresh(s.core.sources[0])
				time.Sleep(time.Second)
				synctest.Wait()
				s.want()
				if got := s.core.Snapshot().Sessions()[0].Status; got != adapters.Idle {
					s.Errorf("shown as %s", got)
				}
				idle.Outcome = decided.outcome
				s.agent.says(nil, idle)
				time.Sleep(1500 * time.Millisecond)
				synctest.Wait()
				s.want(decided.want)
				asked := len(s.agent.questions())
				time.Sleep(time.Hour)
				if n := len(s.agent.questions()); n != asked {
					s.Errorf("asked %d times more", n-asked)
				}
			})
		})
	}
}
