package adaptertest

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// Tree is the state of a folder tree: a line per path, of its mode, size,
// modification time, and contents or link target. Folders have their
// modification time too, so that a file which came and went again shows.
type Tree map[string]string

// TreeOf reads the state of dir. What can't be read counts with its error.
// An empty Tree stands for a folder that doesn't exist.
func TreeOf(t testing.TB, dir string) Tree {
	t.Helper()
	tree := Tree{}
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		name, _ := filepath.Rel(dir, path)
		name = filepath.ToSlash(name)
		if err != nil {
			if os.IsNotExist(err) && path == dir {
				return fs.SkipAll
			}
			tree[name] += " unreadable: " + err.Error()
			return nil
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		tree[name] = info.Mode().String() + " " + info.ModTime().UTC().Format("15:04:05.000000000 2006-01-02") + " " + content(path, info)
		return nil
	})
	if err != nil {
		t.Fatalf("%s: %v", dir, err)
	}
	return tree
}

// content is the hash of a file or the target of a link.
func content(path string, info fs.FileInfo) string {
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		target, _ := os.Readlink(path)
		return "-> " + target
	case !info.Mode().IsRegular():
		return ""
	}
	f, err := openUntouched(path)
	if err != nil {
		return "unreadable: " + err.Error()
	}
	defer f.Close()
	hash := sha256.New()
	if _, err := io.Copy(hash, f); err != nil {
		return "unreadable: " + err.Error()
	}
	return hex.EncodeToString(hash.Sum(nil))
}

// Changes lists the paths that differ between two states, each with what
// happened to it, sorted.
func (before Tree) Changes(after Tree) []string {
	var changes []string
	for name, was := range before {
		if is, there := after[name]; !there {
			changes = append(changes, "removed "+name)
		} else if is != was {
			changes = append(changes, "changed "+name+": "+was+" => "+is)
		}
	}
	for name := range after {
		if _, there := before[name]; !there {
			changes = append(changes, "added "+name)
		}
	}
	slices.Sort(changes)
	return changes
}

// Untouched fails the test at its end when anything below dir has changed by
// then. Call it before the adapter first looks.
func Untouched(t testing.TB, dir string) {
	t.Helper()
	before := TreeOf(t, dir)
	t.Cleanup(func() {
		for _, change := range before.Changes(TreeOf(t, dir)) {
			t.Errorf("%s: %s", dir, change)
		}
	})
}
