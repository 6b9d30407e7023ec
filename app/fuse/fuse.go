// Package fuse keeps timers of folders: a dead man's switch for what a session
// left running there. When a fuse expires, a script of the user's runs, a webhook
// is told, or both.
package fuse

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"slices"
	"strings"
	"time"

	"rollcall/app/fault"
	"rollcall/app/lock"
	"rollcall/app/store"
)

// Fuse is one timer, as it lies on disk. There is one per folder.
type Fuse struct {
	Path    string    `json:"path"` // real
	SetAt   time.Time `json:"set_at"`
	Expires time.Time `json:"expires"`
	Note    string    `json:"note,omitempty"` // what it is for, in the user's words
	Script  string    `json:"script,omitempty"`
	Webhook string    `json:"webhook,omitempty"`

	// FiredAt is set before anything is done: no fuse fires twice. Results say
	// what came of it, one line each.
	FiredAt time.Time `json:"fired_at,omitzero"`
	Results []string  `json:"results,omitempty"`
	Output  string    `json:"output,omitempty"` // the end of what the script said

	name string
}

// Check implements store.Checker.
func (f *Fuse) Check(name string) error {
	if nameOf(f.Path) != name || f.Expires.IsZero() {
		return errors.New("it is not the fuse of its name")
	}
	return nil
}

// Fired says whether the fuse has expired and been acted on.
func (f *Fuse) Fired() bool { return !f.FiredAt.IsZero() }

const (
	// Default is how long a fuse burns unless the user says otherwise.
	Default = 10 * time.Minute
	// Keep is how long a fired one is kept, for its results.
	Keep = 24 * time.Hour
	// Most is the longest time a fuse can be set to.
	Most = 30 * 24 * time.Hour
)

// The errors that callers tell apart.
var (
	ErrNone   = errors.New("no fuse burns there")
	ErrExists = errors.New("a fuse burns there already")
)

// Fuses are all fuses of the user. They are safe for concurrent use, also with
// other processes.
type Fuses struct {
	folder store.Folder
	now    func() time.Time
}

// In returns the fuses kept in a folder.
func In(folder store.Folder) *Fuses { return &Fuses{folder: folder, now: time.Now} }

// Folder is where the fuses lie, for those who watch them.
func (f *Fuses) Folder() string { return f.folder.Path() }

// Changes tells of changes of the fuses: see store.Folder.
func (f *Fuses) Changes(ctx context.Context) (<-chan struct{}, error) { return f.folder.Changes(ctx) }

// List returns the fuses, those that burn first, by the time of their expiry.
// With an error it lists those that could be read.
func (f *Fuses) List() ([]Fuse, error) {
	all, err := store.All[Fuse](f.folder)
	list := make([]Fuse, 0, len(all))
	for name, x := range all {
		x.name = name
		list = append(list, x)
	}
	slices.SortFunc(list, func(a, b Fuse) int {
		switch {
		case a.Fired() != b.Fired() && a.Fired():
			return 1
		case a.Fired() != b.Fired():
			return -1
		case !a.Expires.Equal(b.Expires):
			return a.Expires.Compare(b.Expires)
		}
		return strings.Compare(a.Path, b.Path)
	})
	return list, err
}

// Set sets a fuse that expires after d. One that burns there already stays as it
// is: ErrExists; extend or cancel that. A fired one is replaced.
func (f *Fuses) Set(ctx context.Context, x Fuse, d time.Duration) (Fuse, error) {
	if d <= 0 || d > Most {
		return Fuse{}, fmt.Errorf("a fuse burns at least a moment and at most %s, not %s", Most, d)
	}
	if err := checkWebhook(x.Webhook); err != nil {
		return Fuse{}, err
	}
	path, err := lock.RealPath(x.Path)
	if err != nil {
		return Fuse{}, err
	}
	unlock, err := f.folder.Lock(ctx)
	if err != nil {
		return Fuse{}, err
	}
	defer unlock()
	switch old, err := f.find(path); {
	case err == nil:
		return old, fmt.Errorf("%s: %w, until %s", lock.Shown(old.Path), ErrExists, old.Expires.Local().Format("15:04:05"))
	case !errors.Is(err, ErrNone):
		return Fuse{}, err
	}
	now := f.now()
	x = Fuse{Path: path, SetAt: now, Expires: now.Add(d), Note: x.Note, Script: x.Script, Webhook: x.Webhook, name: nameOf(path)}
	return x, f.folder.Write(x.name, x)
}

func checkWebhook(address string) error {
	if address == "" {
		return nil
	}
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return errors.New("a webhook is an address that begins with http:// or https://")
	}
	return nil
}

func nameOf(path string) string {
	sum := sha256.Sum256([]byte(path))
	return hex.EncodeToString(sum[:8])
}

// Extend lets the fuse of a folder burn d longer than it would; one that is
// overdue burns d from now on.
func (f *Fuses) Extend(ctx context.Context, path string, d time.Duration) (Fuse, error) {
	if d <= 0 {
		return Fuse{}, fmt.Errorf("a fuse can't be extended by %s", d)
	}
	return f.change(ctx, path, func(x *Fuse) error {
		now := f.now()
		x.reset(now)
		until := x.Expires.Add(d)
		if x.Expires.Before(now) {
			until = now.Add(d)
		}
		if until.Sub(now) > Most {
			return fmt.Errorf("a fuse burns at most %s", Most)
		}
		x.Expires = until
		return nil
	})
}

// Cancel puts the fuse of a folder out.
func (f *Fuses) Cancel(ctx context.Context, path string) (Fuse, error) {
	unlock, err := f.folder.Lock(ctx)
	if err != nil {
		return Fuse{}, err
	}
	defer unlock()
	x, err := f.find(path)
	if err != nil {
		return Fuse{}, err
	}
	return x, f.folder.Remove(x.name)
}

func (f *Fuses) change(ctx context.Context, path string, change func(*Fuse) error) (Fuse, error) {
	unlock, err := f.folder.Lock(ctx)
	if err != nil {
		return Fuse{}, err
	}
	defer unlock()
	x, err := f.find(path)
	if err != nil {
		return Fuse{}, err
	}
	if err := change(&x); err != nil {
		return Fuse{}, err
	}
	return x, f.folder.Write(x.name, x)
}

// find returns the burning fuse of a folder, which may be gone by now.
func (f *Fuses) find(path string) (Fuse, error) {
	resolved := lock.FormerPath(path)
	x := Fuse{}
	switch err := f.folder.Read(nameOf(resolved), &x); {
	case err == nil && !x.Fired():
		x.name = nameOf(resolved)
		return x, nil
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return Fuse{}, err
	}
	// The same folder may have been named in other letters, or by another mount.
	list, err := f.List()
	for _, x := range list {
		if !x.Fired() && lock.Same(x.Path, resolved) {
			return x, nil
		}
	}
	return Fuse{}, errors.Join(fmt.Errorf("%s: %w", lock.Shown(resolved), ErrNone), err)
}

// claim marks the fuses that are due as fired, and returns them: whoever gets one
// acts on it. It also removes what was fired long ago. next is when the next one
// is due; zero: none burns.
func (f *Fuses) claim(ctx context.Context) (due []Fuse, next time.Time, err error) {
	list, err := f.List()
	if len(list) == 0 {
		return nil, time.Time{}, err
	}
	now := f.now()
	unlock, lockErr := f.folder.Lock(ctx)
	if lockErr != nil {
		return nil, now.Add(retry), errors.Join(err, lockErr)
	}
	defer unlock()
	list, listErr := f.List()
	err = errors.Join(err, listErr)
	sooner := func(t time.Time) {
		if next.IsZero() || t.Before(next) {
			next = t
		}
	}
	for _, x := range list {
		if x.reset(now) {
			err = errors.Join(err, f.folder.Write(x.name, x))
		}
		switch {
		case x.Fired() && now.Sub(x.FiredAt) >= Keep:
			err = errors.Join(err, f.folder.Remove(x.name))
		case x.Fired():
			sooner(x.FiredAt.Add(Keep))
		case x.Expires.After(now):
			sooner(x.Expires)
			// A timer stands still while the machine sleeps, and the clock goes on.
			sooner(now.Add(lookAgain))
		default:
			x.FiredAt = now
			if writeErr := f.folder.Write(x.name, x); writeErr != nil {
				err = errors.Join(err, writeErr) // tried again on the next look
				sooner(now.Add(retry))
				continue
			}
			fault.Point("fuse.claimed")
			due = append(due, x)
		}
	}
	return due, next, err
}

const (
	// retry is when a fuse is tried again that could not be written.
	retry = time.Minute
	// lookAgain is how late a fuse may be after the machine slept.
	lookAgain = time.Minute
)

// reset gives a fuse the times that it would have, had it been set or fired now,
// when that lies in the future: the clock was set back. It would else burn until
// the clock is there again.
func (f *Fuse) reset(now time.Time) bool {
	since := f.SetAt
	if f.Fired() {
		since = f.FiredAt
	}
	ahead := since.Sub(now)
	if ahead <= retry {
		return false
	}
	f.SetAt, f.Expires = f.SetAt.Add(-ahead), f.Expires.Add(-ahead)
	if f.Fired() {
		f.FiredAt = now
	}
	return true
}

// note keeps what came of a fired fuse, unless a new one burns there by now.
func (f *Fuses) note(ctx context.Context, x Fuse) error {
	unlock, err := f.folder.Lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	var now Fuse
	if err := f.folder.Read(x.name, &now); err != nil || !now.FiredAt.Equal(x.FiredAt) {
		return nil //nolint:nilerr // replaced or removed: nobody asks for the result
	}
	return f.folder.Write(x.name, x)
}
