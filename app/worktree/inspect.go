package worktree

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
)

// State is what lies in a worktree.
type State struct {
	Changed   int // tracked files with changes, staged or not
	Conflicts int // of these
	Untracked int // files that git doesn't know and isn't told to ignore
	// Hidden counts files that git was told not to look at (assume-unchanged,
	// skip-worktree): whether they were changed shows nowhere.
	Hidden int
	// Commits are those of the worktree and its own branch that are neither in
	// the base nor in a branch of a remote. Lost counts those of them that no
	// branch leads to which would stay: they go with the worktree.
	Commits   int
	Lost      int
	OwnCommit string // where its own branch stands; empty: no such branch
	Operation string // under way: "merge", "rebase", …
	Modules   bool   // submodules whose repositories are kept with the worktree
	Ignored   Ignored

	// Files are the differences from where it left the base to what lies in its
	// folder now, committed or not, without untracked files.
	Files []FileStat
	Stat  Stat
}

// Entry is a worktree with its state.
type Entry struct {
	Worktree
	State
	Base Base
	// Err says why the state could not be read, in words for the user; the
	// state is that of a worktree in which anything may be.
	Err error
}

// atOnce is how many worktrees are looked at together.
const atOnce = 4

// List returns the worktrees of the repository that are tries, in git's order,
// with their states.
func (r *Repo) List(ctx context.Context) ([]Entry, error) {
	return r.list(ctx, func(Worktree) bool { return true })
}

// list is List for those that want says yes to.
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
			list[i].State, list[i].Err = r.inspect(ctx, list[i].Worktree, base)
		})
	}
	group.Wait()
	return list, ctx.Err()
}

// inspect reads the state of one worktree.
func (r *Repo) inspect(ctx context.Context, w Worktree, base Base) (State, error) {
	var s State
	var err error
	if s.OwnCommit, err = r.commit(ctx, r.at, "refs/heads/"+w.Own); err != nil {
		return s, err
	}
	if err = r.countCommits(ctx, w, base, &s); err != nil || w.Gone {
		return s, err
	}
	gitDir, err := r.ownGitDir(ctx, w)
	if err != nil {
		return s, err
	}
	s.Operation, s.Modules = operation(gitDir), hasModules(gitDir)
	out, err := r.git.ask(ctx, w.Path, "status", "--porcelain=v2", "-z",
		"--untracked-files=all", "--ignored=matching", "--ignore-submodules=none")
	if err != nil {
		return s, err
	}
	st := parseStatus(out)
	s.Changed, s.Conflicts, s.Untracked = st.changed, st.conflicts, st.untracked
	if s.Ignored, err = measure(ctx, w.Path, st.ignored); err != nil {
		return s, err
	}
	if out, err = r.git.ask(ctx, w.Path, "ls-files", "-v", "-z"); err != nil {
		return s, err
	}
	s.Hidden = hiddenFiles(out, func(p string) bool { return !missing(filepath.Join(w.Path, filepath.FromSlash(p))) })
	s.Files, err = r.differences(ctx, w, base)
	s.Stat = sum(s.Files)
	return s, err
}

// ownGitDir is where git keeps what is the worktree's alone. That the folder
// says so itself is checked: git would else answer for a repository around it.
func (r *Repo) ownGitDir(ctx context.Context, w Worktree) (string, error) {
	out, err := r.git.ask(ctx, w.Path, "rev-parse", "--show-toplevel")
	if errors.Is(err, ErrNoRepository) {
		return "", fmt.Errorf("%s is there, but is no worktree any more (its .git is missing): look at it, then run git worktree prune", w.Path)
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
		return "", fmt.Errorf("%s is there, but is no worktree any more: git takes it for a part of %s", w.Path, top)
	}
	out, err = r.git.ask(ctx, w.Path, "rev-parse", "--absolute-git-dir")
	return filepath.FromSlash(line(out)), err
}

// countCommits counts what only the worktree and its own branch lead to. A branch
// that the agent made beside it stays, and so do its commits; a detached HEAD
// goes with the worktree. Other tries may go too, so they keep nothing.
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
	if s.Commits, err = r.countOf(ctx, all, stays); err != nil || s.Commits == 0 {
		return err
	}
	s.Lost, err = r.countOf(ctx, goes, append(stays, "--exclude="+prefix+"*", "--branches"))
	return err
}

// countOf counts the commits that tips lead to and others do not.
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

// differences compares the worktree's folder with where it left the base.
func (r *Repo) differences(ctx context.Context, w Worktree, base Base) ([]FileStat, error) {
	if w.Head == "" || base.Commit == "" {
		return nil, nil
	}
	out, err := r.git.ask(ctx, w.Path, "merge-base", w.Head, base.Commit)
	if exitCode(err) == 1 {
		return nil, nil // no common past
	}
	if err != nil {
		return nil, err
	}
	out, err = r.git.ask(ctx, w.Path, "diff", "--raw", "--numstat", "-z", "-M", "--no-ext-diff", "--no-textconv", "--ignore-submodules=none", line(out))
	return parseDiff(out), err
}

// operations are the traces of what git has under way, in a worktree's own part.
var operations = []struct{ file, name string }{
	{"rebase-merge", "rebase"}, {"rebase-apply", "rebase"}, {"MERGE_HEAD", "merge"},
	{"CHERRY_PICK_HEAD", "cherry-pick"}, {"REVERT_HEAD", "revert"}, {"sequencer", "cherry-pick or revert"}, {"BISECT_LOG", "bisect"},
}

func operation(gitDir string) string {
	for _, o := range operations {
		if !missing(filepath.Join(gitDir, o.file)) {
			return o.name
		}
	}
	return ""
}

func hasModules(gitDir string) bool {
	entries, err := os.ReadDir(filepath.Join(gitDir, "modules"))
	return err == nil && len(entries) > 0
}

// Losses says what would be lost with the worktree, in words: "2 changed files".
func (e Entry) Losses() []string {
	var out []string
	add := func(n int, what, plural string) {
		switch {
		case n == 1:
			out = append(out, "1 "+what)
		case n > 1:
			out = append(out, fmt.Sprintf("%d %s", n, plural))
		}
	}
	add(e.Changed, "changed file", "changed files")
	add(e.Untracked, "untracked file", "untracked files")
	add(e.Hidden, "file that git was told not to look at", "files that git was told not to look at")
	add(e.Lost, "commit that is in no other branch and no remote", "commits that are in no other branch and no remote")
	if e.Operation != "" {
		out = append(out, "a "+e.Operation+" under way")
	}
	if e.Modules {
		out = append(out, "submodules, whose commits may be nowhere else")
	}
	add(len(e.Ignored.Repositories), "git repository among the ignored files", "git repositories among the ignored files")
	if e.Ignored.Partly {
		out = append(out, "ignored files that are too many to look through")
	}
	return out
}
