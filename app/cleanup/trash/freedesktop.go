//go:build unix && !darwin

package trash

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// can is one trash folder, with files/ and info/ in it.
type can struct {
	dir string
	top string // what recorded paths are relative to; empty: they are absolute
}

// put tries the trash of the file's own file system first: nothing is copied.
func (t *Trash) put(path string) (string, error) {
	cans, err := t.cans(path)
	if err != nil {
		return "", err
	}
	var errs []error
	for _, c := range cans {
		where, err := t.into(c, path)
		if err == nil {
			return where, nil
		}
		errs = append(errs, err)
	}
	return "", fmt.Errorf("move to the trash: %w", errors.Join(errs...))
}

// cans are the trash folders for a file, the best first: the home trash where it
// is on the same file system; else $top/.Trash/$uid, which an administrator
// prepared, then $top/.Trash-$uid, then the home trash with a copy.
func (t *Trash) cans(path string) ([]can, error) {
	home := can{dir: filepath.Join(t.data, "Trash")}
	if err := os.MkdirAll(t.data, 0o700); err != nil {
		return nil, err
	}
	here, err := t.device(path)
	if err != nil {
		return nil, err
	}
	if there, err := t.device(t.data); err == nil && here == there {
		return []can{home}, nil
	}
	top, err := t.top(path)
	if err != nil {
		return nil, err
	}
	uid := strconv.Itoa(os.Getuid())
	var out []can
	shared := filepath.Join(top, ".Trash")
	// It must be a true folder with the sticky bit: in any other, others could
	// replace what is ours.
	if info, err := os.Lstat(shared); err == nil && info.IsDir() && info.Mode()&os.ModeSticky != 0 {
		out = append(out, can{filepath.Join(shared, uid), top})
	}
	return append(out, can{filepath.Join(top, ".Trash-"+uid), top}, home), nil
}

// into moves the file into one trash. The info file is made first, exclusively,
// which takes the name for us; then the file follows.
func (t *Trash) into(c can, path string) (string, error) {
	// The home trash may be a link of the user's; on a shared disk it could be a
	// stranger's.
	dirs := []string{c.dir, filepath.Join(c.dir, "files"), filepath.Join(c.dir, "info")}
	if info, err := os.Stat(c.dir); c.top == "" && err == nil && info.IsDir() {
		dirs = dirs[1:]
	}
	for _, dir := range dirs {
		if err := private(dir); err != nil {
			return "", err
		}
	}
	recorded := path
	if c.top != "" {
		rel, err := filepath.Rel(c.top, path)
		if err != nil {
			return "", err
		}
		recorded = rel
	}
	text := "[Trash Info]\nPath=" + escape(recorded) + "\nDeletionDate=" + t.now().Format("2006-01-02T15:04:05") + "\n"
	for n := 1; n <= maxTries; n++ {
		name := numbered(filepath.Base(path), n)
		info, file := filepath.Join(c.dir, "info", name+".trashinfo"), filepath.Join(c.dir, "files", name)
		if !free(file) {
			continue // without an info file: left by a program that died
		}
		err := writeNew(info, text)
		if errors.Is(err, os.ErrExist) {
			continue
		}
		if err == nil {
			err = move(path, file)
		} else {
			return "", err
		}
		if err != nil {
			_ = os.Remove(info)
			return "", err
		}
		return file, nil
	}
	return "", fmt.Errorf("%s: no free name for %s", c.dir, filepath.Base(path))
}

// numbered is the n-th name to try, short enough for ".trashinfo" to follow.
func numbered(name string, n int) string {
	const room = 255 - len(".trashinfo") - len(".10000")
	if len(name) > room {
		name = name[:room]
	}
	if n == 1 {
		return name
	}
	return name + "." + strconv.Itoa(n)
}

// writeNew writes a file that is not there yet, durably.
func writeNew(path, text string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	if err == nil {
		err = f.Sync()
	}
	if closing := f.Close(); err == nil {
		err = closing
	}
	if err != nil {
		_ = os.Remove(path)
	}
	return err
}

// escape writes a path as RFC 2396 does: bytes, so that any name survives.
func escape(path string) string {
	var b strings.Builder
	for i := range len(path) {
		c := path[i]
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', strings.IndexByte("/-_.!~*'()", c) >= 0:
			b.WriteByte(c)
		default:
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}
