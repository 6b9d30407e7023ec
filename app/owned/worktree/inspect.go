package worktree

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"

	"rollcall/app/store"
)

// State is the state of a worktree.
type State struct {
	Changed   int // tracked files with changes, staged or not
	Conflicts int // of these
	Untracked int // files that git neither tracks nor ignores
	// Hidden counts the files that git was told not to check (assume-unchanged, skip-worktree). Git does not show whether
	// they changed.
	Hidden int
	// Commits counts the commits of the worktree and its own branch that are neither in the base nor in a remote's
	// branch. Lost counts those of them that no other branch keeps.
	Commits   int
	Lost      int
	OwnCommit string // last commit of its own branch; empty: no such branch
	Operation string // unfinished operation: "merge", "rebase", …
	// Modules reports that submodules are checked out, or that their repositories are stored with the worktree. Their
	// files are not examined: git would run what each submodule's configuration names.
	Modules bool
	Ignored Ignored

	// Files are the differences between the base and the folder, committed or not, without untracked files.
	Files []FileStat
	Stat  Stat
}

// Entry is a worktree with its state.
type Entry struct {
	Worktree
	State
	Base Base
	// Misplaced is the reason why the folder is not one that a launch created, or nil.
	Misplaced error
	folder    fs.FileInfo // at the time of the check
	// Err is the reason why the state could not be read, for the user. The worktree may then contain anything.
	Err error
}

// atOnce is the number of worktrees that are inspected in parallel.
const atOnce = 4

// List returns the worktrees of the repository that are tries, in git's order, with their states.
func (r *Repo) List(ctx context.Context) ([]Entry, error) {
	return r.list(ctx, func(Worktree) bool { return true })
}

// list returns the tries for which want returns true, like List.
func (r *Repo) list(ctx context.Context, want func(Worktree) bool) ([]Entry, error) {
	all, err := r.worktrees(ctx)
	if err != nil {
		return nil, err
	}
	base, err := r.Base(ctx)
	if err != nil {
		return nil, err
	}
	var list []Entry
	for _, w := range all {
		if w.Group != "" && want(w) {
			list = append(list, Entry{Worktree: w, Base: base})
		}
	}
	var group sync.WaitGroup
	places := make(chan struct{}, atOnce)
	for i := range list {
		group.Go(func() {
			places <- struct{}{}
			defer func() { <-places }()
			if !list[i].Gone && !list[i].Main && !list[i].Bare {
				list[i].folder, list[i].Misplaced = r.checkPlace(ctx, list[i].Worktree)
			}
			list[i].State, list[i].Err = r.inspect(ctx, list[i].Worktree, base)
		})
	}
	group.Wait()
	return list, ctx.Err()
}

func (r *Repo) inspect(ctx context.Context, w Worktree, base Base) (State, error) {
	var s State
	var err error
	s.OwnCommit, err = r.commit(ctx, r.at, "refs/heads/"+w.Own)
	if err != nil {
		return s, err
	}
	err = r.countCommits(ctx, w, base, &s)
	if err != nil || w.Gone {
		return s, err
	}
	gitDir, err := r.ownGitDir(ctx, w)
	if err != nil {
		return s, err
	}
	s.Operation = operation(gitDir)
	tree, err := r.snapshot(ctx, w.Path)
	if err != nil {
		return s, err
	}
	defer tree.close()
	out, err := tree.ask(ctx, "status", "--porcelain=v2", "-z", "--untracked-files=all", "--ignored=matching")
	if err != nil {
		return s, err
	}
	st := parseStatus(out)
	s.Changed = st.changed
	s.Conflicts = st.conflicts
	s.Untracked = len(st.untracked)
	s.Ignored, err = measure(ctx, w.Path, st.ignored)
	if err != nil {
		return s, err
	}
	var modules bool
	s.Hidden, modules, err = r.hidden(ctx, w.Path)
	if err != nil {
		return s, err
	}
	s.Modules = modules || hasModules(gitDir)
	s.Files, err = r.differences(ctx, w, base, tree)
	s.Stat = sum(s.Files)
	return s, err
}

// hidden returns what hiddenFiles finds in a working tree.
func (r *Repo) hidden(ctx context.Context, tree string) (n int, modules bool, err error) {
	out, err := r.git.ask(ctx, tree, "ls-files", "-v", "--stage", "-z")
	n, modules = hiddenFiles(out, func(p string) bool { return !store.Missing(filepath.Join(tree, filepath.FromSlash(p))) })
	return n, modules, err
}

// ownGitDir returns the folder in which git keeps the data of this worktree. It first checks that the folder is a
// worktree, since git would otherwise answer for a repository around it.
func (r *Repo) ownGitDir(ctx context.Context, w Worktree) (string, error) {
	out, err := r.git.ask(ctx, w.Path, "rev-parse", "--show-toplevel")
	if errors.Is(err, ErrNoRepository) {
		return "", fmt.Errorf("%s exists, but is no longer a worktree (its .git is missing): save what you need, then run git worktree prune", w.Path)
	}
	if err != nil {
		return "", err
	}
	top := filepath.FromSlash(line(out))
	if a, err := os.Stat(top); err != nil {
		return "", err
	} else if b, err := os.Stat(w.Path); err != nil {
		return "", err
	} else if !os.SameFile(a, b) {
		return "", fmt.Errorf("%s exists, but is no longer a worktree: git reports it as a part of %s", w.Path, top)
	}
	out, err = r.git.ask(ctx, w.Path, "rev-parse", "--absolute-git-dir")
	return filepath.FromSlash(line(out)), err
}

// countCommits counts the commits that only the worktree and its own branch keep. Other branches that the agent created
// remain, with their commits. A detached HEAD is removed with the worktree. Other tries do not count as keeping a commit,
// since they may be removed as well.
func (r *Repo) countCommits(ctx context.Context, w Worktree, base Base, s *State) (err error) {
	var goes, all []string
	if s.OwnCommit != "" {
		goes = append(goes, s.OwnCommit)
	}
	all = goes
	if w.Head != "" {
		all = append(all, w.Head)
		if w.Branch == "" {
			goes = all
		}
	}
	stays := []string{"--not", "--remotes"}
	if base.Commit != "" {
		stays = append(stays, base.Commit)
	}
	s.Commits, err = r.countOf(ctx, all, stays)
	if err != nil || s.Commits == 0 {
		return err
	}
	s.Lost, err = r.countOf(ctx, goes, append(stays, "--exclude="+prefix+"*", "--branches"))
	return err
}

// countOf counts the commits that are reachable from tips and not excluded by the rev-list arguments not.
func (r *Repo) countOf(ctx context.Context, tips, not []string) (int, error) {
	if len(tips) == 0 {
		return 0, nil
	}
	out, err := r.git.ask(ctx, r.at, slices.Concat([]string{"rev-list", "--count"}, tips, not)...)
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(line(out))
}

// differences compares the worktree's folder with its common ancestor with the base.
func (r *Repo) differences(ctx context.Context, w Worktree, base Base, tree *snapshot) ([]FileStat, error) {
	if w.Head == "" || base.Commit == "" {
		return nil, nil
	}
	out, err := r.git.ask(ctx, w.Path, "merge-base", w.Head, base.Commit)
	if exitCode(err) == 1 {
		return nil, nil // no common ancestor
	}
	if err != nil {
		return nil, err
	}
	out, err = tree.ask(ctx, "diff", "--raw", "--numstat", "-z", "-M", "--no-ext-diff", "--no-textconv", line(out))
	return parseDiff(out), err
}

// operations lists the files in a worktree's git folder that show an unfinished operation.
var operations = []struct{ file, name string }{
	{"rebase-merge", "rebase"}, {"rebase-apply", "rebase"}, {"MERGE_HEAD", "merge"},
	{"CHERRY_PICK_HEAD", "cherry-pick"}, {"REVERT_HEAD", "revert"}, {"sequencer", "cherry-pick or revert"}, {"BISECT_LOG", "bisect"},
}

func operation(gitDir string) string {
	for _, o := range operations {
		if !store.Missing(filepath.Join(gitDir, o.file)) {
			return o.name
		}
	}
	return ""
}

func hasModules(gitDir string) bool {
	entries, err := os.ReadDir(filepath.Join(gitDir, "modules"))
	return err == nil && len(entries) > 0
}

// Losses returns the work that would be lost with the worktree, such as "2 changed files".
func (e Entry) Losses() []string {
	var out []string
	add := func(n int, one, many string) {
		switch {
		case n == 1:
			out = append(out, "1 "+one)
		case n > 1:
			out = append(out, fmt.Sprintf("%d %s", n, many))
		}
	}
	add(e.Changed, "changed file", "changed files")
	add(e.Untracked, "untracked file", "untracked files")
	add(e.Hidden, "file that git was told not to check", "files that git was told not to check")
	add(e.Ignored.Files, "ignored file", "ignored files")
	add(e.Lost, "commit that is in no other branch and no remote", "commits that are in no other branch and no remote")
	if e.Operation != "" {
		out = append(out, "an unfinished "+e.Operation)
	}
	if e.Modules {
		out = append(out, "submodules, whose changes and commits may exist nowhere else")
	}
	add(len(e.Ignored.Repositories), "git repository among the ignored files", "git repositories among the ignored files")
	if e.Ignored.Partly {
		out = append(out, "ignored files that could not all be counted")
	}
	return out
}
