// Package lock keeps folders for one session at a time: those that Rollcall
// launched into, and those that the user keeps for another purpose. A lock lives
// as long as its owner's own process, whether Rollcall runs or not.
package lock

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"rollcall/app/fault"
	"rollcall/app/store"
	"rollcall/proc"
)

// Kind says who made a lock.
type Kind string

// The kinds.
const (
	Auto   Kind = "auto"   // a launch; ends with its process
	Manual Kind = "manual" // the user; ends by the user alone
)

// Lock is one lock, as it lies on disk.
type Lock struct {
	Path string `json:"path"` // real: absolute, without symbolic links
	Kind Kind   `json:"kind"`
	// Owner is the process that an automatic lock lives with: Rollcall's own
	// until the agent's exists.
	Owner   proc.Identity `json:"owner,omitzero"`
	Launch  string        `json:"launch,omitempty"`  // id of the launch
	Session string        `json:"session,omitempty"` // once it is known
	Agent   string        `json:"agent,omitempty"`
	By      string        `json:"by,omitempty"` // who, of a manual one
	Reason  string        `json:"reason,omitempty"`
	Since   time.Time     `json:"since"`

	name string // of its file
}

// Holder names who has the folder, for a message.
func (l *Lock) Holder() string {
	switch {
	case l.Kind == Manual && l.Reason != "":
		return fmt.Sprintf("%s (%s)", Shown(l.By), Shown(l.Reason))
	case l.Kind == Manual:
		return Shown(l.By)
	case l.Session != "":
		return fmt.Sprintf("%s session %s, process %d", l.Agent, l.Session, l.Owner.PID)
	}
	return fmt.Sprintf("a launch of %s, process %d", l.Agent, l.Owner.PID)
}

// Check implements store.Checker.
func (l *Lock) Check(name string) error {
	if nameOf(l) != name || l.Kind != Auto && l.Kind != Manual || !filepath.IsAbs(l.Path) {
		return errors.New("it is not the lock of its name")
	}
	return nil
}

// HeldError says that a folder is taken, and by whom.
type HeldError struct {
	Path string // that was asked for
	By   Lock
}

func (e *HeldError) Error() string {
	where := ""
	if e.By.Path != e.Path {
		where = " with " + Shown(e.By.Path)
	}
	return fmt.Sprintf("%s is locked%s by %s since %s", Shown(e.Path), where, e.By.Holder(), e.By.Since.Local().Format("15:04:05"))
}

// ErrNotLocked says that there is no manual lock to remove.
var ErrNotLocked = errors.New("not locked by hand")

// Locks are all locks of the user. It is safe for concurrent use, also with
// other processes.
type Locks struct {
	folder store.Folder
	table  Table
}

// Table knows the owners of locks; *proc.Table is one.
type Table interface {
	Alive(proc.Identity) bool
	CWD(proc.Identity) (string, error)
}

// In returns the locks kept in a folder. An automatic lock whose owner is not
// alive is dead: it holds nothing, and Sweep removes it.
func In(folder store.Folder, table Table) *Locks {
	return &Locks{folder: folder, table: table}
}

// Folder is where the locks lie, for those who watch them.
func (l *Locks) Folder() string { return l.folder.Path() }

// Changes tells of changes of the locks: see store.Folder.
func (l *Locks) Changes(ctx context.Context) (<-chan struct{}, error) { return l.folder.Changes(ctx) }

// List returns the locks that hold, by path. With an error it lists those that
// could be read.
func (l *Locks) List() ([]Lock, error) {
	live, _, err := l.read()
	return live, err
}

func (l *Locks) read() (live, dead []Lock, err error) {
	all, err := store.All[Lock](l.folder)
	for name, k := range all {
		k.name = name
		if k.Kind == Manual || l.table.Alive(k.Owner) {
			live = append(live, k)
		} else {
			dead = append(dead, k)
		}
	}
	for _, list := range [][]Lock{live, dead} {
		slices.SortFunc(list, func(a, b Lock) int {
			if c := strings.Compare(a.Path, b.Path); c != 0 {
				return c
			}
			return a.Since.Compare(b.Since)
		})
	}
	return live, dead, err
}

// Take takes a folder. check is called with the lock's real path while nobody
// else can take one, and may refuse for its own reasons. Unless forced, a lock
// on the folder, above or below it refuses with *HeldError; and a lock file that
// can't be read refuses as well. A manual lock excludes manual ones even when
// forced. Since is set.
func (l *Locks) Take(ctx context.Context, k Lock, force bool, check func(path string) error) (Lock, error) {
	path, err := RealPath(k.Path)
	if err != nil {
		return Lock{}, err
	}
	k.Path, k.Since = path, time.Now().Truncate(time.Millisecond)
	k.name = nameOf(&k)
	unlock, err := l.folder.Lock(ctx)
	if err != nil {
		return Lock{}, err
	}
	defer unlock()
	fault.Point("lock.take.guarded")
	live, _, err := l.read()
	if err != nil && !force {
		return Lock{}, fmt.Errorf("the locks can't be read: %w", err)
	}
	for _, held := range live {
		if force && (k.Kind == Auto || held.Kind == Auto) {
			continue
		}
		if l.holds(&held, k.Path) {
			return Lock{}, &HeldError{Path: k.Path, By: held}
		}
	}
	if check != nil {
		if err := check(k.Path); err != nil {
			return Lock{}, err
		}
	}
	if err := l.folder.Write(k.name, k); err != nil {
		return Lock{}, err
	}
	fault.Point("lock.taken")
	return k, nil
}

// holds says whether a lock keeps others out of a folder. One whose folder was
// renamed since holds the place where its process is now.
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

// nameOf is the name of a lock's file: one per folder and launch, so that a
// forced launch never takes over the lock of the one before it.
func nameOf(k *Lock) string {
	sum := sha256.Sum256([]byte(k.Path))
	name := hex.EncodeToString(sum[:8])
	if k.Kind == Auto {
		return name + "-" + k.Launch
	}
	return name
}

// HandOver gives an automatic lock to another process, or names its session. A
// lock that is no longer there is made again: the folder is taken.
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

// Unlock removes the manual lock of a folder; ErrNotLocked when there is none.
func (l *Locks) Unlock(ctx context.Context, path string) error {
	resolved, found := FormerPath(path), false // the folder may be gone, its lock not
	err := l.remove(ctx, func(k *Lock) bool {
		hit := k.Kind == Manual && (k.Path == resolved || Same(k.Path, resolved))
		found = found || hit
		return hit
	})
	if err == nil && !found {
		return fmt.Errorf("%s: %w", Shown(resolved), ErrNotLocked)
	}
	return err
}

// Sweep removes the dead locks and what dead writers left, and returns the
// former.
func (l *Locks) Sweep(ctx context.Context) ([]Lock, error) {
	var gone []Lock
	err := l.remove(ctx, func(k *Lock) bool {
		dead := k.Kind == Auto && !l.table.Alive(k.Owner)
		if dead {
			gone = append(gone, *k)
		}
		return dead
	})
	return gone, errors.Join(err, l.folder.Sweep(time.Now()))
}

// Dead says whether the lock in the file of this name holds nothing any more.
func (l *Locks) Dead(name string) (bool, error) {
	var k Lock
	if err := l.folder.Read(name, &k); err != nil {
		return false, err
	}
	return k.Kind != Manual && !l.table.Alive(k.Owner), nil
}

func (l *Locks) remove(ctx context.Context, which func(*Lock) bool) error {
	if names, err := l.folder.Names(); err == nil && len(names) == 0 {
		return nil // nothing is made for nothing
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
