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

	"rollcall/app/owned/cleanup"
	"rollcall/app/present"
	"rollcall/app/store"
	"rollcall/app/store/lock"
	"rollcall/bounded"
	"rollcall/proc"
)

// Leftovers offers the files of launches that have ended to a cleanup: records, logs, dead locks, and damaged files that were set aside. It keeps the files of
// a launch with a hook that has not run yet. Rollcall removes them itself a day after the end. A launch of another machine or container that shares the folder
// is offered once its files have not been written for abandonedAfter.
type Leftovers struct{ *Launches }

var _ cleanup.Source = Leftovers{}

// Owns implements cleanup.Source.
func (l Leftovers) Owns(path string) (anchor string, ok bool) {
	dir, name := filepath.Split(path)
	dir = filepath.Clean(dir)
	switch dir {
	case l.records.Path(), l.locks.Folder():
		return l.state, strings.Contains(name, ".json")
	case l.logs:
		return l.state, strings.HasPrefix(name, "l-")
	}
	return "", false
}

// Scan implements cleanup.Source.
func (l Leftovers) Scan(ctx context.Context) ([]cleanup.Item, error) {
	var items []cleanup.Item
	var errs []error
	// The records are last, since the check of a log reads its record.
	for _, dir := range []string{l.logs, l.locks.Folder(), l.records.Path()} {
		names, err := l.files(dir)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, err)
		}
		for _, name := range names {
			path := filepath.Join(dir, name)
			if _, ok := l.Owns(path); !ok {
				continue
			}
			item, err := l.Check(ctx, path)
			switch {
			case err == nil:
				items = append(items, item)
			case !errors.Is(err, cleanup.ErrKept) && !errors.Is(err, fs.ErrNotExist):
				errs = append(errs, err)
			}
		}
	}
	return items, errors.Join(errs...)
}

// files returns the sorted names in one of Rollcall's folders.
func (l Leftovers) files(dir string) ([]string, error) {
	return bounded.In(dir, bounded.ReadLimit, func(context.Context) ([]string, error) {
		d, err := store.OpenDir(l.state, filepath.Base(dir))
		if err != nil {
			return nil, err
		}
		defer d.Close()
		names, err := d.Names()
		slices.Sort(names)
		return names, err
	})
}

// Check implements cleanup.Source.
func (l Leftovers) Check(_ context.Context, path string) (cleanup.Item, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return cleanup.Item{}, err
	}
	dir, name := filepath.Split(path)
	if !info.Mode().IsRegular() {
		return cleanup.Item{}, keptBecause("it is not a regular file, so Rollcall did not create it")
	}
	if strings.Contains(name, ".damaged-") {
		return cleanup.NewItem(path, "damaged file", "it could not be read and was set aside", info), nil
	}
	if strings.Contains(name, ".tmp-") {
		return cleanup.Item{}, keptBecause("a process may be writing it") // Sweep removes it
	}
	base := strings.TrimSuffix(name, ".json")
	switch filepath.Clean(dir) {
	case l.records.Path():
		r, err := l.record(base)
		return l.checkOfLaunch(path, "launch record", &r, err, info)
	case l.locks.Folder():
		return l.checkLock(path, base, info)
	}
	id, _, _ := strings.Cut(name, ".")
	r, err := l.record(id)
	switch {
	case errors.Is(err, fs.ErrNotExist) && l.now().Sub(info.ModTime()) < Grace:
		return cleanup.Item{}, keptBecause("its launch may be starting")
	case errors.Is(err, fs.ErrNotExist):
		return cleanup.NewItem(path, "log", "its launch has no record any more", info), nil
	}
	return l.checkOfLaunch(path, logKind(name), &r, err, info)
}

// checkOfLaunch checks a file of a launch. err is the error with which its record was read.
func (l Leftovers) checkOfLaunch(path, kind string, r *Record, err error, info fs.FileInfo) (cleanup.Item, error) {
	if err != nil {
		return cleanup.Item{}, err
	}
	if why := l.whyNeeded(r); why != "" {
		return cleanup.Item{}, keptBecause(why)
	}
	return cleanup.NewItem(path, kind, l.ended(r), info), nil
}

// checkLock checks the file of a lock.
func (l Leftovers) checkLock(path, name string, info fs.FileInfo) (cleanup.Item, error) {
	dead, err := l.locks.Dead(name)
	if err != nil {
		return cleanup.Item{}, err
	}
	why := "its process has ended"
	if !dead {
		why = l.abandonedLock(name)
	}
	if why == "" {
		return cleanup.Item{}, keptBecause("its process is running, or the user locked the folder")
	}
	return cleanup.NewItem(path, "lock", why, info), nil
}

func keptBecause(why string) error { return fmt.Errorf("%w: %s", cleanup.ErrKept, why) }

// abandonedAfter is the time without any write by a launch of another machine or container after which its files are offered. The state of its processes is not
// known here, so the user decides.
const abandonedAfter = 30 * 24 * time.Hour

// isAbandoned reports whether neither the record nor the log of a launch of another machine or container was written for abandonedAfter.
func (l *Launches) isAbandoned(r *Record) bool {
	if !r.Foreign() {
		return false
	}
	latest := r.LaunchedAt
	for _, path := range []string{l.records.File(r.ID), l.logFile(r.ID)} {
		if info, err := os.Lstat(path); err == nil && info.ModTime().After(latest) {
			latest = info.ModTime()
		}
	}
	return l.now().Sub(latest) >= abandonedAfter
}

// abandonedLock returns why the lock in the file with this name can be removed although nothing is known of its owner; empty: it cannot.
func (l *Launches) abandonedLock(name string) string {
	k, err := l.locks.Named(name)
	if err != nil || k.Kind != lock.Auto || !proc.IsElsewhere(k.Host, k.Space) {
		return ""
	}
	r, err := l.record(k.Launch)
	switch {
	case err == nil && l.isAbandoned(&r), errors.Is(err, fs.ErrNotExist) && l.now().Sub(k.Since) >= abandonedAfter:
		return abandonedText(k.Host)
	}
	return ""
}

func abandonedText(host string) string {
	return "its launch has written nothing for 30 days; it ran on " + present.Line(host) + ", a machine or container that shares this folder: remove it only if that machine or container no longer exists"
}

// logKind returns the kind of a file in the folder of the logs, in words.
func logKind(name string) string {
	if strings.HasSuffix(name, ".prompt") {
		return "prompt"
	}
	return "log"
}

// whyNeeded returns why the files of a launch must be kept, or an empty string if they can be removed.
func (l *Launches) whyNeeded(r *Record) string {
	if l.isAbandoned(r) {
		return ""
	}
	if !r.Ended() {
		_, survives := l.survivor(r)
		if survives || l.isAlive(r, l.now()) {
			return "its launch is running"
		}
	}
	return l.hookDue(r)
}

// hookDue returns in words which hook of a launch has not ended, or an empty string if all have.
func (l *Launches) hookDue(r *Record) string {
	for i := range r.Hooks {
		switch h := &r.Hooks[i]; {
		case l.Pending(h):
			return "its hook --on-" + string(h.When) + " has not run yet"
		case h.FinishedAt.IsZero() && h.Result == "" && !l.resultUnknown(h):
			return "its hook --on-" + string(h.When) + " is running"
		}
	}
	return ""
}

// ended returns when a launch that does not run any more ended, in words.
func (l *Launches) ended(r *Record) string {
	if l.isAbandoned(r) {
		return abandonedText(r.Host)
	}
	if !r.Ended() {
		return "its process has ended, and its end was not recorded"
	}
	return "its launch ended " + l.ago(r.EndedAt)
}

func (l *Launches) record(id string) (Record, error) {
	var r Record
	err := l.records.Read(id, &r)
	return r, err
}

func (l *Launches) ago(t time.Time) string {
	if age := present.Since(t, l.now()); age != "now" {
		return age + " ago"
	}
	return "now"
}
