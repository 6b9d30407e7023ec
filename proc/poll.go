package proc

import (
	"sync"
	"time"
)

// poller checks at an interval which processes are alive. Its goroutine runs only while
// there are any.
type poller struct {
	interval time.Duration
	alive    func(Identity) bool
	ended    func(Identity) // called on the poller's goroutine

	stop    chan struct{}
	running sync.WaitGroup

	mu      sync.Mutex
	ids     map[Identity]bool
	looping bool
	closed  bool
}

func newPoller(interval time.Duration, alive func(Identity) bool, ended func(Identity)) *poller {
	return &poller{interval: interval, alive: alive, ended: ended, stop: make(chan struct{}), ids: make(map[Identity]bool)}
}

func (p *poller) add(id Identity) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ids[id] = true
	if !p.looping && !p.closed {
		p.looping = true
		p.running.Add(1)
		go p.loop()
	}
}

func (p *poller) remove(id Identity) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.ids, id)
}

// close ends the goroutine and waits for it.
func (p *poller) close() {
	p.mu.Lock()
	first := !p.closed
	p.closed = true
	p.mu.Unlock()
	if first {
		close(p.stop)
	}
	p.running.Wait()
}

func (p *poller) loop() {
	defer p.running.Done()
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
	ids := make([]Identity, 0, len(p.ids))
	for id := range p.ids {
		ids = append(ids, id)
	}
	return ids, true
}
