package app

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"rollcall/adapters"
	"rollcall/bounded"
	"rollcall/proc"
)

// pollRun is one poll of the poller, with all that it compares.
type pollRun struct {
	scanner    *proc.Scanner
	battery    *battery
	sources    []*source
	folders    *folders
	missing    map[*source][]string // places that a source looked for and that did not exist
	processes  []shownProcess
	unjudged   map[proc.Identity]proc.Process // processes that an adapter has not judged yet
	unreadable unreadablePlaces
	calls      *bounded.Calls
	log        *slog.Logger
}

// pollResult is the result of one poll.
type pollResult struct {
	owners       map[agentProcess]bool          // whether a new process is the agent's, as the adapter judges
	unjudged     map[proc.Identity]proc.Process // processes that an adapter has not judged yet
	gone         []proc.Identity
	movedFolders []string             // folders whose path now leads to another folder, or to none
	missing      map[*source][]string // places that still do not exist
	changed      map[*source]bool     // sources that may have changed
	unreadable   unreadablePlaces     // as they are now
	onBattery    bool
	err          error // the process table could not be read
}

func (l *pollRun) run(ctx context.Context) pollResult {
	l.calls.Begin()
	defer l.calls.End()
	f := pollResult{owners: map[agentProcess]bool{}, missing: map[*source][]string{}, changed: map[*source]bool{},
		unjudged: map[proc.Identity]proc.Process{}}
	if l.scanner != nil {
		l.scanProcesses(ctx, &f)
	}
	for path, was := range l.folders.watches() {
		if moved, answered := bounded.Call(l.calls, path, func() bool { return isElsewhere(path, was) }); answered && moved {
			f.movedFolders = append(f.movedFolders, path)
			for _, s := range l.folders.forget(path, was) {
				f.changed[s] = true
			}
		}
	}
	for s, paths := range l.missing {
		f.missing[s] = slices.DeleteFunc(paths, func(path string) bool {
			missing, answered := bounded.Call(l.calls, path, func() bool { return isMissing(path) })
			if missing || !answered {
				return false
			}
			f.changed[s] = true
			return true
		})
	}
	f.unreadable = l.unreadable.retry(f.changed, l.calls)
	f.onBattery = l.battery.inUse()
	return f
}

// scanProcesses compares the process table with that of the last poll.
func (l *pollRun) scanProcesses(ctx context.Context, f *pollResult) {
	changes, err := l.scanner.Scan(ctx)
	if err != nil {
		f.err = err
		return
	}
	f.gone = changes.Gone
	for i := range changes.New {
		l.askOwner(&changes.New[i], f)
	}
	for _, id := range changes.Gone {
		delete(l.unjudged, id)
	}
	for _, p := range l.unjudged {
		l.askOwner(&p, f)
	}
	for _, shown := range l.processes {
		if p, err := l.scanner.Find(shown.id); err == nil && p.Suspended != shown.suspended {
			f.changed[shown.source] = true
		}
	}
}

// askOwner asks each adapter whether a process belongs to its agent. An adapter that does not answer is asked again at the
// next poll. The answer of an adapter that panics counts as no.
func (l *pollRun) askOwner(p *proc.Process, f *pollResult) {
	for _, s := range l.sources {
		o, ok := s.adapter.(adapters.ProcessOwner)
		if !ok {
			continue
		}
		k := agentProcess{s, p.Identity}
		process := *p // the call may outlive the poll
		mine, answered := bounded.Call(l.calls, k, func() bool {
			mine, err := guarded(func() (bool, error) { return o.OwnsProcess(process), nil })
			if err != nil {
				l.log.Error("an adapter cannot determine whether a process belongs to its agent", "agent", s.adapter.Name(), "process", process.PID, "error", err)
			}
			return mine
		})
		if answered {
			f.owners[k] = mine
		} else {
			f.unjudged[p.Identity] = *p
		}
	}
}

// isElsewhere reports whether a path leads to another folder than was, or to none. It
// returns false for a path that can't be read.
func isElsewhere(path string, was os.FileInfo) bool {
	now, err := os.Stat(path)
	if err != nil {
		return isAbsentPath(err)
	}
	return !os.SameFile(was, now)
}

// isMissing reports whether nothing is at path, or at what it links to.
func isMissing(path string) bool {
	_, err := os.Stat(path)
	return err != nil && isAbsentPath(err)
}

func isAbsentPath(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}

// missingPlaces returns the places of a source that do not exist, or that are on a file system that does not answer: their
// folders are watched once the file system answers.
func missingPlaces(p *places) []string {
	var out []string
	for _, path := range slices.Concat(p.watch, p.lookedIn) {
		if filepath.IsAbs(path) && (!bounded.Answers(path) || isMissing(path)) && !slices.Contains(out, path) {
			out = append(out, path)
		}
	}
	return out
}

// powerEvery is the time for which the system's answer about its battery is used.
const powerEvery = time.Minute

// battery reports whether the machine runs on its battery. It asks the system at most once a minute.
type battery struct {
	ask   func() bool
	asked time.Time
	used  bool
}

// inUse reports whether the machine runs on its battery. It returns false where that is
// not known.
func (b *battery) inUse() bool {
	if now := time.Now(); b.asked.IsZero() || now.Sub(b.asked) >= powerEvery {
		b.asked, b.used = now, b.ask()
	}
	return b.used
}
