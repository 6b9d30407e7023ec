package worktree

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"rollcall/bounded"
)

// git opens its files without a look at what they are: it waits for ever for a writer of a named pipe, and reads a device to its end. An agent can put one
// anywhere in its repository.

const (
	// patience is how long git may run before the files that it reads are looked at.
	patience = time.Second
	// lookLimit is the time that this look may take.
	lookLimit = 3 * time.Second
)

// readInTree lists the files that git reads in every folder of a working tree.
var readInTree = []string{".gitignore", ".gitattributes", ".gitmodules", ".mailmap"}

// blocking returns an error that names a file for which git waits in the repository that contains dir, or nil where none was found in time.
func blocking(ctx context.Context, dir string) error {
	ctx, cancel := context.WithTimeout(ctx, lookLimit)
	defer cancel()
	found, _ := bounded.Within(ctx, lookLimit, func() (error, error) { return lookForBlocking(ctx, dir), nil })
	return found
}

func lookForBlocking(ctx context.Context, dir string) error {
	_, checkout := repositoryOf(dir)
	if checkout == "" {
		checkout = dir // a bare repository
	}
	places := []string{filepath.Join(checkout, ".git")}
	if admin, err := readLine(places[0], "gitdir: "); err == nil {
		if !filepath.IsAbs(admin) {
			admin = filepath.Join(checkout, admin)
		}
		places = append(places, admin)
		common, err := readLine(filepath.Join(admin, "commondir"), "")
		if err == nil && !filepath.IsAbs(common) {
			common = filepath.Join(admin, common)
		}
		if err == nil {
			places = append(places, common)
		}
	}
	for _, place := range places {
		if err := lookBelow(ctx, place, func(string) bool { return true }); err != nil {
			return err
		}
	}
	return lookBelow(ctx, checkout, func(name string) bool { return slices.Contains(readInTree, name) })
}

// lookBelow returns the error for the first blocking file below a folder whose name is one that git reads.
func lookBelow(ctx context.Context, root string, read func(name string) bool) error {
	var found error
	_ = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if ctx.Err() != nil {
			return fs.SkipAll
		}
		if err != nil || d.IsDir() || !read(d.Name()) {
			return nil
		}
		found = checkBlocking(path, d.Type())
		if found != nil {
			return fs.SkipAll
		}
		return nil
	})
	return found
}

// checkBlocking returns an error for a named pipe or a device, or a link to one.
func checkBlocking(path string, kind fs.FileMode) error {
	if kind&fs.ModeSymlink != 0 {
		info, err := os.Stat(path)
		if err != nil {
			return nil // git finds nothing there either
		}
		kind = info.Mode()
	}
	switch {
	case kind&fs.ModeNamedPipe != 0:
		return fmt.Errorf("%s is a named pipe, for which git would wait without end: remove it", path)
	case kind&fs.ModeDevice != 0:
		return fmt.Errorf("%s is a device, which git would read without end: remove it", path)
	}
	return nil
}

// errSlow is the reason of a git command that takes too long although nothing was found for which it waits.
var errSlow = errors.New("a file that it reads may be a pipe, or on a file system that does not answer")
