package app

import (
	"context"
	"log/slog"
	"slices"
	"time"

	"rollcall/adapters"
	"rollcall/app/places"
	"rollcall/bounded"
	"rollcall/proc"
)

// pollRun is one poll of the poller, with all that it compares.
type pollRun struct {
	scanner    *proc.Scanner
	table      proc.Details
	cwds       map[proc.Identity]string // the folders in which the shown processes were at the last poll; the polls share it, one at a time
	battery    *battery
	sources    []*source
	folders    *places.Folders[*source]
	missing    map[*source][]string // places that a source looked for and that did not exist
	processes  []shownProcess
	unjudged   map[proc.Identity]proc.Process // processes that an adapter has not judged yet
	unreadable places.Unreadable[*source]
	calls      *bounded.Calls
	log        *slog.Logger
}

// pollResult is the result of one poll.
type pollResult struct {
	owners       map[agentProcess]bool          // whether a new process is the agent's, as the adapter judges
	unjudged     map[proc.Identity]proc.Process // processes that an adapter has not judged yet
	gone         []proc.Identity
	movedFolders []string                   // folders whose path now leads to another folder, or to none
	missing      map[*source][]string       // places that still do not exist
	changed      map[*source]bool           // sources that may have changed
	unreadable   places.Unreadable[*source] // as they are now
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
	for path, was := range l.folders.Watches() {
		if moved, answered := bounded.Call(l.calls, path, func() bool { return places.IsElsewhere(path, was) }); answered && moved {
			f.movedFolders = append(f.movedFolders, path)
			for _, s := range l.folders.Forget(path, was) {
				f.changed[s] = true
			}
		}
	}
	for s, paths := range l.missing {
		f.missing[s] = slices.DeleteFunc(paths, func(path string) bool {
			missing, answered := bounded.Call(l.calls, path, func() bool { return places.IsMissing(path) })
			if missing || !answered {
				return false
			}
			f.changed[s] = true
			return true
		})
	}
	f.unreadable = l.unreadable.Retry(f.changed, l.calls)
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
		delete(l.cwds, id)
	}
	for _, p := range l.unjudged {
		l.askOwner(&p, f)
	}
	for _, shown := range l.processes {
		if p, err := l.scanner.Find(shown.id); err == nil && p.Suspended != shown.suspended {
			f.changed[shown.source] = true
		}
		if l.isRenamed(shown.id) {
			f.changed[shown.source] = true
		}
	}
}

// isRenamed reports whether the folder of a process has another name than at the last poll, which no event reports.
func (l *pollRun) isRenamed(id proc.Identity) bool {
	now, err := l.table.CWD(id)
	if err != nil {
		return false
	}
	was, known := l.cwds[id]
	l.cwds[id] = now
	return known && was != now
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
