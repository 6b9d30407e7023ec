package worktree

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"rollcall/app/store"
)

// Created is a worktree that is created for one try.
type Created struct {
	Path   string // the worktree
	Branch string
	Suffix string
	// Folder is the agent's working folder: the folder in the worktree that corresponds to the launch's folder in the
	// repository, or Path if the commit does not contain that folder.
	Folder string
	Named  bool // the user named the branch

	commit string
}

// undoLimit is the time limit of Undo, which continues when its context is done.
const undoLimit = time.Minute

// Wanted holds the user's wishes for the branches of a group's worktrees. Its zero value means Rollcall's names of the
// branches, and for the commit of the folder from which the repository was opened.
type Wanted struct {
	// Branch is the name of the branch. With several worktrees each has its suffix after it.
	Branch string
	// Base is the branch, tag or commit at which the branches begin.
	Base string
}

// Place returns the worktrees that Create would create for a group: one with a branch for each suffix. Uncommitted changes
// are not copied.
func (r *Repo) Place(ctx context.Context, group string, suffixes []string, wanted Wanted) ([]Created, error) {
	if err := checkName("group", group); err != nil {
		return nil, err
	}
	if err := r.checkBranch(ctx, group, wanted.Branch); err != nil {
		return nil, err
	}
	commit, err := r.baseCommit(ctx, wanted.Base)
	if err != nil {
		return nil, err
	}
	below, err := r.below(ctx, commit)
	if err != nil {
		return nil, err
	}
	places := make([]Created, len(suffixes))
	for i, suffix := range suffixes {
		if err := checkName("suffix", suffix); err != nil {
			return nil, err
		}
		path := Folder(r.Main, group, suffix)
		places[i] = Created{Path: path, Branch: Branch(group, suffix), Suffix: suffix, Folder: filepath.Join(path, below), commit: commit}
		if wanted.Branch != "" {
			places[i].Branch, places[i].Named = wanted.Branch, true
			if len(suffixes) > 1 {
				places[i].Branch += "/" + suffix
			}
		}
	}
	return places, nil
}

// checkBranch returns an error for a name that no branch of a group can have. The worktree of such a branch is found by
// the name of its folder, which shows the group only if the user did not name the group.
func (r *Repo) checkBranch(ctx context.Context, group, branch string) error {
	if branch == "" {
		return nil
	}
	if strings.HasPrefix(branch, "-") || strings.HasPrefix(branch, prefix) {
		return fmt.Errorf("the branch %q must not begin with a hyphen or with %s", branch, prefix)
	}
	if _, err := r.git.ask(ctx, r.at, "check-ref-format", "refs/heads/"+branch); err != nil {
		if exitCode(err) > 0 {
			return fmt.Errorf("%q is not a name that git accepts for a branch", branch)
		}
		return err
	}
	if !groupFolder.MatchString(group + "-x") {
		return fmt.Errorf("a launch with its own branch name (%s) cannot have a group name (%s): omit one of them", branch, group)
	}
	return nil
}

// baseCommit returns the commit of a branch, tag or commit, also of a branch that only the remote origin has. Without a
// name it returns the commit of the folder from which the repository was opened.
func (r *Repo) baseCommit(ctx context.Context, name string) (string, error) {
	if name == "" {
		commit, err := r.commit(ctx, r.dir, "HEAD")
		if err == nil && commit == "" {
			err = fmt.Errorf("%s: the repository has no commit yet, from which a worktree could be created: make a first commit", r.Main)
		}
		return commit, err
	}
	if strings.HasPrefix(name, "-") {
		return "", fmt.Errorf("the base branch %q must not begin with a hyphen", name)
	}
	for _, ref := range []string{name, "refs/remotes/origin/" + name} {
		if commit, err := r.commit(ctx, r.dir, ref); err != nil || commit != "" {
			return commit, err
		}
	}
	return "", fmt.Errorf("%s has no branch, tag or commit %q from which a worktree could be created", r.Main, name)
}

// Uncommitted returns how many files of the folder's working tree have changes that are not committed, and how many are
// not tracked. A worktree that is created has neither.
func (r *Repo) Uncommitted(ctx context.Context) (changed, untracked int, err error) {
	if r.Bare {
		return 0, 0, nil
	}
	tree, err := r.snapshot(ctx, r.dir)
	if err != nil {
		return 0, 0, err
	}
	defer tree.close()
	out, err := tree.ask(ctx, "status", "--porcelain=v2", "-z", "--untracked-files=normal")
	if err != nil {
		return 0, 0, err
	}
	s := parseStatus(out)
	return s.changed, len(s.untracked), nil
}

// Create creates the worktrees that Place returned, all of them or none. After a failure it removes those that it
// created; its error also reports those that it could not remove.
func (r *Repo) Create(ctx context.Context, places []Created) error {
	for i, c := range places {
		if err := r.createOne(ctx, c); err != nil {
			return errors.Join(err, r.Undo(ctx, places[:i]))
		}
	}
	return nil
}

// below returns the path of the launch's folder relative to its working tree, or an empty string if the commit does not
// contain the folder.
func (r *Repo) below(ctx context.Context, commit string) (string, error) {
	out, err := r.git.ask(ctx, r.dir, "rev-parse", "--show-prefix")
	prefix := strings.TrimSuffix(line(out), "/")
	if err == nil && prefix != "" {
		_, err = r.git.ask(ctx, r.at, "rev-parse", "--verify", "--quiet", commit+":"+prefix)
	}
	if exitCode(err) > 0 {
		return "", nil // a bare repository, or not committed
	}
	return filepath.FromSlash(prefix), err
}

func (r *Repo) createOne(ctx context.Context, c Created) error {
	if !store.Missing(c.Path) {
		return fmt.Errorf("%s already exists", c.Path)
	}
	there, err := r.commit(ctx, r.at, "refs/heads/"+c.Branch)
	if err != nil {
		return err
	}
	if there != "" {
		return fmt.Errorf("the branch %s already exists, at commit %.12s", c.Branch, there)
	}
	if err := r.git.checkOut(ctx, r.at, "worktree", "add", "--quiet", "--no-track", "-b", c.Branch, c.Path, c.commit); err != nil {
		err = fmt.Errorf("create the worktree %s: %w", c.Path, err)
		if strings.Contains(err.Error(), "already exists") {
			return err // another program created it meanwhile
		}
		return errors.Join(err, r.Undo(ctx, []Created{c}))
	}
	return nil
}

// Undo removes worktrees that Create has just created, and their branches. It keeps a branch that has moved to another
// commit.
func (r *Repo) Undo(ctx context.Context, made []Created) error {
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
		listed := slices.ContainsFunc(all, func(w Worktree) bool { return w.Branch == c.Branch && !w.Main && base(w.Path) == base(c.Path) })
		if listed {
			if err := r.git.change(ctx, r.at, "worktree", "remove", "--force", c.Path); err != nil {
				errs = append(errs, fmt.Errorf("%s was created and could not be removed again: %w", c.Path, err))
				continue
			}
		}
		if now, err := r.commit(ctx, r.at, "refs/heads/"+c.Branch); err != nil || now == "" {
			continue
		}
		if err := r.deleteBranch(ctx, c.Branch, c.commit); err != nil {
			errs = append(errs, fmt.Errorf("the branch %s was created and could not be removed again: %w", c.Branch, err))
		}
	}
	return errors.Join(errs...)
}

// deleteBranch deletes a branch if it is at this commit, in one atomic step.
func (r *Repo) deleteBranch(ctx context.Context, branch, commit string) error {
	if err := r.git.change(ctx, r.at, "update-ref", "-d", "refs/heads/"+branch, commit); err != nil {
		return err
	}
	// Remove the branch's settings too, as git branch -D does.
	_ = r.git.change(ctx, r.at, "config", "--local", "--remove-section", "branch."+branch)
	return nil
}
