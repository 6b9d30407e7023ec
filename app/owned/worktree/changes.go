package worktree

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"rollcall/app/store"
	"rollcall/bounded"
)

// Changes is what differs in a working tree from a commit.
type Changes struct {
	Tree   string // the working tree
	Branch string // checked out now; empty: detached
	From   string // the commit; empty: none, so that every file counts as added
	// Note says why From may not be the commit that HEAD had at the time that was asked for; empty: it is that one.
	Note string
	// Commits are those of HEAD that are not in From, the newest first. More reports that there are older ones.
	Commits []Commit
	More    bool
	// State has what is not committed, and the difference between From and the files, untracked ones among them.
	State
	// Unlisted counts the untracked files that Files has not.
	Unlisted int
	// Diff is the difference of the files as git prints it, and LeftOut the paths of those that are too large for it.
	Diff    string
	LeftOut []string
}

// Commit is one commit of a working tree's history.
type Commit struct {
	ID      string
	At      time.Time // when it was committed
	Subject string
}

const (
	maxCommits   = 1000
	maxUntracked = 1000
)

// ChangesSince returns what changed in the working tree that contains a folder since a time: since the commit that its HEAD had then. Without a time it is the
// work that is not committed. It runs no program that the repository names, like the other questions, and reads the text of the difference only if diff is set.
func ChangesSince(ctx context.Context, dir string, since time.Time, diff bool) (*Changes, error) {
	git, err := FindGit()
	if err != nil {
		return nil, err
	}
	return git.changesSince(ctx, dir, since, diff)
}

func (g *Git) changesSince(ctx context.Context, dir string, since time.Time, diff bool) (*Changes, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, readLimit, fmt.Errorf("%s: git did not compare the files in %s", dir, readLimit))
	defer cancel()
	switch {
	case !bounded.Answers(dir):
		return nil, fmt.Errorf("%s: its file system does not answer", dir)
	case store.Missing(dir):
		return nil, fmt.Errorf("%s: the folder no longer exists", dir)
	}
	r := &Repo{git: g, dir: dir, at: dir}
	tree, err := r.snapshot(ctx, dir)
	if err != nil {
		return nil, err
	}
	defer tree.close()
	if !isTreeOf(dir, tree.tree) {
		return nil, fmt.Errorf("%s: the git repository names another folder as its working tree, %s (core.worktree), so its files are not read", dir, tree.tree)
	}
	c := &Changes{Tree: tree.tree}
	out, err := g.ask(ctx, dir, "symbolic-ref", "--quiet", "HEAD")
	if err == nil {
		c.Branch = strings.TrimPrefix(line(out), "refs/heads/")
	} else if !refused(err) {
		return nil, err
	}
	c.From, c.Note, err = g.headAt(ctx, tree, since)
	if err != nil {
		return nil, err
	}
	if err := c.addCommits(ctx, g, tree); err != nil {
		return nil, err
	}
	if err := c.addState(ctx, r, tree); err != nil {
		return nil, err
	}
	return c, c.addFiles(ctx, tree, diff)
}

// isTreeOf reports whether a folder is in the working tree that git named, and in no other one: a repository's configuration may name any folder.
func isTreeOf(dir, tree string) bool {
	at, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return false
	}
	for store.Missing(filepath.Join(at, ".git")) {
		if at == filepath.Dir(at) {
			return false
		}
		at = filepath.Dir(at)
	}
	a, errA := os.Stat(at)
	b, errB := os.Stat(tree)
	return errA == nil && errB == nil && os.SameFile(a, b)
}

// addCommits adds the commits that are new in HEAD.
func (c *Changes) addCommits(ctx context.Context, g *Git, tree *snapshot) error {
	if tree.head == "" || tree.head == c.From {
		return nil
	}
	args := []string{"log", "--no-mailmap", "--no-patch", "-z", "--format=%H %ct %s", "--max-count=" + strconv.Itoa(maxCommits+1), tree.head}
	if c.From != "" {
		args = append(args, "^"+c.From)
	}
	out, err := g.ask(ctx, tree.tree, args...)
	if err != nil {
		return err
	}
	c.Commits = parseLog(out)
	if len(c.Commits) > maxCommits {
		c.Commits = c.Commits[:maxCommits]
		c.More = true
	}
	if c.From == "" {
		return nil
	}
	_, err = g.ask(ctx, tree.tree, "merge-base", "--is-ancestor", c.From, tree.head)
	if exitCode(err) == 1 {
		c.Note = strings.TrimPrefix(c.Note+"; ", "; ") + "it is not in the history of what is checked out now: a branch was switched, or commits were rewritten"
		return nil
	}
	return err
}

// parseLog parses the output of git log -z with the format "%H %ct %s".
func parseLog(out []byte) (list []Commit) {
	for entry := range strings.SplitSeq(string(out), "\x00") {
		id, rest, _ := strings.Cut(entry, " ")
		at, subject, _ := strings.Cut(rest, " ")
		seconds, err := strconv.ParseInt(at, 10, 64)
		if err == nil {
			list = append(list, Commit{ID: id, At: time.Unix(seconds, 0), Subject: subject})
		}
	}
	return list
}

// addState adds what is not committed, with the untracked files.
func (c *Changes) addState(ctx context.Context, r *Repo, tree *snapshot) error {
	out, err := tree.ask(ctx, "status", "--porcelain=v2", "-z", "--untracked-files=all")
	if err != nil {
		return err
	}
	st := parseStatus(out)
	c.Changed = st.changed
	c.Conflicts = st.conflicts
	c.Untracked = len(st.untracked)
	c.Operation = operation(tree.own)
	var modules bool
	c.Hidden, modules, err = r.hidden(ctx, tree.tree)
	if err != nil {
		return err
	}
	c.Modules = modules
	c.Unlisted = max(c.Untracked-maxUntracked, 0)
	for _, path := range st.untracked[:c.Untracked-c.Unlisted] {
		c.Files = append(c.Files, FileStat{Path: path, Untracked: true})
	}
	return nil
}

// Unfinished returns what is not committed, in words such as "2 changed files".
func (c *Changes) Unfinished() []string { return Entry{State: c.State}.Losses() }
