package app

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"rollcall/adapters"
)

// TestEndsOfOneProcess: each session of a process that ends has exactly one end, however many there are and however its agent tidied up
// before.
func TestEndsOfOneProcess(t *testing.T) {
	for _, n := range []int{1, 2, 5} {
		for _, shared := range []bool{false, true} {
			for way, end := range waysToEnd {
				t.Run(fmt.Sprintf("%d sessions, shared %v, %s", n, shared, way), func(t *testing.T) {
					sessions := make([]adapters.Session, n)
					for i := range sessions {
						sessions[i] = changed(on(fmt.Sprint("s", i), adapters.Idle, 1), func(x *adapters.Session) { x.Shared = shared })
					}
					play(t, sessions, func(s *scene) {
						end(s, slices.Clone(sessions))
						synctest.Wait()
						s.settle()
						s.refresh()
						s.wantEnds(n)
					})
				})
			}
		}
	}
}

// waysToEnd are ways in which a process with sessions ends.
var waysToEnd = map[string]func(*scene, []adapters.Session){
	"killed": func(s *scene, _ []adapters.Session) { s.machine.end(pid(1)) },
	"final when it has ended": func(s *scene, list []adapters.Session) {
		s.agent.says(nil, allDone(list)...)
		s.machine.end(pid(1))
	},
	"its claims are dropped at once": func(s *scene, list []adapters.Session) {
		s.agent.says(nil, allDone(list)...)
		s.refresh()
		s.machine.end(pid(1))
	},
	"its claims are dropped, and a process is left": func(s *scene, list []adapters.Session) {
		s.agent.says(nil, append(allDone(list), process(1))...)
		s.refresh()
		time.Sleep(time.Second)
		s.agent.says(nil, allDone(list)...)
		s.machine.end(pid(1))
	},
	"closed in order": func(s *scene, list []adapters.Session) {
		closeInOrder(s, list, len(list))
		s.machine.end(pid(1))
	},
	"closed but for the last one": func(s *scene, list []adapters.Session) {
		closeInOrder(s, list, len(list)-1)
		s.machine.end(pid(1))
	},
	"closed, and deleted by its agent": func(s *scene, list []adapters.Session) {
		for len(list) > 0 {
			list = list[1:]
			s.agent.says(nil, list...)
			s.refresh()
			time.Sleep(time.Second)
		}
		s.machine.end(pid(1))
	},
	"closed while the watcher is late": func(s *scene, list []adapters.Session) {
		closeInOrder(s, list, 1)
		s.machine.vanish(pid(1))
		s.refresh()
		s.agent.says(nil, allDone(list)...)
		s.refresh()
		s.machine.tell(pid(1))
	},
}

// closeInOrder has the agent close the first n sessions, one after the other.
func closeInOrder(s *scene, list []adapters.Session, n int) {
	for i := range n {
		list[i] = done(list[i].ID)
		s.agent.says(nil, list...)
		s.refresh()
		time.Sleep(time.Second)
	}
}

func allDone(list []adapters.Session) (out []adapters.Session) {
	for _, x := range list {
		out = append(out, done(x.ID))
	}
	return out
}

// wantEnds checks that the ends of n sessions of one process were told, each once, as those of one process.
func (s *scene) wantEnds(n int) {
	s.Helper()
	told := map[string]int{}
	for _, e := range s.events.all() {
		if e.Kind != Ended {
			continue
		}
		told[e.Session.ID]++
		if len(e.With) != n-1 || e.Process != pid(1) {
			s.Errorf("the end of %s in %v is told with %d others", e.Session.ID, e.Process, len(e.With))
		}
	}
	for i := range n {
		if id := fmt.Sprint("s", i); told[id] != 1 {
			s.Errorf("the end of %s is told %d times: %s", id, told[id], strings.Join(s.events.told(), ", "))
		}
	}
}

// TestProcessGoesOnAfterAClaim: a session that was closed long before its process ended has not ended with it, and neither has one in
// whose place the process took up another.
func TestProcessGoesOnAfterAClaim(t *testing.T) {
	two := []adapters.Session{on("a", adapters.Idle, 1), on("b", adapters.Idle, 1)}
	for name, c := range map[string]struct {
		first []adapters.Session
		next  []adapters.Session
		pause time.Duration
		want  []string
	}{
		"closed long ago": {two, []adapters.Session{done("a"), two[1]}, time.Hour,
			[]string{"status a stopped/completed", "ended b stopped/completed"}},
		"closed a moment ago": {two, []adapters.Session{done("a"), two[1]}, time.Second,
			[]string{"status a stopped/completed", "ended a stopped/completed", "ended b stopped/completed"}},
		"replaced": {two[:1], []adapters.Session{done("a"), two[1]}, time.Second,
			[]string{"status a stopped/completed", "started b idle", "ended b stopped/completed"}},
	} {
		t.Run(name, func(t *testing.T) {
			play(t, c.first, func(s *scene) {
				s.agent.says(nil, c.next...)
				s.refresh()
				time.Sleep(c.pause)
				s.refresh()
				s.agent.says(nil, done("a"), done("b"))
				s.machine.end(pid(1))
				synctest.Wait()
				s.settle()
				s.want(c.want...)
			})
		})
	}
}
