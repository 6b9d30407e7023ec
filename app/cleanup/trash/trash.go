// Package trash moves files to where the user can get them back: the trash of
// freedesktop.org's specification (version 1.0) on Linux and the BSDs, macOS's
// Trash folders, the Recycle Bin on Windows.
package trash

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"
)

// ErrNone says that this system has no trash.
var ErrNone = errors.New("this system has no trash")

// Trash is the trash of one user. It is safe for concurrent use.
type Trash struct {
	home   string // the user's home folder
	data   string // $XDG_DATA_HOME; unused elsewhere
	now    func() time.Time
	device func(path string) (uint64, error) // which file system it lies on
}

// New returns the trash of the user with this home folder. getenv reads the
// environment: XDG_DATA_HOME counts where the specification applies.
func New(home string, getenv func(string) string) *Trash {
	t := &Trash{home: home, data: getenv("XDG_DATA_HOME"), now: time.Now, device: deviceOf}
	if !filepath.IsAbs(t.data) { // also says the base directory specification
		t.data = filepath.Join(home, ".local", "share")
	}
	return t
}

// Put moves the regular file at path, which must be absolute, to the trash and
// returns where it lies now. On an error it is where it was. ErrNone where there
// is no trash at all.
func (t *Trash) Put(path string) (where string, err error) {
	info, err := os.Lstat(path)
	if err != nil {
		return "", err
	}
	if !info.Mode().IsRegular() || !filepath.IsAbs(path) {
		return "", fmt.Errorf("%s: not a regular file with an absolute path", path)
	}
	return t.put(path)
}

// maxTries bounds the search for a free name.
const maxTries = 10_000

// copyFile copies a regular file with its mode and times; there must be none at
// to. It is for a trash on another file system.
func copyFile(from, to string) (err error) {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		return err
	}
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, info.Mode().Perm())
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(to)
		}
	}()
	_, err = io.Copy(out, in)
	if err == nil {
		err = out.Sync()
	}
	if closing := out.Close(); err == nil {
		err = closing
	}
	if err == nil {
		err = os.Chtimes(to, info.ModTime(), info.ModTime())
	}
	return err
}
