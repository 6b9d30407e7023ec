package worktree

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"rollcall/app/store"
)

// Repo is a git repository, found from any folder in it.
type Repo struct {
	// Main is the main working tree, or the repository itself if it is bare.
	Main string
	Bare bool
	// Made returns an error for a folder that is not the one that a launch recorded for this worktree. It is called
	// before a removal and may be nil.
	Made func(w Worktree, folder os.FileInfo) error

	git *Git
	dir string // the folder from which the repository was opened
	at  string // the folder in which git runs for questions about the whole repository
}

// Worktree is a working tree as git lists it.
type Worktree struct {
	Path   string
	Name   string // the last part of Path
	Group  string // of the launch; empty: the worktree is not a try
	Suffix string
	Branch string // checked out now, without refs/heads/; empty: detached
	// Own is the branch with which the worktree was created, try/<group>/<suffix>. The agent may have checked out
	// another one or none.
	Own    string
	Head   string // commit; empty: a branch without a commit
	Locked bool   // by git worktree lock
	Reason string // of the lock
	Gone   bool   // its folder does not exist
	Main   bool   // the repository's main working tree
	Bare   bool
}

// Open finds git, and the repository that contains dir; an empty dir is the current folder. Its errors are those of FindGit and Git.Open.
func Open(ctx context.Context, dir string) (*Repo, error) {
	git, err := FindGit()
	if err != nil {
		return nil, err
	}
	return git.Open(ctx, dir)
}

// Open finds the repository that contains dir. Its errors are ErrNoRepository, *adapters.Problem for a repository that
// git refuses to read, and those of ctx.
func (g *Git) Open(ctx context.Context, dir string) (*Repo, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	if _, err := g.ask(ctx, dir, "rev-parse", "--git-dir"); err != nil {
		return nil, err
	}
	r := &Repo{git: g, dir: dir, at: dir}
	all, err := r.worktrees(ctx)
	if err != nil {
		return nil, err
	}
	r.Main, r.Bare = all[0].Path, all[0].Bare
	if !r.Bare {
		// For a submodule git lists the folder in the outer .git as the first worktree.
		out, err := g.ask(ctx, r.Main, "rev-parse", "--show-toplevel")
		if err == nil {
			r.Main = filepath.FromSlash(line(out))
		} else if !refused(err) {
			return nil, err
		}
	}
	// Do not run git in dir: it may be a worktree that is about to be removed.
	_, err = g.ask(ctx, r.Main, "rev-parse", "--git-dir")
	if err == nil {
		r.at = r.Main
	} else if !refused(err) {
		return nil, err
	}
	return r, nil
}

// worktrees returns all working trees of the repository. The first is the main one.
func (r *Repo) worktrees(ctx context.Context) ([]Worktree, error) {
	out, err := r.git.ask(ctx, r.at, "worktree", "list", "--porcelain", "-z")
	if exitCode(err) == 129 { // git before 2.36 does not know -z
		out, err = r.git.ask(ctx, r.at, "worktree", "list", "--porcelain")
		out = bytes.ReplaceAll(out, []byte("\n"), []byte{0})
	}
	if err != nil {
		return nil, err
	}
	list := parseWorktrees(out)
	if len(list) == 0 {
		return nil, fmt.Errorf("git worktree list: no worktree in %s", r.at)
	}
	main := r.Main
	if main == "" {
		main = list[0].Path
	}
	var tries []string
	for i := range list {
		w := &list[i]
		w.Main = i == 0
		w.Name = base(w.Path)
		if w.Main || w.Bare {
			continue
		}
		w.Group, w.Suffix = groupOf(main, w.Branch, w.Path)
		if w.Group == "" && ofTry(main, w.Path) != "" {
			if tries == nil {
				tries, err = r.tries(ctx)
				if err != nil {
					return nil, err
				}
			}
			w.Group, w.Suffix = groupAmong(tries, main, w.Path)
		}
		if w.Group != "" {
			w.Own = Branch(w.Group, w.Suffix)
		}
		w.Gone = w.Gone || store.Missing(w.Path)
	}
	return list, nil
}

// tries returns the branches of launches.
func (r *Repo) tries(ctx context.Context) ([]string, error) {
	out, err := r.git.ask(ctx, r.at, "for-each-ref", "--format=%(refname)", "refs/heads/"+prefix)
	return strings.Fields(string(out)), err
}

// parseWorktrees parses the output of git worktree list --porcelain -z: attributes that end with NUL, and an empty one
// after each worktree.
func parseWorktrees(out []byte) []Worktree {
	var list []Worktree
	for field := range bytes.SplitSeq(out, []byte{0}) {
		key, value, _ := strings.Cut(string(field), " ")
		if key == "worktree" {
			list = append(list, Worktree{Path: filepath.FromSlash(value)})
			continue
		}
		if len(list) == 0 {
			continue
		}
		w := &list[len(list)-1]
		switch key {
		case "HEAD":
			if strings.Trim(value, "0") != "" {
				w.Head = value
			}
		case "branch":
			w.Branch = strings.TrimPrefix(value, "refs/heads/")
		case "bare":
			w.Bare = true
		case "locked":
			w.Locked, w.Reason = true, value
		}
	}
	return list
}

// Base is the branch with which the tries of a repository are compared.
type Base struct {
	Name   string // "main", "origin/main"; "HEAD" where the main tree is detached
	Commit string
}

// Base returns the branch from which the tries were created: the one that is checked out in the main working tree. If
// that is a try itself or no branch, it returns the remote's default branch, main or master, or the zero value.
func (r *Repo) Base(ctx context.Context) (Base, error) {
	var names []string
	out, err := r.git.ask(ctx, r.Main, "symbolic-ref", "--quiet", "HEAD")
	switch {
	case err != nil && !refused(err):
		return Base{}, err
	case err != nil && r.at == r.Main:
		names = append(names, "HEAD")
	case err == nil && !strings.HasPrefix(line(out), "refs/heads/"+prefix):
		names = append(names, line(out))
	}
	out, err = r.git.ask(ctx, r.at, "symbolic-ref", "--quiet", "refs/remotes/origin/HEAD")
	if err == nil {
		names = append(names, line(out))
	} else if !refused(err) {
		return Base{}, err
	}
	names = append(names, "refs/heads/main", "refs/heads/master", "refs/remotes/origin/main", "refs/remotes/origin/master")
	for _, name := range names {
		commit, err := r.commit(ctx, r.at, name)
		if err != nil {
			return Base{}, err
		}
		if commit != "" {
			return Base{strings.TrimPrefix(strings.TrimPrefix(name, "refs/heads/"), "refs/remotes/"), commit}, nil
		}
	}
	return Base{}, nil
}

// commit returns the commit that a name refers to, or an empty string if there is none.
func (r *Repo) commit(ctx context.Context, dir, name string) (string, error) {
	out, err := r.git.ask(ctx, dir, "rev-parse", "--verify", "--quiet", name+"^{commit}")
	if exitCode(err) > 0 {
		return "", nil
	}
	return line(out), err
}
