//go:build unix && !darwin

package trash

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"rollcall/app/store"
)

// folder is one trash folder, which contains files/ and info/.
type folder struct {
	dir string
	top string // folder to which recorded paths are relative; empty: they are absolute
}

// put moves the file into the first trash folder that accepts it.
func (t *Trash) put(path string) (string, error) {
	folders, err := t.folders(path)
	if err != nil {
		return "", err
	}
	var errs []error
	for _, c := range folders {
		where, err := t.into(c, path)
		if err == nil {
			return where, nil
		}
		errs = append(errs, err)
	}
	return "", fmt.Errorf("move to the trash: %w", errors.Join(errs...))
}

// folders returns the trash folders for a file, the preferred one first: the home trash if it is on the same file
// system; or else $top/.Trash/$uid, which an administrator has created, $top/.Trash-$uid, and the home trash, into which
// the file is copied.
func (t *Trash) folders(path string) ([]folder, error) {
	home := folder{dir: filepath.Join(t.data, "Trash")}
	if err := os.MkdirAll(t.data, 0o700); err != nil {
		return nil, err
	}
	here, err := t.device(path)
	if err != nil {
		return nil, err
	}
	if there, err := t.device(t.data); err == nil && here == there {
		return []folder{home}, nil
	}
	top, err := t.top(path)
	if err != nil {
		return nil, err
	}
	uid := strconv.Itoa(os.Getuid())
	var out []folder
	shared := filepath.Join(top, ".Trash")
	// Without the sticky bit, other users could replace our files.
	if info, err := os.Lstat(shared); err == nil && info.IsDir() && info.Mode()&os.ModeSticky != 0 {
		out = append(out, folder{filepath.Join(shared, uid), top})
	}
	return append(out, folder{filepath.Join(top, ".Trash-"+uid), top}, home), nil
}

// into moves the file into one trash folder. It first creates the info file exclusively, to reserve the name.
func (t *Trash) into(c folder, path string) (string, error) {
	// The home trash may be a link of the user's. On a shared disk a link could be another user's.
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
		if !store.Missing(file) {
			continue // without an info file: a program died before it wrote one
		}
		err := writeNew(info, text)
		if errors.Is(err, os.ErrExist) {
			continue
		}
		if err != nil {
			return "", err
		}
		err = move(path, file)
		if err != nil {
			_ = os.Remove(info)
			return "", err
		}
		return file, nil
	}
	return "", fmt.Errorf("%s: no free name for %s", c.dir, filepath.Base(path))
}

// numbered returns the n-th candidate for a name, short enough for the suffix ".trashinfo".
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

// writeNew creates a file durably. It fails if the file exists.
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

// escape escapes the bytes of a path as in RFC 2396.
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
