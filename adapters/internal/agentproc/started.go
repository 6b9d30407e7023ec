package agentproc

import (
	"time"

	"rollcall/proc"
)

const (
	// setForward is the smallest difference that shows that the clock was set forward: the start of a process and the times of files come from
	// clocks of different precision.
	setForward = 2 * time.Second
	// setBack is more than a program takes on a very busy machine until it makes its first own files.
	setBack = 30 * time.Second
)

// Started returns when a process of Node.js or Bun started, by the clock of its files and records: on Linux Process.Started moves when the clock is
// set, since the kernel counts it from the boot, and what is younger than a file that the process made for itself has an earlier time. back reports that the
// clock was set back since then: what the process does can seem older than it is.
func Started(table proc.Lister, p proc.Process) (at time.Time, back bool) {
	made, err := table.Made(p)
	switch {
	case err != nil || made.IsZero():
		return p.Started, false
	case made.Before(p.Started.Add(-setForward)):
		return made, false
	}
	return p.Started, made.After(p.Started.Add(setBack))
}
