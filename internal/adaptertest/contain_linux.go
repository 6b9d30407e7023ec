package adaptertest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rollcall/internal/must"
)

// Contain makes the recorded processes look as if they ran in a container that
// has the home mounted at another place: their environment and open files name
// it by a path that doesn't exist here.
func (r *Recording) Contain(t testing.TB, home string) {
	t.Helper()
	if _, err := os.Lstat(filepath.Dir(home)); err == nil {
		t.Fatalf("%s must not be below a folder that exists", home)
	}
	for _, dir := range r.Processes(t) {
		path := filepath.Join(dir, "environ")
		env, err := os.ReadFile(path)
		if err == nil {
			err = os.WriteFile(path, []byte(strings.ReplaceAll(string(env), r.Home, home)), 0o600)
		}
		must.Do(t, err)
	}
	links, _ := filepath.Glob(filepath.Join(r.ProcRoot, "[0-9]*", "fd", "*"))
	for _, link := range links {
		target, err := os.Readlink(link)
		if err == nil && strings.HasPrefix(target, r.Home) {
			err = os.Remove(link)
			if err == nil {
				err = os.Symlink(home+strings.TrimPrefix(target, r.Home), link)
			}
		}
		must.Do(t, err)
	}
}

// Processes are the folders of the recorded processes below ProcRoot.
func (r *Recording) Processes(t testing.TB) []string {
	t.Helper()
	dirs := must.Get(filepath.Glob(filepath.Join(r.ProcRoot, "[0-9]*")))(t)
	return dirs
}
