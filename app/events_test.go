package app

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"rollcall/adapters"
	"rollcall/internal/agentname"
	"rollcall/proc"
)

// scene is one agent on a machine, with Run under way in fake time.
type scene struct {
	*testing.T
	agent   *agent
	machine *machine
	core    *Core
	events  *collect
	// unplugged: the machine runs on its battery.
	unplugged atomic.Bool
}

// play runs f in a bubble; Run is under way and has had its first scan of list.
func play(t *testing.T, first []adapters.Session, f func(*scene)) {
	t.Helper()
	playWith(t, nil, first, f)
}

// playWith is play with launches of Rollcall's own.
func playWith(t *testing.T, launches Launches, first []adapters.Session, f func(*scene)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := &scene{T: t, agent: &agent{name: agentname.ClaudeCode}, machine: newMachine()}
		for _, x := range first {
			if x.Live() && !x.Process.IsZero() {
				s.machine.start(x.Process)
			}
		}
		s.agent.says(nil, first...)
		s.core = New(Config{Adapters: []adapters.Adapter{s.agent}, Table: s.machine, Watch: s.machine, Since: time.Hour, Launches: launches})
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
		if w := s.machine.watching(); len(w) != 0 {
			t.Errorf("still watched after Run: %v", w)
		}
	})
}

func (s *scene) refresh() { s.core.Refresh(s.Context()); synctest.Wait() }

func (s *scene) settle() { time.Sleep(10 * time.Second); synctest.Wait() }

func (s *scene) want(told ...string) {
	s.Helper()
	if told == nil {
		told = []string{}
	}
	if d := cmp.Diff(told, s.events.told()); d != "" {
		s.Errorf("events (-want +got):\n%s", d)
	}
}

func done(id string) adapters.Session {
	return changed(on(id, adapters.Stopped, 0), func(s *adapters.Session) { s.Outcome = adapters.Completed })
}

func TestFirstScanTellsNothing(t *testing.T) {
	play(t, []adapters.Session{on("a", adapters.Working, 1), on("w", adapters.Waiting, 2), done("d")}, func(s *scene) {
		s.settle()
		s.want()
		s.machine.start(pid(3))
		s.agent.says(nil, on("a", adapters.Waiting, 1), on("w", adapters.Waiting, 2), done("d"), on("n", adapters.Working, 3))
		s.refresh()
		s.refresh()
		s.want("status a waiting", "started n working")
		if e := s.events.all()[0]; e.Before.Status != adapters.Working || e.Session.WaitingFor != adapters.ForPermission {
			s.Errorf("%+v", e)
		}
	})
}

func TestEndIsToldOnceWithItsFinalOutcome(t *testing.T) {
	play(t, []adapters.Session{on("a", adapters.Working, 1)}, func(s *scene) {
		// The file still says busy when the process is gone; it is final after.
		s.agent.says(nil, done("a"))
		s.machine.end(pid(1))
		synctest.Wait()
		s.want("ended a stopped/completed")
		s.refresh()
		s.settle()
		s.want("ended a stopped/completed")
		e := s.events.all()[0]
		if e.Process != pid(1) || e.Before.Status != adapters.Working || len(e.With) != 0 {
			s.Errorf("%+v", e)
		}
		if q := s.agent.questions(); !slices.ContainsFunc(q, func(q adapters.Query) bool { return slices.Equal(q.IDs, []string{"a"}) }) {
			s.Errorf("not asked for the session itself: %+v", q)
		}
		if got := rowsOf(s.core.Snapshot().Sessions()); !slices.Equal(got, []shownRow{{"a", adapters.Stopped, adapters.Completed, 0, ""}}) {
			s.Errorf("shown: %+v", got)
		}
	})
}

// TestEndOfAnUnstoredSession: the end of a session whose agent stored nothing of its folder and its prompt names those that were
// known while its process lived.
func TestEndOfAnUnstoredSession(t *testing.T) {
	live := changed(on("a", adapters.Working, 1), func(s *adapters.Session) { s.CWD, s.LastPrompt = "/w/a", "a task" })
	play(t, []adapters.Session{live}, func(s *scene) {
		s.agent.says(nil, changed(done("a"), func(s *adapters.Session) { s.Outcome = "" }))
		s.machine.end(pid(1))
		synctest.Wait()
		s.want("ended a stopped")
		if e := s.events.all()[0]; e.Session.CWD != "/w/a" || e.Session.LastPrompt != "a task" {
			s.Errorf("%+v", e.Session)
		}
	})
}

// The files of a container vanish with its last process: the end of its session is
// reported nevertheless, and no outcome that cannot be known.
func TestEndInContainer(t *testing.T) {
	contained := func(status adapters.Status) adapters.Session {
		return changed(on("a", status, 1), func(s *adapters.Session) { s.Container = "4026532456" })
	}
	for status, want := range map[adapters.Status]string{
		adapters.Working: "ended a stopped", adapters.Waiting: "ended a stopped", adapters.Idle: "ended a stopped",
	} {
		play(t, []adapters.Session{contained(status)}, func(s *scene) {
			s.agent.says(nil)
			s.machine.end(pid(1))
			synctest.Wait()
			s.settle()
			s.want(want)
			e := s.events.all()[0]
			if known := status == adapters.Idle; known == strings.Contains(e.Session.Evidence, "how its last turn ended is not known") {
				s.Errorf("%s: %s", status, e.Session.Evidence)
			}
			if len(s.core.Snapshot().Sessions()) != 0 {
				s.Errorf("%s: still shown", status)
			}
		})
	}
}

// A session in a container is seen suspended as any other.
func TestSuspendedInContainer(t *testing.T) {
	play(t, []adapters.Session{changed(on("a", adapters.Working, 1), func(s *adapters.Session) { s.Container = "4026532456" })}, func(s *scene) {
		s.machine.change(pid(1), func(p *proc.Process) { p.Suspended = true })
		s.refresh()
		if x := s.core.Snapshot().Sessions()[0]; !x.Suspended || x.Status != adapters.Idle {
			s.Errorf("%+v", x)
		}
	})
}

// TestEndBesideAnother: a process ends while its agent is asked about another's end.
// How its turn ended is in files that were not read then.
func TestEndBesideAnother(t *testing.T) {
	play(t, []adapters.Session{on("a", adapters.Working, 1), on("b", adapters.Working, 2)}, func(s *scene) {
		s.agent.hook(func(_ context.Context, q adapters.Query) {
			if slices.Equal(q.IDs, []string{"a"}) {
				s.agent.says(nil, done("a"), done("b"))
				s.machine.end(pid(2))
			}
		})
		s.machine.end(pid(1))
		s.settle()
		s.want("ended a stopped/completed", "ended b stopped/completed")
	})
}

func TestKilledInMidTurn(t *testing.T) {
	play(t, []adapters.Session{on("a", adapters.Working, 1)}, func(s *scene) {
		s.machine.end(pid(1)) // the file says busy for ever
		synctest.Wait()
		s.want("ended a stopped/died")
		s.settle()
		s.want("ended a stopped/died")
	})
}

// TestRefreshFirst: a refresh sees that the process is gone before the watcher
// has said so. It is shown at once, and reported once the watcher says so.
func TestRefreshFirst(t *testing.T) {
	play(t, []adapters.Session{on("a", adapters.Working, 1)}, func(s *scene) {
		s.machine.vanish(pid(1))
		s.agent.says(nil, done("a"))
		s.refresh()
		s.want()
		if st := s.core.Snapshot().Sessions()[0].Status; st != adapters.Stopped {
			s.Errorf("shown as %s", st)
		}
		s.machine.tell(pid(1))
		synctest.Wait()
		s.want("ended a stopped/completed")
	})
}

// TestTableErrs: the table fails to read a process that lives: no end is reported.
func TestTableErrs(t *testing.T) {
	play(t, []adapters.Session{on("a", adapters.Working, 1)}, func(s *scene) {
		s.machine.vanish(pid(1))
		s.refresh()
		s.machine.start(pid(1))
		s.refresh()
		s.want()
		if st := s.core.Snapshot().Sessions()[0].Status; st != adapters.Working {
			s.Errorf("shown as %s", st)
		}
	})
}

// TestSaysGoodbyeFirst: the agent takes its entry away a moment before its
// process ends.
func TestSaysGoodbyeFirst(t *testing.T) {
	for name, answer := range map[string][]adapters.Session{"listed as stopped": {done("a")}, "not listed": nil} {
		t.Run(name, func(t *testing.T) {
			play(t, []adapters.Session{on("a", adapters.Waiting, 1)}, func(s *scene) {
				s.agent.says(nil, answer...)
				s.refresh()
				s.refresh()
				if told := s.events.told(); len(told) != 1 || !strings.HasPrefix(told[0], "status a") {
					s.Fatalf("told %q", told)
				}
				s.agent.says(nil, done("a"))
				s.machine.end(pid(1))
				synctest.Wait()
				s.settle()
				if told := s.events.told(); len(told) != 2 || told[1] != "ended a stopped/completed" {
					s.Errorf("told %q", told)
				}
				if b := s.events.all()[1].Before; b.Status != adapters.Waiting {
					s.Errorf("before: %+v", b)
				}
			})
		})
	}
}

// TestUnlistedForAWhile: a session that its agent doesn't list while its process
// lives, because its store was renamed, is not known; it has not ended, nor started
// when it is listed again.
func TestUnlistedForAWhile(t *testing.T) {
	play(t, []adapters.Session{on("a", adapters.Waiting, 1)}, func(s *scene) {
		s.agent.says(nil, process(1))
		s.refresh()
		s.agent.says(nil, on("a", adapters.Waiting, 1))
		s.refresh()
		s.want("status a unknown", "status a waiting")
		if e := s.events.all(); e[1].Before.Status != adapters.Unknown {
			s.Errorf("before: %+v", e[1].Before)
		}
		s.agent.says(nil, done("a"))
		s.machine.end(pid(1))
		synctest.Wait()
		s.want("status a unknown", "status a waiting", "ended a stopped/completed")
	})
}

// TestClear: the same process takes up another session: the first didn't end.
func TestClear(t *testing.T) {
	play(t, []adapters.Session{on("a", adapters.Idle, 1)}, func(s *scene) {
		s.agent.says(nil, done("a"), on("b", adapters.Idle, 1))
		s.refresh()
		s.want("status a stopped/completed", "started b idle")
		s.agent.says(nil, done("a"), done("b"))
		s.machine.end(pid(1))
		synctest.Wait()
		s.settle()
		s.want("status a stopped/completed", "started b idle", "ended b stopped/completed")
	})
}

// TestUnload: the daemon goes on without one of its threads.
func TestUnload(t *testing.T) {
	shared := func(id string) adapters.Session {
		return changed(on(id, adapters.Idle, 1), func(s *adapters.Session) { s.Shared = true })
	}
	play(t, []adapters.Session{shared("a"), shared("b"), shared("c")}, func(s *scene) {
		s.agent.says(nil, done("a"), shared("b"), shared("c"))
		s.refresh()
		s.want("status a stopped/completed")
		time.Sleep(closedWithProcess + time.Second)
		s.agent.says(nil, done("a"), done("b"), done("c"))
		s.machine.end(pid(1))
		synctest.Wait()
		s.settle()
		s.want("status a stopped/completed", "ended b stopped/completed", "ended c stopped/completed")
		for i, other := range map[int]string{1: "c", 2: "b"} {
			e := s.events.all()[i]
			if e.Process != pid(1) || len(e.With) != 1 || e.With[0].ID != other {
				s.Errorf("%s ended with %+v", e.Session.ID, e.With)
			}
		}
	})
}

// TestTerminalEnded: a terminal that showed a session of a daemon ends during a turn, and its agent can't tell any more whether another one
// shows it. The event of the turn's end says so, unless a terminal shows the session again.
func TestTerminalEnded(t *testing.T) {
	shown := func(status adapters.Status, terminal int) adapters.Session {
		return changed(on("a", status, 1), func(s *adapters.Session) {
			s.Shared = true
			if terminal > 0 {
				s.Terminal = pid(terminal)
			}
		})
	}
	play(t, []adapters.Session{shown(adapters.Working, 2)}, func(s *scene) {
		s.machine.start(pid(2))
		s.machine.start(pid(3))
		s.agent.says(nil, shown(adapters.Idle, 0))
		s.refresh()
		s.agent.says(nil, shown(adapters.Working, 2))
		s.refresh()
		s.machine.end(pid(2))
		s.agent.says(nil, shown(adapters.Idle, 0))
		s.refresh()
		s.agent.says(nil, shown(adapters.Working, 3))
		s.refresh()
		var got []bool
		for _, e := range s.events.all() {
			got = append(got, e.TerminalEnded)
		}
		if want := []bool{false, false, true, false}; !slices.Equal(got, want) {
			s.Errorf("%v, want %v: %q", got, want, s.events.told())
		}
	})
}

// TestResumedElsewhere: one session in two processes ends with the last.
func TestResumedElsewhere(t *testing.T) {
	play(t, []adapters.Session{on("a", adapters.Idle, 1), on("a", adapters.Working, 2)}, func(s *scene) {
		s.agent.says(nil, on("a", adapters.Working, 2))
		s.machine.end(pid(1))
		synctest.Wait()
		s.settle()
		s.want()
		s.agent.says(nil, done("a"))
		s.machine.end(pid(2))
		synctest.Wait()
		s.want("ended a stopped/completed")
	})
}

// TestMoved: the session was resumed in another process while the first lives
// on with another session.
func TestMoved(t *testing.T) {
	play(t, []adapters.Session{on("a", adapters.Idle, 1)}, func(s *scene) {
		s.machine.start(pid(2))
		s.agent.says(nil, on("a", adapters.Idle, 2), on("b", adapters.Idle, 1))
		s.refresh()
		s.agent.says(nil, done("a"), on("b", adapters.Idle, 1))
		s.machine.end(pid(2))
		synctest.Wait()
		s.want("started b idle", "ended a stopped/completed")
	})
}

func TestResumedAfterTheEnd(t *testing.T) {
	play(t, []adapters.Session{on("a", adapters.Idle, 1)}, func(s *scene) {
		s.agent.says(nil, done("a"))
		s.machine.end(pid(1))
		synctest.Wait()
		s.machine.start(pid(2))
		s.agent.says(nil, on("a", adapters.Working, 2))
		s.refresh()
		s.agent.says(nil, done("a"))
		s.machine.end(pid(2))
		synctest.Wait()
		s.want("ended a stopped/completed", "started a working", "ended a stopped/completed")
	})
}

// TestEndWhileItsAdapterFails: how an open turn ended is not known, and is not reported as
// a death: its agent may have finished it right before.
func TestEndWhileItsAdapterFails(t *testing.T) {
	play(t, []adapters.Session{on("a", adapters.Working, 1), on("b", adapters.Idle, 2)}, func(s *scene) {
		s.agent.says(partly)
		s.machine.end(pid(1))
		synctest.Wait()
		s.want("ended a stopped")
		e := s.events.all()[0]
		if e.Session.Stale == nil || !strings.Contains(e.Session.Evidence, "gone") {
			s.Errorf("%+v", e.Session)
		}
		s.agent.says(nil, done("a"), on("b", adapters.Idle, 2))
		s.settle()
		s.want("ended a stopped")
	})
}

// TestEndWhileItsAdapterHangs: the notification waits a second, not five.
func TestEndWhileItsAdapterHangs(t *testing.T) {
	for _, asking := range []bool{false, true} {
		play(t, []adapters.Session{on("a", adapters.Working, 1), on("b", adapters.Idle, 2)}, func(s *scene) {
			hold := make(chan struct{})
			s.agent.hook(func(context.Context, adapters.Query) { <-hold })
			if asking {
				go s.core.Refresh(s.Context())
				time.Sleep(100 * time.Millisecond)
			}
			began := time.Now()
			s.machine.end(pid(1))
			time.Sleep(1100 * time.Millisecond)
			synctest.Wait()
			s.want("ended a stopped")
			if e := s.events.all(); len(e) > 0 && e[0].At.Sub(began) > time.Second {
				s.Errorf("told after %s", e[0].At.Sub(began))
			}
			s.settle()
			if st := state(s.T, s.core.Snapshot(), agentname.ClaudeCode).State; st != Failed {
				s.Errorf("its row says %s", st)
			}
			close(hold) // it is asked again by itself
			s.agent.says(nil, on("b", adapters.Idle, 2))
			s.settle()
			if h := state(s.T, s.core.Snapshot(), agentname.ClaudeCode); h.State != OK {
				s.Errorf("after it came back: %+v", h)
			}
			s.want("ended a stopped")
		})
	}
}

// TestEndDuringAnAnswer: the process ends after its files were read and before
// the answer is judged: they are read again.
func TestEndDuringAnAnswer(t *testing.T) {
	play(t, []adapters.Session{on("a", adapters.Working, 1)}, func(s *scene) {
		first := true
		s.agent.hook(func(context.Context, adapters.Query) {
			if !first {
				s.agent.says(nil, done("a"))
				return
			}
			first = false
			s.machine.end(pid(1))
		})
		s.refresh()
		s.want("ended a stopped/completed")
	})
}

func TestEndsWithoutAWatcher(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, m := &agent{name: "a"}, newMachine(pid(1))
		a.says(nil, on("x", adapters.Working, 1))
		c := New(Config{Adapters: []adapters.Adapter{a}, Table: m})
		l := listen(t, c)
		c.Refresh(t.Context())
		m.vanish(pid(1))
		c.Refresh(t.Context())
		c.Refresh(t.Context())
		synctest.Wait()
		if d := cmp.Diff([]string{"ended x stopped/died"}, l.told()); d != "" {
			t.Error(d)
		}
	})
}

// TestUnknownAfterTheEnd: the agent can't tell how its session ended.
func TestUnknownAfterTheEnd(t *testing.T) {
	play(t, []adapters.Session{on("a", adapters.Working, 1)}, func(s *scene) {
		s.agent.says(nil, on("a", adapters.Unknown, 0))
		s.machine.end(pid(1))
		synctest.Wait()
		s.refresh()
		s.settle()
		s.want("ended a unknown")
	})
}

// TestSessionThatItsGatewayRemoved: a gateway that answered and does not list a session has removed it. One that did not
// answer, or not in full, has not.
func TestSessionThatItsGatewayRemoved(t *testing.T) {
	at := func(id string, status adapters.Status, gateway string) adapters.Session {
		return changed(on(id, status, 0), func(s *adapters.Session) { s.Remote = gateway })
	}
	a := at("a", adapters.Working, "one")
	b := at("b", adapters.Idle, "one")
	c := at("c", adapters.Working, "two")
	play(t, []adapters.Session{a, b, c}, func(s *scene) {
		s.agent.answersOf("one")
		s.agent.says(errors.New("two does not answer"), b)
		s.refresh()
		s.want("ended a stopped")
		e := s.events.all()[0]
		if !e.Process.IsZero() || e.Before.Status != adapters.Working || !strings.HasPrefix(e.Session.Evidence, "one answered and no longer lists it") {
			s.Errorf("%+v", e)
		}
		if got := rowsOf(s.core.Snapshot().Sessions()); len(got) != 2 || got[0].ID != "c" || got[0].Stale == "" || got[1].Stale != "" {
			s.Errorf("shown: %+v", got)
		}
		s.agent.answersOf("one", "two")
		s.agent.says(nil)
		s.refresh()
		s.refresh()
		s.want("ended a stopped", "ended b stopped", "ended c stopped")
		for _, e := range s.events.all() {
			if len(e.With) != 0 {
				s.Errorf("%s ended with %+v", e.Session.ID, e.With)
			}
		}
		s.agent.says(nil, a)
		s.refresh()
		s.want("ended a stopped", "ended b stopped", "ended c stopped", "started a working")
		s.agent.answersOf("two") // the gateway of a was not asked
		s.agent.says(nil)
		s.refresh()
		s.want("ended a stopped", "ended b stopped", "ended c stopped", "started a working", "status a unknown")
	})
}
