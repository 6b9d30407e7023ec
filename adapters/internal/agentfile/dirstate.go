package agentfile

import (
	"os"
	"path/filepath"
	"slices"
	"time"
)

// State holds the entries of a folder at one moment, with sizes and times. The zero
// value is the state of a folder that could not be read.
type DirState struct {
	at      time.Time
	entries []entry
}

type entry struct {
	name  string
	size  int64
	mtime int64
}

const (
	// Settled is the age from which a modification time shows every change: two changes
	// within one tick of the file system's clock have the same time.
	Settled = 2 * time.Second
	// RecentTime is the time for which a file is examined at every call after a process had it or
	// wrote to it.
	RecentTime = 15 * time.Minute
	// SweepAfter is the longest time between two sweeps.
	SweepAfter = time.Minute
	// SweepPause is the shortest time between two sweeps while files change all the time.
	SweepPause = 2 * time.Second
	// maxEntries is the largest number of entries of a folder that Read examines.
	maxEntries = 200
)

// Read examines dir, its direct entries, and more paths, which need not exist. It opens
// no file.
func ReadDirState(dir string, more ...string) DirState {
	s := DirState{at: time.Now()}
	f, err := Open(dir)
	if err != nil {
		return DirState{}
	}
	defer f.Close()
	names, err := f.Readdirnames(maxEntries + 1)
	if err != nil || len(names) > maxEntries {
		return DirState{}
	}
	slices.Sort(names)
	for _, name := range names {
		s.add(filepath.Join(dir, name))
	}
	for _, path := range append(more, dir) {
		s.add(path)
	}
	return s
}

func (s *DirState) add(path string) {
	e := entry{name: path, size: -1}
	if info, err := os.Lstat(path); err == nil {
		e.size, e.mtime = info.Size(), info.ModTime().UnixNano()
	}
	s.entries = append(s.entries, e)
}

// IsSame reports whether for certain nothing changed from before to s. It reports
// false if a change was so recent that a later one could look the same.
func (s DirState) IsSame(before DirState) bool {
	if before.entries == nil || !slices.Equal(s.entries, before.entries) {
		return false
	}
	for _, e := range before.entries {
		if age := before.at.Sub(time.Unix(0, e.mtime)); e.size >= 0 && age.Abs() < Settled {
			return false
		}
	}
	return true
}

// Sweep is the beginning of a look at every file below a folder. Between two sweeps only files to
// which a process may write are examined. The zero value is no sweep.
type Sweep struct {
	At    time.Time
	state DirState
}

// Begin returns the sweep that begins now. dir and more are those of Read: a process that wrote to a
// file and ended has left a trace there.
func BeginDirState(dir string, more ...string) Sweep {
	return Sweep{time.Now(), ReadDirState(dir, more...)}
}

// IsEnough reports whether the sweep now is unnecessary, because s was done and nothing has changed since.
func (s Sweep) IsEnough(now Sweep) bool {
	age := now.At.Sub(s.At)
	return age >= 0 && age < SweepAfter && (age < SweepPause || now.state.IsSame(s.state))
}
