package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"rollcall/adapters"
	"rollcall/internal/agentname"
	"rollcall/internal/eventually"
	"rollcall/internal/must"
	"rollcall/proc"
)

// roster is an adapter of real files: each file of its folder is a session, as
// JSON of entry.
type roster struct {
	dir   string
	table proc.Lister
}

type entry struct {
	Status  adapters.Status
	Outcome adapters.Outcome
	Process proc.Identity
}

func (r *roster) Name() adapters.Name { return agentname.ClaudeCode }

func (r *roster) WatchPaths() []string { return []string{r.dir} }

func (r *roster) Discover(_ context.Context, q adapters.Query) (adapters.Roll, error) {
	roll := adapters.Roll{LookedIn: []string{r.dir}}
	names, err := os.ReadDir(r.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return roll, adapters.ErrAbsent
	}
	for _, n := range names {
		data, err := os.ReadFile(filepath.Join(r.dir, n.Name()))
		var e entry
		if err != nil || json.Unmarshal(data, &e) != nil {
			continue
		}
		s := adapters.Session{
			ID: n.Name(), Agent: r.Name(),
			State: adapters.State{Status: e.Status, Outcome: e.Outcome, Evidence: n.Name()},
			Owner: adapters.Owner{Process: e.Process},
		}
		if q.IDs == nil || slices.Contains(q.IDs, s.ID) {
			roll.Sessions = append(roll.Sessions, s)
		}
	}
	return roll, err
}

func (r *roster) write(t *testing.T, id string, e entry) {
	t.Helper()
	data, err := json.Marshal(e)
	if err == nil {
		err = os.WriteFile(filepath.Join(r.dir, id), data, 0o600)
	}
	must.Do(t, err)
}

// child starts a process that ends when its input is closed.
func child(t *testing.T, table proc.Lister) (id proc.Identity, end func()) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	// The race detector waits a second at exit by default.
	cmd.Env = append(os.Environ(), "ROLLCALL_TEST_ROLE=sleep", "GORACE=atexit_sleep_ms=0")
	return startChild(t, cmd, table)
}

func startChild(t *testing.T, cmd *exec.Cmd, table proc.Lister) (id proc.Identity, end func()) {
	t.Helper()
	in := must.Get(cmd.StdinPipe())(t)
	must.Do(t, cmd.Start())
	end = func() {
		_ = in.Close()
		_ = cmd.Wait()
	}
	t.Cleanup(end)
	p := must.Get(table.Find(cmd.Process.Pid))(t)
	return p.Identity, end
}

func started(t *testing.T, cfg Config) (*Core, *Events) {
	t.Helper()
	c := New(cfg)
	events := c.Events()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- c.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("Run: %v", err)
		}
		events.Close()
	})
	eventually.True(t, "the first answers", func() bool {
		return !slices.ContainsFunc(c.Snapshot().Adapters, func(h Health) bool { return h.State == Pending })
	})
	return c, events
}

func next(t *testing.T, e *Events) Event {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), eventually.Limit)
	defer cancel()
	ev, err := e.Next(ctx)
	if err != nil {
		t.Fatalf("no event: %v", err)
	}
	return ev
}

// TestRealProcessesAndFiles: an agent that isn't there yet is installed, starts
// a session, works, waits and ends, each seen without a refresh by anybody.
func TestRealProcessesAndFiles(t *testing.T) {
	table := proc.Open()
	watcher := must.Get(proc.NewWatcher(table))(t)
	defer watcher.Close()
	home := t.TempDir()
	r := &roster{dir: filepath.Join(home, ".agent", "sessions"), table: table}
	c, events := started(t, Config{Adapters: []adapters.Adapter{r}, Table: table, Watch: watcher})
	if st := c.Snapshot().Adapters[0].State; st != Absent {
		t.Fatalf("before it is installed: %s", st)
	}
	must.Do(t, os.MkdirAll(r.dir, 0o700))
	eventually.True(t, "the agent to be found", func() bool { return c.Snapshot().Adapters[0].State == OK })
	id, end := child(t, table)
	r.write(t, "a", entry{Status: adapters.Working, Process: id})
	if e := next(t, events); e.Kind != Started || e.Session.Status != adapters.Working || e.Session.Process != id {
		t.Fatalf("%+v", e)
	}
	began := time.Now()
	r.write(t, "a", entry{Status: adapters.Waiting, Process: id})
	if e := next(t, events); e.Kind != Changed || e.Session.Status != adapters.Waiting {
		t.Fatalf("%+v", e)
	}
	t.Logf("change seen after %s", time.Since(began))
	began = time.Now()
	end()
	e := next(t, events)
	t.Logf("end seen after %s", time.Since(began))
	if e.Kind != Ended || e.Session.Status != adapters.Stopped || e.Session.Outcome != adapters.Died || e.Process != id {
		t.Fatalf("%+v", e)
	}

	// The folder goes away and comes back.
	must.Do(t, os.RemoveAll(filepath.Dir(r.dir)))
	eventually.True(t, "the agent to be gone", func() bool { return c.Snapshot().Adapters[0].State == Absent })
	must.Do(t, os.MkdirAll(r.dir, 0o700))
	eventually.True(t, "the agent to be back", func() bool { return c.Snapshot().Adapters[0].State == OK })
	again, _ := child(t, table)
	r.write(t, "b", entry{Status: adapters.Idle, Process: again})
	if e := next(t, events); e.Kind != Started || e.Session.ID != "b" {
		t.Fatalf("%+v", e)
	}
}

// TestManyEnds: every end of many is reported once, and soon.
func TestManyEnds(t *testing.T) {
	const n = 40
	table := proc.Open()
	watcher := must.Get(proc.NewWatcher(table))(t)
	defer watcher.Close()
	r := &roster{dir: t.TempDir(), table: table}
	ends := make([]func(), n)
	for i := range n {
		id, end := child(t, table)
		r.write(t, fmt.Sprint("s", i), entry{Status: adapters.Working, Process: id})
		ends[i] = end
	}
	_, events := started(t, Config{Adapters: []adapters.Adapter{r}, Table: table, Watch: watcher})
	told := map[string]int{}
	var took []time.Duration
	for i, end := range ends {
		// A third has time to say how it ended, as real agents do.
		if i%3 == 0 {
			r.write(t, fmt.Sprint("s", i), entry{Status: adapters.Stopped, Outcome: adapters.Completed})
		}
		began := time.Now()
		end()
		for {
			e := next(t, events)
			if e.Kind != Ended {
				continue // it was seen to say so before it ended
			}
			told[e.Session.ID]++
			if e.Session.ID == fmt.Sprint("s", i) {
				break
			}
		}
		took = append(took, time.Since(began))
	}
	slices.Sort(took)
	t.Logf("end → event: p50 %s, max %s", took[n/2], took[n-1])
	for i := range n {
		if told[fmt.Sprint("s", i)] != 1 {
			t.Errorf("s%d was told %d times", i, told[fmt.Sprint("s", i)])
		}
	}
}

// TestBurstIsOneRefresh: a busy agent doesn't make Rollcall busy.
func TestBurstIsOneRefresh(t *testing.T) {
	a := &counted{roster: roster{dir: t.TempDir()}}
	c, _ := started(t, Config{Adapters: []adapters.Adapter{a}})
	before := a.asked()
	for i := range 300 {
		a.write(t, fmt.Sprint("s", i%3), entry{Status: adapters.Idle})
	}
	a.write(t, "last", entry{Status: adapters.Idle})
	eventually.True(t, "the last change", func() bool {
		_, err := findExact(c.Snapshot(), "last")
		return err == nil
	})
	if n := a.asked() - before; n > 5 { // one may still be due to the start
		t.Errorf("300 changes made %d refreshes", n)
	}
}

type counted struct {
	roster
	agent
}

func (c *counted) Name() adapters.Name { return c.roster.Name() }
func (c *counted) Discover(ctx context.Context, q adapters.Query) (adapters.Roll, error) {
	_, _ = c.agent.Discover(ctx, q)
	return c.roster.Discover(ctx, q)
}
func (c *counted) asked() int { return len(c.questions()) }

// TestEcho: after a change that leaves a session at work its agent is asked once
// more, and then no more.
func TestEcho(t *testing.T) {
	play(t, []adapters.Session{on("a", adapters.Working, 1)}, func(s *scene) {
		s.settle()
		n := len(s.agent.questions())
		s.core.requestRefresh(s.core.sources[0])
		time.Sleep(debounce)
		synctest.Wait()
		if got := len(s.agent.questions()) - n; got != 1 {
			s.Errorf("%d questions after %s", got, debounce)
		}
		s.agent.says(nil, on("a", adapters.Waiting, 1)) // no file says so
		time.Sleep(recheckAfter)
		synctest.Wait()
		s.want("status a waiting")
		s.settle()
		if got := len(s.agent.questions()) - n; got != 2 {
			s.Errorf("%d questions in all", got)
		}
	})
}

// TestChangesAllTheTime: changes that never pause are looked at nevertheless.
func TestChangesAllTheTime(t *testing.T) {
	play(t, nil, func(s *scene) {
		n := len(s.agent.questions())
		for range 100 {
			s.core.requestRefresh(s.core.sources[0])
			time.Sleep(debounce / 2)
		}
		if got := len(s.agent.questions()) - n; got < 4 || got > 7 {
			s.Errorf("%d questions in 2.5 s of changes", got)
		}
	})
}

// TestTokensInTheBackground: the first list doesn't wait for exact tokens.
func TestTokensInTheBackground(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := &agent{name: "a"}
		for i := range 120 {
			a.sessions = append(a.sessions, on(fmt.Sprintf("s%03d", i), adapters.Idle, 0))
		}
		a.before = func(_ context.Context, q adapters.Query) {
			if !q.Totals {
				return
			}
			a.mu.Lock()
			defer a.mu.Unlock()
			for i := range a.sessions {
				if q.IDs == nil || slices.Contains(q.IDs, a.sessions[i].ID) {
					a.sessions[i].Tokens = &adapters.Tokens{Input: 1}
				}
			}
		}
		c := New(Config{Adapters: []adapters.Adapter{a}, Since: All, Totals: true})
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- c.Run(ctx) }()
		synctest.Wait()
		if q := a.questions(); q[0].Totals || q[0].IDs != nil || len(q) != 4 {
			t.Errorf("questions: %+v", q)
		}
		for _, s := range c.Snapshot().Sessions() {
			if s.Tokens == nil {
				t.Errorf("%s has no tokens", s.ID)
			}
		}
		c.Refresh(ctx)
		if q := a.questions(); !q[len(q)-1].Totals {
			t.Error("a later list leaves the tokens out")
		}
		cancel()
		<-done
	})
}

// play roles of the test binary as a child process.
func role(name string) int {
	switch name {
	case "sleep":
		_, _ = io.Copy(io.Discard, os.Stdin)
		return 0
	case "limit":
		return playLimit()
	}
	if play := moreRoles[name]; play != nil {
		return play()
	}
	return 2
}

// moreRoles are those that only some systems have.
var moreRoles = map[string]func() int{}
