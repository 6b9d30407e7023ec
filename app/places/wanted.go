package places

import (
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

// Wanted returns the folders to watch for changes in the folders watch, and for the appearance of what is missing of watch and
// lookedIn. It decides by one look at a path what is missing. Once the folders are watched, the caller looks again (Missing): what
// appeared before caused no event.
func Wanted(watch, lookedIn []string) (wanted map[string]Interest, missing []string) {
	wanted = map[string]Interest{}
	for _, path := range watch {
		if info, absent := folderAt(path); info != nil {
			wanted[filepath.Clean(path)] = Interest{all: true, info: info}
		} else if absent && filepath.IsAbs(path) {
			missing = append(missing, path)
		}
	}
	missing = append(missing, Missing(lookedIn)...)
	for _, path := range missing {
		parent, name := nearestFolder(path)
		in := wanted[parent]
		if name == "" || in.all || slices.Contains(in.names, name) {
			continue
		}
		if in.info == nil {
			in.info, _ = folderAt(parent)
		}
		in.names = append(in.names, name)
		if in.info != nil {
			wanted[parent] = in
		}
	}
	return wanted, missing
}

// folderAt returns the folder at a path; nil where there is none, or where the file system does not answer. absent reports that
// nothing is there, as far as is known.
func folderAt(path string) (info os.FileInfo, absent bool) {
	if !bounded.Answers(path) {
		return nil, true
	}
	info, err := os.Stat(path)
	if err != nil || !info.IsDir() {
		return nil, err != nil && isAbsentPath(err)
	}
	os.SameFile(info, info) // Windows reads a file's number when it is first compared
	return info, false
}

// nearestFolder returns the nearest existing folder above a missing path, and the entry whose appearance there leads to the path.
// It returns nothing for a path on a file system that does not answer.
func nearestFolder(path string) (parent, name string) {
	path = filepath.Clean(path)
	if !filepath.IsAbs(path) || !bounded.Answers(path) {
		return "", ""
	}
	for {
		up := filepath.Dir(path)
		if up == path {
			return "", ""
		}
		if info, _ := folderAt(up); info != nil {
			return up, filepath.Base(path)
		}
		path = up
	}
}
