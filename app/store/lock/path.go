package lock

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"rollcall/bounded"
)

// RealPath returns the absolute path of a folder without symbolic links. It fails if there is no such folder, or if the
// path is not valid UTF-8 and so can't be stored.
func RealPath(path string) (string, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	resolved, err := filepath.EvalSymlinks(abs)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", &missingError{abs}
	case errors.Is(err, fs.ErrPermission):
		return "", fmt.Errorf("the folder %s cannot be read: %w", Shown(abs), fs.ErrPermission)
	case err != nil:
		return "", err
	}
	if !utf8.ValidString(resolved) {
		return "", fmt.Errorf("%q: the path is not UTF-8 text, so the folder cannot be locked; rename it", resolved)
	}
	info, err := os.Stat(resolved)
	if err != nil {
		return "", err
	}
	if !info.IsDir() {
		return "", fmt.Errorf("%s is not a folder", resolved)
	}
	return resolved, nil
}

// missingError reports that there is no such folder.
type missingError struct{ path string }

func (e *missingError) Error() string { return "the folder " + Shown(e.path) + " does not exist" }

// Is reports whether target is fs.ErrNotExist, for errors.Is.
func (e *missingError) Is(target error) bool { return target == fs.ErrNotExist }

// FormerPath returns the real path of a folder that may have been removed. It then resolves the symbolic links of the
// folders above that still exist.
func FormerPath(path string) string {
	abs, err := filepath.Abs(path)
	if err != nil {
		return path
	}
	for dir, below := abs, ""; ; {
		if resolved, err := filepath.EvalSymlinks(dir); err == nil {
			return filepath.Join(resolved, below)
		}
		if dir == filepath.Dir(dir) {
			return abs
		}
		dir, below = filepath.Dir(dir), filepath.Join(filepath.Base(dir), below)
	}
}

// Below returns a function that reports whether a folder is dir or below it. If the file system answers, it compares folders
// by identity, so that links make no difference. The function is safe for concurrent use, and remembers its answers.
func Below(dir string) func(folder string) bool {
	realPath := func(dir string) string {
		if !bounded.Answers(dir) {
			return dir
		}
		path, err := bounded.In(dir, bounded.ReadLimit, func(context.Context) (string, error) { return FormerPath(dir), nil })
		if err != nil {
			return dir
		}
		return path
	}
	asked := realPath(dir)
	var mu sync.Mutex
	known := map[string]bool{} // very many sessions share few folders
	return func(folder string) bool {
		mu.Lock()
		defer mu.Unlock()
		below, found := known[folder]
		if !found {
			rel, err := filepath.Rel(asked, realPath(folder))
			below = err == nil && filepath.IsLocal(rel)
			known[folder] = below
		}
		return below
	}
}

// Same reports whether two paths lead to the same folder.
func Same(a, b string) bool {
	x, err := os.Stat(a)
	if err != nil {
		return false
	}
	y, err := os.Stat(b)
	return err == nil && os.SameFile(x, y)
}

// Shown returns a path, or another text that a user chose, for a message. It quotes a text with control characters,
// which could hide what follows them.
func Shown(text string) string {
	if strings.ContainsFunc(text, unicode.IsControl) {
		return strconv.Quote(text)
	}
	return text
}

// Overlap reports whether two real paths name the same folder, or one is inside the other. It compares folders that
// exist by identity, so that letter case and a second mount of the same folder make no difference.
func Overlap(a, b string) bool { return Within(a, b) || Within(b, a) }

// Within reports whether path is outer or is inside it.
func Within(outer, path string) bool {
	if rel, err := filepath.Rel(outer, path); err == nil && filepath.IsLocal(rel) {
		return true
	}
	top, err := os.Stat(outer)
	if err != nil {
		return false
	}
	for dir := path; ; dir = filepath.Dir(dir) {
		if info, err := os.Stat(dir); err == nil && os.SameFile(top, info) {
			return true
		}
		if dir == filepath.Dir(dir) {
			return false
		}
	}
}
