package adaptertest

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"rollcall/adapters"
	"rollcall/internal/adaptertest/scene"
	"rollcall/internal/must"
)

// absent: nothing is there, and that is no empty list.
func absent(c *check) {
	sessions, roll, err := c.ask(adapters.Query{})
	if !errors.Is(err, adapters.ErrAbsent) || len(adapters.Problems(err)) != 1 {
		c.Errorf("%v, want ErrAbsent alone", err)
	}
	if len(sessions) != 0 {
		c.Errorf("sessions %s", brief(sessions))
	}
	if len(roll.LookedIn) == 0 {
		c.Error("does not say where it looked")
	}
	table := &endingTable{Lister: c.environment.Table}
	c.environment.Table = table
	a := c.subject.New(c.environment)
	w, ok := a.(adapters.Watcher)
	if !ok {
		return
	}
	_, _ = a.Discover(c.Context(), adapters.Query{})
	calls := table.left.Load()
	for _, path := range w.WatchPaths() {
		c.folder(path)
	}
	if more := calls - table.left.Load(); more > 0 {
		c.Errorf("calls the process table %d times for the folders to watch: the answer waits for that", more)
	}
}

func (c *check) folder(path string) {
	c.Helper()
	if info, err := os.Stat(path); err != nil || !info.IsDir() {
		c.Errorf("wants to watch %s, which is no folder: %v", path, err)
	}
}

// empty: installed, never used.
func empty(c *check) {
	c.agent.Install()
	sessions, roll := c.fine(adapters.Query{})
	c.expect(sessions)
	if len(roll.LookedIn) == 0 {
		c.Error("does not say where it looked")
	}
	if len(roll.Skipped) > 0 {
		c.Errorf("skipped %v of nothing", roll.Skipped)
	}
}

// statuses: a session in each of its states, and every way between them.
func statuses(c *check) {
	all := c.cast()
	sessions, roll := c.fine(adapters.Query{Totals: true})
	c.expect(sessions, all...)
	if len(roll.Skipped) > 0 {
		c.Errorf("skipped %v", roll.Skipped)
	}
	working, idle := all[0], all[1]
	step := func(what string) {
		sessions, _ := c.fine(adapters.Query{})
		if c.expect(sessions, all...); c.Failed() {
			c.Fatalf("after %s", what)
		}
	}
	working.Answer("done")
	step("an answer")
	working.Prompt("go on")
	step("the next prompt")
	idle.Prompt("and you")
	step("another's prompt")
	if idle.Ask() {
		step("a question")
		idle.Prompt("yes")
		step("its answer")
	}
	idle.Answer("so be it")
	step("the end of the turn")
	if working.Remote {
		return
	}
	idle.Kill()
	step("the death of an idle one")
	working.Kill()
	step("the death of a working one")
	working.Resume("again")
	step("the resumption")
	working.Answer("done")
	working.Exit()
	step("the exit")
}

// queries: IDs, Since and Totals.
func queries(c *check) {
	all := c.cast()
	for _, s := range all {
		sessions, _ := c.fine(adapters.Query{IDs: []string{s.ID}})
		c.expectOne(sessions, s)
		sessions, _ = c.fine(adapters.Query{IDs: []string{s.ID}, Since: time.Now().Add(time.Hour)})
		c.expectOne(sessions, s)
	}
	if sessions, _ := c.fine(adapters.Query{IDs: []string{"nobody"}}); len(sessions) > len(all) {
		c.Errorf("asked for nobody: %s", brief(sessions))
	}
	// Live ones are always answered; what is left out is stopped and old.
	sessions, _ := c.fine(adapters.Query{Since: time.Now().Add(time.Hour)})
	for _, s := range all {
		if s.Truth().Status != adapters.Stopped {
			c.expectOne(sessions, s)
		}
	}
	sessions, _ = c.fine(adapters.Query{Since: time.Now().Add(-time.Hour)})
	c.expect(sessions, all...)
	without, _ := c.fine(adapters.Query{})
	with, _ := c.fine(adapters.Query{Totals: true})
	c.expect(with, all...)
	for id, s := range with {
		if w := without[id]; w.Tokens != nil && s.Tokens != nil && *w.Tokens != *s.Tokens {
			c.Errorf("session %s: %+v tokens, with Totals %+v", id, *w.Tokens, *s.Tokens)
		}
	}
	if idle := with[all[1].ID]; idle.Tokens == nil || idle.Tokens.Output == 0 {
		c.Errorf("asked for totals of a session that has answered: %+v", idle.Tokens)
	}
}

// reused: the recorded pid is another process's by now.
func reused(c *check) {
	for name, other := range map[string]func(scene.Spec) scene.Spec{
		"another program": func(scene.Spec) scene.Spec {
			return scene.Spec{Comm: "bash", Exe: "/bin/bash", CWD: "/", Args: []string{"bash"}}
		},
		"another program, same cwd": func(s scene.Spec) scene.Spec {
			s.Comm = "vim"
			s.Exe = "/usr/bin/vim"
			s.Args = []string{"vim"}
			return s
		},
		"the same program elsewhere": func(s scene.Spec) scene.Spec {
			s.CWD = "/home/dev/elsewhere"
			return s
		},
	} {
		c := c.in(c.T)
		working, idle := c.agent.Start("/home/dev/a", "one"), c.agent.Start("/home/dev/b", "two")
		idle.Answer("fine")
		c.needs(!working.Remote, "it has no processes")
		c.fine(adapters.Query{})
		for _, s := range []*scene.Session{working, idle} {
			spec := c.environment.Procs.Spec(s.Process.PID)
			spec.Started, spec.Files = time.Time{}, nil
			c.environment.Procs.Replace(s.Process.PID, other(spec))
		}
		// What the adapter remembers of the old process must not matter either.
		for who, a := range map[string]adapters.Adapter{"the same": c.adapter, "a new": c.subject.New(c.environment)} {
			c.adapter = a
			sessions, _, err := c.ask(adapters.Query{})
			for _, s := range []*scene.Session{working, idle} {
				got, listed := sessions[s.ID]
				if !listed {
					c.Errorf("%s (%s adapter): session %s is missing (%v)", name, who, s.ID, err)
				} else if got.Status != adapters.Stopped && got.Status != adapters.Unknown {
					c.Errorf("%s (%s adapter): session %s is %s; evidence: %s", name, who, s.ID, got.Status, got.Evidence)
				}
			}
		}
	}
}

// zombie: a process that its parent has not waited for is dead.
func zombie(c *check) {
	working, idle := c.agent.Start("/home/dev/a", "one"), c.agent.Start("/home/dev/b", "two")
	idle.Answer("fine")
	c.needs(!working.Remote, "it has no processes")
	c.fine(adapters.Query{})
	c.environment.Procs.Zombie(working.Process)
	c.environment.Procs.Zombie(idle.Process)
	working.Became(scene.Truth{Status: adapters.Stopped, Outcome: adapters.Died})
	idle.Became(scene.Truth{Status: adapters.Stopped, Outcome: adapters.Completed})
	sessions, _ := c.fine(adapters.Query{})
	c.expect(sessions, working, idle)
}

// rebooted: all processes went at once, and their pids are others' by now.
func rebooted(c *check) {
	all := c.cast()
	c.needs(!all[0].Remote, "it has no processes")
	for i, s := range all {
		if s.Truth().Status == adapters.Stopped {
			continue
		}
		to := scene.Truth{Status: adapters.Stopped, Outcome: adapters.Died}
		if s.Truth().Status == adapters.Idle {
			to.Outcome = adapters.Completed
		}
		c.environment.Procs.Replace(s.Process.PID, scene.Spec{Comm: fmt.Sprint("daemon", i), Exe: "/sbin/daemon", CWD: "/", Args: []string{"daemon"}})
		s.Became(to)
	}
	sessions, _ := c.fine(adapters.Query{})
	c.expect(sessions, all...)
	for _, s := range sessions {
		if !s.Process.IsZero() {
			c.Errorf("session %s has %s", s.ID, s.Process)
		}
	}
}

// folderRenamed: the working folders of live sessions are renamed. Each is what it was, also for an adapter that saw nothing of it before.
func folderRenamed(c *check) {
	folder := func(name string) string {
		dir := c.environment.Path("src", name)
		must.Do(c, os.MkdirAll(dir, 0o755))
		return dir
	}
	working, idle := c.agent.Start(folder("a"), "one"), c.agent.Start(folder("b"), "two")
	c.needs(!working.Remote, "it has no processes")
	idle.Answer("fine")
	sessions, _ := c.fine(adapters.Query{})
	c.expect(sessions, working, idle)
	for _, s := range []*scene.Session{working, idle} {
		c.environment.Procs.Move(s.CWD, s.CWD+"-renamed")
	}
	for _, a := range []adapters.Adapter{c.adapter, c.subject.New(c.environment)} {
		c.adapter = a
		sessions, _ := c.fine(adapters.Query{})
		c.expect(sessions, working, idle)
	}
	idle.Prompt("go on")
	working.Answer("done")
	sessions, _ = c.fine(adapters.Query{})
	c.expect(sessions, working, idle)
}

// watched: every step changes a direct entry of a folder that the adapter
// watches, or is the end of a process, which is watched otherwise.
func watched(c *check) {
	watcher, can := c.adapter.(adapters.Watcher)
	c.needs(can, "it names no folders to watch")
	c.agent.Install()
	s := c.agent.Start("/home/dev/proj", "begin") // the first one makes folders
	c.fine(adapters.Query{})
	step := func(what string, do func()) {
		c.Helper()
		paths := watcher.WatchPaths()
		for _, path := range paths {
			c.folder(path)
		}
		if len(paths) > 32 {
			c.Errorf("watches %d folders for a few sessions", len(paths))
		}
		before := entries(paths)
		do()
		if slices.Equal(before, entries(paths)) {
			c.Errorf("%s changes nothing in %q", what, paths)
		}
		c.fine(adapters.Query{})
	}
	step("an answer", func() { s.Answer("fine") })
	step("a prompt", func() { s.Prompt("go on") })
	step("an answer", func() { s.Answer("fine") })
	step("a session's begin", func() { c.agent.Start("/home/dev/proj", "another") })
	step("one's in another folder", func() { c.agent.Start("/home/dev/other", "another") })
	s.Prompt("may I")
	c.fine(adapters.Query{})
	step("a question, or the answer of one that stores none", func() {
		if !s.Ask() {
			s.Answer("fine")
		}
	})
}

// entries are the states of the direct entries of folders.
func entries(paths []string) []string {
	var all []string
	for _, path := range paths {
		list, _ := os.ReadDir(path)
		for _, e := range list {
			if info, err := e.Info(); err == nil {
				all = append(all, fmt.Sprint(path, "/", e.Name(), info.Size(), info.ModTime().UnixNano(), inode(info)))
			}
		}
	}
	return all
}
