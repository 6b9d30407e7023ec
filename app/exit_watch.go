package app

import (
	"errors"
	"maps"

	"rollcall/proc"
)

// exitWatch is the watch for the end of one process.
type exitWatch struct {
	// Guarded by Core.mu.
	exited bool
	cancel func() // nil until the watcher has answered
}

// watchProcesses watches the processes of s's lifetimes and of its agent, and no others.
// The holder of s.turn calls it.
func (c *Core) watchProcesses(s *source) {
	if c.cfg.Watch == nil || !c.isRunning() {
		return
	}
	wanted := map[proc.Identity]bool{}
	for _, l := range s.lifetimes {
		for _, p := range l.processes {
			wanted[p] = true
		}
	}
	c.mu.Lock()
	for id := range s.agentProcesses {
		wanted[id] = true
	}
	c.mu.Unlock()
	for id := range c.cancelWatches(s, wanted) {
		c.watchProcess(s, id)
	}
}

// watchProcess watches one process. It does not hold Core.mu while it calls the watcher,
// whose callback takes Core.mu.
func (c *Core) watchProcess(s *source, id proc.Identity) {
	w := &exitWatch{}
	c.mu.Lock()
	s.watches[id] = w
	c.mu.Unlock()
	cancel, err := c.cfg.Watch.Watch(id, func() { c.exited(s, w) })
	switch {
	case errors.Is(err, proc.ErrGone):
		c.exited(s, w)
		return
	case err != nil:
		c.cfg.Log.Warn("the end of a process can't be watched, and is noticed on the next refresh",
			"agent", s.adapter.Name(), "process", id.PID, "error", err)
		c.mu.Lock()
		delete(s.watches, id)
		c.mu.Unlock()
		return
	}
	c.mu.Lock()
	w.cancel = cancel
	running := c.running
	c.mu.Unlock()
	if !running {
		cancel() // Run ended meanwhile, and did not see this watch
	}
}

// exited is called by the watcher when a process has ended.
func (c *Core) exited(s *source, w *exitWatch) {
	c.mu.Lock()
	defer c.mu.Unlock()
	w.exited = true
	s.exited = true
	c.wake.Set()
}

// cancelWatches ends the watches of s that are not wanted. It returns the wanted processes
// that are not watched.
func (c *Core) cancelWatches(s *source, wanted map[proc.Identity]bool) (missing map[proc.Identity]bool) {
	var cancels []func()
	missing = maps.Clone(wanted)
	c.mu.Lock()
	for id, w := range s.watches {
		if wanted[id] {
			delete(missing, id)
			continue
		}
		delete(s.watches, id)
		if w.cancel != nil {
			cancels = append(cancels, w.cancel)
		}
	}
	c.mu.Unlock()
	for _, cancel := range cancels {
		cancel()
	}
	return missing
}

// requestRefresh makes Run refresh a source that may have changed.
func (c *Core) requestRefresh(s *source) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.running {
		s.refreshRequested = true
		c.wake.Set()
	}
}

func (c *Core) isRunning() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.running
}
