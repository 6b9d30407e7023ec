package openclaw

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"time"
)

const (
	firstPause = time.Second
	maxPause   = time.Minute
	// optionalPause is the pause between attempts when no gateway runs here. A gateway that
	// starts is noticed earlier, by its lock or by a Discover that reaches it.
	optionalPause = 5 * time.Minute
	// startPause is the pause before the next attempt to reach a gateway that reports
	// that it is starting.
	startPause = 2 * time.Second
	// settled is the time that a connection must last to count as a good one.
	settled = 30 * time.Second
	// defaultTick is the interval at which a gateway sends a heartbeat (2026.9.6).
	defaultTick = 30 * time.Second
)

// pusher keeps one connection per gateway while a caller of Push listens.
type pusher struct {
	mu        sync.Mutex
	listeners map[*func()]bool
	links     map[string]*link
}

// link is the kept connection to one gateway.
type link struct {
	p      *pusher
	cancel context.CancelFunc
	ended  chan struct{}
	wakeUp chan struct{}

	mu      sync.Mutex
	target  *target
	client  *client
	waiting map[string]bool // sessions that waited at the last request
}

// Push implements adapters.Pusher. Between attempts to reach a gateway that is down
// it pauses, up to some minutes; a Discover that reaches it ends the pause.
func (a *Adapter) Push(ctx context.Context, changed func()) {
	p := &a.pusher
	p.mu.Lock()
	if p.listeners == nil {
		p.listeners, p.links = map[*func()]bool{}, map[string]*link{}
	}
	p.listeners[&changed] = true
	p.mu.Unlock()
	p.sync(a.find(ctx).targets)
	<-ctx.Done()
	p.mu.Lock()
	delete(p.listeners, &changed)
	var ending []*link
	if len(p.listeners) == 0 {
		ending = p.drop(nil)
	}
	p.mu.Unlock()
	for _, l := range ending {
		l.stop()
	}
}

// sync opens and ends links so that there is one for each target.
func (p *pusher) sync(targets []*target) {
	p.mu.Lock()
	if len(p.listeners) == 0 {
		p.mu.Unlock()
		return
	}
	wanted := map[string]bool{}
	for _, t := range targets {
		if t.url == "" {
			continue
		}
		wanted[t.id] = true
		if l := p.links[t.id]; l != nil {
			l.retarget(t)
			continue
		}
		ctx, cancel := context.WithCancel(context.Background())
		l := &link{p: p, cancel: cancel, ended: make(chan struct{}), wakeUp: make(chan struct{}, 1), target: t}
		p.links[t.id] = l
		go l.keep(ctx)
	}
	ending := p.drop(wanted)
	p.mu.Unlock()
	for _, l := range ending {
		l.stop()
	}
}

// drop removes the links that are not wanted, and returns them. The caller holds the lock, and stops them after it.
func (p *pusher) drop(wanted map[string]bool) (ending []*link) {
	for id, l := range p.links {
		if !wanted[id] {
			ending = append(ending, l)
			delete(p.links, id)
		}
	}
	return ending
}

func (p *pusher) link(id string) *link {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.links[id]
}

func (p *pusher) notify() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for changed := range p.listeners {
		(*changed)()
	}
}

func (l *link) stop() {
	l.cancel()
	<-l.ended
}

// retarget copies the changed settings of the gateway. Changed credentials end a pause.
func (l *link) retarget(t *target) {
	l.mu.Lock()
	changed := l.target.auth != t.auth || l.target.pin != t.pin || l.target.url != t.url || l.target.owner != t.owner
	l.target = t
	l.mu.Unlock()
	if changed {
		l.wake()
	}
}

func (l *link) wake() {
	select {
	case l.wakeUp <- struct{}{}:
	default:
	}
}

// keep connects again and again until ctx is done.
func (l *link) keep(ctx context.Context) {
	defer close(l.ended)
	pause := time.Duration(0)
	for {
		began := time.Now()
		err := l.once(ctx)
		if time.Since(began) > settled {
			pause = 0
		}
		longest := maxPause
		if isRefusedDial(err) && l.isOptional() {
			longest = optionalPause
		}
		pause = min(max(2*pause, firstPause), longest)
		var r *refusal
		if errors.As(err, &r) && r.Code == "UNAVAILABLE" {
			pause = startPause
		}
		timer := time.NewTimer(pause/2 + rand.N(pause))
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-l.wakeUp:
			timer.Stop()
		case <-timer.C:
		}
	}
}

// isOptional reports whether the gateway need not run: the user did not name it, and it
// has no process.
func (l *link) isOptional() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.target.named == "" && l.target.owner.state != ownerAlive
}

// once connects and returns when the connection has ended.
func (l *link) once(ctx context.Context) error {
	l.mu.Lock()
	t := l.target
	l.waiting = nil
	l.mu.Unlock()
	limited, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	c, err := t.connect(limited, []string{scopeRead}, l.event)
	if err != nil {
		return err
	}
	defer c.close()
	if c.hello.has("sessions.subscribe") {
		if err := c.call(limited, "sessions.subscribe", struct{}{}, nil); err != nil {
			return err
		}
	}
	l.set(c)
	defer l.set(nil)
	select { // an earlier signal does not end the next pause
	case <-l.wakeUp:
	default:
	}
	l.watch(ctx, c)
	return nil
}

func (l *link) set(c *client) {
	l.mu.Lock()
	l.client = c
	l.mu.Unlock()
	l.p.notify()
}

// watch returns when the connection ends. It pings a gateway that sends nothing for two ticks.
func (l *link) watch(ctx context.Context, c *client) {
	tick := time.Duration(c.hello.Policy.TickIntervalMs) * time.Millisecond
	if tick < time.Second || tick > 10*time.Minute {
		tick = defaultTick
	}
	silence := 2*tick + 10*time.Second
	timer := time.NewTimer(silence)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-c.done:
			return
		case <-timer.C:
		}
		quiet := time.Since(time.Unix(0, c.active.Load()))
		if quiet >= silence {
			limited, cancel := context.WithTimeout(ctx, 10*time.Second)
			err := c.ws.Ping(limited)
			cancel()
			if err != nil {
				return
			}
			quiet = 0
		}
		timer.Reset(silence - quiet)
	}
}

// over runs use with a connection to a gateway: with the kept one, or a new one if there is none. It runs use again, with a new
// one, if the kept one ends meanwhile: one who asks without it gets an answer. limited is a part of ctx; if it ends without a
// frame from the gateway, the kept connection is given up.
func (a *Adapter) over(ctx, limited context.Context, t *target, use func(*client) error) error {
	l := a.pusher.link(t.id)
	if c := l.lend(); c != nil {
		began := time.Now()
		err := use(c)
		hung := errors.Is(limited.Err(), context.DeadlineExceeded) && ctx.Err() == nil
		if hung && c.active.Load() < began.UnixNano() { // no frame at all arrived, so the gateway is not merely slow
			go func() { _ = c.ws.CloseNow() }()
		}
		if limited.Err() != nil || c.isOpen() && !isEnded(err) {
			return err
		}
	}
	c, err := t.connect(limited, []string{scopeRead}, nil)
	if err != nil {
		return err
	}
	defer c.close()
	if l != nil {
		l.wake()
	}
	return use(c)
}

// lend returns the kept connection; nil if there is none.
func (l *link) lend() *client {
	if l == nil {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.client == nil || !l.client.isOpen() {
		return nil
	}
	return l.client
}

// isOpen reports whether the connection has not ended as far as is known.
func (c *client) isOpen() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err == nil
}
