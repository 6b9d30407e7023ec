package machine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"rollcall/app"
	"rollcall/app/present"
	"rollcall/app/settings"
	"rollcall/bounded"
)

// The pauses before a machine that did not answer is asked again: each is twice the one before. After a connection that lasted longer than steady, the pauses
// begin with the first one again.
const (
	firstPause = time.Second
	maxPause   = time.Minute
	steady     = time.Minute
)

// showPause is the shortest time between two changes of what is shown of a machine.
const showPause = 200 * time.Millisecond

// Machines are the user's other machines. Their methods are safe for concurrent use.
type Machines struct {
	log *slog.Logger

	mu      sync.Mutex
	hosts   []*Host    // by name; replaced as a whole
	changed app.Wakeup // receives when hosts were replaced
	// firstPause and maxPause; tests shorten them.
	firstPause, maxPause time.Duration
}

// New returns the machines of the settings and of machine add. log may be nil.
func New(list []settings.Machine, log *slog.Logger) *Machines {
	m := &Machines{log: cmp.Or(log, slog.New(slog.DiscardHandler)), firstPause: firstPause, maxPause: maxPause, changed: app.NewWakeup()}
	m.Set(list)
	return m
}

func byName(a, b *Host) int { return strings.Compare(a.Name, b.Name) }

// Set replaces the machines. Run keeps the connections to those that did not change.
func (m *Machines) Set(list []settings.Machine) {
	m.mu.Lock()
	defer m.mu.Unlock()
	hosts := make([]*Host, 0, len(list))
	for _, x := range list {
		i := slices.IndexFunc(m.hosts, func(h *Host) bool { return h.Equal(&x) })
		if i >= 0 {
			hosts = append(hosts, m.hosts[i])
		} else {
			hosts = append(hosts, &Host{Machine: x})
		}
	}
	slices.SortFunc(hosts, byName)
	m.hosts = hosts
	m.changed.Set()
}

// Hosts returns the machines, by name. The caller must not change them.
func (m *Machines) Hosts() []*Host {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.hosts
}

// Find returns the machine with this name; nil: there is none.
func (m *Machines) Find(name string) *Host {
	for _, h := range m.Hosts() {
		if h.Name == name {
			return h
		}
	}
	return nil
}

// Split returns the machine of an id such as devbox:0198, and the id on that machine. It returns nil for the id of a session of this machine.
func (m *Machines) Split(id string) (*Host, string) {
	name, rest, found := strings.Cut(id, ":")
	if !found {
		return nil, id
	}
	if h := m.Find(name); h != nil {
		return h, rest
	}
	return nil, id
}

// streamArgs returns the command that streams the sessions of a machine: the live ones, and those that stopped within since.
func (h *Host) streamArgs(since time.Duration) []string {
	args := []string{"watch", "--json", "--snapshot", "--end-with-stdin", "--heartbeat", cmp.Or(h.Heartbeat, heartbeat).String()}
	switch {
	case since == app.All:
		args = append(args, "--since", "all")
	case since > 0:
		args = append(args, "--since", fmt.Sprintf("%dm", max(1, since/time.Minute)))
	}
	return args
}

// Ask asks every machine once, and returns after limit at the latest with what the machines have reported. A machine that has not answered is Failed, with the
// reason.
func (m *Machines) Ask(ctx context.Context, since, limit time.Duration) []app.MachineRoll {
	hosts := m.Hosts()
	rolls := make([]app.MachineRoll, len(hosts))
	var group sync.WaitGroup
	for i, h := range hosts {
		group.Go(func() { rolls[i], _, _ = h.Test(ctx, since, limit) })
	}
	group.Wait()
	return rolls
}

// Test asks the machine once for its live sessions and those that stopped since, and returns with them the version of the Rollcall there. The error says why
// there is no complete answer, for example that Rollcall is not installed there (*Error).
func (h *Host) Test(ctx context.Context, since, limit time.Duration) (r app.MachineRoll, version string, err error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	var mu sync.Mutex
	seen := newMirror(h.Name)
	seen.begin(time.Now())
	ended := make(chan error, 1)
	go func() {
		ended <- h.stream(ctx, h.streamArgs(since), func(l *line) error {
			mu.Lock()
			defer mu.Unlock()
			if seen.take(l, time.Now()); seen.connected {
				return errDone
			}
			return ctx.Err()
		})
	}()
	select {
	case err = <-ended:
	case <-ctx.Done(): // the connection's process may take longer to end
		err = ctx.Err()
	}
	mu.Lock()
	defer mu.Unlock()
	now := time.Now()
	switch {
	case seen.connected:
		return seen.roll(), seen.version, nil
	case errors.Is(err, context.DeadlineExceeded):
		err = failure("no complete answer in %s", present.Age(limit))
	}
	return seen.partial(now, present.Line(err.Error())), seen.version, err
}

// Shown receives what Run has to show of the machines; *app.Core implements it.
type Shown interface {
	ShowMachine(r app.MachineRoll, evs []app.Event)
	HideMachine(name string)
}

// Run keeps a connection to every machine until ctx is done, also to machines that Set adds. It shows what they report: the live sessions, and those that
// stopped within since. It connects again to a machine that does not answer, with growing pauses. Machines do not wait for each other. The rows of a machine
// that Set removes are no longer shown at once.
func (m *Machines) Run(ctx context.Context, since time.Duration, to Shown) {
	running := map[*Host]func(){} // each function ends a connection, and stops showing its machine
	var group sync.WaitGroup
	defer group.Wait()
	for {
		hosts := m.Hosts()
		for _, h := range slices.SortedFunc(maps.Keys(running), byName) {
			if !slices.Contains(hosts, h) {
				running[h]()
				delete(running, h)
				to.HideMachine(h.Name)
			}
		}
		for _, h := range hosts {
			if running[h] != nil {
				continue
			}
			one, cancel := context.WithCancel(ctx)
			s := &show{seen: newMirror(h.Name), to: to}
			running[h] = func() { s.stop(); cancel() } // the connection's process may take longer to end
			group.Go(func() {
				defer cancel()
				m.follow(one, h, since, s)
			})
		}
		select {
		case <-ctx.Done():
			return
		case <-m.changed:
		}
	}
}

// follow keeps the connection to one machine.
func (m *Machines) follow(ctx context.Context, h *Host, since time.Duration, s *show) {
	s.flush()
	pause := m.firstPause
	for ctx.Err() == nil {
		began := time.Now()
		s.change(func(seen *mirror) []app.Event { seen.begin(began); return nil })
		err := h.stream(ctx, h.streamArgs(since), func(l *line) error {
			if l.Event == "heartbeat" {
				s.heard()
				return nil
			}
			s.change(func(seen *mirror) []app.Event { return seen.take(l, time.Now()) })
			return nil
		})
		if ctx.Err() != nil {
			break
		}
		s.change(func(seen *mirror) []app.Event { seen.lose(err); return nil })
		s.flush()
		m.log.Info("a machine is not connected", "machine", h.Name, "reason", err, "again_in", pause)
		if time.Since(began) > steady {
			pause = m.firstPause
		}
		_ = bounded.Wait(ctx, pause)
		pause = min(2*pause, m.maxPause)
	}
	s.stop()
}

// show passes on the changes of one machine, with pauses of at least showPause.
type show struct {
	to Shown

	mu    sync.Mutex
	seen  *mirror
	evs   []app.Event
	last  time.Time
	later *time.Timer
	over  bool
}

// change applies do to what is known of the machine, and shows the result soon.
func (s *show) change(do func(*mirror) []app.Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.evs = append(s.evs, do(s.seen)...)
	if s.later == nil && !s.over && s.seen.connected {
		s.later = time.AfterFunc(max(0, showPause-time.Since(s.last)), s.flush)
	}
}

// heard records that the machine has sent a heartbeat, which changes nothing that is shown.
func (s *show) heard() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seen.heard = time.Now()
}

// flush shows the machine as it is now.
func (s *show) flush() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over {
		return
	}
	if s.later != nil {
		s.later.Stop()
		s.later = nil
	}
	s.to.ShowMachine(s.seen.roll(), s.evs)
	s.evs, s.last = nil, time.Now()
}

// stop ensures that nothing of the machine is shown from now on.
func (s *show) stop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.over = true
	if s.later != nil {
		s.later.Stop()
	}
}

// Of returns Machines with only these hosts.
func Of(hosts ...*Host) *Machines {
	m := New(nil, nil)
	m.hosts = slices.Clone(hosts)
	return m
}
