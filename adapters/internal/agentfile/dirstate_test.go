package agentfile_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"rollcall/adapters/internal/agentfile"
	"rollcall/internal/must"
)

// TestStill: nothing that is made, removed or written in the folder, or at the
// other path, goes unnoticed; a file of the same size and time as before counts
// as unchanged.
func TestStill(t *testing.T) {
	old := time.Now().Add(-time.Hour)
	for _, c := range []struct {
		name   string
		change func(dir string) error
		still  bool
	}{
		{"nothing", func(string) error { return nil }, true},
		{"a file below a folder is written to", func(dir string) error { return appendTo(filepath.Join(dir, "sub", "deep")) }, true},
		{"a file is made below a folder", func(dir string) error { return os.WriteFile(filepath.Join(dir, "sub", "new"), nil, 0o600) }, false},
		{"a file is made", func(dir string) error { return os.WriteFile(filepath.Join(dir, "new"), nil, 0o600) }, false},
		{"a file is removed", func(dir string) error { return os.Remove(filepath.Join(dir, "file")) }, false},
		{"a file is written to", func(dir string) error { return appendTo(filepath.Join(dir, "file")) }, false},
		{"a file is touched", func(dir string) error { return os.Chtimes(filepath.Join(dir, "file"), old, time.Now()) }, false},
		{"the other file appears", func(dir string) error { return os.WriteFile(dir+".json", nil, 0o600) }, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "root")
			for _, err := range []error{
				os.MkdirAll(filepath.Join(dir, "sub"), 0o700),
				os.WriteFile(filepath.Join(dir, "file"), []byte("x"), 0o600),
				os.WriteFile(filepath.Join(dir, "sub", "deep"), []byte("x"), 0o600),
				os.Chtimes(filepath.Join(dir, "file"), old, old),
				os.Chtimes(filepath.Join(dir, "sub"), old, old),
				os.Chtimes(dir, old, old),
			} {
				must.Do(t, err)
			}
			before := agentfile.ReadDirState(dir, dir+".json")
			must.Do(t, c.change(dir))
			if got := agentfile.ReadDirState(dir, dir+".json").IsSame(before); got != c.still {
				t.Errorf("still: %t, want %t", got, c.still)
			}
		})
	}
}

// TestUnsettled: while something changed just now, nothing is certain; nor is it
// of a folder that could not be looked at, or that holds too much.
func TestUnsettled(t *testing.T) {
	dir := t.TempDir()
	if before := agentfile.ReadDirState(dir); agentfile.ReadDirState(dir).IsSame(before) {
		t.Error("still, right after the folder was made")
	}
	if none := agentfile.ReadDirState(filepath.Join(dir, "none")); none.IsSame(none) {
		t.Error("still, of a folder that isn't there")
	}
	for i := range 300 {
		must.Do(t, os.WriteFile(filepath.Join(dir, string(rune('a'+i%26))+time.Duration(i).String()), nil, 0o600))
	}
	if many := agentfile.ReadDirState(dir); many.IsSame(many) {
		t.Error("still, of a folder with more than is looked at")
	}
}

func appendTo(path string) error {
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = f.WriteString("more")
	return err
}
