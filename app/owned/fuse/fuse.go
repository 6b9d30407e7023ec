// Package fuse keeps timers for folders. When a fuse expires, it runs a script of the user's, posts to a webhook, or
// both; for example to stop a service that a session left running in the folder.
package fuse

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"rollcall/app/owned/webhook"
	"rollcall/app/store"
	"rollcall/app/store/fault"
	"rollcall/app/store/lock"
	"rollcall/bounded"
	"rollcall/proc"
)

// Fuse is one timer, as stored on disk. A folder has at most one.
type Fuse struct {
	Path    string    `json:"path"` // real path
	SetAt   time.Time `json:"set_at"`
	Expires time.Time `json:"expires"`
	Note    string    `json:"note,omitempty"` // purpose, in the user's words
	Script  string    `json:"script,omitempty"`
	Webhook string    `json:"webhook,omitempty"`
	// Event is a name that the user chose. It is passed to the script and the webhook.
	Event string `json:"event,omitempty"`

	// Continue is set for the timer of a session. Such a timer has neither script nor webhook, and Path is the session's folder.
	Continue *Continue `json:"continue,omitempty"`

	// Again fires the fuse again if its result is unknown. Its script then runs at least once; without Again it runs at
	// most once.
	Again bool `json:"again,omitempty"`
	// FiredAt and Runner are set before the script starts. Runner is the process that fires the fuse. FinishedAt, Outcome and
	// Results (one line each) are set at the end.
	FiredAt    time.Time     `json:"fired_at,omitzero"`
	Runner     proc.Identity `json:"runner,omitzero"`
	FinishedAt time.Time     `json:"finished_at,omitzero"`
	Outcome    Outcome       `json:"outcome,omitempty"`
	Results    []string      `json:"results,omitempty"`
	Output     string        `json:"output,omitempty"` // end of the script's output
	// Host and Space identify the machine and the container in which the fuse was set. Only the keeper there fires it.
	Host  string `json:"host,omitempty"`
	Space string `json:"space,omitempty"`

	name    string
	unknown bool
}

// Outcome is the result of a fuse's actions. It is empty until they have ended, and in files of versions that did not store
// it.
type Outcome string

// The outcomes.
const (
	Succeeded Outcome = "succeeded"
	Failed    Outcome = "failed" // the script, the webhook or both
)

// Foreign reports whether the fuse was set on another machine, or in another container, that shares the folder: its script
// belongs there. Any keeper removes such a fuse when Keep has passed since it fired.
func (f *Fuse) Foreign() bool {
	return proc.IsElsewhere(f.Host, f.Space) && (f.FiredAt.IsZero() || time.Since(f.FiredAt) < Keep)
}

// Check implements store.Checker.
func (f *Fuse) Check(name string) error {
	if f.FileName() != name || f.Expires.IsZero() {
		return errors.New("the file's name and the fuse's folder or session do not match")
	}
	return nil
}

// Fired reports whether the fuse has expired and its actions were started.
func (f *Fuse) Fired() bool { return !f.FiredAt.IsZero() }

// Finished reports whether the actions of the fuse have ended. The field Results then has their results.
func (f *Fuse) Finished() bool { return f.Fired() && (!f.FinishedAt.IsZero() || len(f.Results) > 0) }

// Pending reports whether the fuse has yet to fire, or must fire again since its result is unknown and the user set Again.
func (f *Fuse) Pending() bool { return !f.Fired() || f.Again && f.unknown }

// ResultUnknown reports whether the process that fired the fuse died before it wrote the results. Only List sets this.
func (f *Fuse) ResultUnknown() bool { return f.unknown }

const (
	// Default is the time after which a fuse expires if the user names none.
	Default = 10 * time.Minute
	// Keep is the time for which a fired fuse is kept, for its results.
	Keep = 24 * time.Hour
	// Most is the longest time to which a fuse can be set.
	Most = 30 * 24 * time.Hour
)

// The errors that callers can distinguish.
var (
	ErrNone   = errors.New("no fuse is set for this folder")
	ErrExists = errors.New("a fuse is already set for this folder")
	// ErrRunning is returned for a fuse whose actions are still running.
	ErrRunning = errors.New("the fuse is firing right now; try again when its script has ended")
)

var eventName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$`) })

// Fuses gives access to all fuses of the user. It is safe for concurrent use by several processes.
type Fuses struct {
	folder store.Folder
	now    func() time.Time
	alive  func(proc.Identity) bool
	ready  func(context.Context) error
}

// In returns the fuses in a folder.
func In(folder store.Folder) *Fuses {
	return &Fuses{folder: folder, now: fault.Now, alive: proc.Open().Alive, ready: func(context.Context) error { return nil }}
}

// KeptBy makes Set, Extend and Retry call ready first, which starts the user's keeper if none runs. An error of ready
// makes them fail: a fuse that nothing fires is not accepted.
func (f *Fuses) KeptBy(ready func(context.Context) error) {
	f.ready = func(ctx context.Context) error {
		if err := ready(ctx); err != nil {
			return fmt.Errorf("the fuse was not set, because nothing would fire it: %w", err)
		}
		return nil
	}
}

// Folder returns the path of the folder.
func (f *Fuses) Folder() string { return f.folder.Path() }

// Changes returns a channel that receives when a fuse has changed; see store.Folder.Changes.
func (f *Fuses) Changes(ctx context.Context) (<-chan struct{}, error) { return f.folder.Changes(ctx) }

// List returns the fuses by their time of expiry, those that have not fired first. With an error it returns those that
// could be read.
func (f *Fuses) List() ([]Fuse, error) {
	all, err := store.All[Fuse](f.folder)
	list := make([]Fuse, 0, len(all))
	for name, x := range all {
		x.name = name
		x.unknown = x.Fired() && !x.Finished() && !x.Foreign() && !f.alive(x.Runner)
		list = append(list, x)
	}
	slices.SortFunc(list, func(a, b Fuse) int {
		if a.Fired() != b.Fired() {
			if a.Fired() {
				return 1
			}
			return -1
		}
		return cmp.Or(a.Expires.Compare(b.Expires), strings.Compare(a.Path, b.Path))
	})
	return list, err
}

// Near returns the fuses that have not fired of a folder, of the folders above it and of those below it. It leaves out fuses
// on a file system that does not answer.
func (f *Fuses) Near(path string) ([]Fuse, error) {
	list, err := f.List()
	return slices.DeleteFunc(list, func(x Fuse) bool {
		return x.Fired() || x.Continue != nil || !bounded.Answers(x.Path) || !lock.Overlap(x.Path, path)
	}), err
}

// Set sets a fuse that expires after d. It returns ErrExists if the folder has a fuse that has not fired. It replaces
// one that has.
func (f *Fuses) Set(ctx context.Context, x Fuse, d time.Duration) (Fuse, error) {
	if d <= 0 || d > Most {
		return Fuse{}, fmt.Errorf("a fuse must expire after more than 0 seconds and at most 30 days, not after %s", d)
	}
	if x.Webhook != "" {
		if err := webhook.CheckURL(x.Webhook); err != nil {
			return Fuse{}, err
		}
	}
	if x.Event != "" && !eventName().MatchString(x.Event) {
		return Fuse{}, fmt.Errorf("the event %q must consist of at most 100 letters, digits, dots, hyphens and underscores, and begin with a letter or digit", x.Event)
	}
	path, err := lock.RealPath(x.Path)
	if err != nil {
		return Fuse{}, err
	}
	return f.keep(ctx, func() (Fuse, error) {
		switch old, err := f.find(path); {
		case err == nil:
			return old, fmt.Errorf("%s: %w; it expires at %s", lock.Shown(old.Path), ErrExists, old.Expires.Local().Format("15:04:05"))
		case !errors.Is(err, ErrNone):
			return Fuse{}, err
		}
		now := f.now()
		x = Fuse{Path: path, SetAt: now, Expires: now.Add(d), Note: x.Note, Script: x.Script, Webhook: x.Webhook, Event: x.Event, Again: x.Again, Host: proc.Host(), Space: proc.Space(),
			name: store.NameOf(path)}
		return x, f.folder.Write(x.name, x)
	})
}

// locked calls do while no other process changes the fuses.
func (f *Fuses) locked(ctx context.Context, do func() (Fuse, error)) (Fuse, error) {
	unlock, err := f.folder.Lock(ctx)
	if err != nil {
		return Fuse{}, err
	}
	defer unlock()
	return do()
}

// keep is locked for a change after which there is something to keep, once a keeper runs.
func (f *Fuses) keep(ctx context.Context, do func() (Fuse, error)) (Fuse, error) {
	if err := f.ready(ctx); err != nil {
		return Fuse{}, err
	}
	return f.locked(ctx, do)
}

// Extend postpones the expiry of a folder's fuse by d. A fuse that is overdue expires d from now.
func (f *Fuses) Extend(ctx context.Context, path string, d time.Duration) (Fuse, error) {
	if d <= 0 {
		return Fuse{}, fmt.Errorf("a fuse must be extended by more than 0 seconds, not by %s", d)
	}
	return f.keep(ctx, func() (Fuse, error) {
		x, err := f.find(path)
		if err != nil {
			return Fuse{}, err
		}
		now := f.now()
		x.reset(now)
		if x.Expires.Before(now) {
			x.Expires = now
		}
		x.Expires = x.Expires.Add(d)
		if x.Expires.Sub(now) > Most {
			return Fuse{}, errors.New("a fuse must expire within 30 days from now")
		}
		return x, f.folder.Write(x.name, x)
	})
}

// Cancel removes the fuse of a folder, so that it does not fire.
func (f *Fuses) Cancel(ctx context.Context, path string) (Fuse, error) {
	return f.locked(ctx, func() (Fuse, error) {
		x, err := f.find(path)
		if err != nil {
			return Fuse{}, err
		}
		return x, f.folder.Remove(x.name)
	})
}

// Retry makes a folder's fuse that has fired due again, at once. It returns ErrRunning if the actions of the fuse still
// run.
func (f *Fuses) Retry(ctx context.Context, path string) (Fuse, error) {
	resolved := lock.FormerPath(path)
	return f.keep(ctx, func() (Fuse, error) {
		list, err := f.List()
		for _, x := range list {
			if !x.Fired() || x.Continue != nil || x.Path != resolved && !lock.Same(x.Path, resolved) {
				continue
			}
			if !x.Finished() && !x.unknown {
				return x, fmt.Errorf("%s: %w", lock.Shown(x.Path), ErrRunning)
			}
			x.Expires = f.now()
			x.FiredAt = time.Time{}
			x.FinishedAt = time.Time{}
			x.Runner = proc.Identity{}
			x.Outcome = ""
			x.Results = nil
			x.Output = ""
			x.unknown = false
			return x, f.folder.Write(x.name, x)
		}
		return Fuse{}, errors.Join(fmt.Errorf("%s: no fuse of this folder has fired", lock.Shown(resolved)), err)
	})
}

// find returns the fuse of a folder that has not fired. The folder may have been removed.
func (f *Fuses) find(path string) (Fuse, error) {
	resolved := lock.FormerPath(path)
	x := Fuse{name: store.NameOf(resolved)}
	switch err := f.folder.Read(x.name, &x); {
	case err == nil && !x.Fired():
		return x, nil
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return Fuse{}, err
	}
	// The same folder may have been named by a path in other letter case or by another mount.
	list, err := f.List()
	for _, x := range list {
		if !x.Fired() && x.Continue == nil && lock.Same(x.Path, resolved) {
			return x, nil
		}
	}
	return Fuse{}, errors.Join(fmt.Errorf("%s: %w", lock.Shown(resolved), ErrNone), err)
}

// claim marks the fuses that are due as fired and returns them; the caller must run their actions. It also removes the
// fuses that fired longer than Keep ago. next is the time at which claim must be called again, or zero if no fuse is
// left. With an error the caller must try again soon.
func (f *Fuses) claim(ctx context.Context) (due []Fuse, next time.Time, err error) {
	list, err := f.List()
	now := f.now()
	if len(list) == 0 {
		return nil, next, err
	}
	unlock, lockErr := f.folder.Lock(ctx)
	if lockErr != nil {
		return nil, next, errors.Join(err, lockErr)
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
		if x.Foreign() {
			continue
		}
		if x.reset(now) {
			err = errors.Join(err, f.folder.Write(x.name, x))
		}
		switch {
		case x.unknown && x.Again:
			f.begin(x, now, &due, &err)
		case x.Fired() && now.Sub(x.FiredAt) >= Keep:
			err = errors.Join(err, f.folder.Remove(x.name))
		case x.Fired():
			sooner(x.FiredAt.Add(Keep))
			sooner(now.Add(Keep)) // the clock may have been set back
		case x.Expires.After(now):
			sooner(x.Expires)
			// Timers stop while the machine sleeps; the clock does not.
			sooner(now.Add(maxDelay))
		default:
			f.begin(x, now, &due, &err)
		}
	}
	return due, next, err
}

// begin records that this process fires a fuse, and adds the fuse to due. A fuse whose record can't be written does not
// fire; the next claim tries again.
func (f *Fuses) begin(x Fuse, now time.Time, due *[]Fuse, err *error) {
	x.FiredAt = now
	x.Runner = proc.Self()
	x.unknown = false
	if writeErr := f.folder.Write(x.name, x); writeErr != nil {
		*err = errors.Join(*err, writeErr)
		return
	}
	fault.Point("fuse.claimed")
	*due = append(*due, x)
}

// maxDelay is the longest time by which a fuse may fire late after the machine slept.
const maxDelay = time.Minute

// reset shifts the times of a fuse that was set or fired in the future, as if that had happened now, and reports whether
// it did. The clock was set back then, and the fuse would not fire until the clock has caught up. A fuse whose actions
// run keeps its times, by which writeResult knows it.
func (f *Fuse) reset(now time.Time) bool {
	since := f.SetAt
	switch {
	case f.Fired() && !f.Finished() && !f.unknown, !f.Fired() && f.Continue != nil: // a limit is reset at a time of day
		return false
	case f.Fired():
		since = f.FiredAt
	}
	ahead := since.Sub(now)
	if ahead <= maxDelay {
		return false
	}
	f.SetAt, f.Expires = f.SetAt.Add(-ahead), f.Expires.Add(-ahead)
	if f.Fired() {
		f.FiredAt = now
	}
	return true
}

// writeResult stores a fuse that has fired, unless it was replaced or removed meanwhile.
func (f *Fuses) writeResult(ctx context.Context, x Fuse) error {
	unlock, err := f.folder.Lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	var now Fuse
	switch err := f.folder.Read(x.name, &now); {
	case errors.Is(err, fs.ErrNotExist), err == nil && !now.FiredAt.Equal(x.FiredAt):
		return nil
	case err != nil:
		return err
	}
	return f.folder.Write(x.name, x)
}
