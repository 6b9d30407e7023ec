package opencode

import (
	"path/filepath"
	"slices"
)

// Processes of several versions may use one data folder at the same time. Each version
// has its own files: the files that a process has open show what it cannot have
// written.

// sharesLog reports whether a process has the shared log open: it then has no separate
// log (1.18.33).
func (h *host) sharesLog() bool {
	return slices.ContainsFunc(h.files, func(f string) bool {
		return filepath.Base(f) == sharedName && filepath.Base(filepath.Dir(f)) == "log"
	})
}

// sharedLogHosts returns the processes that can have written to the shared log.
func (l *links) sharedLogHosts() []*host {
	return slices.DeleteFunc(slices.Clone(l.hosts), func(h *host) bool { return l.own[h] != nil || l.held[h] || l.isStarting(h) })
}

// isStarting reports whether a process has not opened its log and its store yet, so
// that it has written nothing in them. It returns false for a process of which no open
// file is known.
func (l *links) isStarting(h *host) bool {
	return len(h.files) > 0 && !l.held[h] && !l.usesDatabase(h)
}

// usesDatabase reports whether a process has a database open, or must have one open: a
// process that uses the shared log always has.
func (l *links) usesDatabase(h *host) bool {
	return h.sharesLog() || slices.ContainsFunc(h.files, func(f string) bool {
		return isDatabase(filepath.Base(f)) || slices.Contains(l.databases, f)
	})
}

// canStore reports whether a process can run a session, by the store that contains the
// session. A process that has a database open doesn't read the JSON store (1.18.33, and
// 1.2 and later once they have copied it). Versions up to 1.1 have no other store.
func (l *links) canStore(h *host, f *facts) bool {
	switch {
	case len(f.files) == 0:
		return true
	case filepath.Ext(f.files[0]) == ".json":
		return !l.usesDatabase(h)
	case l.copied[f.id]:
		return true
	}
	return !l.held[h] || h.filesHidden || h.db != "" || l.usesDatabase(h)
}

// doubtGuesses removes the guessed separate logs of processes that can also have
// written a run of the shared log which belongs to no other process. Neither log is
// certain then.
func (l *links) doubtGuesses(can func(*host, *run) bool) {
	taken := map[*run]bool{}
	for _, one := range l.runs.runOf {
		taken[one] = true
	}
	for h, own := range l.own {
		if l.held[h] {
			continue
		}
		doubt := false
		for _, one := range l.shared {
			if !taken[one] && can(h, one) {
				l.runs.may[one] = append(l.runs.may[one], h)
				doubt = true
			}
		}
		if doubt {
			delete(l.own, h)
			l.common = append(l.common, common{own, []*host{h}})
		}
	}
}
