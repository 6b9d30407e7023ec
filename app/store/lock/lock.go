// Package lock reserves folders for one session at a time: folders of launches, and folders that the user locks. The
// lock of a launch ends with the launch's process, whether Rollcall runs or not.
package lock

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"rollcall/app/store"
	"rollcall/app/store/fault"
	"rollcall/proc"
)

// Kind is the kind of a lock, by its owner.
type Kind string

// The kinds.
const (
	Auto   Kind = "auto"   // owned by a launch; ends with its process
	Manual Kind = "manual" // owned by the user; ends only when the user unlocks the folder
)

// Lock is one lock, as stored on disk.
type Lock struct {
	Path string `json:"path"` // absolute, without symbolic links
	Kind Kind   `json:"kind"`
	// Owner is the process with which an automatic lock ends: Rollcall's own until the agent's exists.
	Owner   proc.Identity `json:"owner,omitzero"`
	Launch  string        `json:"launch,omitempty"`  // id of the launch
	Session string        `json:"session,omitempty"` // empty until it is known
	Agent   string        `json:"agent,omitempty"`
	By      string        `json:"by,omitempty"` // owner of a manual lock; Take sets an empty one to the name of the user
	Reason  string        `json:"reason,omitempty"`
	Since   time.Time     `json:"since"`
	// Host and Space identify where the owner of an automatic lock runs; see proc.IsElsewhere.
	Host  string `json:"host,omitempty"`
	Space string `json:"space,omitempty"`

	name string // of its file
}

// Holder returns the owner of the lock for a message.
func (l *Lock) Holder() string {
	switch {
	case l.Kind == Manual && l.Reason != "":
		return fmt.Sprintf("%s (%s)", Shown(l.By), Shown(l.Reason))
	case l.Kind == Manual:
		return Shown(l.By)
	}
	where := ""
	if proc.IsElsewhere(l.Host, l.Space) {
		where = " on " + Shown(l.Host)
	}
	if l.Session != "" {
		return fmt.Sprintf("%s session %s, process %d%s", l.Agent, l.Session, l.Owner.PID, where)
	}
	return fmt.Sprintf("a launch of %s, process %d%s", l.Agent, l.Owner.PID, where)
}

// Check implements store.Checker.
func (l *Lock) Check(name string) error {
	if nameOf(l) != name || l.Kind != Auto && l.Kind != Manual || !filepath.IsAbs(l.Path) {
		return errors.New("the file's name and the lock do not match")
	}
	return nil
}

// HeldError reports that a folder is locked, and by whom.
type HeldError struct {
	Path string // the folder that the caller wanted
	By   Lock
}

func (e *HeldError) Error() string {
	where := ""
	if e.By.Path != e.Path {
		where = " with " + Shown(e.By.Path)
	}
	return fmt.Sprintf("%s is locked%s by %s since %s", Shown(e.Path), where, e.By.Holder(), e.By.Since.Local().Format("15:04:05"))
}

// ErrNotLocked is returned for a folder without a lock that Unlock removes.
var ErrNotLocked = errors.New("not locked by hand")

// Locks gives access to all locks of the user. It is safe for concurrent use by several processes.
type Locks struct {
	folder store.Folder
	table  Table
}

// Table reports on the processes that own locks; *proc.Table implements it.
type Table interface {
	Alive(proc.Identity) bool
	CWD(proc.Identity) (string, error)
}

// In returns the locks in a folder. An automatic lock whose owner has ended is dead: it locks nothing, and Sweep removes
// it.
func In(folder store.Folder, table Table) *Locks {
	return &Locks{folder: folder, table: table}
}

// Folder returns the path of the folder.
func (l *Locks) Folder() string { return l.folder.Path() }

// Changes returns a channel that receives when a lock has changed; see store.Folder.Changes.
func (l *Locks) Changes(ctx context.Context) (<-chan struct{}, error) { return l.folder.Changes(ctx) }

// List returns the locks that are not dead, by path. With an error it returns those that could be read.
func (l *Locks) List() ([]Lock, error) {
	live, _, err := l.read()
	return live, err
}

func (l *Locks) read() (live, dead []Lock, err error) {
	all, err := store.All[Lock](l.folder)
	for name, k := range all {
		k.name = name
		if !l.isDead(&k) {
			live = append(live, k)
		} else {
			dead = append(dead, k)
		}
	}
	for _, list := range [][]Lock{live, dead} {
		slices.SortFunc(list, func(a, b Lock) int { return cmp.Or(strings.Compare(a.Path, b.Path), a.Since.Compare(b.Since)) })
	}
	return live, dead, err
}

// isDead reports whether the owner of an automatic lock has ended. It returns false for an owner on another machine that shares the folder of the locks, since
// nothing is known about it.
func (l *Locks) isDead(k *Lock) bool {
	return k.Kind != Manual && !proc.IsElsewhere(k.Host, k.Space) && !l.table.Alive(k.Owner)
}

// Take locks a folder and sets Since. Without force it fails with *HeldError if the folder, one above it or one below it
// is locked, and it fails if a lock file can't be read. A manual lock excludes other manual locks even with force. Take
// calls check with the folder's real path while no one else can take a lock; an error of check makes Take fail.
func (l *Locks) Take(ctx context.Context, k Lock, force bool, check func(path string) error) (Lock, error) {
	path, err := RealPath(k.Path)
	if err != nil {
		return Lock{}, err
	}
	k.Path, k.Since = path, time.Now().Truncate(time.Millisecond)
	if k.Kind == Manual && k.By == "" {
		k.By = "you"
		if u, err := user.Current(); err == nil {
			k.By = u.Username
		}
	}
	k.name = nameOf(&k)
	unlock, err := l.folder.Lock(ctx)
	if err != nil {
		return Lock{}, err
	}
	defer unlock()
	fault.Point("lock.take.guarded")
	if err := l.Free(&k, force, check); err != nil {
		return Lock{}, err
	}
	if err := l.folder.Write(k.name, k); err != nil {
		return Lock{}, err
	}
	fault.Point("lock.taken")
	return k, nil
}

// Free returns the error with which Take would fail now, or nil. The path of k must be real.
func (l *Locks) Free(k *Lock, force bool, check func(path string) error) error {
	live, _, err := l.read()
	if err != nil && !force {
		return fmt.Errorf("cannot read the folder locks: %w", err)
	}
	for _, held := range live {
		if force && (k.Kind == Auto || held.Kind == Auto) {
			continue
		}
		if l.holds(&held, k.Path) {
			return &HeldError{Path: k.Path, By: held}
		}
	}
	if check != nil {
		return check(k.Path)
	}
	return nil
}

// holds reports whether a lock covers a folder. If the lock's own folder was renamed, the lock covers the present
// working folder of its process.
func (l *Locks) holds(held *Lock, path string) bool {
	if Overlap(held.Path, path) {
		return true
	}
	if _, err := os.Stat(held.Path); held.Kind != Auto || !errors.Is(err, fs.ErrNotExist) {
		return false
	}
	now, err := l.table.CWD(held.Owner)
	if err != nil || !Overlap(now, path) {
		return false
	}
	held.Path = now
	return true
}

// nameOf returns the name of a lock's file. Each folder and launch has its own, so that a forced launch never replaces
// the lock of an earlier launch.
func nameOf(k *Lock) string {
	name := store.NameOf(k.Path)
	if k.Kind == Auto {
		return name + "-" + k.Launch
	}
	return name
}

// HandOver gives an automatic lock to another process, and sets its session unless that is empty. It creates the lock
// again if it is missing, since the launch still uses the folder.
func (l *Locks) HandOver(ctx context.Context, k Lock, owner proc.Identity, session string) (Lock, error) {
	unlock, err := l.folder.Lock(ctx)
	if err != nil {
		return k, err
	}
	defer unlock()
	k.Owner = owner
	if session != "" {
		k.Session = session
	}
	k.name = nameOf(&k)
	err = l.folder.Write(k.name, k)
	fault.Point("lock.handed-over")
	return k, err
}

// Release removes the automatic locks of a launch.
func (l *Locks) Release(ctx context.Context, launch string) error {
	return l.remove(ctx, func(k *Lock) bool { return k.Kind == Auto && k.Launch == launch })
}

// Unlock removes the manual lock of a folder, and the automatic locks whose owner runs on another machine or in another container: only the user knows whether
// the owner has ended. It returns ErrNotLocked if there is none.
func (l *Locks) Unlock(ctx context.Context, path string) error {
	resolved, found := FormerPath(path), false // a lock may outlive its folder
	err := l.remove(ctx, func(k *Lock) bool {
		hit := (k.Kind == Manual || proc.IsElsewhere(k.Host, k.Space)) && (k.Path == resolved || Same(k.Path, resolved))
		found = found || hit
		return hit
	})
	if err == nil && !found {
		return fmt.Errorf("%s: %w", Shown(resolved), ErrNotLocked)
	}
	return err
}

// Sweep removes the dead locks and returns them. It also removes the temporary files of processes that died while they wrote.
func (l *Locks) Sweep(ctx context.Context) ([]Lock, error) {
	var gone []Lock
	err := l.remove(ctx, func(k *Lock) bool {
		dead := l.isDead(k)
		if dead {
			gone = append(gone, *k)
		}
		return dead
	})
	return gone, errors.Join(err, l.folder.Sweep(time.Now()))
}

// Named returns the lock in the file with this name.
func (l *Locks) Named(name string) (Lock, error) {
	var k Lock
	err := l.folder.Read(name, &k)
	return k, err
}

// Dead reports whether the lock in the file with this name is dead.
func (l *Locks) Dead(name string) (bool, error) {
	k, err := l.Named(name)
	return err == nil && l.isDead(&k), err
}

func (l *Locks) remove(ctx context.Context, which func(*Lock) bool) error {
	if names, err := l.folder.Names(); err == nil && len(names) == 0 {
		return nil // without creating the folder
	}
	unlock, err := l.folder.Lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	live, dead, err := l.read()
	for _, k := range slices.Concat(live, dead) {
		if which(&k) {
			err = errors.Join(err, l.folder.Remove(k.name))
		}
	}
	return err
}
