package agentfile

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"rollcall/internal/must"
)

// An agent replaces, renames and removes its files while they are read.
func TestOwnerGoesOn(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.jsonl")
	write := func(path, text string) {
		t.Helper()
		must.Do(t, os.WriteFile(path, []byte(text), 0o600))
	}
	write(path, "one")
	f, err := Open(path)
	must.Do(t, err)
	defer f.Close()
	write(path, "two")
	if err := os.Rename(path, path+".old"); err != nil {
		t.Errorf("rename: %v", err)
	}
	write(path, "three")
	if err := os.Remove(path + ".old"); err != nil {
		t.Errorf("remove: %v", err)
	}
	if text, err := io.ReadAll(f); err != nil || string(text) != "two" {
		t.Errorf("%q, %v", text, err)
	}
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() || info.Size() != 3 {
		t.Errorf("%v, %v", info, err)
	}
}

func TestOpenOthers(t *testing.T) {
	dir := t.TempDir()
	if _, err := Open(filepath.Join(dir, "missing")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("missing: %v", err)
	}
	if _, err := Open(filepath.Join(dir, "a\x00b")); err == nil {
		t.Error("a name with a NUL was opened")
	}
	f, err := Open(dir)
	must.Do(t, err)
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.IsDir() {
		t.Errorf("a folder: %v, %v", info, err)
	}
}
