package launch

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"rollcall/app/owned/worktree"
	"rollcall/app/store"
)

// madeWorktree is the record of a worktree that a launch created. It prevents the removal of another folder in its
// place. It is kept as long as the folder exists.
type madeWorktree struct {
	Path   string    `json:"path"` // real path
	Repo   string    `json:"repo"` // main folder of the repository
	Branch string    `json:"branch"`
	Folder string    `json:"folder,omitempty"` // see owned.FileNumber
	Named  bool      `json:"named,omitempty"`  // the user named the branch
	MadeAt time.Time `json:"made_at"`
}

// Check implements store.Checker.
func (m *madeWorktree) Check(name string) error {
	if store.NameOf(m.Path) != name {
		return errors.New("the file's name and the worktree's folder do not match")
	}
	return nil
}

func (l *Launches) worktrees() store.Folder { return store.Below(l.state, store.Worktrees) }

// recordWorktrees records the worktrees of a group right after they were created.
func (l *Launches) recordWorktrees(repo string, made []worktree.Created) error {
	var errs []error
	for _, c := range made {
		path, err := realParent(c.Path)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		info, err := os.Lstat(path)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		m := madeWorktree{Path: path, Repo: repo, Branch: c.Branch, Named: c.Named, Folder: store.FileNumber(info), MadeAt: l.now()}
		errs = append(errs, l.worktrees().Write(store.NameOf(path), m))
	}
	return errors.Join(errs...)
}

// CheckWorktree returns a check for worktree.Repo.Made. The check fails for a folder that is not the one which a launch
// created at this path. It passes without a record, since older versions wrote none.
func (l *Launches) CheckWorktree(repo string) func(w worktree.Worktree, folder os.FileInfo) error {
	return func(w worktree.Worktree, folder os.FileInfo) error {
		path, err := realParent(w.Path)
		if err != nil {
			return err
		}
		var m madeWorktree
		switch err := l.worktrees().Read(store.NameOf(path), &m); {
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil:
			return fmt.Errorf("cannot read the record of this worktree: %w", err)
		case m.Branch != w.Own && !m.Named || m.Repo != repo:
			return fmt.Errorf("a launch created this worktree for the branch %s of %s: to remove it anyway, use git worktree remove", m.Branch, m.Repo)
		case m.Folder != store.FileNumber(folder):
			return errors.New("another folder has replaced the one that the launch created: to remove it anyway, use git worktree remove")
		}
		return nil
	}
}

// sweepWorktrees removes the records of worktrees whose folder no longer exists.
func (l *Launches) sweepWorktrees() error {
	all, err := store.All[madeWorktree](l.worktrees())
	for name, m := range all {
		_, statErr := os.Lstat(m.Path)
		_, parentErr := os.Lstat(filepath.Dir(m.Path)) // without the parent, the disk may not be mounted
		if errors.Is(statErr, fs.ErrNotExist) && parentErr == nil {
			err = errors.Join(err, l.worktrees().Remove(name))
		}
	}
	return err
}

// realParent returns the path with the symbolic links of its parent folder resolved.
func realParent(path string) (string, error) {
	dir, err := filepath.EvalSymlinks(filepath.Dir(path))
	return filepath.Join(dir, filepath.Base(path)), err
}
