//go:build faults

package launch

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"rollcall/internal/must"
	"rollcall/proc"
)

// points runs a role to its end and lists the places at which it could die.
func (s *stage) points(role, says string) []string {
	t := s.t
	t.Helper()
	list := filepath.Join(t.TempDir(), "points")
	if said, err := s.inRole(role, "ROLLCALL_FAULT_LIST="+list); said != says {
		t.Fatalf("%s, %v", said, err)
	}
	text := must.Get(os.ReadFile(list))(t)
	out := strings.Fields(string(text))
	slices.Sort(out)
	return slices.Compact(out)
}

// A launch that is killed at any step loses no agent, leaves no lock without a
// living owner and no damaged file, and the next start and end go as ever.
func TestCrashes(t *testing.T) {
	all := newStage(t, &fake{}).points("starter", "started")
	for _, want := range []string{"lock.take.guarded", "lock.taken", "owned.write.created", "store.write.synced", "store.write.renamed",
		"launch.recorded", "launch.ready", "launch.started", "launch.booked", "lock.handed-over"} {
		if !slices.Contains(all, want) {
			t.Errorf("no fault at %s: %v", want, all)
		}
	}
	for _, point := range all {
		t.Run(point, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, &fake{})
			s.crash("starter", point)
			s.afterCrash()
		})
	}
}

// crash plays a role that is killed at a point.
func (s *stage) crash(role, point string) {
	s.t.Helper()
	var exit *exec.ExitError
	said, err := s.inRole(role, "ROLLCALL_FAULT="+point)
	if !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
		s.t.Fatalf("it was not killed: %q, %v", said, err)
	}
}

// A stop that is killed at any step has ended the agent, or left it as it was:
// record and lock follow the agent, and it can be stopped again.
func TestStopCrashes(t *testing.T) {
	s := newStage(t, &fake{})
	s.start(nil)
	s.until("its session", s.stored)
	all := s.points("stopper", "stopped")
	for _, want := range []string{"stop.held", "stop.signal", "stop.ended", "stop.done"} {
		if !slices.Contains(all, want) {
			t.Errorf("no fault at %s: %v", want, all)
		}
	}
	for _, point := range all {
		t.Run(point, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, &fake{})
			r := s.start(nil).Record
			s.until("its session", s.stored)
			s.crash("stopper", point)
			s.tray()
			if s.table.Alive(r.Process) {
				s.until("its session to be learned", func() bool { return s.only().Seen })
				if l, err := s.locks.List(); err != nil || len(l) != 1 || !s.only().EndedAt.IsZero() {
					t.Errorf("it lives, and yet locks %+v, %v, ended %t", l, err, !s.only().EndedAt.IsZero())
				}
				if said, err := s.inRole("stopper"); said != "stopped" {
					t.Fatalf("%s, %v", said, err)
				}
			}
			s.until("its end", func() bool { x := s.only(); return x.Ended() && !s.table.Alive(r.Process) })
			s.until("no lock", func() bool { l, err := s.locks.List(); return err == nil && len(l) == 0 })
		})
	}
}

// stored reports whether the agent has written its session.
func (s *stage) stored() bool {
	n, _ := filepath.Glob(filepath.Join(s.store, "s-*[0-9]"))
	return len(n) > 0
}

// A lock that is killed in the making, or in the removing, is there or it isn't.
func TestLockCrashes(t *testing.T) {
	for _, point := range newStage(t, &fake{}).points("locker", "locked and unlocked") {
		t.Run(point, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, &fake{})
			s.crash("locker", point)
			list, err := s.locks.List()
			if err != nil || len(list) > 1 {
				t.Fatalf("%+v, %v", list, err)
			}
			if len(list) == 1 {
				if err := s.locks.Unlock(t.Context(), s.dir); err != nil {
					t.Error(err)
				}
			}
			if said, err := s.inRole("locker"); said != "locked and unlocked" {
				t.Errorf("again: %s, %v", said, err)
			}
		})
	}
}

// runs reports whether the agent was started.
func (s *stage) runs() bool {
	list := must.Get(s.table.List(s.t.Context()))(s.t)
	return slices.ContainsFunc(list, func(p proc.Process) bool {
		env, err := s.table.Env(p.Identity)
		return err == nil && slices.Contains(env, "FAKE_STORE="+s.store)
	})
}

// afterCrash lets a tray start and checks that everything comes right.
func (s *stage) afterCrash() {
	s.t.Helper()
	runs := s.runs()
	if runs {
		s.until("its session", s.stored)
	}
	var late atomic.Int64 // a record without a process is one of a start under way, until then
	late.Store(int64(Grace))
	s.now = func() time.Time { return time.Now().Add(time.Duration(late.Load())) }
	tr := s.tray()
	s.until("the first answer", func() bool { return !tr.core.Refresh(s.t.Context()).Refreshing })
	if damaged, _ := filepath.Glob(filepath.Join(s.state, "*", "*damaged*")); len(damaged) > 0 {
		s.t.Errorf("damaged: %v", damaged)
	}
	s.until("every lock to have an owner that lives", func() bool {
		names, err := os.ReadDir(filepath.Join(s.state, "locks"))
		locks, listErr := s.locks.List()
		files := 0
		for _, n := range names {
			if strings.HasSuffix(n.Name(), ".json") {
				files++
			}
		}
		return (err == nil || os.IsNotExist(err)) && listErr == nil && files == len(locks)
	})
	if runs {
		s.until("the agent's row", func() bool { return len(tr.core.Refresh(s.t.Context()).Sessions()) == 1 })
		x := tr.core.Snapshot().Sessions()[0]
		if !s.table.Alive(x.Process) {
			s.t.Errorf("the agent was lost: %+v", x)
		}
		s.until("its launch to have it again", func() bool {
			list, err := s.List()
			locks, lockErr := s.locks.List()
			return err == nil && lockErr == nil && len(list) == 1 && list[0].Process == x.Process && !list[0].Ended() && len(locks) == 1 && locks[0].Owner == x.Process
		})
		s.finish(x.ID)
		s.until("its end", func() bool { return !s.table.Alive(x.Process) })
	}
	s.until("no record that goes on", func() bool {
		list, err := s.List()
		return err == nil && !slices.ContainsFunc(list, func(r Record) bool { return !r.Ended() })
	})
	s.until("no lock", func() bool { l, err := s.locks.List(); return err == nil && len(l) == 0 })
	if in, _ := filepath.Glob(filepath.Join(s.state, "logs", "*.in")); len(in) > 0 {
		s.until("no prompt that lies about", func() bool {
			_, err := s.Sweep(s.t.Context(), nil)
			in, _ := filepath.Glob(filepath.Join(s.state, "logs", "*.in"))
			return err == nil && len(in) == 0
		})
	}
	late.Store(0)
	if said, err := s.startElsewhere(); said != "started" {
		s.t.Errorf("the next launch: %s, %v", said, err)
	}
}
