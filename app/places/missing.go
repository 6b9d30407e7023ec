package places

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"rollcall/bounded"
)

// IsElsewhere reports whether a path leads to another folder than was, to none, or to one whose rights have changed: the events
// of a folder say nothing of its own rights, and nothing of those of the folders above it.
func IsElsewhere(path string, was os.FileInfo) bool {
	now, err := os.Stat(path)
	if err != nil {
		return isAbsentPath(err) || errors.Is(err, fs.ErrPermission)
	}
	return !os.SameFile(was, now) || now.Mode() != was.Mode()
}

// IsMissing reports whether nothing is at path, or at what it links to.
func IsMissing(path string) bool {
	_, err := os.Stat(path)
	return err != nil && isAbsentPath(err)
}

func isAbsentPath(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}

// Missing returns the paths that do not exist, or that are on a file system that does not answer: their folders are watched
// once the file system answers.
func Missing(paths []string) []string {
	var out []string
	for _, path := range paths {
		if filepath.IsAbs(path) && (!bounded.Answers(path) || IsMissing(path)) && !slices.Contains(out, path) {
			out = append(out, path)
		}
	}
	return out
}

// MissingFolder returns the topmost folder above path that does not exist. It returns "" if path is in a folder that
// exists, or in one whose file system does not answer.
func MissingFolder(path string) (missing string) {
	if !filepath.IsAbs(path) || !bounded.Answers(path) {
		return ""
	}
	for dir := filepath.Dir(path); IsMissing(dir) && dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		missing = dir
	}
	return missing
}
