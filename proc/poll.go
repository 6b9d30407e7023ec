package proc

import (
	"maps"
	"slices"
	"sync"
	"time"
)

// poller checks at an interval which processes are alive. Its goroutine runs only while there
// are processes to check.
type poller struct {
	interval time.Duration
	alive    func(Identity) bool
	ended    func(Identity) // called on the poller's goroutine

	stop    chan struct{}
	running sync.WaitGroup

	mu      sync.Mutex
	ids     map[Identity]bool
	looping bool
}

func newPoller(interval time.Duration, alive func(Identity) bool, ended func(Identity)) *poller {
	return &poller{interval: interval, alive: alive, ended: ended, stop: make(chan struct{}), ids: make(map[Identity]bool)}
}

func (p *poller) add(id Identity) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ids[id] = true
	if !p.looping {
		p.looping = true
		p.running.Go(p.loop)
	}
}

func (p *poller) remove(id Identity) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.ids, id)
}

// close ends the goroutine and waits for it. It is called once, and add is not called after it.
func (p *poller) close() {
	close(p.stop)
	p.running.Wait()
}

func (p *poller) loop() {
	ticker := time.NewTicker(p.interval)
	defer ticker.Stop()
	for {
		select {
		case <-p.stop:
			return
		case <-ticker.C:
		}
		ids, more := p.snapshot()
		if !more {
			return
		}
		for _, id := range ids {
			if !p.alive(id) {
				p.ended(id)
			}
		}
	}
}

// snapshot returns the processes to check. It returns false when the loop must end.
func (p *poller) snapshot() ([]Identity, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.ids) == 0 {
		p.looping = false
		return nil, false
	}
	return slices.Collect(maps.Keys(p.ids)), true
}
