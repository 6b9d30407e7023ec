package launch

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"rollcall/app/cleanup"
)

// Leftovers offers what launches leave behind to a cleanup: records and logs of
// those that have ended, locks whose owner is gone, files that were set aside. All
// of it goes by itself a day after the end.
type Leftovers struct{ *Launches }

var _ cleanup.Source = Leftovers{}

// Owns implements cleanup.Source.
func (l Leftovers) Owns(path string) (anchor string, ok bool) {
	dir, name := filepath.Split(path)
	dir = filepath.Clean(dir)
	state := filepath.Dir(l.records.Path())
	switch dir {
	case l.records.Path(), l.locks.Folder():
		return state, strings.Contains(name, ".json")
	case l.logs:
		return state, strings.HasPrefix(name, "l-")
	}
	return "", false
}

// Scan implements cleanup.Source.
func (l Leftovers) Scan(ctx context.Context) ([]cleanup.Item, error) {
	var items []cleanup.Item
	var errs []error
	// The record last: its log is judged by it.
	for _, dir := range []string{l.logs, l.locks.Folder(), l.records.Path()} {
		entries, err := os.ReadDir(dir)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, err)
		}
		for _, e := range entries {
			path := filepath.Join(dir, e.Name())
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

// Check implements cleanup.Source.
func (l Leftovers) Check(_ context.Context, path string) (cleanup.Item, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return cleanup.Item{}, err
	}
	dir, name := filepath.Split(path)
	kept := func(why string) (cleanup.Item, error) {
		return cleanup.Item{}, fmt.Errorf("%w: %s", cleanup.ErrKept, why)
	}
	if !info.Mode().IsRegular() {
		return kept("it is no regular file, and nothing that Rollcall made")
	}
	if strings.Contains(name, ".damaged-") {
		return cleanup.NewItem(path, "damaged file", "it could not be read and was set aside", info), nil
	}
	if strings.Contains(name, ".tmp-") {
		return kept("it may be being written") // and goes by itself
	}
	switch filepath.Clean(dir) {
	case l.records.Path():
		r, err := l.record(strings.TrimSuffix(name, ".json"))
		if err != nil {
			return cleanup.Item{}, err
		}
		if !r.Ended() {
			return kept("its launch goes on")
		}
		return cleanup.NewItem(path, "launch record", "its launch ended "+l.ago(r.EndedAt), info), nil
	case l.locks.Folder():
		dead, err := l.locks.Dead(strings.TrimSuffix(name, ".json"))
		if err != nil {
			return cleanup.Item{}, err
		}
		if !dead {
			return kept("its owner lives, or it was made by hand")
		}
		return cleanup.NewItem(path, "lock", "the process that it lived with is gone", info), nil
	}
	id, _, _ := strings.Cut(name, ".")
	r, err := l.record(id)
	switch {
	case errors.Is(err, fs.ErrNotExist) && l.now().Sub(info.ModTime()) < Grace:
		return kept("its launch may be being made")
	case errors.Is(err, fs.ErrNotExist):
		return cleanup.NewItem(path, "log", "no launch has it any more", info), nil
	case err != nil:
		return cleanup.Item{}, err
	case !r.Ended():
		return kept("its launch goes on")
	}
	return cleanup.NewItem(path, "log", "its launch ended "+l.ago(r.EndedAt), info), nil
}

func (l *Launches) record(id string) (Record, error) {
	var r Record
	err := l.records.Read(id, &r)
	return r, err
}

func (l *Launches) ago(t time.Time) string {
	return l.now().Sub(t).Round(time.Minute).String() + " ago"
}
