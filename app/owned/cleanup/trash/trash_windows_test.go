package trash

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rollcall/internal/must"
)

func file(t *testing.T, name string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	must.Do(t, os.WriteFile(path, []byte("x"), 0o600))
	return path
}

func none(string) string { return "" }

// TestPut moves files to the Recycle Bin for true.
func TestPut(t *testing.T) {
	for _, name := range []string{"a.json", "two words é.json", strings.Repeat("l", 100)} {
		path := file(t, name)
		if where, err := New(t.TempDir(), none).Put(path); err != nil || where != "the Recycle Bin" {
			t.Errorf("%s: %q, %v", name, where, err)
		}
		if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s is still there: %v", name, err)
		}
	}
	path := file(t, "b.json")
	if _, err := New(t.TempDir(), none).Put(filepath.ToSlash(path)); err != nil {
		t.Errorf("with slashes: %v", err)
	}
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("with slashes it is still there: %v", err)
	}
}

func TestRefused(t *testing.T) {
	dir := t.TempDir()
	for _, path := range []string{dir, filepath.Join(dir, "missing"), "relative", filepath.Join(dir, "*"), filepath.Join(dir, "a\x00b")} {
		if where, err := New(dir, none).Put(path); err == nil {
			t.Errorf("%q went to %s", path, where)
		}
	}
}

// A file that somebody has open stays, and is not said to be gone.
func TestOpenFileStays(t *testing.T) {
	path := file(t, "open")
	f := must.Get(os.Open(path))(t)
	defer f.Close()
	where, err := New(t.TempDir(), none).Put(path)
	if _, there := os.Lstat(path); (there == nil) != (err != nil) {
		t.Errorf("put says %q, %v; the file: %v", where, err, there)
	}
}
