// Package app is Rollcall's core: it asks all adapters at once, reconciles their
// answers with the process table into an immutable Snapshot, and turns what
// changes into events. It stores no status: whatever it knows of sessions lives
// in memory, for this run, and is checked against the adapters on every refresh.
package app

import (
	"time"

	"rollcall/adapters"
	"rollcall/proc"
)

// Session is an adapter's session as Rollcall shows it.
type Session struct {
	adapters.Session
	// Stale is set when the adapter did not answer this time and the session is
	// what was last seen.
	Stale *Stale
	// Launch is what Rollcall keeps of the launch that the session came from; nil
	// for those that it did not start.
	Launch *Launch
}

// Launch is what the agent does not know of a session.
type Launch struct {
	ID         string
	Group      string
	Spec       string
	Prompt     string
	Log        string // path of what the agent said; empty: it has a terminal
	LaunchedAt time.Time
	Hooks      []Hook
	// Unlisted says that the agent does not list the session, or not yet: the row
	// is what Rollcall knows by itself.
	Unlisted bool
}

// Stale says since when and why a session could not be asked for again.
type Stale struct {
	Since  time.Time
	Reason string
}

// Hook is a command of the user's that runs at a moment of a launch.
type Hook struct {
	When    string // create or complete
	Command string
	RanAt   time.Time // zero: not yet
	Result  string    // "exit 0", or why it failed; empty: it runs, or has not run
	Output  string    // the end of what it said
}

// AdapterState is how an adapter answered.
type AdapterState string

// The states of an adapter.
const (
	OK      AdapterState = "ok"
	Absent  AdapterState = "absent"  // the agent isn't installed
	Failed  AdapterState = "failed"  // no answer, or only a part of one
	Pending AdapterState = "pending" // asked for the first time, no answer yet
)

// Health is how one adapter answered last.
type Health struct {
	Name  adapters.Name
	State AdapterState
	// Problems are what is missing from the answer and why, one line each. With
	// State OK they are limits of watching (inotify's), not of the answer.
	Problems []string
	Elapsed  time.Duration // of the last answer
	Sessions int           // answered, before reconcile
	Answered time.Time     // when it last answered with sessions; zero: never
	LookedIn []string
	Versions map[string]int
	Skipped  map[string]int
	Format   Format
	Asking   bool // a question is under way
}

// Snapshot is one complete picture. It never changes once published; readers
// share it, and must not write to what it holds.
type Snapshot struct {
	At         time.Time
	Generation uint64
	Sessions   []Session // one per agent and id, in the order of the contract: see Sort
	Adapters   []Health  // one per adapter, in their order of registration
	Refreshing bool      // some adapter has not answered the current question yet
}

// EventKind is what happened to a session.
type EventKind string

// The kinds of events.
const (
	// Started: first seen live, or live again; not on the adapter's first scan.
	Started EventKind = "started"
	// Changed: the status or what it waits for is another. A session that stopped
	// while its process lives on (Claude Code's /clear, a thread that Codex's
	// daemon unloaded) is Changed to Stopped, and never Ended.
	Changed EventKind = "status"
	// Ended: the agent's own process really ended.
	Ended EventKind = "ended"
)

// Event is something that happened to a session after the first scan. It is
// delivered to every subscriber exactly once, in order, and never dropped.
type Event struct {
	Kind    EventKind
	At      time.Time
	Session Session // as it is now; of an ended one: as its agent's files say after the end
	Before  Session // as it was while it lived; zero for Started

	// Process is the process that ended; set with Ended only. Sessions that one
	// process hosted (Codex's daemon, a session and its sub-agents) end in one
	// event each, delivered one after the other, with the same Process.
	Process proc.Identity
	// With are the other sessions that ended with Process, in the order of
	// Sort: whoever wants one message per process takes the first event of a
	// Process and counts these.
	With []Session
}
