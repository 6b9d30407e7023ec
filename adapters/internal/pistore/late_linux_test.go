package pistore

import (
	"fmt"
	"os"
	"testing"
	"time"

	"rollcall/adapters"
	"rollcall/internal/adaptertest"
	"rollcall/internal/agentname"
)

// Whenever time runs out, the sessions that were written last are listed, and the answer says how many are missing. A session that a process may
// have is not said to be over, nor the process to have none, while others could not be read.
func TestTooManySessions(t *testing.T) {
	const n = 60
	w := newFixture(t)
	p, _ := w.start(agentname.Pi, w.cwd())
	var ids []string
	for i := range n {
		id := fmt.Sprintf("019aa4f0-0000-7000-8000-%012d", i)
		at := time.Now().Add(-time.Duration(i) * time.Hour)
		cwd := w.cwd()
		if i > 0 {
			cwd = fmt.Sprintf("/x%d", i%3)
		}
		path := w.put(newScript(id, cwd, at).begin().sys(0).prompt(0, "p").answer(0, "stop"))
		w.check(os.Chtimes(path, at, at))
		ids = append(ids, id)
	}
	adaptertest.CutShort(t, func() adapters.Adapter { return w.store(agentname.Pi) }, ids, "sessions", func(roll *adapters.Roll, err error) {
		for i := range roll.Sessions {
			s := &roll.Sessions[i]
			if s.ID == ids[0] && s.Status != adapters.Idle && s.Status != adapters.Unknown || s.IsProcess() && s.Process == p.Identity && s.Status != adapters.Unknown {
				t.Errorf("%s: %s: %s (%v)", s.ID, s.Status, s.Evidence, err)
			}
		}
	})
}
