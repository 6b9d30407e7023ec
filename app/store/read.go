package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// maxLinks is the largest number of links in one path.
const maxLinks = 40

// ReadFile reads a file of at most limit bytes that the user wrote: the settings, or a file that they name. The file, its
// folder and every link in its path must belong to the user or to root, and no other user may be able to write to them.
// It follows links, since programs that manage settings create them. Its errors are those of Dir.Read.
func ReadFile(path string, limit int64) ([]byte, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	target, err := resolve(path)
	if err != nil {
		return nil, err
	}
	dir, err := os.Stat(filepath.Dir(target))
	if err != nil {
		return nil, named(filepath.Dir(target), err)
	}
	if err := checkOwner(filepath.Dir(target), dir, userOrRoot); err != nil {
		return nil, err
	}
	before, err := os.Lstat(target)
	if err != nil {
		return nil, named(target, err)
	}
	if !before.Mode().IsRegular() {
		return nil, fmt.Errorf("%s: %w", target, ErrNotRegular)
	}
	f, err := os.OpenFile(target, os.O_RDONLY|noWait, 0)
	if err != nil {
		return nil, named(target, err)
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	switch {
	case err != nil:
		return nil, named(target, err)
	case !os.SameFile(before, info):
		return nil, fmt.Errorf("%s: the file was replaced while it was opened; try again", target)
	}
	if err := checkOwner(target, info, userOrRoot); err != nil {
		return nil, err
	}
	data, err := readAll(f, limit)
	return data, named(target, err)
}

// resolve returns the path with its links resolved. It checks each link first.
func resolve(path string) (string, error) {
	links := 0
	done := filepath.VolumeName(path) + string(filepath.Separator)
	rest := strings.TrimPrefix(path, done)
	for rest != "" {
		name, after, _ := strings.Cut(rest, string(filepath.Separator))
		rest = after
		switch name {
		case "", ".":
			continue
		case "..":
			done = filepath.Dir(done)
			continue
		}
		next := filepath.Join(done, name)
		info, err := os.Lstat(next)
		if err != nil {
			return "", named(next, err)
		}
		if info.Mode()&fs.ModeSymlink == 0 {
			done = next
			continue
		}
		if links++; links > maxLinks {
			return "", fmt.Errorf("%s: too many links", path)
		}
		if err := checkLink(next, info); err != nil {
			return "", err
		}
		to, err := os.Readlink(next)
		if err != nil {
			return "", named(next, err)
		}
		if filepath.IsAbs(to) {
			done = filepath.VolumeName(to) + string(filepath.Separator)
			to = strings.TrimPrefix(to, done)
		}
		rest = to + string(filepath.Separator) + rest
	}
	return done, nil
}

// checkLink checks the owner of a link. The mode of a link has no meaning.
func checkLink(path string, info fs.FileInfo) error {
	err := checkOwner(path, linkInfo{info}, userOrRoot)
	var unsafe *UnsafeError
	if errors.As(err, &unsafe) {
		unsafe.Fix = "Replace the link by a file or a link of your own."
	}
	return err
}

// linkInfo is the description of a link without its mode, which is 0777 on most systems.
type linkInfo struct{ fs.FileInfo }

func (linkInfo) Mode() fs.FileMode { return fs.ModeSymlink }

// Quote quotes s as one word of a POSIX shell, if needed.
func Quote(s string) string {
	if s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("-_./:=@%+,", r)
	}) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// Missing reports whether path certainly does not exist.
func Missing(path string) bool {
	_, err := os.Lstat(path)
	return errors.Is(err, fs.ErrNotExist)
}
