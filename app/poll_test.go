package app

import (
	"context"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fsnotify/fsnotify"
	"github.com/google/go-cmp/cmp"

	"rollcall/adapters"
	"rollcall/app/places"
	"rollcall/internal/agentname"
	"rollcall/internal/must"
	"rollcall/proc"
)

// owner is an agent in memory whose processes are those with its name.
type owner struct {
	*agent
	judged map[int]int // how often it was asked about a pid
}

func (o *owner) OwnsProcess(p proc.Process) bool {
	if p.Comm == "panic" {
		panic("cannot judge")
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.judged[p.PID]++
	return p.Comm == "claude"
}

// playPolling is play with an agent that knows its processes. They live when Run
// begins.
func playPolling(t *testing.T, first []adapters.Session, f func(*scene)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := &scene{T: t, agent: &agent{name: agentname.ClaudeCode}, machine: newMachine()}
		for _, x := range first {
			if x.Live() && !x.Process.IsZero() {
				s.born(x.Process, "claude", time.Hour)
			}
		}
		s.agent.says(nil, first...)
		o := &owner{agent: s.agent, judged: map[int]int{}}
		s.core = New(Config{Adapters: []adapters.Adapter{o}, Table: s.machine, Watch: s.machine, Since: time.Hour})
		s.core.onBattery = s.unplugged.Load
		s.events = listen(t, s.core)
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- s.core.Run(ctx) }()
		synctest.Wait()
		f(s)
		cancel()
		if err := <-done; err != nil {
			t.Errorf("Run: %v", err)
		}
		synctest.Wait()
		if w := s.machine.watching(); len(w) != 0 {
			t.Errorf("still watched after Run: %v", w)
		}
	})
}

// born starts a process.
func (s *scene) born(id proc.Identity, name string, age time.Duration) {
	s.machine.change(id, func(p *proc.Process) { p.Comm, p.Started = name, time.Now().Add(-age) })
	s.machine.start(id)
}

// glance waits for the next look, and until what it found is settled.
func (s *scene) glance() { time.Sleep(pollInterval + maxDebounce); synctest.Wait() }

func (s *scene) asked() int { return len(s.agent.questions()) }

// TestNewAgentIsNoticed: no file and no agent reports a session that starts.
func TestNewAgentIsNoticed(t *testing.T) {
	playPolling(t, nil, func(s *scene) {
		s.settle()
		s.agent.says(nil, on("a", adapters.Working, 1))
		s.born(pid(1), "claude", 0)
		s.glance()
		s.want("started a working")
		if w := s.machine.watching(); !slices.Equal(w, []proc.Identity{pid(1)}) {
			s.Errorf("watched: %v", w)
		}
		n := s.asked()
		time.Sleep(time.Hour)
		synctest.Wait()
		if more := s.asked() - n; more > maxRechecks {
			s.Errorf("asked %d times more about a process that has its session", more)
		}
		s.agent.says(nil, done("a"))
		s.machine.end(pid(1))
		synctest.Wait()
		s.want("started a working", "ended a stopped/completed")
	})
}

// TestWaitWithoutAChange: a session that works begins to wait, and no change reports:
// it is asked for again after its last change, with growing pauses and not forever.
func TestWaitWithoutAChange(t *testing.T) {
	playPolling(t, []adapters.Session{on("a", adapters.Working, 1)}, func(s *scene) {
		time.Sleep(time.Minute)
		s.core.requestRefresh(s.core.sources[0])
		time.Sleep(2 * recheckAfter) // the first echo is over
		synctest.Wait()
		s.agent.says(nil, on("a", adapters.Waiting, 1))
		time.Sleep(2 * recheckAfter)
		synctest.Wait()
		s.want("status a waiting")

		s.agent.says(nil, on("a", adapters.Working, 1))
		s.core.requestRefresh(s.core.sources[0])
		time.Sleep(time.Minute)
		n := s.asked()
		time.Sleep(time.Hour)
		synctest.Wait()
		if more := s.asked() - n; more != 0 {
			s.Errorf("asked %d times more in an hour without a change", more)
		}
	})
}

// TestWaitOfASuspendedSession: a session is suspended before what it waits for can be seen, and no change reports that.
func TestWaitOfASuspendedSession(t *testing.T) {
	playPolling(t, []adapters.Session{on("a", adapters.Working, 1)}, func(s *scene) {
		time.Sleep(time.Minute)
		s.machine.change(pid(1), func(p *proc.Process) { p.Suspended = true })
		time.Sleep(pollInterval + debounce)
		synctest.Wait()
		if x := s.core.Snapshot().Sessions()[0]; x.Status != adapters.Idle || !x.Suspended {
			s.Fatalf("%s, suspended %v", x.Status, x.Suspended)
		}
		s.agent.says(nil, on("a", adapters.Waiting, 1))
		time.Sleep(2 * recheckAfter)
		synctest.Wait()
		if x := s.core.Snapshot().Sessions()[0]; x.Status != adapters.Waiting || !x.Suspended {
			s.Errorf("%s, suspended %v", x.Status, x.Suspended)
		}
	})
}

// The folder of an idle session is renamed, which changes no file: its adapter is asked again, once.
func TestRenameIsNoticed(t *testing.T) {
	playPolling(t, []adapters.Session{on("a", adapters.Idle, 1)}, func(s *scene) {
		s.machine.moves(pid(1), "/src/a")
		time.Sleep(time.Minute)
		n := s.asked()
		s.machine.moves(pid(1), "/src/b")
		time.Sleep(time.Hour)
		synctest.Wait()
		if more := s.asked() - n; more != 1 {
			s.Errorf("asked %d times after the rename", more)
		}
	})
}

// TestStrangersAreNotAskedAbout: other programs come and go unnoticed.
func TestStrangersAreNotAskedAbout(t *testing.T) {
	playPolling(t, nil, func(s *scene) {
		s.settle()
		n := s.asked()
		for i := range 20 {
			s.born(pid(i+1), []string{"bash", "panic"}[i%2], 0)
		}
		s.glance()
		for i := range 20 {
			s.machine.end(pid(i + 1))
		}
		s.glance()
		if more := s.asked() - n; more != 0 {
			s.Errorf("%d questions", more)
		}
	})
}

// TestAgentAfterExec: a shell becomes an agent, and a fork of an agent a shell.
func TestAgentAfterExec(t *testing.T) {
	playPolling(t, nil, func(s *scene) {
		s.settle()
		s.born(pid(1), "sh", 0)
		s.born(pid(2), "claude", 0)
		s.glance()
		s.machine.change(pid(1), func(p *proc.Process) { p.Comm = "claude" })
		s.machine.change(pid(2), func(p *proc.Process) { p.Comm = "sh" })
		s.agent.says(nil, on("a", adapters.Idle, 1))
		s.glance()
		s.want("started a idle")
		s.settle()
		if w := s.machine.watching(); !slices.Equal(w, []proc.Identity{pid(1)}) {
			s.Errorf("watched: %v", w)
		}
	})
}

// TestUnclaimedIsAskedAboutForAWhile: an agent takes its time to open a session;
// one that never does is left alone in the end.
func TestUnclaimedIsAskedAboutForAWhile(t *testing.T) {
	playPolling(t, nil, func(s *scene) {
		s.settle()
		n := s.asked()
		s.born(pid(1), "claude", 0)
		time.Sleep(time.Hour)
		synctest.Wait()
		if more := s.asked() - n; more != 1+maxAsks {
			s.Errorf("%d questions in an hour, want %d", more, 1+maxAsks)
		}
		n = s.asked()
		s.machine.end(pid(1))
		s.settle()
		if more := s.asked() - n; more != 1 {
			s.Errorf("%d questions about its end, want 1", more)
		}
		s.want()

		s.born(pid(2), "claude", 0)
		s.glance()
		s.agent.says(nil, on("b", adapters.Working, 2))
		time.Sleep(pollInterval + pollInterval)
		s.glance()
		s.want("started b working")
	})
}

// TestLostSessionIsAskedAboutAgain: an answer misses the session of a process that
// lives, as when its folder is away for a moment, and nothing reports that it is back.
func TestLostSessionIsAskedAboutAgain(t *testing.T) {
	playPolling(t, []adapters.Session{on("a", adapters.Idle, 1)}, func(s *scene) {
		s.settle()
		s.glance()
		s.agent.says(nil)
		s.core.RefreshOne(s.Context(), agentname.ClaudeCode)
		if list := s.core.Snapshot().Sessions(); len(list) != 0 {
			s.Fatalf("shown: %v", list)
		}
		s.agent.says(nil, on("a", adapters.Idle, 1))
		s.glance()
		if list := s.core.Snapshot().Sessions(); len(list) != 1 || list[0].ID != "a" {
			s.Errorf("shown: %v", list)
		}
		n := s.asked()
		time.Sleep(time.Hour)
		synctest.Wait()
		if more := s.asked() - n; more != 0 {
			s.Errorf("asked %d times more about a process that has its session", more)
		}
	})
}

// TestVanishedAgentIsNoticed: the watcher does not tell, and no file does.
func TestVanishedAgentIsNoticed(t *testing.T) {
	playPolling(t, []adapters.Session{on("r", adapters.Idle, 0)}, func(s *scene) {
		s.born(pid(1), "claude", time.Hour)
		time.Sleep(2 * time.Minute) // it is no longer asked about
		synctest.Wait()
		s.agent.says(nil, on("r", adapters.Waiting, 0))
		s.machine.vanish(pid(1))
		s.glance()
		s.want("status r waiting")
	})
}

// TestSleepOfTheMachine: everything is asked once after it, and after the clock
// was set, and not for a look that was late.
func TestSleepOfTheMachine(t *testing.T) {
	for name, jump := range map[string]struct {
		wall, ran time.Duration
		asked     int
	}{
		"suspended": {wall: time.Hour, asked: 1}, "clock set back": {wall: -time.Hour, asked: 1},
		"Rollcall stopped": {wall: time.Minute, ran: time.Minute, asked: 1},
		"busy":             {wall: 8 * time.Second, ran: 8 * time.Second},
		"clock slewed":     {wall: time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a, b := &agent{name: agentname.ClaudeCode}, &agent{name: agentname.OpenClaw}
				c := New(Config{Adapters: []adapters.Adapter{a, b}})
				own := c.clock
				var jumped atomic.Bool
				c.clock = func() (time.Time, time.Duration) {
					wall, ran := own()
					if jumped.Load() {
						wall, ran = wall.Add(jump.wall), ran+jump.ran
					}
					return wall, ran
				}
				ctx, cancel := context.WithCancel(t.Context())
				done := make(chan error)
				go func() { done <- c.Run(ctx) }()
				time.Sleep(time.Minute)
				synctest.Wait()
				before := len(a.questions()) + len(b.questions())
				jumped.Store(true)
				time.Sleep(time.Minute)
				synctest.Wait()
				if n := len(a.questions()) + len(b.questions()) - before; n != 2*jump.asked {
					t.Errorf("%d questions to two agents, want %d", n, 2*jump.asked)
				}
				cancel()
				if err := <-done; err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// TestSuspended: what a suspended process has open stands still, and nothing of
// it ended.
func TestSuspended(t *testing.T) {
	first := []adapters.Session{on("work", adapters.Working, 1), on("wait", adapters.Waiting, 2), on("idle", adapters.Idle, 3)}
	playPolling(t, first, func(s *scene) {
		suspend := func(v bool) {
			for i := range 3 {
				s.machine.change(pid(i+1), func(p *proc.Process) { p.Suspended = v })
			}
			s.glance()
		}
		check := func(suspended bool, want ...adapters.Status) {
			s.Helper()
			for i, id := range []string{"work", "wait", "idle"} {
				x, err := findExact(s.core.Snapshot(), id)
				if err != nil || x.Status != want[i] || x.Suspended != suspended || x.Outcome != "" ||
					strings.Contains(x.Evidence, "is suspended (Ctrl-Z or SIGSTOP); before: test says") != suspended {
					s.Errorf("%s: %+v, %v", id, x, err)
				}
			}
		}
		s.settle()
		check(false, adapters.Working, adapters.Waiting, adapters.Idle)
		suspend(true)
		check(true, adapters.Idle, adapters.Waiting, adapters.Idle)
		s.settle()
		s.core.RefreshOne(s.Context(), agentname.ClaudeCode, "idle") // the others are judged again as they were
		check(true, adapters.Idle, adapters.Waiting, adapters.Idle)
		s.agent.says(partly)
		s.refresh()
		suspend(false)
		check(false, adapters.Working, adapters.Waiting, adapters.Idle)
		s.agent.says(nil, first...)
		s.refresh()
		told := s.events.told()
		slices.Sort(told)
		want := []string{"status idle idle", "status idle idle", "status wait waiting", "status wait waiting", "status work idle", "status work working"}
		if d := cmp.Diff(want, told); d != "" {
			s.Error(d)
		}
		suspend(true)
		for i := range 3 {
			s.machine.end(pid(i + 1))
		}
		synctest.Wait()
		told = s.events.told()
		slices.Sort(told)
		if d := cmp.Diff([]string{"ended idle stopped", "ended wait stopped/died", "ended work stopped/died"}, told[:3]); d != "" {
			s.Errorf("killed while suspended: %s", d)
		}
	})
}

// TestLooksAreRarerOnBattery: every 10 s, and every 2 s once it is plugged in.
func TestLooksAreRarerOnBattery(t *testing.T) {
	playPolling(t, nil, func(s *scene) {
		for _, c := range []struct {
			used  bool
			looks int
		}{{true, 30}, {false, 150}} {
			s.unplugged.Store(c.used)
			time.Sleep(powerEvery + pollIntervalOnBattery) // until it is asked for
			synctest.Wait()
			before := s.machine.lists()
			time.Sleep(5 * time.Minute)
			synctest.Wait()
			if n := s.machine.lists() - before; n < c.looks-1 || n > c.looks+1 {
				s.Errorf("on battery %v: %d looks in 5 minutes, want %d", c.used, n, c.looks)
			}
		}
	})
}

// TestLostEvents: when the system's queue of events has overflowed, all is watched
// and asked again.
func TestLostEvents(t *testing.T) {
	a := &counted{roster: roster{dir: t.TempDir()}}
	c := New(Config{Adapters: []adapters.Adapter{a}})
	f := must.Get(places.NewFolders[*source](nil))(t)
	defer f.Close()
	r := newRunner(c)
	r.ctx, r.folders = t.Context(), f
	r.findPlaces(c.sources[0], &watchList{watch: a.WatchPaths()})
	r.watchPlaces(<-r.foundPlaces)
	<-r.due // a folder that is watched from now on may have changed before
	r.pending[c.sources[0]] = nil
	go r.handleWatchError(fsnotify.ErrEventOverflow)
	r.eventsLost(<-r.lost)
	<-r.due
	if n := len(f.Watches()); n != 0 {
		t.Errorf("%d folders are watched as before", n)
	}
	r.findPlaces(c.sources[0], &watchList{watch: a.WatchPaths()})
	r.watchPlaces(<-r.foundPlaces)
	if n := len(f.Watches()); n != 1 {
		t.Errorf("%d folders are watched again", n)
	}
	<-r.due
}

// TestProcessRowThatComesLate: an adapter lists a process some seconds after it owned it, and nothing reports that. A core that runs on shows the row with
// the next poll, as one that begins then.
func TestProcessRowThatComesLate(t *testing.T) {
	for after := time.Second; after < 20*time.Second; after += time.Second {
		playPolling(t, nil, func(s *scene) {
			s.glance()
			s.born(pid(1), "claude", 0)
			time.Sleep(after)
			s.agent.says(nil, process(1))
			s.glance()
			if n := len(s.core.Snapshot().Sessions()); n != 1 {
				t.Errorf("%d rows %v after its start", n, after)
			}
		})
	}
}
