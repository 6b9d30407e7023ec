package places

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"rollcall/bounded"
)

// Unreadable has, for each owner, the files and folders that it could not read, with the result of the last try to open each.
type Unreadable[O comparable] map[O]map[string]Access

// Access is the result of a try to open a place.
type Access int

// The results.
const (
	Unanswered Access = iota // the file system did not answer
	Opened
	Denied
	Failed // the place can't be opened for another reason
)

// Retry tries to open each place, and adds to changed the owners of the places whose
// result has changed. A place that does not answer keeps its result.
func (u Unreadable[O]) Retry(changed map[O]bool, calls *bounded.Calls) Unreadable[O] {
	for owner, list := range u {
		for path, was := range list {
			now, answered := bounded.Call(calls, path, func() Access { return tryToOpen(path) })
			if !answered {
				continue
			}
			if now != was {
				changed[owner] = true
			}
			list[path] = now
		}
	}
	return u
}

// tryToOpen opens a file or folder and closes it. It opens nothing else: opening a pipe
// would wait for the other end.
func tryToOpen(path string) Access {
	info, err := os.Stat(path)
	if err == nil && !info.IsDir() && !info.Mode().IsRegular() {
		return Failed
	}
	var f *os.File
	if err == nil {
		f, err = os.Open(path)
	}
	if err == nil {
		_ = f.Close()
	}
	switch {
	case err == nil && info.IsDir() && !canEnter(path):
		return Denied
	case err == nil:
		return Opened
	case errors.Is(err, fs.ErrPermission):
		return Denied
	}
	return Failed
}

// canEnter reports whether the files of a folder can be opened. This may be denied
// although the files of the folder can be listed.
func canEnter(dir string) bool {
	_, err := os.Lstat(filepath.Join(dir, "no such file"))
	return !errors.Is(err, fs.ErrPermission)
}
