package executable

import (
	"os"
	"path/filepath"
	"testing"
)

func TestReplaced(t *testing.T) {
	path := filepath.Join(t.TempDir(), "program")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(path+".new", []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(path+".new", path); err != nil {
			t.Fatal(err)
		}
	}
	write("old")
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	f := File{path, info}
	if f.Replaced() {
		t.Error("replaced before it was")
	}
	write("newer")
	if !f.Replaced() {
		t.Error("not replaced by another file")
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if f.Replaced() {
		t.Error("a program that was removed counts as replaced")
	}
	if running := Running(); running.Replaced() || running.info == nil {
		t.Error("this test's own program counts as replaced, or is not known")
	}
	if (&File{}).Replaced() {
		t.Error("an unknown file counts as replaced")
	}
}
