package worktree

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"
)

// Created is a worktree that was made for one try.
type Created struct {
	Path   string // the worktree
	Branch string
	Suffix string
	// Folder is where the agent starts: the place in the worktree that the
	// launch's folder has in the repository; Path where it isn't in the commit.
	Folder string

	commit string
}

// undoLimit bounds the taking back after a failure, which goes on when ctx is
// done.
const undoLimit = time.Minute

// Create makes a worktree with a branch for each suffix, from the commit that
// the folder which the repository was opened from is at. Changes that are not
// committed stay where they are. It makes all of them or none: after a failure
// what was made is taken back, and what could not be is told in the error.
func (r *Repo) Create(ctx context.Context, group string, suffixes []string) ([]Created, error) {
	if err := checkName("group", group); err != nil {
		return nil, err
	}
	commit, err := r.commit(ctx, r.dir, "HEAD")
	if err != nil {
		return nil, err
	}
	if commit == "" {
		return nil, fmt.Errorf("%s: nothing is committed yet, so there is nothing to try it on: make a first commit", r.Main)
	}
	below, err := r.below(ctx)
	if err != nil {
		return nil, err
	}
	var made []Created
	for _, suffix := range suffixes {
		c, err := r.createOne(ctx, group, suffix, commit)
		if err != nil {
			return nil, errors.Join(err, r.undo(ctx, made))
		}
		c.Folder = c.Path
		if below != "" && !missing(filepath.Join(c.Path, below)) {
			c.Folder = filepath.Join(c.Path, below)
		}
		made = append(made, c)
	}
	return made, nil
}

// below is the place of the launch's folder in its working tree.
func (r *Repo) below(ctx context.Context) (string, error) {
	out, err := r.git.ask(ctx, r.dir, "rev-parse", "--show-prefix")
	if exitCode(err) > 0 {
		return "", nil // a bare repository
	}
	return filepath.FromSlash(strings.TrimSuffix(line(out), "/")), err
}

func (r *Repo) createOne(ctx context.Context, group, suffix, commit string) (Created, error) {
	if err := checkName("suffix", suffix); err != nil {
		return Created{}, err
	}
	c := Created{Path: Folder(r.Main, group, suffix), Branch: Branch(group, suffix), Suffix: suffix, commit: commit}
	if !missing(c.Path) {
		return c, fmt.Errorf("%s is there already", c.Path)
	}
	there, err := r.commit(ctx, r.at, "refs/heads/"+c.Branch)
	if err != nil {
		return c, err
	}
	if there != "" {
		return c, fmt.Errorf("the branch %s is there already, at %.12s", c.Branch, there)
	}
	if err := r.git.change(ctx, r.at, "worktree", "add", "--quiet", "--no-track", "-b", c.Branch, c.Path, commit); err != nil {
		err = fmt.Errorf("make the worktree %s: %w", c.Path, err)
		if strings.Contains(err.Error(), "already exists") {
			return c, err // somebody else's, made since we looked
		}
		return c, errors.Join(err, r.undo(ctx, []Created{c}))
	}
	return c, nil
}

// undo takes back what was made just now, and nothing else: a branch only where
// it still stands at the commit it was made from.
func (r *Repo) undo(ctx context.Context, made []Created) error {
	if len(made) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), undoLimit)
	defer cancel()
	all, err := r.worktrees(ctx)
	if err != nil {
		return err
	}
	var errs []error
	for _, c := range made {
		if stands(all, c) {
			if err := r.git.change(ctx, r.at, "worktree", "remove", "--force", c.Path); err != nil {
				errs = append(errs, fmt.Errorf("%s was made and could not be removed again: %w", c.Path, err))
				continue
			}
		}
		if now, err := r.commit(ctx, r.at, "refs/heads/"+c.Branch); err != nil || now == "" {
			continue
		}
		if err := r.deleteBranch(ctx, c.Branch, c.commit); err != nil {
			errs = append(errs, fmt.Errorf("the branch %s was made and could not be removed again: %w", c.Branch, err))
		}
	}
	return errors.Join(errs...)
}

// stands says whether git lists the worktree under its branch.
func stands(all []Worktree, c Created) bool {
	for _, w := range all {
		if w.Branch == c.Branch && !w.Main && base(w.Path) == base(c.Path) {
			return true
		}
	}
	return false
}

// deleteBranch deletes a branch if it stands at that commit, in one step.
func (r *Repo) deleteBranch(ctx context.Context, branch, commit string) error {
	if err := r.git.change(ctx, r.at, "update-ref", "-d", "refs/heads/"+branch, commit); err != nil {
		return err
	}
	// Its settings, if it has any; git branch -D would drop them too.
	_ = r.git.change(ctx, r.at, "config", "--local", "--remove-section", "branch."+branch)
	return nil
}
