package proc

import (
	"errors"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"rollcall/internal/eventually"
	"rollcall/internal/must"
)

func init() {
	// wrapper starts a child that outlives it.
	roles["wrapper"] = func() error {
		agent := exec.Command("/proc/self/exe", "-test.run=^$")
		agent.Env = append(os.Environ(), roleVariable+"=wait")
		agent.Stdin = os.Stdin // the child ends with the test's end of the pipe
		if err := agent.Start(); err != nil {
			return err
		}
		return ready(strconv.Itoa(agent.Process.Pid))
	}
}

// end is the report of one process's end.
type end struct {
	calls  atomic.Int32
	at     chan time.Time
	cancel func()
}

// watch watches with a watcher of its own, closed at the end of the test.
func watch(t *testing.T, table *Table, id Identity) *end {
	t.Helper()
	w := must.Get(NewWatcher(table))(t)
	t.Cleanup(func() { _ = w.Close() })
	return watchWith(t, w, id)
}

func watchWith(t *testing.T, w *Watcher, id Identity) *end {
	t.Helper()
	e := &end{at: make(chan time.Time, 10)}
	e.cancel = must.Get(w.Watch(id, func() {
		e.calls.Add(1)
		e.at <- time.Now()
	}))(t)
	return e
}

// once waits for the report and makes sure that there is one only.
func (e *end) once(t *testing.T) time.Time {
	t.Helper()
	select {
	case at := <-e.at:
		time.Sleep(2 * time.Millisecond)
		if n := e.calls.Load(); n != 1 {
			t.Errorf("reported %d times", n)
		}
		return at
	case <-time.After(eventually.Limit):
		t.Fatal("its end was not reported")
	}
	return time.Time{}
}

func (e *end) never(t *testing.T, during time.Duration) {
	t.Helper()
	time.Sleep(during)
	if e.calls.Load() != 0 {
		t.Fatal("an end was reported")
	}
}

// descriptors counts our open descriptors.
func descriptors(t *testing.T) int {
	t.Helper()
	entries := must.Get(os.ReadDir("/proc/self/fd"))(t)
	return len(entries)
}

// TestExits kills 200 processes, watched by one watcher, and prints how long
// after the kill each end was reported.
func TestExits(t *testing.T) {
	const count = 200
	before := descriptors(t)
	table := OpenAt("/proc", "/etc")
	w := must.Get(NewWatcher(table))(t)
	if w.events == nil {
		t.Fatal("polls")
	}
	var latencies []time.Duration
	const batch = 20
	for range count / batch {
		children, ends := make([]*child, batch), make([]*end, batch)
		for i := range children {
			children[i] = start(t, "wait", nil)
			ends[i] = watchWith(t, w, children[i].identity(t, table))
		}
		for i, c := range children {
			killed := time.Now()
			c.kill(t)
			latencies = append(latencies, ends[i].once(t).Sub(killed))
			if i+1 < batch && ends[i+1].calls.Load() != 0 {
				t.Error("an end was reported of a process that lives")
			}
			c.reap()
		}
	}
	if err := w.Close(); err != nil {
		t.Error(err)
	}
	slices.Sort(latencies)
	t.Logf("%d exits, kill to report: p50 %v, p99 %v, max %v", count, latencies[count/2], latencies[count*99/100], latencies[count-1])
	if after := descriptors(t); after != before {
		t.Errorf("%d descriptors before, %d after", before, after)
	}
}

// TestExitsAtOnce ends all at the same moment, which fills several batches of
// events, while others are watched and canceled.
func TestExitsAtOnce(t *testing.T) {
	const count = 100
	table := OpenAt("/proc", "/etc")
	w := must.Get(NewWatcher(table))(t)
	defer w.Close()
	survivor := start(t, "wait", nil).identity(t, table)
	children, ends := make([]*child, count), make([]*end, count)
	for i := range children {
		children[i] = start(t, "wait", nil)
		ends[i] = watchWith(t, w, children[i].identity(t, table))
	}
	var churn sync.WaitGroup
	stop := make(chan struct{})
	for range 4 {
		churn.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				cancel, err := w.Watch(survivor, func() { t.Error("the survivor's end was reported") })
				if err != nil {
					t.Error(err)
					return
				}
				cancel()
			}
		})
	}
	for _, c := range children {
		_ = c.Process.Kill()
	}
	for _, e := range ends {
		e.once(t)
	}
	close(stop)
	churn.Wait()
}

func TestWrapperEndsAgentLives(t *testing.T) {
	table := OpenAt("/proc", "/etc")
	wrapper := start(t, "wrapper", nil)
	pid := must.Get(strconv.Atoi(wrapper.said))(t)
	agent := must.Get(table.Find(pid))(t)
	if agent.PPID != wrapper.Process.Pid {
		t.Fatalf("parent of the agent is %d, want %d", agent.PPID, wrapper.Process.Pid)
	}
	endOfWrapper := watch(t, table, wrapper.identity(t, table))
	endOfAgent := watch(t, table, agent.Identity)
	wrapper.kill(t)
	endOfWrapper.once(t)
	endOfAgent.never(t, 50*time.Millisecond)
	orphan, err := table.Find(pid)
	if err != nil || orphan.Identity != agent.Identity || orphan.PPID == wrapper.Process.Pid {
		t.Errorf("the orphan is %+v, %v", orphan, err)
	}
	// Only its input ties the agent to us: it is no child of ours.
	_ = wrapper.input.Close()
	endOfAgent.once(t)
	if table.Alive(agent.Identity) {
		t.Error("the agent is called alive after its end")
	}
}

func TestCancel(t *testing.T) {
	table := OpenAt("/proc", "/etc")
	w := must.Get(NewWatcher(table))(t)
	defer w.Close()
	c := start(t, "wait", nil)
	id := c.identity(t, table)
	before := descriptors(t)
	canceled, kept := watchWith(t, w, id), watchWith(t, w, id)
	canceled.cancel()
	canceled.cancel()
	c.kill(t)
	kept.once(t)
	canceled.never(t, 20*time.Millisecond)
	kept.cancel()
	if after := descriptors(t); after != before {
		t.Errorf("%d descriptors before, %d after", before, after)
	}
}

// TestCancelWhileEnding lets a first report hold up the second, which is canceled
// meanwhile: it must not come any more.
func TestCancelWhileEnding(t *testing.T) {
	table := OpenAt("/proc", "/etc")
	w := must.Get(NewWatcher(table))(t)
	defer w.Close()
	c := start(t, "wait", nil)
	id := c.identity(t, table)
	entered, leave := make(chan struct{}), make(chan struct{})
	var cancelSelf func()
	ready := make(chan struct{})
	cancelSelf = must.Get(w.Watch(id, func() {
		<-ready
		cancelSelf() // of no effect, and no deadlock
		close(entered)
		<-leave
	}))(t)
	close(ready)
	second := watchWith(t, w, id)
	c.kill(t)
	<-entered
	second.cancel()
	close(leave)
	second.never(t, 50*time.Millisecond)
}

func TestClose(t *testing.T) {
	defer goleak.VerifyNone(t)
	before := descriptors(t)
	table := OpenAt("/proc", "/etc")
	w := must.Get(NewWatcher(table))(t)
	c := start(t, "wait", nil)
	id := c.identity(t, table)
	e := watchWith(t, w, id)
	for range 2 {
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	}
	c.kill(t)
	e.never(t, 20*time.Millisecond)
	e.cancel()
	if _, err := w.Watch(id, func() {}); !errors.Is(err, ErrClosed) {
		t.Errorf("Watch after Close: %v, want ErrClosed", err)
	}
	c.reap()
	if after := descriptors(t); after != before {
		t.Errorf("%d descriptors before, %d after", before, after)
	}
}

// TestPoll watches in a tree that isn't this machine's, where only a poll tells.
func TestPoll(t *testing.T) {
	root := t.TempDir()
	writeTree(t, root, map[string]string{
		"7/stat": statLine(7, "ends", 'S', 1), "8/stat": statLine(8, "turns zombie", 'S', 2),
		"9/stat": statLine(9, "pid is reused", 'S', 3), "10/stat": statLine(10, "lives", 'S', 4),
		"11/stat": statLine(11, "damaged", 'S', 5),
	})
	table := OpenAt(root, root)
	w := must.Get(NewWatcher(table))(t)
	w.interval = 5 * time.Millisecond
	defer goleak.VerifyNone(t)
	defer w.Close()
	var ends []*end
	for i := range 5 {
		ends = append(ends, watchWith(t, w, Identity{PID: 7 + i, Start: uint64(1 + i)}))
	}
	for _, e := range ends {
		e.never(t, 5*time.Millisecond)
	}
	must.Do(t, os.RemoveAll(root+"/7"))
	writeTree(t, root, map[string]string{"8/stat": statLine(8, "turns zombie", 'Z', 2), "9/stat": statLine(9, "another", 'S', 99), "11/stat": "garbage"})
	for _, e := range ends[:3] {
		e.once(t)
	}
	for _, e := range ends[3:] {
		e.never(t, 20*time.Millisecond)
	}
	ends[3].cancel()
	ends[4].cancel()
}

func TestPollEndsWhenIdle(t *testing.T) {
	defer goleak.VerifyNone(t)
	root := t.TempDir()
	writeTree(t, root, map[string]string{"7/stat": statLine(7, "it", 'S', 1)})
	w := must.Get(NewWatcher(OpenAt(root, root)))(t)
	w.interval = time.Millisecond
	for range 3 { // the goroutine ends and begins again
		e := watchWith(t, w, Identity{PID: 7, Start: 1})
		e.never(t, 5*time.Millisecond)
		e.cancel()
		goleak.VerifyNone(t)
	}
	if err := w.Close(); err != nil {
		t.Error(err)
	}
}

// TestForeignTree holds that a tree of made-up processes is never asked for
// events of this machine's, even where pid and start time agree.
func TestForeignTree(t *testing.T) {
	for root, own := range map[string]bool{"/proc": true, "/proc/": true, t.TempDir(): false} {
		if table := OpenAt(root, "/etc"); table.hasEvents() != own {
			t.Errorf("%s: live is %v, want %v", root, table.hasEvents(), own)
		}
	}
}
