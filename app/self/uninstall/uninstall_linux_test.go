package uninstall

import (
	"os"
	"path/filepath"
	"testing"

	"rollcall/app/self/autostart"
	"rollcall/internal/must"
)

// home makes a home folder with everything that Rollcall leaves, and something of the user's beside it.
func home(t *testing.T) (dir string, theirs []string) {
	t.Helper()
	dir = t.TempDir()
	for name, sub := range map[string]string{"HOME": "", "XDG_CONFIG_HOME": ".config", "XDG_STATE_HOME": ".local/state", "XDG_CACHE_HOME": ".cache", "XDG_RUNTIME_DIR": "run"} {
		t.Setenv(name, filepath.Join(dir, sub))
	}
	write := func(name string) string {
		path := filepath.Join(dir, name)
		must.Do(t, os.MkdirAll(filepath.Dir(path), 0o700))
		must.Do(t, os.WriteFile(path, []byte("12345"), 0o600))
		return path
	}
	for _, own := range []string{".config/rollcall/config.toml", ".local/state/rollcall/launches/a.json", ".local/state/rollcall/logs/a.log", ".cache/rollcall/facts/a",
		"run/rollcall/tray.lock", ".config/fyne/io.github.rollcall.Rollcall/preferences.json"} {
		write(own)
	}
	for _, name := range []string{".config/other/config.toml", ".claude/sessions/1.json", ".local/state/x", ".config/autostart/other.desktop", ".config/fyne/other/x"} {
		theirs = append(theirs, write(name))
	}
	for _, e := range []autostart.Entry{autostart.Tray, autostart.Keeper} {
		if _, err := e.On(); err != nil {
			t.Fatal(err)
		}
	}
	return dir, theirs
}

func TestPurge(t *testing.T) {
	dir, theirs := home(t)
	items, err := Plan()
	if err != nil || len(items) != 7 {
		t.Fatalf("%+v, %v", items, err)
	}
	for i := range items {
		if items[i].What == "records of launches, locks, timers, logs" && (items[i].Files != 2 || items[i].Bytes != 10) {
			t.Errorf("%+v", items[i])
		}
		if err := items[i].Remove(); err != nil {
			t.Errorf("%s: %v", items[i].Path, err)
		}
	}
	left := map[string]bool{}
	err = filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			left[path] = true
		}
		return err
	})
	must.Do(t, err)
	for _, path := range theirs {
		if !left[path] {
			t.Errorf("%s of the user's was removed", path)
		}
		delete(left, path)
	}
	if len(left) > 0 {
		t.Errorf("left: %v", left)
	}
	if items, err := Plan(); err != nil || len(items) > 0 {
		t.Errorf("a second time: %+v, %v", items, err)
	}
}

// A folder that is a link leads to files that are not Rollcall's.
func TestLinkedFolder(t *testing.T) {
	dir, _ := home(t)
	state, elsewhere := filepath.Join(dir, ".local/state/rollcall"), filepath.Join(dir, "elsewhere")
	items := must.Get(Plan())(t)
	must.Do(t, os.Rename(state, elsewhere))
	must.Do(t, os.Symlink(elsewhere, state))
	for i := range items {
		if items[i].Path == state {
			if err := items[i].Remove(); err == nil {
				t.Error("a link was followed, or removed")
			}
		}
	}
	if _, err := os.Stat(filepath.Join(elsewhere, "launches/a.json")); err != nil {
		t.Error(err)
	}
	if _, err := Plan(); err == nil {
		t.Error("a link is no problem")
	}
}
