package cli

import (
	"io/fs"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"rollcall/app/owned/fuse"
	"rollcall/app/owned/launch"
	"rollcall/app/store"
	"rollcall/proc"
)

// What Rollcall makes is the user's alone whatever the user's mask, so that it
// never refuses what it made itself.
func TestUmask(t *testing.T) {
	for _, mask := range []int{0, 0o002, 0o022} {
		before := syscall.Umask(mask)
		state := filepath.Join(t.TempDir(), "local", "state", "rollcall")
		a := &shellAgent{t.TempDir()}
		d := withTable(a)
		d.Launches = func() (*launch.Launches, error) { return launch.In(state, proc.OpenAt("/proc", "/etc")), nil }
		d.Fuses = func() (*fuse.Fuses, error) { return fuse.In(store.Below(state, "fuses")), nil }
		kept, dir := t.TempDir(), t.TempDir()
		for _, line := range []string{"lock " + kept, "fuse set " + dir + " --in 1h --script true",
			"launch codex --cwd " + dir + " -p hello --on-complete true", "locks", "fuse list", "list --all", "unlock " + kept, "fuse extend " + dir} {
			if r := run(t, d, strings.Fields(line)...); r.code != Done || r.err != "" {
				t.Errorf("%o: %s: %+v", mask, line, r)
			}
		}
		a.end()
		syscall.Umask(before)
		made := 0
		err := filepath.WalkDir(state, func(path string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			info, err := d.Info()
			if err == nil && info.Mode().Perm()&0o077 != 0 {
				t.Errorf("%o: %s has mode %o", mask, path, info.Mode().Perm())
			}
			made++
			return err
		})
		if err != nil || made < 8 {
			t.Errorf("%d files and folders were made, %v", made, err)
		}
	}
}
