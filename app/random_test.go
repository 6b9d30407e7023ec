package app

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"rollcall/adapters"
	"rollcall/proc"
)

// world is a machine with one agent whose sessions live a random life.
type world struct {
	*scene
	rand    *rand.Rand
	list    []adapters.Session // what the agent's files say
	hosts   map[int]string     // the session of each live process
	open    []int              // live processes without a session
	cleared map[int][]string   // the sessions that it gave up since the last refresh
	failing bool
	pids    int
	ids     int
	must    map[string]int // how often each session's end has to be told
	may     map[string]int // and how often it may be told beyond that
	history []string
}

// TestRandomLives: whatever happens in whatever order, every end that was there
// to be seen is reported exactly once, and in the end the list is true.
func TestRandomLives(t *testing.T) {
	seeds := uint64(150)
	if testing.Short() {
		seeds = 20
	}
	for seed := range seeds {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			playPolling(t, nil, func(s *scene) {
				w := &world{scene: s, rand: rand.New(rand.NewPCG(seed, 1)), hosts: map[int]string{}, cleared: map[int][]string{}, must: map[string]int{}, may: map[string]int{}}
				for range 60 {
					w.step()
				}
				w.check()
			})
		})
	}
}

func (w *world) step() {
	actions := []func(){w.begin, w.begin, w.turn, w.turn, w.clear, w.exit, w.exit, w.fail, w.slow, w.look, w.look, w.wait,
		w.openProcess, w.openProcess, w.prompt, w.close, w.suspend, w.suspend}
	actions[w.rand.IntN(len(actions))]()
	if w.rand.IntN(3) > 0 {
		synctest.Wait()
	}
}

func (w *world) log(format string, args ...any) {
	w.history = append(w.history, fmt.Sprintf(format, args...))
}

// answer is what the agent says from now on.
func (w *world) answer() {
	var err error
	list := slices.Clone(w.list)
	if w.failing {
		err, list = partly, nil
	}
	w.agent.says(err, list...)
	if w.rand.IntN(2) == 0 {
		w.core.requestRefresh(w.core.sources[0])
	}
}

func (w *world) set(id string, change func(*adapters.Session)) {
	i := slices.IndexFunc(w.list, func(s adapters.Session) bool { return s.ID == id })
	change(&w.list[i])
}

func (w *world) newSession(process int) {
	w.ids++
	s := on(fmt.Sprint("s", w.ids), adapters.Working, process)
	s.LastActivityAt = time.Now()
	w.list = append(w.list, s)
	w.hosts[process] = s.ID
}

func (w *world) begin() {
	w.spawn()
	w.newSession(w.pids)
	w.log("begin %s on %d", w.hosts[w.pids], w.pids)
	w.answer()
}

// spawn starts a process of the agent.
func (w *world) spawn() {
	w.pids++
	w.born(pid(w.pids), "claude", 0)
}

// openProcess starts a process without a session.
func (w *world) openProcess() {
	w.spawn()
	w.open = append(w.open, w.pids)
	w.list = append(w.list, processIn(folderOf(w.pids), w.pids, time.Now()))
	w.log("open %d", w.pids)
	w.answer()
}

// leaveOpen takes a process without a session off the list.
func (w *world) leaveOpen() (int, bool) {
	if len(w.open) == 0 {
		return 0, false
	}
	i := w.rand.IntN(len(w.open))
	p := w.open[i]
	w.open = slices.Delete(w.open, i, i+1)
	w.list = slices.DeleteFunc(w.list, func(s adapters.Session) bool { return s.IsProcess() && s.Process == pid(p) })
	return p, true
}

// prompt gives a process its first session.
func (w *world) prompt() {
	if p, ok := w.leaveOpen(); ok {
		w.newSession(p)
		w.log("%d has session %s", p, w.hosts[p])
		w.answer()
	}
}

// close ends a process without a session.
func (w *world) close() {
	if p, ok := w.leaveOpen(); ok {
		w.log("%d closes", p)
		w.machine.end(pid(p))
		w.answer()
	}
}

// folderOf is the folder of a process without a session.
func folderOf(process int) string { return fmt.Sprint("/p", process) }

// suspend suspends a process, or lets it continue. Only the net notices.
func (w *world) suspend() {
	if p, ok := w.any(); ok {
		w.machine.change(pid(p), func(p *proc.Process) { p.Suspended = !p.Suspended })
		w.log("%d is suspended: %v", p, w.machine.suspended(pid(p)))
	}
}

func (w *world) any() (int, bool) {
	if len(w.hosts) == 0 {
		return 0, false
	}
	var live []int
	for p := range w.hosts {
		live = append(live, p)
	}
	slices.Sort(live)
	return live[w.rand.IntN(len(live))], true
}

func (w *world) turn() {
	if p, ok := w.any(); ok {
		st := []adapters.Status{adapters.Working, adapters.Waiting, adapters.Idle}[w.rand.IntN(3)]
		w.log("%s is %s", w.hosts[p], st)
		w.set(w.hosts[p], func(s *adapters.Session) { s.Status, s.LastActivityAt = st, time.Now() })
		w.answer()
	}
}

func (w *world) clear() {
	p, ok := w.any()
	if !ok {
		return
	}
	old := w.hosts[p]
	w.set(old, over)
	w.newSession(p)
	w.cleared[p] = append(w.cleared[p], old)
	w.log("%s clears %s on %d", w.hosts[p], old, p)
	w.answer()
}

func over(s *adapters.Session) {
	s.Status = adapters.Stopped
	s.WaitingFor = ""
	s.Outcome = adapters.Completed
	s.Process = proc.Identity{}
}

// exit ends a process in one of the ways in which agents end.
func (w *world) exit() {
	p, ok := w.any()
	if !ok {
		return
	}
	how := w.rand.IntN(4)
	w.log("%d exits, way %d", p, how)
	w.expect(p)
	id := w.hosts[p]
	delete(w.hosts, p)
	switch how {
	case 0: // killed: the files say nothing
		w.machine.end(pid(p))
	case 1: // gone before the files say so, which are final when they are read again
		w.set(id, over)
		w.machine.end(pid(p))
	case 2: // says so first
		w.set(id, over)
		w.answer()
		w.look()
		w.machine.end(pid(p))
	case 3: // the watcher is late
		w.machine.vanish(pid(p))
		w.set(id, over)
		w.answer()
		w.look()
		time.Sleep(time.Duration(w.rand.IntN(100)) * time.Millisecond)
		w.machine.tell(pid(p))
	}
	w.answer()
}

// expect notes whose end is to be reported when process p ends.
func (w *world) expect(p int) {
	synctest.Wait()
	for _, s := range w.core.Snapshot().Sessions() {
		switch {
		case s.Process != pid(p), s.IsProcess():
		case w.cleared[p] != nil: // the next answer may say that it had stopped before
		default:
			w.must[s.ID]++
		}
	}
	for _, id := range append(w.cleared[p], w.hosts[p]) {
		w.may[id]++
	}
}

func (w *world) fail() {
	w.failing = !w.failing
	w.log("failing: %v", w.failing)
	w.answer()
}

// slow makes the agent slow for a while, or hang.
func (w *world) slow() {
	d := []time.Duration{0, 300 * time.Millisecond, 2 * time.Second, 8 * time.Second}[w.rand.IntN(4)]
	w.log("slow: %s", d)
	w.agent.hook(func(context.Context, adapters.Query) { time.Sleep(d) })
}

func (w *world) look() {
	refresh := w.core.Refresh
	if w.rand.IntN(2) == 0 {
		refresh = w.core.RefreshLive
	}
	w.log("refresh")
	if w.rand.IntN(2) == 0 {
		go refresh(w.Context())
		return
	}
	if s := refresh(w.Context()); s.Adapters[0].State == OK {
		clear(w.cleared)
	}
}

func (w *world) wait() {
	d := time.Duration(w.rand.IntN(3000)) * time.Millisecond
	w.log("wait %s", d)
	time.Sleep(d)
}

func (w *world) check() {
	w.agent.hook(nil)
	w.failing = false
	w.answer()
	time.Sleep(30 * time.Second) // whatever hung has answered
	w.refresh()
	told := map[string]int{}
	for _, e := range w.events.all() {
		if e.Session.IsProcess() || e.Before.IsProcess() {
			w.Errorf("told of a process without a session: %+v", e)
		}
		if e.Kind == Ended {
			told[e.Session.ID]++
			if e.Session.Status != adapters.Stopped || e.Process.IsZero() {
				w.Errorf("ended: %+v", e)
			}
		}
	}
	for i := range w.list {
		id := w.list[i].ID
		if n, least, most := told[id], w.must[id], max(w.must[id], w.may[id]); n < least || n > most {
			w.Errorf("the end of %s was told %d times, want %d to %d", id, n, least, most)
		}
	}
	for _, s := range w.core.Snapshot().Sessions() {
		i := slices.IndexFunc(w.list, func(x adapters.Session) bool { return x.ID == s.ID })
		if i < 0 {
			w.Errorf("%s is shown as %s, and is not there", s.ID, s.Status)
			continue
		}
		want, suspended := w.list[i].Status, false
		switch alive := w.machine.Alive(w.list[i].Process); {
		case w.list[i].Live() && !alive:
			want = adapters.Stopped
		case alive && w.machine.suspended(w.list[i].Process):
			suspended = true
			if want == adapters.Working {
				want = adapters.Idle
			}
		}
		if s.Status != want || s.Suspended != suspended || s.Stale != nil {
			w.Errorf("%s is shown as %s, suspended %v, stale %v; want %s, %v", s.ID, s.Status, s.Suspended, s.Stale, want, suspended)
		}
	}
	for _, p := range w.open {
		if _, err := findExact(w.core.Snapshot(), process(p).ID); err != nil {
			w.Errorf("process %d without a session is not shown", p)
		}
	}
	for p, id := range w.hosts {
		if !slices.Contains(w.machine.watching(), pid(p)) {
			w.Errorf("process %d of %s is not watched", p, id)
		}
	}
	if w.Failed() {
		for _, line := range w.history {
			w.Log(line)
		}
	}
}
