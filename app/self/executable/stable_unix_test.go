//go:build unix

package executable

import (
	"os"
	"path/filepath"
	"testing"
)

// A link in PATH to the running program survives an update that brings a new folder; a copy or another program does not count.
func TestStablePath(t *testing.T) {
	self, err := Path()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	t.Setenv("PATH", dir)
	check := func(want string) {
		t.Helper()
		if got, err := StablePath(); err != nil || got != want {
			t.Errorf("%s, %v; want %s", got, err, want)
		}
	}
	check(self)
	link := filepath.Join(dir, filepath.Base(self))
	if err := os.Symlink(self, link); err != nil {
		t.Fatal(err)
	}
	check(link)
	if err := os.Remove(link); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(link, []byte("another program"), 0o700); err != nil {
		t.Fatal(err)
	}
	check(self)
}
