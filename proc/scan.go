package proc

import (
	"context"
	"slices"
	"time"
)

const (
	// rereadTime is the time after its start for which a process is read again at every
	// look, because of an exec.
	rereadTime = 10 * time.Second
	// execTime is the age below which a process may have been seen between its
	// fork and its exec, where it still shows its parent's name and arguments.
	execTime = time.Second
)

// Changes holds the differences that one look at the process table found.
type Changes struct {
	// New are the processes that were not there at the look before. A process is
	// reported again when its name changed in its first 10 s (an exec, or a program
	// that names itself), and once more by the next look when it was first seen in its
	// first second: the latest report is the right one.
	New []Process
	// Gone are processes that were reported as New and are no longer there.
	Gone []Identity
}

// Scanner compares a process table with its state at the last look, at a small part of
// the cost of List. It is meant for one look every few seconds.
//
// On Linux a look lists the folder of the table and reads one file (stat) of each
// process that is new or younger than 10 s. A pid that was given to another process
// since is noticed by the inode of its folder, which the directory listing has at no
// further cost: the kernel gives each process's folder a new inode. Where the kernel
// forgets an inode to save memory, the process is read again, and nothing is
// reported. An older process that became a zombie is reported as gone only once its
// parent has reaped it; the exit watcher reports that end at once. A table that is not
// a *Table on Linux is compared by List.
//
// A Scanner is not safe for concurrent use.
type Scanner struct {
	table Lister
	fast  *procTree // nil: by List
	known map[int]*seen
	round uint64
}

// seen holds what is remembered of one pid.
type seen struct {
	Process     // zero: there is nothing to report, such as a zombie
	inode       uint64
	round       uint64    // of the last look that found it
	rereadUntil time.Time // it is read again until then; zero: never
	reportAgain bool      // it is to be reported once more
}

// NewScanner returns a scanner of table. At its first look every process is new.
func NewScanner(table Lister) *Scanner {
	return &Scanner{table: table, fast: treeOf(table), known: map[int]*seen{}}
}

// Scan looks at the table. With an error it reports no change and forgets none.
func (s *Scanner) Scan(ctx context.Context) (Changes, error) {
	s.round++
	var c Changes
	var err error
	if s.fast != nil {
		err = s.scanTree(ctx, &c)
	} else {
		err = s.scanList(ctx, &c)
	}
	if err != nil {
		return Changes{}, err
	}
	for pid, k := range s.known {
		if k.round != s.round {
			c.addGone(k)
			delete(s.known, pid)
		}
	}
	return c, nil
}

// Find returns the row of a process: on Linux as it is now, elsewhere as it was
// at the last look. It returns ErrGone when the process is not there.
func (s *Scanner) Find(id Identity) (Process, error) {
	if s.fast != nil {
		return s.fast.find(id)
	}
	if k := s.known[id.PID]; k != nil && k.Identity == id {
		return k.Process, nil
	}
	return Process{}, ErrGone
}

func (c *Changes) addGone(k *seen) {
	if !k.IsZero() {
		c.Gone = append(c.Gone, k.Identity)
	}
}

// scanList compares the rows of List with those of the last look.
func (s *Scanner) scanList(ctx context.Context, c *Changes) error {
	rows, err := s.table.List(ctx)
	if err != nil && len(rows) == 0 {
		return err
	}
	now := time.Now()
	for i := range rows {
		s.compare(&rows[i], now, c)
	}
	if err != nil { // a process that is missing from the rows may still run
		for _, k := range s.known {
			k.round = s.round
		}
	}
	return nil
}

// compare compares a row with the last known state of its pid.
func (s *Scanner) compare(p *Process, now time.Time, c *Changes) *seen {
	k := s.known[p.PID]
	switch {
	case k == nil || k.Identity != p.Identity:
		if k != nil {
			c.addGone(k)
		}
		k = &seen{}
		s.known[p.PID] = k
		if age := max(now.Sub(p.Started), 0); age < rereadTime {
			k.rereadUntil, k.reportAgain = now.Add(rereadTime-age), age < execTime
		}
		c.New = append(c.New, *p)
	case k.reportAgain, now.Before(k.rereadUntil) && k.Comm != p.Comm:
		k.reportAgain = false
		c.New = append(c.New, *p)
	}
	k.Process, k.round = *p, s.round
	return k
}

// FindAll returns the rows of the given processes, as far as they are alive and can be read,
// with as few questions to the table as the system allows.
func FindAll(table Lister, ids []Identity) map[Identity]Process {
	found := make(map[Identity]Process, len(ids))
	if len(ids) == 0 {
		return found
	}
	if findIsCheap {
		for _, id := range ids {
			if p, err := table.Find(id.PID); err == nil && p.Identity == id {
				found[id] = p
			}
		}
		return found
	}
	rows, _ := table.List(context.Background())
	for _, p := range rows {
		if slices.Contains(ids, p.Identity) {
			found[p.Identity] = p
		}
	}
	return found
}
