package app

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"rollcall/adapters"
	"rollcall/internal/agentname"
	"rollcall/proc"
)

// machine is a process table and an exit watcher in memory.
type machine struct {
	proc.Lister

	mu      sync.Mutex
	alive   map[proc.Identity]bool
	watched map[proc.Identity][]func()
	reads   int
	listed  int
	// rows are what the table shows of processes beyond that they live.
	rows map[proc.Identity]proc.Process
	cwds map[proc.Identity]string
}

func newMachine(ids ...proc.Identity) *machine {
	m := &machine{alive: map[proc.Identity]bool{}, watched: map[proc.Identity][]func(){}, rows: map[proc.Identity]proc.Process{}, cwds: map[proc.Identity]string{}}
	for _, id := range ids {
		m.alive[id] = true
	}
	return m
}

func (m *machine) Alive(id proc.Identity) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.reads++
	return m.alive[id]
}

// moves sets the folder of a process.
func (m *machine) moves(id proc.Identity, cwd string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.cwds[id] = cwd
}

// CWD returns the folder of a process, if the test set it.
func (m *machine) CWD(id proc.Identity) (string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	cwd, known := m.cwds[id]
	if !known {
		return "", proc.ErrUnsupported
	}
	return cwd, nil
}

func (m *machine) Env(proc.Identity) ([]string, error) { return nil, proc.ErrUnsupported }

func (m *machine) start(id proc.Identity) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.alive[id] = true
}

// row returns the row of a process. By default it is old.
func (m *machine) row(id proc.Identity) proc.Process {
	p, ok := m.rows[id]
	if !ok {
		p = proc.Process{Comm: "agent"}
	}
	p.Identity = id
	return p
}

// change changes what the table shows of a process.
func (m *machine) change(id proc.Identity, f func(*proc.Process)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	p := m.row(id)
	f(&p)
	m.rows[id] = p
}

func (m *machine) suspended(id proc.Identity) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.row(id).Suspended
}

// lists is how often the whole table was read.
func (m *machine) lists() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.listed
}

// List implements proc.Lister.
func (m *machine) List(context.Context) ([]proc.Process, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.listed++
	var list []proc.Process
	for id := range m.alive {
		list = append(list, m.row(id))
	}
	return list, nil
}

// Find implements proc.Lister.
func (m *machine) Find(n int) (proc.Process, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for id := range m.alive {
		if id.PID == n {
			return m.row(id), nil
		}
	}
	return proc.Process{}, proc.ErrGone
}

// vanish takes a process off the table without telling its watchers.
func (m *machine) vanish(id proc.Identity) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.alive, id)
}

// tell reports the end of a process to its watchers.
func (m *machine) tell(id proc.Identity) {
	m.mu.Lock()
	told := m.watched[id]
	delete(m.watched, id)
	m.mu.Unlock()
	for _, f := range told {
		if f != nil {
			f()
		}
	}
}

func (m *machine) end(id proc.Identity) { m.vanish(id); m.tell(id) }

func (m *machine) Watch(id proc.Identity, exited func()) (func(), error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.alive[id] {
		return nil, proc.ErrGone
	}
	i := len(m.watched[id])
	m.watched[id] = append(m.watched[id], exited)
	return func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		if i < len(m.watched[id]) {
			m.watched[id][i] = nil
		}
	}, nil
}

func (m *machine) watching() []proc.Identity {
	m.mu.Lock()
	defer m.mu.Unlock()
	var out []proc.Identity
	for id, fs := range m.watched {
		if slices.ContainsFunc(fs, func(f func()) bool { return f != nil }) {
			out = append(out, id)
		}
	}
	return out
}

// agent is an adapter in memory.
type agent struct {
	name adapters.Name

	mu       sync.Mutex
	sessions []adapters.Session
	err      error
	remotes  []string
	asked    []adapters.Query
	// before runs at the start of each answer, outside the lock.
	before func(ctx context.Context, q adapters.Query)
}

func (a *agent) Name() adapters.Name { return a.name }

func (a *agent) Discover(ctx context.Context, q adapters.Query) (adapters.Roll, error) {
	a.mu.Lock()
	a.asked = append(a.asked, q)
	before := a.before
	a.mu.Unlock()
	if before != nil {
		before(ctx, q)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	r := adapters.Roll{LookedIn: []string{"memory"}, Remotes: a.remotes}
	for _, s := range a.sessions {
		old := !s.Live() && s.LastActivityAt.Before(q.Since)
		if q.IDs == nil && !old || slices.Contains(q.IDs, s.ID) {
			r.Sessions = append(r.Sessions, s)
		}
	}
	return r, a.err
}

// says sets the agent's answer from now on.
func (a *agent) says(err error, sessions ...adapters.Session) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.err, a.sessions = err, sessions
}

// answersOf sets the machines and gateways that answer in full from now on.
func (a *agent) answersOf(remotes ...string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.remotes = remotes
}

func (a *agent) hook(f func(context.Context, adapters.Query)) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.before = f
}

func (a *agent) questions() []adapters.Query {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.asked)
}

func pid(n int) proc.Identity { return proc.Identity{PID: n, Start: uint64(1000 + n), Boot: "b"} }

// on is a session of claude-code in the given status on process n; 0: none.
func on(id string, status adapters.Status, n int) adapters.Session {
	s := adapters.Session{ID: id, Agent: agentname.ClaudeCode, State: adapters.State{Status: status, Evidence: "test says " + string(status)}}
	if status == adapters.Waiting {
		s.WaitingFor = adapters.ForPermission
	}
	if n != 0 {
		s.Process = pid(n)
	}
	return s
}

func changed(s adapters.Session, change func(*adapters.Session)) adapters.Session {
	change(&s)
	return s
}

// shownRow contains the fields of a session that the tests compare.
type shownRow struct {
	ID      string
	Status  adapters.Status
	Outcome adapters.Outcome
	PID     int
	Stale   string
}

func rowOf(s Session) shownRow {
	b := shownRow{ID: s.ID, Status: s.Status, Outcome: s.Outcome, PID: s.Process.PID}
	if s.Stale != nil {
		b.Stale = s.Stale.Reason
	}
	return b
}

func rowsOf(list []Session) []shownRow {
	out := []shownRow{}
	for _, s := range list {
		out = append(out, rowOf(s))
	}
	return out
}

// collect collects the events of a subscription.
type collect struct {
	mu  sync.Mutex
	evs []Event
	sub *Events
}

func listen(t *testing.T, c *Core) *collect {
	t.Helper()
	l := &collect{sub: c.Events()}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			e, err := l.sub.Next(context.Background())
			if err != nil {
				return
			}
			l.mu.Lock()
			l.evs = append(l.evs, e)
			l.mu.Unlock()
		}
	}()
	t.Cleanup(func() { l.sub.Close(); <-done })
	return l
}

// told returns the events so far in short: "ended a stopped/died".
func (l *collect) told() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	out := []string{}
	for _, e := range l.evs {
		line := string(e.Kind) + " " + e.Session.ID + " " + string(e.Session.Status)
		if e.Session.Outcome != "" {
			line += "/" + string(e.Session.Outcome)
		}
		out = append(out, line)
	}
	return out
}

func (l *collect) all() []Event {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.evs)
}

const moment = 20 * time.Millisecond
