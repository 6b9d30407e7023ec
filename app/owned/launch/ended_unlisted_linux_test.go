package launch

import (
	"testing"

	"rollcall/adapters"
	"rollcall/app"
	"rollcall/proc"
)

// An agent that ends before it was seen in its storage did not die in a turn, as
// far as anybody knows.
func TestEndOfALaunchThatWasNotListed(t *testing.T) {
	s := newStage(t, &fake{})
	tr := s.tray()
	s.blind.Store(true)
	r := s.start(nil).Record
	s.until("the row of the launch", func() bool {
		list := tr.list(t.Context())
		return len(list) == 1 && list[0].ID == r.ID && list[0].Status == adapters.Working
	})
	s.signal(r.Process, proc.Kill)
	s.until("its end", func() bool {
		for {
			select {
			case e := <-tr.reported:
				if e.Kind != app.Ended {
					continue
				}
				if e.Session.Outcome != "" {
					t.Errorf("reported as %q: %s", e.Session.Outcome, e.Session.Evidence)
				}
				return true
			default:
				return false
			}
		}
	})
}
