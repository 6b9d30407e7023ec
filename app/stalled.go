package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"time"

	"rollcall/adapters"
	"rollcall/bounded"
	"rollcall/proc"
)

// quietPoll is how often a session without a sign of life is looked at again.
const quietPoll = time.Minute

// quietReader reads how long working sessions gave no sign of life, and which commands idle ones left running, for the rows of one answer.
type quietReader struct {
	after time.Duration
	table proc.Lister
	rows  []Session
	at    time.Time
	list  []proc.Process // of the table; nil: not read yet
}

// mark sets Quiet of x if it works and gave no sign of life for r.after. Each time it reads the agent's last record and the times of its files, and when the
// processes below the agent's own ran last, as the kernel tells it; what prints a byte has run. The agent's own process does not count: its interface draws while it
// waits; but what it receives does, such as an answer of the model that is recorded once it is whole. Where a time can't be read (such processes on macOS and Windows, a file system that hangs), nothing is said. The time in which the machine was
// suspended counts.
func (r *quietReader) mark(x *Session) {
	if r.after <= 0 || r.table == nil || !mayBeQuiet(x) {
		return
	}
	sign, known := r.lastRecord(x), true
	for _, read := range []func(*Session) (time.Time, bool){lastWrite, r.lastRun, r.lastReceived} { // each is read only if what was read before is old
		var at time.Time
		if known && r.at.Sub(sign) >= r.after {
			at, known = read(x)
			sign = latest(sign, at)
		}
	}
	next := sign.Add(r.after)
	quiet := r.at.Sub(sign)
	if quiet >= r.after {
		next = r.at.Add(quietPoll)
	}
	if x.AskAgain.IsZero() || next.Before(x.AskAgain) {
		x.AskAgain = next
	}
	if known && quiet >= r.after {
		x.Quiet = quiet
		x.Evidence += fmt.Sprintf("; no sign of life since %s: no record, and nothing below process %d ran or came over its connections", sign.Local().Format("15:04"), x.Process.PID)
	}
}

// mayBeQuiet reports whether x has signs of life that can be read. A turn that is tried again later waits.
func mayBeQuiet(x *Session) bool {
	return x.Status == adapters.Working && hasProcess(x) && x.Container == "" && !x.Limited && !x.IsProcess() && x.Stale == nil && !x.LastActivityAt.IsZero() &&
		(x.Launch == nil || !x.Launch.Unlisted)
}

// lastRecord returns when something was recorded of x or its sub-agents last.
func (r *quietReader) lastRecord(x *Session) time.Time {
	at := latest(latest(x.LastActivityAt, x.TurnStartedAt), x.DoingSince)
	for i := range r.rows {
		if o := &r.rows[i]; o.Parent == x.ID {
			at = latest(at, o.LastActivityAt)
		}
	}
	return at
}

// lastRun returns when a process below that of x ran last; zero without one.
func (r *quietReader) lastRun(x *Session) (at time.Time, known bool) {
	list := r.processes()
	if !slices.ContainsFunc(list, func(p proc.Process) bool { return p.Identity == x.Process }) {
		return at, false
	}
	for _, p := range proc.Descendants(list, x.Process) {
		ran, err := r.table.LastRun(p.Identity)
		if err != nil && !errors.Is(err, proc.ErrGone) {
			return at, false
		}
		at = latest(at, ran)
	}
	return at, true
}

// lastReceived returns when the process of x received data over a connection last. Only Linux tells it; elsewhere a model's answer that is not recorded for so
// long counts as no sign of life.
func (r *quietReader) lastReceived(x *Session) (at time.Time, known bool) {
	at, err := r.table.LastReceived(x.Process)
	return at, err == nil || errors.Is(err, proc.ErrUnsupported)
}

// processes returns the process table as it was read for the rows of this answer.
func (r *quietReader) processes() []proc.Process {
	if r.list == nil {
		r.list, _ = r.table.List(context.Background())
	}
	return r.list
}

// writeLimit is the time within which the times of a session's files must be read.
const writeLimit = time.Second

// lastWrite returns when one of the session's files was written last, or one in a folder of its own beside them: sub-agents that are no sessions write there.
func lastWrite(x *Session) (at time.Time, known bool) {
	if len(x.Files) == 0 {
		return at, true
	}
	dir := filepath.Dir(x.Files[0])
	at, err := bounded.In(dir, writeLimit, func(context.Context) (at time.Time, _ error) {
		for _, path := range append([]string{filepath.Join(dir, x.ID), filepath.Join(filepath.Dir(dir), "subagents", x.ID)}, x.Files...) {
			at = latest(at, newestBelow(path))
		}
		return at, nil
	})
	return at, err == nil
}

// maxFiles is the number of files below a session's folder whose times are read.
const maxFiles = 2000

// newestBelow returns when a file, or a file or folder below a folder, was written last; zero if it does not exist.
func newestBelow(folder string) (at time.Time) {
	left := maxFiles
	_ = filepath.WalkDir(folder, func(_ string, d fs.DirEntry, err error) error {
		left--
		if err != nil || left < 0 {
			return fs.SkipAll
		}
		if info, err := d.Info(); err == nil {
			at = latest(at, info.ModTime())
		}
		return nil
	})
	return at
}

func latest(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
