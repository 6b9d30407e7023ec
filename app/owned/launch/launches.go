package launch

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"rollcall/app"
	"rollcall/app/store"
	"rollcall/app/store/fault"
	"rollcall/app/store/lock"
	"rollcall/bounded"
	"rollcall/proc"
)

// Launches gives access to all launches of the user. It is safe for concurrent use by several processes.
type Launches struct {
	records store.Folder
	state   string
	logs    string
	locks   *lock.Locks
	table   *proc.Table
	now     func() time.Time
	cache   cache
	talks   talks
	host    Host // nil: this process is the parent of the processes that it starts
}

// In returns the launches and locks in Rollcall's state folder.
func In(state string, table *proc.Table) *Launches {
	return &Launches{
		records: store.Below(state, store.Launches),
		state:   state,
		logs:    filepath.Join(state, "logs"),
		locks:   lock.In(store.Below(state, store.Locks), table),
		table:   table,
		now:     fault.Now,
	}
}

// Locks returns the folder locks.
func (l *Launches) Locks() *lock.Locks { return l.locks }

// Folder returns the path of the records' folder.
func (l *Launches) Folder() string { return l.records.Path() }

// List returns the records, the newest launch first. With an error it returns those that could be read. Callers must not
// change the hooks of a record, which are shared.
func (l *Launches) List() ([]Record, error) {
	list, err := l.list()
	l.cache.mu.Lock()
	defer l.cache.mu.Unlock()
	err = errors.Join(l.cache.damage, err)
	l.cache.damage = nil
	return list, err
}

func (l *Launches) list() ([]Record, error) {
	all, err := l.cache.records.All(l.records)
	list := slices.Collect(maps.Values(all))
	slices.SortFunc(list, func(a, b Record) int { return cmp.Or(b.LaunchedAt.Compare(a.LaunchedAt), strings.Compare(a.ID, b.ID)) })
	return list, err
}

// update changes one record under the folder's lock. It writes the record if change returns true. It returns
// fs.ErrNotExist if the record was removed.
func (l *Launches) update(ctx context.Context, id string, change func(*Record) bool) (Record, error) {
	var r Record
	unlock, err := l.records.Lock(ctx)
	if err != nil {
		return r, err
	}
	defer unlock()
	if err := l.records.Read(id, &r); err != nil {
		return r, err
	}
	if !change(&r) {
		return r, nil
	}
	return r, l.records.Write(id, r)
}

// End records that the process of a launch has ended, with its exit code and the name of the signal that ended it, if they
// are known, and unlocks its folder. done reports whether this call ended the launch; the caller must then run its hooks.
func (l *Launches) End(ctx context.Context, id string, code *int, signal string) (r Record, done bool, err error) {
	r, err = l.update(ctx, id, func(r *Record) bool {
		changed := false
		if code != nil && r.ExitCode == nil {
			r.ExitCode = code
			r.Signal = signal
			changed = true
		}
		if !r.Ended() {
			r.EndedAt = l.now()
			done = true
			changed = true
		}
		return changed
	})
	fault.Point("launch.ended")
	done = done && err == nil // otherwise the end is not stored yet
	return r, done, errors.Join(err, l.locks.Release(ctx, id))
}

// Swept is the result of a sweep.
type Swept struct {
	Ended   []Record // launches whose end had not been recorded
	Removed []Record
	Locks   []lock.Lock
}

// Sweep ends the records whose process has ended. It removes records that ended Keep ago, with their logs, logs without
// a record, and dead locks. successor returns the agent's process when a wrapper has ended; it may be nil.
func (l *Launches) Sweep(ctx context.Context, successor func(Record) (proc.Identity, bool)) (Swept, error) {
	if successor == nil {
		successor = func(Record) (proc.Identity, bool) { return proc.Identity{}, false }
	}
	var s Swept
	list, err := l.List()
	now := l.now()
	for _, r := range list {
		switch {
		case r.Expired(now):
			if removeErr := l.remove(r); removeErr != nil {
				err = errors.Join(err, removeErr)
				continue
			}
			s.Removed = append(s.Removed, r)
		case r.endsInFuture(now):
			_, dateErr := l.update(ctx, r.ID, func(r *Record) bool { r.EndedAt = now; return true })
			err = errors.Join(err, dateErr)
		case r.Ended() || l.isAlive(&r, now):
		default:
			if id, ok := successor(r); ok {
				_, moveErr := l.Move(ctx, r.ID, id, "")
				err = errors.Join(err, moveErr)
				continue
			}
			ended, done, endErr := l.End(ctx, r.ID, nil, "")
			err = errors.Join(err, endErr)
			if done {
				s.Ended = append(s.Ended, ended)
			}
		}
	}
	var lockErr error
	s.Locks, lockErr = l.locks.Sweep(ctx)
	return s, errors.Join(err, lockErr, l.records.Sweep(now), l.sweepLogs(now), l.sweepWorktrees())
}

// isAlive reports whether the process of a launch runs, or is being started.
func (l *Launches) isAlive(r *Record, now time.Time) bool {
	if r.Foreign() {
		return true // this machine or container knows nothing about the process
	}
	if r.Process.IsZero() {
		return l.table.Alive(r.Starter) && r.isStarting(now)
	}
	return l.table.Alive(r.Process)
}

func (l *Launches) remove(r Record) error {
	if err := l.records.Remove(r.ID); err != nil {
		return err
	}
	fault.Point("launch.removed")
	return l.removeLogs(r.ID)
}

// Move assigns a launch and its lock to another process of the launch. session, if not empty, is the session that the agent
// lists for that process. Move does nothing if the record already has both.
func (l *Launches) Move(ctx context.Context, id string, to proc.Identity, session string) (Record, error) {
	return l.move(ctx, id, to, func(r *Record) bool {
		if session == "" || r.Session == session && r.Seen {
			return false
		}
		r.Session, r.Seen = session, true
		return true
	})
}

// move assigns a launch to a process, and calls note to make further changes to its record. note returns whether it made
// any.
func (l *Launches) move(ctx context.Context, id string, to proc.Identity, note func(*Record) bool) (Record, error) {
	changed := false
	r, err := l.update(ctx, id, func(r *Record) bool {
		if r.Ended() {
			return false
		}
		if !to.IsZero() && r.Process != to {
			if !r.Process.IsZero() {
				r.Former = append(r.Former, r.Process)
			}
			r.Process = to
			r.Own = false
			r.Seen = false
			changed = true
		}
		changed = note(r) || changed
		return changed
	})
	if err != nil || !changed {
		return r, err
	}
	fault.Point("launch.moved")
	return l.handOver(ctx, r)
}

// handOver assigns the lock of a launch to the process of its record. A process that moves a launch writes the record first,
// so the last process that writes the lock sees the latest record.
func (l *Launches) handOver(ctx context.Context, r Record) (Record, error) {
	for {
		if _, err := l.locks.HandOver(ctx, lockOf(&r), r.Process, r.Session); err != nil {
			return r, err
		}
		var now Record
		if err := l.records.Read(r.ID, &now); err != nil {
			return r, err
		}
		if now.Ended() {
			return now, l.locks.Release(ctx, r.ID)
		}
		if now.Process == r.Process && now.Session == r.Session {
			return now, nil
		}
		r = now
	}
}

// Learn finds the session of a launch in a snapshot, and moves the launch to that session's id and process. Learn replaces
// the process of a wrapper by the agent's own process. For a launch that is over Learn stores the session alone.
func (l *Launches) Learn(ctx context.Context, r Record, snap *app.Snapshot) (Record, error) {
	if learned, done, err := l.learnEnded(ctx, r, snap); done {
		return learned, err
	}
	var own proc.Identity
	for s := range snap.Known() { // the session is shown only once it is known to be the launch's
		if !canBeOf(s, &r) || !l.matches(&r, &s.Session) {
			continue
		}
		to := s.Process
		if s.Shared || !l.table.Alive(to) || !l.member(&r, to) {
			to = proc.Identity{} // a daemon, or a terminal in which the user resumed the session
		}
		if len(s.Files) == 0 && s.ID != r.Session || s.Launch != nil && s.Launch.Open {
			own = to // the agent has stored no session yet: the id is that of the process and will change
			continue
		}
		if r.Seen && r.Session == s.ID && (to.IsZero() || to == r.Process) {
			return r, nil
		}
		return l.Move(ctx, r.ID, to, s.ID)
	}
	if own.IsZero() || own == r.Process && (r.Own || r.Seen) {
		return r, nil
	}
	return l.move(ctx, r.ID, own, func(r *Record) bool { r.Own = true; return true })
}

// canBeOf reports whether the latest answer of the launch's agent lists s as live. A row that Rollcall added itself for
// a launch does not count.
func canBeOf(s *app.Session, r *Record) bool {
	ownRow := s.Launch != nil && s.Launch.Unlisted && !s.Launch.Open
	return s.Agent == r.Agent && s.Live() && s.Stale == nil && !ownRow
}

func lockOf(r *Record) lock.Lock {
	return lock.Lock{Path: r.Dir, Kind: lock.Auto, Owner: r.Process, Launch: r.ID, Session: r.Session, Agent: string(r.Agent), Host: r.Host, Space: r.Space, Since: r.LaunchedAt}
}

// logFile returns the path of the file with the agent's output.
func (l *Launches) logFile(id string) string { return filepath.Join(l.logs, id+".log") }

// inputFile returns the path of the file with the prompt, which is removed once the agent has it open.
func (l *Launches) inputFile(id string) string { return filepath.Join(l.logs, id+".in") }

func (l *Launches) removeLogs(id string) error {
	return l.inLogs(func(d *store.Dir) error {
		var err error
		for _, name := range []string{id + ".log", id + ".in", id + ".prompt", id + ".key", id + ".pipe", id + ".err"} {
			if e := d.Remove(name); e != nil && !errors.Is(e, fs.ErrNotExist) {
				err = errors.Join(err, e)
			}
		}
		return err
	})
}

// inLogs calls do with the open and checked folder of the logs. It returns no error if there is none.
func (l *Launches) inLogs(do func(*store.Dir) error) error {
	_, err := bounded.In(l.logs, bounded.WriteLimit, func(context.Context) (struct{}, error) {
		d, err := store.OpenDir(l.state, filepath.Base(l.logs))
		if err != nil {
			return struct{}{}, err
		}
		defer d.Close()
		return struct{}{}, do(d)
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// sweepLogs removes logs without a record, prompts that an interrupted start left behind, and the prompts of launches that
// are over.
func (l *Launches) sweepLogs(now time.Time) error {
	names, namesErr := l.records.Names()
	return errors.Join(namesErr, l.inLogs(func(d *store.Dir) error {
		files, err := d.Names()
		for _, file := range files {
			id, kind, _ := strings.Cut(file, ".")
			if !strings.HasPrefix(id, "l-") {
				continue // the keeper's log
			}
			if kind == "prompt" && l.isDone(id) || (kind == "key" || kind == "pipe") && l.isOver(id) {
				err = errors.Join(err, d.Remove(file))
				continue
			}
			info, infoErr := d.Lstat(file)
			if infoErr != nil || now.Sub(info.ModTime()) < Grace {
				continue
			}
			_, known := slices.BinarySearch(names, id)
			if namesErr == nil && !known && now.Sub(info.ModTime()) >= Keep || kind == "in" {
				err = errors.Join(err, d.Remove(file))
			}
		}
		return err
	}))
}

func (l *Launches) isOver(id string) bool {
	r, err := l.record(id)
	return err == nil && r.Ended()
}

// isDone reports whether a launch has ended and none of its hooks is due.
func (l *Launches) isDone(id string) bool {
	r, err := l.record(id)
	return err == nil && r.Ended() && l.hookDue(&r) == ""
}
