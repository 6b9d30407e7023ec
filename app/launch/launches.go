package launch

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"rollcall/app"
	"rollcall/app/fault"
	"rollcall/app/lock"
	"rollcall/app/store"
	"rollcall/proc"
)

// Launches are all launches of the user. They are safe for concurrent use, also
// with other processes.
type Launches struct {
	records store.Folder
	logs    string
	locks   *lock.Locks
	table   *proc.Table
	now     func() time.Time
	cache   cache
}

// In returns the launches and locks kept below the folder of Rollcall's state.
func In(state string, table *proc.Table) *Launches {
	return &Launches{
		records: store.In(filepath.Join(state, "launches")),
		logs:    filepath.Join(state, "logs"),
		locks:   lock.In(store.In(filepath.Join(state, "locks")), table),
		table:   table,
		now:     time.Now,
	}
}

// Locks are the folder locks that belong to the launches.
func (l *Launches) Locks() *lock.Locks { return l.locks }

// Folder is where the records lie, for those who watch them.
func (l *Launches) Folder() string { return l.records.Path() }

// List returns the records, the newest launch first. With an error it lists
// those that could be read. Their hooks are shared: nobody changes them.
func (l *Launches) List() ([]Record, error) {
	list, err := l.list()
	return list, errors.Join(l.damage(), err)
}

func (l *Launches) list() ([]Record, error) {
	list, err := l.all()
	slices.SortFunc(list, func(a, b Record) int {
		if c := b.LaunchedAt.Compare(a.LaunchedAt); c != 0 {
			return c
		}
		return strings.Compare(a.ID, b.ID)
	})
	return list, err
}

// update changes one record while nobody else does. change says whether there is
// something to write. A record that is gone stays so: fs.ErrNotExist.
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

// End notes that the process of a launch has ended, and frees its folder. done
// says whether it was this call that ended it: whoever gets true runs the hooks.
func (l *Launches) End(ctx context.Context, id string, code *int) (r Record, done bool, err error) {
	r, err = l.update(ctx, id, func(r *Record) bool {
		changed := false
		if code != nil && r.ExitCode == nil {
			r.ExitCode, changed = code, true
		}
		if !r.Ended() {
			r.EndedAt, done, changed = l.now(), true, true
		}
		return changed
	})
	fault.Point("launch.ended")
	return r, done, errors.Join(err, l.locks.Release(ctx, id))
}

// Swept says what a sweep did.
type Swept struct {
	Ended   []Record // whose process ended while nobody looked
	Removed []Record
	Locks   []lock.Lock
}

// Sweep ends the records whose process is gone, removes those that are over for
// Keep with their logs, the logs of no record, and the dead locks. moved finds
// the agent behind a dead wrapper; nil: there is none.
func (l *Launches) Sweep(ctx context.Context, moved func(Record) (proc.Identity, bool)) (Swept, error) {
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
		case r.early(now):
			_, dateErr := l.update(ctx, r.ID, func(r *Record) bool { r.EndedAt = now; return true })
			err = errors.Join(err, dateErr)
		case r.Ended() || l.lives(&r, now):
		default:
			if id, ok := l.heir(r, moved); ok {
				_, moveErr := l.Move(ctx, r.ID, id, "")
				err = errors.Join(err, moveErr)
				continue
			}
			ended, done, endErr := l.End(ctx, r.ID, nil)
			err = errors.Join(err, endErr)
			if done {
				s.Ended = append(s.Ended, ended)
			}
		}
	}
	var lockErr error
	s.Locks, lockErr = l.locks.Sweep(ctx)
	return s, errors.Join(err, lockErr, l.records.Sweep(now), l.sweepLogs(now))
}

func (l *Launches) heir(r Record, moved func(Record) (proc.Identity, bool)) (proc.Identity, bool) {
	if moved == nil {
		return proc.Identity{}, false
	}
	return moved(r)
}

// lives says whether a launch goes on, or is being made.
func (l *Launches) lives(r *Record, now time.Time) bool {
	if r.Process.IsZero() {
		return l.table.Alive(r.Starter) && r.young(now)
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

// Move gives a launch, with its lock, to another process of it. With session its
// agent has listed that on the process. A record that says so already is left
// alone.
func (l *Launches) Move(ctx context.Context, id string, to proc.Identity, session string) (Record, error) {
	return l.move(ctx, id, to, func(r *Record) bool {
		if session == "" || r.Session == session && r.Seen {
			return false
		}
		r.Session, r.Seen = session, true
		return true
	})
}

// move is Move with what else there is to note.
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
			r.Process, r.Own, r.Seen, changed = to, false, false, true
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

// handOver gives the lock of a launch to the process of its record. Whoever moves
// a launch writes its record first, so the last one to write the lock sees the
// latest record.
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

// Learn looks for the session of a launch in what the agents list, and moves the
// launch to it: its id, and the agent's own process instead of a wrapper's.
func (l *Launches) Learn(ctx context.Context, r Record, snap *app.Snapshot) (Record, error) {
	if r.Ended() {
		return r, nil
	}
	var own proc.Identity
	for i := range snap.Sessions {
		s := &snap.Sessions[i]
		if s.Agent != r.Agent || !s.Live() || s.Stale != nil || s.Launch != nil && s.Launch.Unlisted || !l.fits(&r, &s.Session) {
			continue
		}
		to := s.Process
		if s.Shared || !l.table.Alive(to) || !l.member(&r, to) {
			to = proc.Identity{} // a daemon, or a terminal in which the user took it up again
		}
		if len(s.Files) == 0 && s.ID != r.Session {
			own = to // it has stored nothing yet: this id is the process's, and another follows
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

func lockOf(r *Record) lock.Lock {
	return lock.Lock{Path: r.Dir, Kind: lock.Auto, Owner: r.Process, Launch: r.ID, Session: r.Session, Agent: string(r.Agent), Since: r.LaunchedAt}
}

// logFile is where what an agent says is kept.
func (l *Launches) logFile(id string) string { return filepath.Join(l.logs, id+".log") }

// inputFile is the prompt, until the agent has it open.
func (l *Launches) inputFile(id string) string { return filepath.Join(l.logs, id+".in") }

func (l *Launches) removeLogs(id string) error {
	var err error
	for _, path := range []string{l.logFile(id), l.inputFile(id)} {
		if e := os.Remove(path); e != nil && !errors.Is(e, fs.ErrNotExist) {
			err = errors.Join(err, e)
		}
	}
	return err
}

// sweepLogs removes the logs of launches that have no record, and prompts that a
// start which was cut short left behind.
func (l *Launches) sweepLogs(now time.Time) error {
	entries, err := os.ReadDir(l.logs)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	names, namesErr := l.records.Names()
	err = errors.Join(err, namesErr)
	for _, e := range entries {
		id, kind, _ := strings.Cut(e.Name(), ".")
		info, infoErr := e.Info()
		if infoErr != nil || now.Sub(info.ModTime()) < Grace {
			continue
		}
		_, known := slices.BinarySearch(names, id)
		if !known && now.Sub(info.ModTime()) >= Keep || kind == "in" {
			err = errors.Join(err, os.Remove(filepath.Join(l.logs, e.Name())))
		}
	}
	return err
}

// Output returns the end of what the agent of a launch said, at most n bytes.
func (l *Launches) Output(id string, n int64) (string, error) {
	f, err := os.Open(l.logFile(id))
	if err != nil {
		return "", err
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil {
		return "", err
	}
	from := max(info.Size()-n, 0)
	text := make([]byte, min(n, info.Size()))
	read, err := f.ReadAt(text, from)
	if err != nil && read == 0 && len(text) > 0 {
		return "", fmt.Errorf("read %s: %w", l.logFile(id), err)
	}
	return string(text[:read]), nil
}
