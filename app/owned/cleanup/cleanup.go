// Package cleanup finds files that programs and launches left behind, and removes those that the user chose. A Source
// decides which files may be removed. This package ensures that nothing else is: no file of an agent, no file behind a
// link, no file that has changed since the user saw it.
package cleanup

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"rollcall/app"
	"rollcall/app/owned/cleanup/trash"
	"rollcall/proc"
)

// Item is one file that may be removed.
type Item struct {
	Path     string
	Kind     string // "agentctl session record"
	Why      string // reason for the user: "process 1234 has ended, …"
	Size     int64
	Modified time.Time

	info fs.FileInfo // at the time of the check
}

// NewItem returns the item for the file that info describes.
func NewItem(path, kind, why string, info fs.FileInfo) Item {
	return Item{Path: path, Kind: kind, Why: why, Size: info.Size(), Modified: info.ModTime(), info: info}
}

// ErrKept is wrapped by the errors for files that are still in use. Their text has the reason.
var ErrKept = errors.New("still in use")

// Source finds one kind of leftover files. It is used by one goroutine at a time.
type Source interface {
	// Owns reports whether this source may offer the file at path, by the name and place alone. anchor is the folder below
	// which no part of the path may be a symbolic link. Links above it, such as a home folder on another disk, are allowed.
	Owns(path string) (anchor string, ok bool)
	// Scan returns the files that may be removed now. Its error reports files that could not be checked, in addition
	// to the files.
	Scan(ctx context.Context) ([]Item, error)
	// Check checks one file again, right before its removal. It returns ErrKept for a file that is in use.
	Check(ctx context.Context, path string) (Item, error)
}

// Cleaner removes leftover files.
type Cleaner struct {
	Home    string // the user's home folder
	Sources []Source
	// Trash takes the removed files. Without a trash, or if it returns trash.ErrNone, files are deleted.
	Trash interface {
		Put(path string) (where string, err error)
	}
}

// New returns a cleaner for agentctl's files and those of the other sources. getenv reads the variables HOME and
// XDG_DATA_HOME, which determine the home folder and the trash. table and snap determine which files are still in use.
func New(getenv func(string) string, table proc.Lister, snap *app.Snapshot, sources ...Source) (*Cleaner, error) {
	home := getenv("HOME")
	if home == "" {
		var err error
		home, err = os.UserHomeDir()
		if err != nil {
			return nil, err
		}
	}
	if table == nil {
		return nil, errors.New("the process table is not available, so it is not known which files are in use")
	}
	sessions := Sessions{Live: map[string]bool{}, Unknown: snap.Incomplete()}
	for s := range snap.Known() {
		if s.Live() {
			sessions.Live[s.ID] = true
		}
	}
	sources = append([]Source{&Agentctl{Home: home, Table: table, Sessions: sessions}}, sources...)
	return &Cleaner{Home: home, Trash: trash.New(home, getenv), Sources: sources}, nil
}

// Scan returns the items of all sources. Its error reports files that could not be checked, in addition to the items.
func (c *Cleaner) Scan(ctx context.Context) ([]Item, error) {
	var items []Item
	var errs []error
	for _, s := range c.Sources {
		found, err := s.Scan(ctx)
		errs = append(errs, err)
		for _, it := range found {
			// Remove refuses such a file as well.
			if _, err := c.guard(it.Path); err != nil {
				errs = append(errs, fmt.Errorf("%s kept: %w", it.Path, err))
			} else {
				items = append(items, it)
			}
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
	}
	return items, errors.Join(errs...)
}

// Result is the result of removing an item.
type Result struct {
	Item
	Where string // the trash, or the path in it; empty: deleted
	Err   error  // why the file was not removed
}

// ErrRefused is returned for a path that must not be removed.
var ErrRefused = errors.New("refused")

// ErrChanged is returned for a file that has changed since the user saw it.
var ErrChanged = errors.New("changed since it was shown")

// Remove checks and removes the items one after the other, and returns a result for each. It continues after a
// failure. When ctx is done it leaves the remaining files alone.
func (c *Cleaner) Remove(ctx context.Context, items []Item) []Result {
	results := make([]Result, len(items))
	for i, it := range items {
		results[i].Item = it
		results[i].Err = ctx.Err()
		if results[i].Err == nil {
			results[i].Where, results[i].Err = c.remove(ctx, it)
		}
	}
	return results
}

func (c *Cleaner) remove(ctx context.Context, it Item) (string, error) {
	source, err := c.guard(it.Path)
	if err != nil {
		return "", err
	}
	again, err := source.Check(ctx, it.Path)
	if err != nil {
		return "", err
	}
	if err := unchanged(it.info, again.info); err != nil {
		return "", err
	}
	// The guard checks the path again right before the removal.
	if _, err := c.guard(it.Path); err != nil {
		return "", err
	}
	now, err := os.Lstat(it.Path)
	if err != nil {
		return "", err
	}
	if err := unchanged(it.info, now); err != nil {
		return "", err
	}
	if c.Trash != nil {
		where, err := c.Trash.Put(it.Path)
		if !errors.Is(err, trash.ErrNone) {
			return where, err
		}
	}
	return "", os.Remove(it.Path)
}

// unchanged returns ErrChanged unless a and b describe the same file with the same size and time.
func unchanged(a, b fs.FileInfo) error {
	if a == nil || b == nil || !os.SameFile(a, b) || a.Size() != b.Size() || !a.ModTime().Equal(b.ModTime()) {
		return fmt.Errorf("%w: list the files again", ErrChanged)
	}
	return nil
}
