package worktree

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"rollcall/app/store/lock"
	"rollcall/bounded"
)

// checkPlace returns an error unless a worktree is one that a launch created: a folder, not a link, at the path that
// follows from the group and branch, and registered with this repository both in git and in the folder. It returns the
// folder's description, so that no other folder is removed in its place. An agent may have written any file that it
// reads.
func (r *Repo) checkPlace(ctx context.Context, w Worktree) (fs.FileInfo, error) {
	info, err := os.Lstat(w.Path)
	switch {
	case err != nil:
		return nil, fmt.Errorf("cannot read %s: %w", w.Path, err)
	case info.Mode()&fs.ModeSymlink != 0:
		return nil, fmt.Errorf("%s is a link: remove the link, then run git worktree prune", w.Path)
	case !info.IsDir():
		return nil, fmt.Errorf("%s is not a folder", w.Path)
	}
	expected := Folder(r.Main, w.Group, w.Suffix)
	if base(w.Path) != base(expected) || !lock.Same(filepath.Dir(w.Path), filepath.Dir(expected)) {
		return nil, fmt.Errorf("it is not where a launch creates it, which is %s: to remove it anyway, use git worktree remove", expected)
	}
	if r.Made != nil {
		if err := r.Made(w, info); err != nil {
			return nil, err
		}
	}
	if within(r.Main, w.Path) {
		return nil, errors.New("the repository itself is inside it")
	}
	admin, err := r.registered(ctx, w)
	if err != nil {
		return nil, err
	}
	back, err := readLine(filepath.Join(admin, "gitdir"), "")
	if err != nil {
		return nil, err
	}
	if !filepath.IsAbs(back) {
		back = filepath.Join(admin, back)
	}
	if base(back) != ".git" || !lock.Same(filepath.Dir(back), w.Path) {
		return nil, fmt.Errorf("git's record of it names the folder %s: run git worktree repair", filepath.Dir(back))
	}
	return info, nil
}

// registered returns git's folder for a worktree, which must be one of this repository.
func (r *Repo) registered(ctx context.Context, w Worktree) (string, error) {
	dotGit := filepath.Join(w.Path, ".git")
	admin, err := readLine(dotGit, "gitdir: ")
	if err != nil {
		return "", err
	}
	if !filepath.IsAbs(admin) {
		admin = filepath.Join(w.Path, admin)
	}
	out, err := r.git.ask(ctx, r.at, "rev-parse", "--git-common-dir")
	if err != nil {
		return "", err
	}
	common := filepath.FromSlash(line(out))
	if !filepath.IsAbs(common) {
		common = filepath.Join(r.at, common)
	}
	if !lock.Same(filepath.Dir(admin), filepath.Join(common, "worktrees")) {
		return "", fmt.Errorf("%s belongs to another repository: it names %s", w.Path, admin)
	}
	if info, err := os.Lstat(admin); err != nil || !info.IsDir() {
		return "", fmt.Errorf("git's record of it, %s, is not a folder", admin)
	}
	return admin, nil
}

// readLine reads a small file with one line that begins with a prefix, as git writes them.
func readLine(path, prefix string) (string, error) {
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() > 64<<10 {
		return "", fmt.Errorf("%s is not a file that git writes", path)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	return parseLine(path, string(text), prefix)
}

func parseLine(path, text, prefix string) (string, error) {
	value, ok := strings.CutPrefix(strings.TrimRight(text, "\r\n"), prefix)
	if !ok || value == "" || strings.ContainsAny(value, "\x00\n") {
		return "", fmt.Errorf("%s is not a file that git writes", path)
	}
	return filepath.Clean(filepath.FromSlash(value)), nil
}

// removeFolder removes a folder and its contents if it is still the folder that checked describes. It works from the
// open parent and the open folder and follows no link, so that it cannot remove other files if something is renamed
// meanwhile.
func removeFolder(path string, checked fs.FileInfo) error {
	parent, err := os.OpenRoot(filepath.Dir(path))
	if err != nil {
		return err
	}
	defer func() { _ = parent.Close() }()
	name := filepath.Base(path)
	if now, err := parent.Lstat(name); err != nil || !now.IsDir() || !os.SameFile(now, checked) {
		return fmt.Errorf("%w: another folder is in its place", ErrChanged)
	}
	if err := emptyFolder(parent, name, checked); err != nil {
		return err
	}
	if err := parent.Remove(name); err != nil {
		return fmt.Errorf("the contents of %s are removed, but the folder is not: %w", path, err)
	}
	return nil
}

func emptyFolder(parent *os.Root, name string, checked fs.FileInfo) error {
	dir, err := parent.OpenRoot(name)
	if err != nil {
		return err
	}
	defer func() { _ = dir.Close() }()
	if now, err := dir.Stat("."); err != nil || !os.SameFile(now, checked) {
		return fmt.Errorf("%w: another folder is in its place", ErrChanged)
	}
	list, err := dir.Open(".")
	if err != nil {
		return err
	}
	names, err := list.Readdirnames(-1)
	_ = list.Close()
	// .git is removed last, so that the rest is still a worktree after a failure.
	var last bool
	for _, n := range names {
		if n == ".git" {
			last = true
			continue
		}
		err = errors.Join(err, dir.RemoveAll(n))
	}
	if err != nil {
		return fmt.Errorf("only a part of %s is removed: %w", parent.Name()+string(filepath.Separator)+name, err)
	}
	if last {
		return dir.RemoveAll(".git")
	}
	return nil
}

func base(path string) string { return filepath.Base(filepath.Clean(path)) }

// within reports whether folder is root or is inside it. It follows symbolic links. It compares folders by identity, or
// by name if the file system of folder does not answer.
func within(folder, root string) bool {
	if !bounded.Answers(folder) {
		rel, err := filepath.Rel(root, folder)
		return err == nil && filepath.IsLocal(rel)
	}
	if resolved, err := filepath.EvalSymlinks(folder); err == nil {
		folder = resolved
	}
	return lock.Within(root, filepath.Clean(folder))
}
