// Package launch starts agents, and keeps of each start what nobody else knows:
// which process it is, what it was asked, and what is to happen when it ends. A
// record lives until 24 hours after the end of its process, and no status of the
// session is in it.
package launch

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"time"

	"rollcall/adapters"
	"rollcall/proc"
)

// Record is one launch, as it lies on disk.
type Record struct {
	ID    string        `json:"id"`
	Agent adapters.Name `json:"agent"`
	// Session is the agent's id of the session; empty until it is known.
	Session string `json:"session,omitempty"`
	// Process is the agent's own process as far as it is known, else the one
	// that was started; zero before the start.
	Process proc.Identity   `json:"process,omitzero"`
	Former  []proc.Identity `json:"former,omitempty"` // wrappers, the one that was started first
	// Seen says that the agent has listed Session on Process: that one is no
	// wrapper.
	Seen bool `json:"seen,omitempty"`
	// Own says the same of Process before the agent has stored a session.
	Own bool `json:"own,omitempty"`
	// Starter is the process that carries out the start; a record without a
	// Process whose Starter is gone never came to be.
	Starter proc.Identity `json:"starter,omitzero"`

	Dir    string `json:"dir"` // real path
	Prompt string `json:"prompt,omitempty"`
	Model  string `json:"model,omitempty"` // as asked for
	Mode   string `json:"mode,omitempty"`
	Group  string `json:"group,omitempty"`
	Spec   string `json:"spec,omitempty"`
	Branch string `json:"branch,omitempty"` // of the worktree that was made for it
	Log    string `json:"log,omitempty"`
	Hooks  []Hook `json:"hooks,omitempty"`

	LaunchedAt time.Time `json:"launched_at"`
	EndedAt    time.Time `json:"ended_at,omitzero"`
	// ExitCode is known only to a Rollcall that was the parent of Process.
	ExitCode *int `json:"exit_code,omitempty"`
}

// The times of a record.
const (
	// Grace is how long a launch may take to show up in its agent's storage.
	Grace = 30 * time.Second
	// Keep is how long an ended record is kept.
	Keep = 24 * time.Hour
)

// When says at which moment of a launch a hook runs.
type When string

// The moments.
const (
	OnCreate   When = "create"   // the session's id is known, or the process runs Grace long
	OnComplete When = "complete" // the agent's own process has ended
)

// Hook is a program of the user's that runs once at a moment of the launch.
type Hook struct {
	When    When      `json:"when"`
	Command string    `json:"command"`          // for the user's shell
	RanAt   time.Time `json:"ran_at,omitzero"`  // set before it runs: it never runs twice
	Result  string    `json:"result,omitempty"` // "exit 0", or why it failed
	Output  string    `json:"output,omitempty"` // the end of what it said
}

// Ended says whether the process of the launch has ended.
func (r *Record) Ended() bool { return !r.EndedAt.IsZero() }

// Expired says whether the record is to be removed.
func (r *Record) Expired(now time.Time) bool { return r.Ended() && now.Sub(r.EndedAt) >= Keep }

// early says that a record's end lies in the future: the clock was set back. It
// would stay until the clock is there again.
func (r *Record) early(now time.Time) bool { return r.Ended() && r.EndedAt.Sub(now) > Grace }

// Check implements store.Checker.
func (r *Record) Check(name string) error {
	if r.ID != name {
		return errors.New("it is not the record of its name")
	}
	return nil
}

// young says whether a launch may not have shown up yet. One from the future was
// made before the clock was set back.
func (r *Record) young(now time.Time) bool { return now.Sub(r.LaunchedAt).Abs() < Grace }

// newID makes the id of a launch.
func newID() string {
	var b [5]byte
	_, _ = rand.Read(b[:]) // it never fails
	return "l-" + hex.EncodeToString(b[:])
}
