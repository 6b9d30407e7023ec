package places

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"rollcall/bounded"
)

// Interest describes the changes of a folder that an owner wants.
type Interest struct {
	all   bool        // every change
	names []string    // without all: the appearance of these entries
	info  os.FileInfo // of the folder, when it was last read
}

// Wanted returns the folders to watch for changes in the folders watch, and for the appearance of what is missing of watch
// and lookedIn.
func Wanted(watch, lookedIn []string) map[string]Interest {
	wanted := map[string]Interest{}
	var missing []string
	for _, path := range watch {
		path = filepath.Clean(path)
		if info := folderAt(path); info != nil {
			wanted[path] = Interest{all: true, info: info}
		} else {
			missing = append(missing, path)
		}
	}
	for _, path := range append(missing, lookedIn...) {
		parent, name := nearestFolder(path)
		in := wanted[parent]
		if name == "" || in.all || slices.Contains(in.names, name) {
			continue
		}
		if in.info == nil {
			in.info = folderAt(parent)
		}
		if in.names = append(in.names, name); in.info != nil {
			wanted[parent] = in
		}
	}
	return wanted
}

// folderAt returns the folder at a path; nil where there is none, or where the file system
// does not answer.
func folderAt(path string) os.FileInfo {
	if !bounded.Answers(path) {
		return nil
	}
	info, err := os.Stat(path)
	if err != nil || !info.IsDir() {
		return nil
	}
	os.SameFile(info, info) // Windows reads a file's number when it is first compared
	return info
}

// nearestFolder returns the nearest existing folder above a missing path, and the entry
// whose appearance there leads to the path. It returns nothing for a path that exists, or
// that is on a file system that does not answer.
func nearestFolder(path string) (parent, name string) {
	if !filepath.IsAbs(path) {
		return "", ""
	}
	path = filepath.Clean(path)
	if !bounded.Answers(path) {
		return "", ""
	}
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		return "", ""
	}
	for {
		up := filepath.Dir(path)
		if up == path {
			return "", ""
		}
		if folderAt(up) != nil {
			return up, filepath.Base(path)
		}
		path = up
	}
}
