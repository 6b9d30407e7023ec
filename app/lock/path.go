package lock

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// RealPath is the absolute path of a folder without symbolic links. It is an
// error when there is no such folder, or when its path can't be kept in a file.
func RealPath(path string) (string, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	resolved, err := filepath.EvalSymlinks(abs)
	if err != nil {
		return "", err
	}
	if !utf8.ValidString(resolved) {
		return "", fmt.Errorf("%s: its path is not UTF-8 text, so no lock could name it", resolved)
	}
	info, err := os.Stat(resolved)
	if err != nil {
		return "", err
	}
	if !info.IsDir() {
		return "", fmt.Errorf("%s is no folder", resolved)
	}
	return resolved, nil
}

// FormerPath is RealPath for a folder that may be gone: then it is the path that
// the folder had, as far as what is left above it tells.
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

// Same says whether two paths lead to the same folder.
func Same(a, b string) bool {
	x, err := os.Stat(a)
	if err != nil {
		return false
	}
	y, err := os.Stat(b)
	return err == nil && os.SameFile(x, y)
}

// Shown is a path, or other text that somebody chose, for a message. With control
// characters it is quoted: left as they are they could hide what follows.
func Shown(text string) string {
	if strings.ContainsFunc(text, unicode.IsControl) {
		return strconv.Quote(text)
	}
	return text
}

// Overlap says whether two real paths are the same folder, or one lies in the
// other. Folders are compared by identity where they exist, so that neither
// letter case nor a second mount of the same folder makes two of one.
func Overlap(a, b string) bool { return Within(a, b) || Within(b, a) }

// Within says whether path is outer or lies in it.
func Within(outer, path string) bool {
	if textWithin(outer, path) {
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

func textWithin(outer, path string) bool {
	rel, err := filepath.Rel(outer, path)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}
