package adaptertest

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"slices"
	"sync"
	"syscall"
	"time"

	"rollcall/adapters"
	"rollcall/internal/adaptertest/scene"
)

func inode(info os.FileInfo) uint64 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return st.Ino
	}
	return 0
}

// atOnce: many callers get the same, right answer.
func atOnce(c *check) {
	all := c.cast()
	var group sync.WaitGroup
	for i := range 8 {
		group.Go(func() {
			for range 5 {
				sessions, _ := c.fine(adapters.Query{Totals: i%2 == 0})
				c.expect(sessions, all...)
				one, _ := c.fine(adapters.Query{IDs: []string{all[i%len(all)].ID}})
				c.expectOne(one, all[i%len(all)])
				if w, ok := c.adapter.(adapters.Watcher); ok {
					w.WatchPaths()
				}
			}
		})
	}
	group.Wait()
}

// changing: an agent works while the adapter looks. Each answer is true at some
// moment of the question.
func changing(c *check) {
	all := c.cast()
	c.fine(adapters.Query{})
	ctx, cancel := context.WithTimeout(c.Context(), 2*time.Second)
	defer cancel()
	var players sync.WaitGroup
	players.Go(func() { play(ctx, all[0], all[1], all[2]) })
	answers, trouble := 0, 0
	for ctx.Err() == nil {
		between := make([]func(scene.Truth) (bool, []scene.Truth), len(all))
		for i, s := range all {
			between[i] = s.Between()
		}
		sessions, _, err := c.ask(adapters.Query{Totals: answers%2 == 0})
		answers++
		if err != nil {
			trouble++
		}
		for i, s := range all {
			got, listed := sessions[s.ID]
			if !listed && err == nil {
				c.Errorf("session %s is missing", s.ID)
			}
			if !listed {
				continue
			}
			if ok, truths := between[i](scene.TruthOf(&got)); !ok && (len(truths) == 1 || !compatibleWith(&got, truths)) {
				c.Errorf("answer %d: session %s is %s, was never but %v meanwhile; evidence: %s", answers, s.ID, scene.TruthOf(&got), truths, got.Evidence)
			}
		}
		c.noOthers(sessions, all)
		if c.Failed() {
			break
		}
	}
	cancel()
	players.Wait()
	c.Logf("%d answers, %d with an error", answers, trouble)
	if trouble > answers/2 {
		c.Errorf("%d of %d answers had an error", trouble, answers)
	}
	sessions, _ := c.fine(adapters.Query{})
	c.expect(sessions, all...)
}

// noOthers wants no session that isn't played. A process that has stored nothing
// yet may be shown as one: it has no file.
func (c *check) noOthers(sessions map[string]adapters.Session, all []*scene.Session) {
	c.Helper()
	for id, got := range sessions {
		known := slices.ContainsFunc(all, func(s *scene.Session) bool { return s.ID == id })
		if !known && (len(got.Files) > 0 || got.Process.IsZero()) {
			c.Errorf("session %s (%s) isn't there; evidence: %s", id, got.Status, got.Evidence)
		}
	}
}

// play takes steps with three sessions: the first is in a turn, the second idle,
// the third idle or waiting, and its process comes and goes.
func play(ctx context.Context, working, idle, coming *scene.Session) {
	local := func(step func()) func(int) {
		return func(int) {
			if coming.Truth().Status != adapters.Idle || coming.Resumes(3) {
				step()
			}
		}
	}
	if coming.Truth().Status == adapters.Waiting {
		coming.Prompt("yes")
		coming.Answer("fine")
	}
	steps := []func(n int){
		local(coming.Exit),
		local(func() { coming.Resume("once more") }),
		local(func() { coming.Answer("at once") }),
		local(coming.Exit),
		local(func() { coming.Resume("and again") }),
		local(coming.Kill),
		local(func() { coming.Resume("and again") }),
		local(func() { coming.Answer("fine") }),
		func(n int) { working.Answer(fmt.Sprint("answer ", n)) },
		func(n int) { idle.Prompt(fmt.Sprint("prompt ", n)) },
		func(n int) { idle.Ask() },
		func(n int) { idle.Prompt("yes") },
		func(n int) { working.Prompt(fmt.Sprint("prompt ", n)) },
		func(n int) { idle.Answer(fmt.Sprint("answer ", n)) },
	}
	for n := 0; ; n++ {
		if n%len(steps) == 11 && idle.Truth().Status != adapters.Waiting {
			continue // it didn't ask
		}
		select {
		case <-ctx.Done():
			if n%len(steps) == 0 {
				return
			}
		case <-time.After(time.Duration(n%23) * time.Millisecond):
		}
		steps[n%len(steps)](n)
	}
}

// hanging is the time after which a question whose time is over hangs, also on a busy machine.
const hanging = 3 * time.Second

// cancelled: a question whose context is done, or ends meanwhile, returns soon
// and leaves nothing behind.
func cancelled(c *check) {
	all := c.cast()
	for n := range 40 {
		s := c.agent.Start(fmt.Sprintf("/home/dev/more%d", n), "x")
		s.Answer("y")
		all = append(all, s)
	}
	c.fine(adapters.Query{})
	before := runtime.NumGoroutine()
	done, cancel := context.WithCancel(context.Background())
	cancel()
	for _, a := range []adapters.Adapter{c.adapter, c.subject.New(c.environment)} {
		begun := time.Now()
		roll, err := a.Discover(done, adapters.Query{Totals: true})
		if took := time.Since(begun); took > hanging {
			c.Fatalf("returned %v after its context was done", took)
		}
		c.truthful(roll, err, all)
		for n := range 30 {
			ctx, cancel := context.WithTimeout(context.Background(), time.Duration(n*n)*20*time.Microsecond)
			roll, err := a.Discover(ctx, adapters.Query{Totals: n%2 == 0})
			cancel()
			c.truthful(roll, err, all)
		}
		if p, ok := a.(adapters.Peeker); ok {
			_, _ = p.Peek(done, adapters.Session{ID: all[0].ID, Agent: c.adapter.Name(), Files: []string{all[0].File}}, 5)
		}
	}
	c.settle(before)
	sessions, _ := c.fine(adapters.Query{Totals: true})
	c.expect(sessions, all...)
}

// truthful holds an answer that may have been cut short: what is missing is
// missing beside an error, what is there may be unknown, never wrong.
func (c *check) truthful(roll adapters.Roll, err error, all []*scene.Session) {
	c.Helper()
	sessions := c.byID(roll)
	for _, s := range all {
		got, listed := sessions[s.ID]
		if !listed && err == nil {
			c.Errorf("session %s is missing, without an error", s.ID)
		}
		if listed && !compatible(&got, s.Truth()) {
			c.Fatalf("cut short, session %s is %s, want %s; evidence: %s (%v)", s.ID, scene.TruthOf(&got), s.Truth(), got.Evidence, err)
		}
	}
}

// compatible reports whether nothing wrong is said: the status may be unknown, the
// outcome not known.
func compatible(got *adapters.Session, truth scene.Truth) bool {
	if scene.TruthOf(got).Outcome == "" {
		truth.Outcome = ""
	}
	return got.Status == adapters.Unknown || scene.TruthOf(got) == truth
}

func compatibleWith(got *adapters.Session, truths []scene.Truth) bool {
	return slices.ContainsFunc(truths, func(t scene.Truth) bool { return compatible(got, t) })
}

// settle waits until no more goroutines run than before.
func (c *check) settle(before int) {
	c.Helper()
	const toEnd = 10 * time.Second
	for end := time.Now().Add(toEnd); runtime.NumGoroutine() > before; {
		if time.Now().After(end) {
			stacks := make([]byte, 1<<20)
			c.Errorf("%d goroutines, %d before:\n%s", runtime.NumGoroutine(), before, stacks[:runtime.Stack(stacks, true)])
			return
		}
		<-time.After(10 * time.Millisecond)
	}
}

// socketHangs: what the agent is asked over accepts and never answers.
func socketHangs(c *check) {
	c.needs(c.subject.Hang != nil, "nothing is asked over a socket")
	all := c.cast()
	before := runtime.NumGoroutine()
	release := c.subject.Hang(c.environment, c.agent, all)
	for _, limit := range []time.Duration{100 * time.Millisecond, time.Second, 3 * time.Second} {
		ctx, cancel := context.WithTimeout(context.Background(), limit)
		begun := time.Now()
		roll, err := c.adapter.Discover(ctx, adapters.Query{})
		if took := time.Since(begun); took > limit+hanging {
			c.Errorf("with a limit of %v the answer took %v", limit, took)
		}
		cancel()
		c.truthful(roll, err, all)
		c.Logf("limit %v: %v in %v", limit, err, time.Since(begun))
	}
	release()
	c.settle(before)
}

// untouched: whatever is asked, nothing in the home changes.
func untouched(c *check) {
	all := c.cast()
	before := TreeOf(c, c.environment.Home)
	for range 2 {
		for _, q := range []adapters.Query{{}, {Totals: true}, {IDs: []string{all[0].ID}}, {Since: time.Now()}} {
			sessions, _ := c.fine(q)
			if p, ok := c.adapter.(adapters.Peeker); ok {
				for _, s := range sessions {
					_, _ = p.Peek(c.Context(), s, 10)
				}
			}
		}
		if w, ok := c.adapter.(adapters.Watcher); ok {
			w.WatchPaths()
		}
		c.adapter = c.subject.New(c.environment)
	}
	for _, change := range before.Changes(TreeOf(c, c.environment.Home)) {
		c.Error(change)
	}
}
