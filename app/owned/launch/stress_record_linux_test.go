package launch

import (
	"os"
	"testing"

	"rollcall/app"
	"rollcall/internal/must"
	"rollcall/proc"
)

// The keeper finds the agent behind a wrapper before the launching process has
// written the wrapper down: the record and the lock are the agent's.
func TestFoundBeforeRecorded(t *testing.T) {
	s := newStage(t, &fake{wrapper: []string{"/bin/sh", "-c", `exec 3<&0; "$0" "$@" <&3 & wait`}})
	first := s.start(nil).Child.Identity
	r := s.elsewhere()
	agent := r.Process
	if agent == first {
		t.Fatal("no wrapper")
	}
	for _, late := range []bool{false, true} {
		_, err := s.update(t.Context(), r.ID, func(r *Record) bool {
			r.Process, r.Former = agent, nil // as if the start was still under way
			return true
		})
		must.Do(t, err)
		old := r
		if !late { // the record is moved first, and the lock last
			old, err = s.update(t.Context(), r.ID, func(r *Record) bool { return r.addStarted(first) })
		} else {
			old.Process = first
		}
		if err == nil {
			_, err = s.handOver(t.Context(), old)
		}
		x := s.only()
		locks, lockErr := s.locks.List()
		if err != nil || lockErr != nil || x.Process != agent || !x.Seen || len(locks) != 1 || locks[0].Owner != agent {
			t.Errorf("late %t: %+v, locks %+v (%v, %v)", late, x, locks, err, lockErr)
		}
		if !late && (len(x.Former) != 1 || x.Former[0] != first) {
			t.Errorf("former processes %v, want %v", x.Former, first)
		}
	}
	s.signal(first, proc.Kill)
	s.until("the wrapper's end", func() bool { return !s.table.Alive(first) })
	if locks, err := s.locks.List(); err != nil || len(locks) != 1 {
		t.Errorf("after the wrapper's end: %+v, %v", locks, err)
	}
}

// No tray ran when the wrapper died: whoever sweeps next finds the agent.
func TestSweepFindsTheSuccessor(t *testing.T) {
	s := newStage(t, &fake{wrapper: []string{"/bin/sh", "-c", `exec 3<&0; "$0" "$@" <&3 & wait`}})
	first := s.start(nil).Child.Identity
	s.until("the agent", func() bool { n, _ := os.ReadDir(s.store); return len(n) > 0 })
	s.signal(first, proc.Kill)
	s.until("the wrapper's end", func() bool { return !s.table.Alive(first) })
	swept, err := s.Sweep(t.Context(), s.Successor(&app.Snapshot{}))
	r := s.only()
	locks, lockErr := s.locks.List()
	if err != nil || lockErr != nil || len(swept.Ended) != 0 || r.Ended() || !s.table.Alive(r.Process) || len(locks) != 1 || locks[0].Owner != r.Process {
		t.Errorf("swept %+v: %+v, locks %+v (%v, %v)", swept, r, locks, err, lockErr)
	}
}
