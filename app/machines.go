package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"rollcall/adapters"
)

// MachineRoll is what another machine reported last. It never changes once a core has it.
//
// Its sessions are rows of another machine's Rollcall: nothing here checks them against processes, folders or locks of this machine.
type MachineRoll struct {
	MachineHealth
	Sessions []Session // in the order of Sort; their Machine is the name
}

// MachineHealth describes how another machine answered last.
type MachineHealth struct {
	Name string
	// State is Pending before the first answer, and Failed if the machine does not answer or answers in part.
	State    AdapterState
	Problems []string  // why, one line each
	Answered time.Time // when it last reported its whole roll, or a change of it; zero: never
	Elapsed  time.Duration
}

// Machines provides on other machines what a core does on its own. Its methods take sessions of other machines.
type Machines interface {
	// Peek returns the last n messages of a session.
	Peek(ctx context.Context, s Session, n int) ([]adapters.Message, error)
	// Stop stops a session and returns once it has stopped.
	Stop(ctx context.Context, s Session) error
}

// CommandError is the failure of a command that ran on another machine.
type CommandError struct {
	Code int // its exit code
	Text string
}

func (e *CommandError) Error() string { return e.Text }

// FolderInUse is the exit code of a launch whose folder is locked, or in use.
const FolderInUse = 10

// ErrMachine reports that an action is possible only on the machine that runs the session.
var ErrMachine = errors.New("it runs on another machine")

// MachineID returns the id under which a session of another machine is shown.
func MachineID(machine, id string) string { return machine + machineSeparator + id }

const machineSeparator = ":"

// IDThere returns the id that the session has on its machine.
func (s *Session) IDThere() string { return strings.TrimPrefix(s.ID, s.Machine+machineSeparator) }

// machineRolls are the rolls of other machines.
type machineRolls struct {
	rolls  []MachineRoll // by name
	merged []Session     // the sessions that are shown
	hidden []Session     // the sessions of agents that the settings leave out
	atWork *atWork       // of merged

	leftOut []adapters.Name // the agents that the settings leave out
	health  []MachineHealth
}

// ShowMachine replaces the roll of a machine in the next snapshots, and delivers the events that led to it. It never waits for
// an adapter, and no adapter waits for it.
func (c *Core) ShowMachine(r MachineRoll, evs []Event) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.machines.put(r)
	c.divideLocked()
	c.publishLocked()
	c.deliverLocked(evs)
}

// HideMachine removes a machine from the next snapshots, and delivers for each of its live sessions an event with the status Unknown, so that listeners remove
// a notification that the session waits.
func (c *Core) HideMachine(name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	var evs []Event
	c.machines.rolls = slices.DeleteFunc(c.machines.rolls, func(r MachineRoll) bool {
		if r.Name == name {
			evs = hidden(r.Sessions, time.Now())
		}
		return r.Name == name
	})
	c.machines.merge()
	c.divideLocked()
	c.publishLocked()
	c.deliverLocked(evs)
}

// hidden returns the events for those sessions of a list that are live and no longer shown.
func hidden(list []Session, now time.Time) (evs []Event) {
	for i := range list {
		if s := &list[i]; s.Live() && !s.IsProcess() {
			evs = append(evs, s.NoLongerShown(now))
		}
	}
	return evs
}

// NoLongerShown returns the event for a session of another machine that is no longer shown although it may run on.
func (s *Session) NoLongerShown(now time.Time) Event {
	return s.notShown(now, s.Machine+" is no longer asked about it, or no longer lists it")
}

// put replaces one roll.
func (m *machineRolls) put(r MachineRoll) {
	i, found := slices.BinarySearchFunc(m.rolls, r, func(a, b MachineRoll) int { return cmp.Compare(a.Name, b.Name) })
	if found {
		m.rolls[i] = r
	} else {
		m.rolls = slices.Insert(m.rolls, i, r)
	}
	m.merge()
}

// merge joins and counts the sessions of all rolls once, so that the cost of a snapshot with new answers of this machine's agents does not grow with the number
// of machines.
func (m *machineRolls) merge() {
	lists := make([][]Session, len(m.rolls))
	m.health = nil
	for i := range m.rolls {
		lists[i] = m.rolls[i].Sessions
		m.health = append(m.health, m.rolls[i].MachineHealth)
	}
	m.merged, m.hidden = divide(merge(lists), m.leftOut)
	n := countAtWork(m.merged)
	m.atWork = &n
}

// addTo adds the other machines to a snapshot.
func (m *machineRolls) addTo(s *Snapshot) {
	s.Others = m.merged
	s.othersAtWork = m.atWork
	s.Machines = m.health
}

// WithMachines returns a snapshot that has the rolls of other machines too.
func (s *Snapshot) WithMachines(rolls []MachineRoll) *Snapshot {
	m := machineRolls{leftOut: s.LeftOut.Agents}
	for _, r := range rolls {
		m.put(r)
	}
	out := *s
	m.addTo(&out)
	out.joined = joinOnce(out.Own, out.Others)
	if len(m.hidden) > 0 {
		out.LeftOut.Sessions = merge([][]Session{s.LeftOut.Sessions, m.hidden})
	}
	return &out
}

// planMachineStop returns the plan to stop a session of another machine: the Rollcall there stops it, with its own checks.
func (c *Core) planMachineStop(s Session) (*StopPlan, error) {
	switch {
	case c.cfg.Machines == nil:
		return nil, fmt.Errorf("%w: %w", ErrCannotStop, ErrMachine)
	case !s.Live():
		return nil, ErrNotRunning
	case s.Stale != nil:
		return nil, fmt.Errorf("%w: %s: %s", ErrCannotStop, s.Machine, s.Stale.Reason)
	}
	return &StopPlan{Session: s, Through: "Rollcall on " + s.Machine}, nil
}
