// Package cleanup finds what is left over from programs and launches that are no
// more, and removes what the user agreed to. What may be removed is the business
// of a Source; this package sees to it that nothing else ever is: no file of an
// agent, nothing behind a link, nothing that changed since it was shown.
package cleanup

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"rollcall/app/cleanup/trash"
)

// Item is one file that may be removed.
type Item struct {
	Path     string
	Kind     string // "agentctl session record"
	Why      string // it may go, for the user: "process 1234 is gone, …"
	Size     int64
	Modified time.Time

	info fs.FileInfo // as it was when it was judged
}

// NewItem makes the item for the file that info describes.
func NewItem(path, kind, why string, info fs.FileInfo) Item {
	return Item{Path: path, Kind: kind, Why: why, Size: info.Size(), Modified: info.ModTime(), info: info}
}

// ErrKept says that a file is still of use. Its text says why.
var ErrKept = errors.New("still of use")

// Source knows one kind of leftovers. It is used by one goroutine at a time.
type Source interface {
	// Owns says whether path has the name and place of a file that this source
	// may offer, without looking at it. anchor is the folder above it from which
	// on no symbolic link may lead there: links above it (a home on another
	// disk) are the user's.
	Owns(path string) (anchor string, ok bool)
	// Scan returns what may be removed now. An error beside the items says what
	// could not be judged; such files are no items.
	Scan(ctx context.Context) ([]Item, error)
	// Check judges one file anew, right before it is removed: the item, or an
	// error, which is ErrKept for a file that is in use by now.
	Check(ctx context.Context, path string) (Item, error)
}

// Cleaner removes leftovers.
type Cleaner struct {
	Home    string // the user's home folder
	Sources []Source
	// Trash takes what is removed; nil, or one that says trash.ErrNone: it is
	// deleted.
	Trash interface {
		Put(path string) (where string, err error)
	}
}

// Scan returns the items of all sources. An error beside them says what could
// not be judged.
func (c *Cleaner) Scan(ctx context.Context) ([]Item, error) {
	var items []Item
	var errs []error
	for _, s := range c.Sources {
		found, err := s.Scan(ctx)
		errs = append(errs, err)
		for _, it := range found {
			// What would be refused is not offered.
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

// Result says what became of an item.
type Result struct {
	Item
	Where string // the trash, or where it lies there; empty: deleted
	Err   error  // it was not removed, and is where it was
}

// ErrRefused says that a path is none that may be removed.
var ErrRefused = errors.New("refused")

// ErrChanged says that a file isn't what it was when it was shown.
var ErrChanged = errors.New("changed since it was shown")

// Remove removes the items, one after the other: each is judged once more right
// before. A failure does not stop the others; when ctx ends, the rest is not
// touched. There is a result for each item, in their order.
func (c *Cleaner) Remove(ctx context.Context, items []Item) []Result {
	results := make([]Result, len(items))
	for i, it := range items {
		results[i].Item = it
		if results[i].Err = ctx.Err(); results[i].Err == nil {
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
	// The guard looks last: from here on only the removal itself is left.
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

// unchanged says that two looks at a path saw the same file.
func unchanged(a, b fs.FileInfo) error {
	if a == nil || b == nil || !os.SameFile(a, b) || a.Size() != b.Size() || !a.ModTime().Equal(b.ModTime()) {
		return fmt.Errorf("%w: look again", ErrChanged)
	}
	return nil
}
