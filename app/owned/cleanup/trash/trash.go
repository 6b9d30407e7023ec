// Package trash moves files to the user's trash: the trash of the freedesktop.org specification (version 1.0) on Linux
// and the BSDs, the Trash folders on macOS, the Recycle Bin on Windows.
package trash

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"
)

// ErrNone is returned on a system without a trash.
var ErrNone = errors.New("this system has no trash")

// Trash is the trash of one user. It is safe for concurrent use.
type Trash struct {
	home   string // the user's home folder
	data   string // $XDG_DATA_HOME; used only by the freedesktop.org trash
	now    func() time.Time
	device func(path string) (uint64, error) // returns the file system of path
}

// New returns the trash of the user with this home folder. getenv reads XDG_DATA_HOME.
func New(home string, getenv func(string) string) *Trash {
	t := &Trash{home: home, data: getenv("XDG_DATA_HOME"), now: time.Now, device: deviceOf}
	if !filepath.IsAbs(t.data) { // as the base directory specification demands
		t.data = filepath.Join(home, ".local", "share")
	}
	return t
}

// Put moves a regular file to the trash and returns its new path. path must be absolute. On an error the file stays in
// place. Put returns ErrNone if the system has no trash.
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

// maxTries is the number of names that are tried.
const maxTries = 10_000

// copyFile copies a regular file with its mode and time to a trash on another file system. It fails if a file exists at
// to.
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
