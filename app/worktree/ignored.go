package worktree

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"time"
)

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
