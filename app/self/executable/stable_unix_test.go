//go:build unix

package executable

import (
	"os"
	"path/filepath"
	"testing"

	"rollcall/internal/must"
)

// A link in PATH to the running program survives an update that brings a new folder; a copy or another program does not count.
func TestStablePath(t *testing.T) {
	self := must.Get(Path())(t)
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
	must.Do(t, os.Symlink(self, link))
	check(link)
	must.Do(t, os.Remove(link))
	must.Do(t, os.WriteFile(link, []byte("another program"), 0o700))
	check(self)
}
