package app

import (
	"errors"

	"rollcall/proc"
)

// watch is one process whose end is awaited.
type watch struct {
	// Guarded by Core.mu.
	fired  bool
	cancel func() // nil until the watcher has answered
}

// liveness is the process table as one answer is judged by it: asked once per
// process, so that one judgement never contradicts the other.
type liveness struct {
	table proc.Lister
	watch map[proc.Identity]bool // watched processes, and whether they ended
	memo  map[proc.Identity]bool
}

func (c *Core) liveness(s *source) *liveness {
	n := &liveness{table: c.cfg.Table, memo: map[proc.Identity]bool{}}
	c.mu.Lock()
	defer c.mu.Unlock()
	n.watch = make(map[proc.Identity]bool, len(s.watches))
	for id, w := range s.watches {
		n.watch[id] = w.fired
	}
	return n
}

// look asks for every process of the lives at once.
func (n *liveness) look(s *source) {
	for _, l := range s.lives {
		for _, p := range l.procs {
			n.alive(p)
		}
	}
}

func (n *liveness) alive(id proc.Identity) bool {
	v, ok := n.memo[id]
	if !ok {
		v = !n.watch[id] && (n.table == nil || n.table.Alive(id))
		n.memo[id] = v
	}
	return v
}

// dead says whether the process is known to have ended, without looking.
func (n *liveness) dead(id proc.Identity) bool {
	v, ok := n.memo[id]
	return ok && !v
}

// notEnded is alive, but for a watched process the watcher's word alone counts:
// it holds the process, where the table can fail to read it.
func (n *liveness) notEnded(id proc.Identity) bool {
	if fired, watched := n.watch[id]; watched {
		return !fired
	}
	return n.alive(id)
}

// watchProcesses watches the processes of s's lives and nothing else. The holder
// of s's turn calls it.
func (c *Core) watchProcesses(s *source) {
	if c.cfg.Watch == nil || !c.isRunning() {
		return
	}
	wanted := map[proc.Identity]bool{}
	for _, l := range s.lives {
		for _, p := range l.procs {
			wanted[p] = true
		}
	}
	var cancels []func()
	c.mu.Lock()
	for id, w := range s.watches {
		if wanted[id] {
			delete(wanted, id)
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
	for id := range wanted {
		c.watchProcess(s, id)
	}
}

// watchProcess never holds Core.mu while it talks to the watcher, whose callback
// takes it.
func (c *Core) watchProcess(s *source, id proc.Identity) {
	w := &watch{}
	c.mu.Lock()
	s.watches[id] = w
	c.mu.Unlock()
	cancel, err := c.cfg.Watch.Watch(id, func() { c.exited(s, w) })
	switch {
	case errors.Is(err, proc.ErrGone):
		c.exited(s, w)
		return
	case err != nil:
		c.cfg.Log.Warn("the end of a process can't be watched and is noticed on the next refresh",
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

// exited is the watcher's word that a process ended.
func (c *Core) exited(s *source, w *watch) {
	c.mu.Lock()
	defer c.mu.Unlock()
	w.fired = true
	c.exits[s] = true
	c.poke()
}

// unwatch ends all watches, after Run.
func (c *Core) unwatch() {
	var cancels []func()
	c.mu.Lock()
	for _, s := range c.sources {
		for id, w := range s.watches {
			delete(s.watches, id)
			if w.cancel != nil {
				cancels = append(cancels, w.cancel)
			}
		}
	}
	c.mu.Unlock()
	for _, cancel := range cancels {
		cancel()
	}
}

// touch says that a source may have changed.
func (c *Core) touch(s *source) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.running {
		c.touched[s] = true
		c.poke()
	}
}

// poke wakes Run.
func (c *Core) poke() {
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

func (c *Core) isRunning() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.running
}
