package worktree

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// status is the git status of one working tree.
type status struct {
	changed, conflicts int
	untracked, ignored []string // paths; a folder ends with "/"
}

// parseStatus parses the output of git status --porcelain=v2 -z. Paths are bytes and need not be valid UTF-8. The
// former name of a renamed file follows as a separate field.
func parseStatus(out []byte) status {
	var s status
	skip := false
	for field := range bytes.SplitSeq(out, []byte{0}) {
		if skip || len(field) < 2 {
			skip = false
			continue
		}
		switch field[0] {
		case '1':
			s.changed++
		case '2':
			s.changed++
			skip = true
		case 'u':
			s.changed++
			s.conflicts++
		case '?':
			s.untracked = append(s.untracked, string(field[2:]))
		case '!':
			s.ignored = append(s.ignored, string(field[2:]))
		}
	}
	return s
}

// FileStat is the difference of one file.
type FileStat struct {
	Path       string `json:"path"`           // as git reports it: bytes, with "/"
	From       string `json:"from,omitempty"` // former path of a renamed file
	Insertions int    `json:"insertions"`
	Deletions  int    `json:"deletions"`
	Binary     bool   `json:"binary,omitempty"`
	// Untracked reports a file of which git knows nothing, and Size its bytes in the working tree, as of a binary one. Only Changes has them.
	Untracked bool  `json:"untracked,omitempty"`
	Size      int64 `json:"size,omitempty"`
}

// Stat is the sum of several FileStats.
type Stat struct {
	Files, Insertions, Deletions int
}

func sum(files []FileStat) Stat {
	s := Stat{Files: len(files)}
	for _, f := range files {
		s.Insertions += f.Insertions
		s.Deletions += f.Deletions
	}
	return s
}

// parseDiff parses the output of git diff --raw --numstat -z: ":mode mode id id M NUL path NUL" for each file, then
// "ins TAB del TAB path NUL" for each file. A rename has two path fields: after the first path in the first part, and
// in place of the path in the second part. A binary file has hyphens for numbers. It omits files of which only the
// modification time differs; git lists them when it must not refresh its index.
func parseDiff(out []byte) []FileStat {
	var files []FileStat
	same := map[string]bool{} // files whose mode has not changed
	fields := strings.Split(string(out), "\x00")
	for i := 0; i < len(fields); i++ {
		if raw, ok := strings.CutPrefix(fields[i], ":"); ok && i+1 < len(fields) {
			i++
			f := strings.Fields(raw)
			if len(f) == 5 && (f[4][0] == 'R' || f[4][0] == 'C') {
				i++
			} else if len(f) == 5 {
				same[fields[i]] = f[4] == "M" && f[0] == f[1]
			}
			continue
		}
		parts := strings.SplitN(fields[i], "\t", 3)
		if len(parts) != 3 {
			continue
		}
		f := FileStat{Path: parts[2], Binary: parts[0] == "-"}
		f.Insertions, _ = strconv.Atoi(parts[0]) // 0 for a hyphen
		f.Deletions, _ = strconv.Atoi(parts[1])
		if f.Path == "" && i+2 < len(fields) {
			f.From, f.Path = fields[i+1], fields[i+2]
			i += 2
		}
		if f.Insertions+f.Deletions > 0 || f.Binary || !same[f.Path] {
			files = append(files, f)
		}
	}
	return files
}

// hiddenFiles counts the present files that git was told not to check, in the output of git ls-files -v --stage -z: for
// each file "tag mode id stage TAB path NUL". git status does not show their changes. Their tag is a lower-case letter for
// assume-unchanged, or S for skip-worktree. modules reports whether a submodule is checked out.
func hiddenFiles(out []byte, present func(path string) bool) (n int, modules bool) {
	for field := range bytes.SplitSeq(out, []byte{0}) {
		facts, path, found := strings.Cut(string(field), "\t")
		if !found || len(facts) < 3 {
			continue
		}
		if tag := facts[0]; (tag == 'S' || 'a' <= tag && tag <= 'z') && present(path) {
			n++
		}
		modules = modules || strings.HasPrefix(facts[2:], submodule) && present(path+"/.git")
	}
	return n, modules
}

// submodule is the mode of a submodule in the index, with the space after it.
const submodule = "160000 "

// Ignored counts the files that git ignores, mostly the output of builds. They count as work, since an agent could have
// added any file to .gitignore.
type Ignored struct {
	Entries int // as git lists them: a folder counts once
	Files   int
	Bytes   int64
	// Repositories are git repositories in ignored folders, relative to the worktree. Their commits may exist nowhere
	// else.
	Repositories []string
	// Partly reports that there were too many files to look at, or a folder that could not be read.
	Partly bool
}

const (
	// maxIgnored and ignoredLimit limit the walk. A node_modules folder has some ten thousand files.
	maxIgnored   = 500_000
	ignoredLimit = 15 * time.Second
)

var errEnough = errors.New("enough")

// measure walks the paths that git listed as ignored.
func measure(ctx context.Context, root string, paths []string) (Ignored, error) {
	got := Ignored{Entries: len(paths)}
	until := time.Now().Add(ignoredLimit)
	for _, p := range paths {
		folder := strings.HasSuffix(p, "/")
		err := filepath.WalkDir(filepath.Join(root, filepath.FromSlash(p)), func(path string, d fs.DirEntry, err error) error {
			switch {
			case ctx.Err() != nil:
				return ctx.Err()
			case err != nil:
				got.Partly = got.Partly || !errors.Is(err, fs.ErrNotExist) // a folder that may not be read
				return nil
			case got.Files >= maxIgnored, got.Files%1024 == 0 && time.Now().After(until):
				return errEnough
			}
			if d.Name() == ".git" && folder {
				if rel, err := filepath.Rel(root, filepath.Dir(path)); err == nil {
					got.Repositories = append(got.Repositories, rel)
				}
			}
			if !d.IsDir() {
				got.Files++
				if info, err := d.Info(); err == nil {
					got.Bytes += info.Size()
				}
			}
			return nil
		})
		switch {
		case errors.Is(err, errEnough):
			got.Partly = true
			return got, nil
		case err != nil:
			return got, err
		}
	}
	return got, nil
}
