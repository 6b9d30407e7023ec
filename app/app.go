// Package app is Rollcall's core: it asks all adapters at once, reconciles their
// answers with the process table into an immutable Snapshot, and turns changes into
// events. It stores no status: it keeps sessions in memory, for this run, and checks
// them against the adapters on every refresh.
package app

import (
	"slices"
	"time"

	"rollcall/adapters"
	"rollcall/proc"
)

// Session is an adapter's session as Rollcall shows it.
type Session struct {
	adapters.Session
	// Stale is set when the adapter did not answer this time and the session is shown
	// as it was seen last.
	Stale *Stale
	// FormerCWD is the folder that the agent recorded, where CWD is the name that this folder has now: it was renamed while the agent's process runs in it.
	FormerCWD string
	// Account is the name of the session's home (Config.Account), where its agent has more than one; otherwise empty.
	Account string
	// Launch is Rollcall's record of the launch that the session came from; nil for a
	// session that Rollcall did not start.
	Launch *Launch
	// Machine is the name of the machine that runs the session and reported it; empty: this one. Such a session's ID and
	// Parent begin with the name (MachineID), its Remote is set, and it has no Process.
	Machine string
	// Pinned, Hidden and Muted are the user's notes; see Mark.
	Pinned, Hidden, Muted bool
	// Snoozed reports that the session is snoozed now, until SnoozedUntil; zero: until it changes.
	Snoozed      bool
	SnoozedUntil time.Time
	// LeftBehind is how many processes the session left behind, which is over. Only CountLeftBehind sets it: no snapshot has it.
	LeftBehind int
	// Load is what the session's processes use; nil: not known, or not read. Only LoadMeter sets it: no snapshot has it.
	Load *Load
}

// IsEmptyProcess reports whether s is an agent's process without a session, for which the user gets no notification.
// The process of a launch does not count, since the user waits for it, nor does a run of which the agent stores
// nothing.
func (s *Session) IsEmptyProcess() bool { return s.IsProcess() && s.Launch == nil && !s.Unstored }

// IsBackground reports whether the session is a launch in the background of this machine that no terminal shows: its output goes to its log.
func (s *Session) IsBackground() bool {
	return s.Launch != nil && s.Launch.Log != "" && !s.Launch.Ended && s.Machine == "" && s.Terminal.IsZero()
}

// SessionKey identifies a session among those of all agents: two agents may use the same id.
type SessionKey struct {
	Agent adapters.Name
	ID    string
}

// Key returns the key of the session.
func (s *Session) Key() SessionKey { return SessionKey{s.Agent, s.ID} }

// Launch contains what Rollcall recorded of a launch and the agent does not store.
type Launch struct {
	ID         string
	Group      string
	Spec       string
	Prompt     string
	Log        string // path of the agent's output; empty: it has a terminal
	LaunchedAt time.Time
	Hooks      []Hook
	// Ended reports that the agent's process has ended. ExitCode is nil if its exit code is not known, or not yet:
	// CodeUnknown reports that it will never be. Signal is the name of the signal that ended the process, or empty.
	Ended       bool
	ExitCode    *int
	Signal      string
	CodeUnknown bool
	// Unlisted reports that the agent does not list the session, or not yet: the row
	// is made of Rollcall's own record.
	Unlisted bool
	// Open reports that the agent runs in the session's process and has no session
	// there yet (adapters.ProcessSession). It implies Unlisted.
	Open bool
}

// Stale contains since when, and why, a session could not be read.
type Stale struct {
	Since  time.Time
	Reason string
}

// Hook is a command of the user's that runs when a launch is created or complete.
type Hook struct {
	When    string // create or complete
	Command string
	RanAt   time.Time // zero: not yet
	Result  string    // "exit 0", or why it failed; empty: it runs, or has not run
	Output  string    // the end of its output
	// Lost reports that the hook was started and that its result is not known, because the process that ran it died.
	Lost bool
}

// AdapterState describes how an adapter answered.
type AdapterState string

// The states of an adapter.
const (
	OK      AdapterState = "ok"
	Absent  AdapterState = "absent"  // the agent isn't installed
	Failed  AdapterState = "failed"  // no answer, or only a part of one
	Pending AdapterState = "pending" // first question, no answer yet
)

// Health describes how one adapter answered last.
type Health struct {
	Name  adapters.Name
	State AdapterState
	// Problems describe what is missing from the answer and why, one line each. With
	// State OK they are limits of watching (inotify's), not of the answer.
	Problems []string
	Elapsed  time.Duration // of the last answer
	Sessions int           // answered, before reconcile
	Answered time.Time     // when it last answered with sessions; zero: never
	LookedIn []string
	Versions map[string]int
	Skipped  map[string]int
	Ledger   adapters.Ledger // complete with Config.Usage only
	Format   Format
	Asking   bool // a question is under way
}

// Snapshot is one complete picture. It never changes once published; readers
// share it, and must not write to what it holds.
type Snapshot struct {
	At         time.Time
	Generation uint64
	Own        []Session       // of this machine, one per agent and id, in the order of Sort
	Others     []Session       // of the other machines, in the order of Sort
	Adapters   []Health        // one per adapter, in their order of registration
	Machines   []MachineHealth // of the other machines, by name
	// Troubles describe why Rollcall can't write its own files, one line each: "disk
	// full: timers can't be kept".
	Troubles   []string
	LeftOut    LeftOut
	Headless   Headless // how the menu treats headless sessions
	Refreshing bool     // some adapter has not answered the current question yet

	joined       func() []Session // joins Own and Others at its first call; nil: Sessions joins them at each call
	othersAtWork *atWork          // of Others; nil: CountAtWork counts them at each call
}

// Reading returns the agents that have not answered the current question yet, and how many sessions the others returned. The
// number is 0 once every agent has answered at least once, since the earlier sessions are then shown.
func (s *Snapshot) Reading() (agents []adapters.Name, sessions int) { return reading(s.Adapters) }

func reading(health []Health) (agents []adapters.Name, sessions int) {
	first := false
	for i := range health {
		h := &health[i]
		first = first || h.State == Pending
		if h.Asking || h.State == Pending {
			agents = append(agents, h.Name)
		} else {
			sessions += h.Sessions
		}
	}
	if !first {
		sessions = 0
	}
	return agents, sessions
}

// Health returns how the adapter of an agent answered; zero: it is not among the adapters.
func (s *Snapshot) Health(agent adapters.Name) Health {
	i := slices.IndexFunc(s.Adapters, func(h Health) bool { return h.Name == agent })
	if i < 0 {
		return Health{}
	}
	return s.Adapters[i]
}

// Incomplete returns the adapters that did not answer in full: some of their sessions may be missing from s. Adapters that
// the settings leave out are included.
func (s *Snapshot) Incomplete() []adapters.Name {
	var out []adapters.Name
	for _, h := range slices.Concat(s.Adapters, s.LeftOut.Adapters) {
		if h.State != OK && h.State != Absent {
			out = append(out, h.Name)
		}
	}
	return out
}

// EventKind is the kind of an event.
type EventKind string

// The kinds of events.
const (
	// Started: first seen live, or live again; not on the adapter's first scan.
	Started EventKind = "started"
	// Changed: the status, what the session waits for or whether its process is suspended has changed, or a session that could
	// not be read for a while (Before.Stale) now waits for another request. A session that stopped while its process lives on
	// (Claude Code's /clear, a thread that Codex's daemon unloaded) is Changed to Stopped, and never Ended.
	Changed EventKind = "status"
	// Ended: the agent's own process ended, or the session of a gateway is gone: the gateway answered and no longer lists it.
	// Its Session has no outcome if the last turn died in an earlier process, since this process ended no turn.
	Ended EventKind = "ended"
)

// Event is something that happened to a session after the first scan. The row of
// a process without a session (adapters.Session.IsProcess) has none. An event is
// delivered to every subscriber exactly once, in order, and never dropped.
type Event struct {
	Kind    EventKind
	At      time.Time
	Session Session // as it is now; after its end as its agent's files describe it
	// Before is the session as it was while it was live. It is zero for Started, and for an Ended session that was
	// stored right before its process ended.
	Before Session

	// Process is the process that ended; set with Ended only, and zero for the session of
	// a gateway. Sessions that one
	// process hosted (Codex's daemon, a session and its sub-agents) end in one
	// event each, delivered one after the other, with the same Process.
	Process proc.Identity
	// MachineProcess is a unique name of the process that ended on another machine; set with Ended only.
	MachineProcess string
	// TerminalEnded reports that the terminal that was last certain to show the session (adapters.Session.Terminal) has ended, and
	// that no other is certain to show it: whether one does, the agent may no longer be able to tell.
	TerminalEnded bool
	// With lists the other sessions that ended with Process, in the order of Sort. For
	// one message per process, use the first event of a Process and count these.
	With []Session
}

// FilesLeftOut returns the numbers of files whose answers the sums of usage leave out, by reason, and how many answers these are, where that is known.
func (s *Snapshot) FilesLeftOut() (files, answers map[string]int) {
	files, answers = map[string]int{}, map[string]int{}
	for i := range s.Adapters {
		l := &s.Adapters[i].Ledger
		for why, n := range l.LeftOut {
			files[why] += n
		}
		for why, n := range l.LeftOutAnswers {
			answers[why] += n
		}
	}
	return files, answers
}
