package worktree

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"rollcall/app/store"
	"rollcall/bounded"
)

// git status and git diff read the files of a working tree through the filters that the repository's configuration
// names, and so run programs that an agent can have written there. Every name of a filter is possible, and the agent may
// add one at any moment. So these two commands never read that configuration: they run in a snapshot, a repository of
// Rollcall's own with the index, the objects, the HEAD and the ignore rules of the real one, and with copies of the few
// settings that say how files are compared. A filter without a configuration does nothing. The filters of the user's own
// configuration, such as git-lfs, still run.

// comparing matches the settings, as git lists them, that say how files are compared or stored. None of them names a
// program.
var comparing = regexp.MustCompile(`^(core\.(repositoryformatversion|filemode|symlinks|ignorecase|precomposeunicode|protecthfs|protectntfs|` +
	`autocrlf|eol|safecrlf|checkroundtripencoding|trustctime|checkstat|sparsecheckout|sparsecheckoutcone|excludesfile|bigfilethreshold)|` +
	`extensions\.(objectformat|compatobjectformat)|index\.sparse)$`)

// copied lists the files that a snapshot has copies of, relative to the repository's folder and to that of the worktree.
var copied = []string{"info/exclude", "info/attributes", "info/sparse-checkout", "sharedindex.*"}

// maxCopied is the size of the largest file that is copied.
const maxCopied = 256 << 20

// snapshot is a repository in which git compares the files of one working tree.
type snapshot struct {
	git    *Git // with the environment of the snapshot
	folder string
	tree   string // the working tree
	own    string // the folder in which git keeps the data of the working tree
	head   string // commit; empty: a branch without a commit
}

// snapshot makes the snapshot of the working tree that contains dir. The caller closes it. git has checked that the
// repository belongs to the user.
func (r *Repo) snapshot(ctx context.Context, dir string) (s *snapshot, err error) {
	var paths [4]string
	for i, of := range []string{"--show-toplevel", "--absolute-git-dir", "--git-common-dir", "--git-path=objects"} {
		out, err := r.git.ask(ctx, dir, append([]string{"rev-parse"}, strings.Split(of, "=")...)...)
		if err != nil {
			return nil, err
		}
		paths[i] = filepath.FromSlash(line(out))
		if !filepath.IsAbs(paths[i]) {
			paths[i] = filepath.Join(dir, paths[i])
		}
	}
	head, err := r.commit(ctx, dir, "HEAD")
	if err != nil {
		return nil, err
	}
	settings, err := r.git.ask(ctx, dir, "config", "--list", "--show-scope", "-z")
	if err != nil {
		return nil, err
	}
	folder, err := privateFolder()
	if err != nil {
		return nil, fmt.Errorf("make a folder for git: %w", err)
	}
	s = &snapshot{folder: folder, tree: paths[0], own: paths[1], head: head}
	defer func() {
		if err != nil {
			s.close()
		}
	}()
	head = cmp.Or(head, "ref: refs/heads/none")
	write := func(name, text string) error { return os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600) }
	err = errors.Join(os.Mkdir(filepath.Join(folder, "refs"), 0o700), os.Mkdir(filepath.Join(folder, "objects"), 0o700), os.Mkdir(filepath.Join(folder, "info"), 0o700),
		write("HEAD", head+"\n"), write("config", snapshotConfig(string(settings))))
	_, copyErr := bounded.Within(ctx, bounded.ReadLimit, func() (struct{}, error) {
		return struct{}{}, errors.Join(copyFiles(paths[2], folder), copyFiles(paths[1], folder))
	})
	err = errors.Join(err, copyErr)
	s.git = r.git.with(map[string]string{"GIT_DIR": folder, "GIT_WORK_TREE": s.tree,
		"GIT_INDEX_FILE": filepath.Join(paths[1], "index"), "GIT_OBJECT_DIRECTORY": paths[3]})
	return s, err
}

func (s *snapshot) close() { _ = os.RemoveAll(s.folder) }

// ask runs a git command that compares the files of the working tree. Submodules are only compared by their commits: in
// each of them git would run again, with the submodule's own configuration.
func (s *snapshot) ask(ctx context.Context, command string, args ...string) ([]byte, error) {
	return s.git.ask(ctx, s.tree, append([]string{command, "--ignore-submodules=dirty"}, args...)...)
}

// privateFolder makes a new folder that only the user can read. It is in the user's folder for caches: a sandboxed agent
// can often write into the one for temporary files.
func privateFolder() (string, error) {
	path, err := store.FactsPath()
	if err == nil {
		var dir *store.Dir
		dir, err = store.MakeDir(filepath.Dir(path), "git")
		if err == nil {
			dir.Close()
			return os.MkdirTemp(filepath.Join(filepath.Dir(path), "git"), "")
		}
	}
	return os.MkdirTemp("", "rollcall-git-")
}

// snapshotConfig returns the configuration of a snapshot, given the output of git config --list --show-scope -z.
func snapshotConfig(listed string) string {
	var b strings.Builder
	fields := strings.Split(listed, "\x00")
	for i := 0; i+1 < len(fields); i += 2 {
		key, value, hasValue := strings.Cut(fields[i+1], "\n")
		if scope := fields[i]; scope != "local" && scope != "worktree" || !comparing.MatchString(key) {
			continue
		}
		section, name, _ := strings.Cut(key, ".")
		if fmt.Fprintf(&b, "[%s]\n\t%s", section, name); hasValue {
			b.WriteString(" = \"" + quoting.Replace(value) + `"`)
		}
		b.WriteByte('\n')
	}
	return b.String() + "[core]\n\tbare = false\n"
}

// quoting writes a value in the way that git reads between quotes.
var quoting = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\t", `\t`)

// copyFiles copies the files that a snapshot needs. Links are not followed out of the folder.
func copyFiles(from, to string) error {
	root, err := os.OpenRoot(from)
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }()
	for _, pattern := range copied {
		names, err := fs.Glob(root.FS(), pattern)
		if err != nil {
			return err
		}
		for _, name := range names {
			info, err := root.Lstat(name)
			if err != nil {
				continue
			}
			if err := checkBlocking(filepath.Join(from, name), info.Mode()); err != nil {
				return err
			}
			if !info.Mode().IsRegular() || info.Size() > maxCopied {
				continue
			}
			data, err := root.ReadFile(name)
			if err != nil {
				return err
			}
			if err := os.WriteFile(filepath.Join(to, name), data, 0o600); err != nil {
				return err
			}
		}
	}
	return nil
}
