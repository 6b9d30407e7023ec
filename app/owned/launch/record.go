// Package launch starts agents. It keeps a record of each launch with what the agent does not store: the process, the
// prompt, and the hooks to run at the end. A record is removed 24 hours after the end of its process. It contains no
// status of the session.
package launch

import (
	"errors"
	"time"

	"rollcall/adapters"
	"rollcall/proc"
)

// Record is one launch, as stored on disk.
type Record struct {
	ID    string        `json:"id"`
	Agent adapters.Name `json:"agent"`
	// Session is the agent's id of the session; empty until it is known.
	Session string `json:"session,omitempty"`
	// Process is the agent's own process if it is known, or else the one that was started. It is zero before the start.
	Process proc.Identity   `json:"process,omitzero"`
	Former  []proc.Identity `json:"former,omitempty"` // wrappers, the one that was started first
	// Seen reports that the agent has listed Session with Process. Process is then not a wrapper.
	Seen bool `json:"seen,omitempty"`
	// Own reports that Process is not a wrapper, before the agent has stored a session.
	Own bool `json:"own,omitempty"`
	// Starter is the process that carries out the start. The start failed if Process is zero and Starter has ended.
	Starter proc.Identity `json:"starter,omitzero"`
	// Host and Space identify where the launch runs: the name of the machine or container, and proc.Space.
	Host  string `json:"host,omitempty"`
	Space string `json:"space,omitempty"`

	Dir string `json:"dir"` // real path
	// Prompt is the beginning of the prompt, see promptHead. Records of older versions have all of it.
	Prompt string `json:"prompt,omitempty"`
	Model  string `json:"model,omitempty"` // as requested
	Mode   string `json:"mode,omitempty"`
	Group  string `json:"group,omitempty"`
	Spec   string `json:"spec,omitempty"`
	Branch string `json:"branch,omitempty"` // branch of the launch's worktree
	// Home is the home that the agent uses. Records of older versions lack it; empty: that of the environment.
	Home  string `json:"home,omitempty"`
	Log   string `json:"log,omitempty"`
	Hooks []Hook `json:"hooks,omitempty"`
	// Pipe reports that Rollcall holds the input and the output of the process. See Launches.Conversant.
	Pipe bool `json:"pipe,omitempty"`
	// Answered are the ids of the last requests that were answered through the pipe.
	Answered []string `json:"answered,omitempty"`
	// Password reports that the process has a password, which Rollcall chose for it. See Launches.Password.
	Password bool `json:"password,omitempty"`

	// Unreported is true from the launch until the user was notified of its end. Records of older versions lack it.
	Unreported bool `json:"untold,omitempty"`

	LaunchedAt time.Time `json:"launched_at"`
	EndedAt    time.Time `json:"ended_at,omitzero"`
	// Parent is the process of Rollcall that is the parent of the process that was started. It is zero if Parent can't learn the exit code, because the process
	// that was started has ended and the agent has not.
	Parent proc.Identity `json:"parent,omitzero"`
	// ExitCode and Signal, the name of the signal that ended the process, are set only by Parent. A process that a signal ended also has an exit code: 128 + the
	// signal's number.
	ExitCode *int   `json:"exit_code,omitempty"`
	Signal   string `json:"signal,omitempty"`
}

// The times of a record.
const (
	// Grace is the time within which an agent must store a session for a launch.
	Grace = 30 * time.Second
	// Keep is the time for which a record is kept after the end of the launch.
	Keep = 24 * time.Hour
	// codeLimit is the time after the end of the agent within which its parent stores the exit code. A running parent stores it at once, or after some seconds on
	// an overloaded machine. The limit is as long as hooks should wait at most for a parent that hangs.
	codeLimit = 30 * time.Second
)

// When is the moment of a launch at which a hook runs.
type When string

// The moments.
const (
	OnCreate   When = "create"   // the session's id is known, or the process has run for Grace
	OnComplete When = "complete" // the agent's own process has ended
)

// Hook is a command of the user's that runs once, at a moment of the launch.
type Hook struct {
	When    When   `json:"when"`
	Command string `json:"command"` // for the user's shell
	// Again starts the hook again if its result is unknown. The hook then runs at least once; without Again it runs at
	// most once.
	Again bool `json:"again,omitempty"`
	// RanAt and Runner, the process that runs the hook, are set before the start. FinishedAt, Result and Output are set
	// at the end.
	RanAt      time.Time     `json:"ran_at,omitzero"`
	Runner     proc.Identity `json:"runner,omitzero"`
	FinishedAt time.Time     `json:"finished_at,omitzero"`
	Result     string        `json:"result,omitempty"` // "exit 0", or why it failed
	Output     string        `json:"output,omitempty"` // end of its output
}

// Foreign reports whether the launch runs on another machine, or in another container, that shares the folder. Its state is not known here, so its record is
// not changed until it has ended.
func (r *Record) Foreign() bool {
	return !r.Ended() && proc.IsElsewhere(r.Host, r.Space)
}

// Ended reports whether the process of the launch has ended.
func (r *Record) Ended() bool { return !r.EndedAt.IsZero() }

// Expired reports whether the record must be removed.
func (r *Record) Expired(now time.Time) bool { return r.Ended() && now.Sub(r.EndedAt) >= Keep }

// endsInFuture reports whether the end of a record is in the future, because the clock was set back. The record would
// otherwise be kept until the clock has caught up.
func (r *Record) endsInFuture(now time.Time) bool { return r.Ended() && r.EndedAt.Sub(now) > Grace }

// Check implements store.Checker.
func (r *Record) Check(name string) error {
	if r.ID != name {
		return errors.New("the file's name and the launch's id do not match")
	}
	return nil
}

// isStarting reports whether the agent may not have stored a session yet. The launch may be in the future, if the clock
// was set back.
func (r *Record) isStarting(now time.Time) bool { return now.Sub(r.LaunchedAt).Abs() < Grace }
