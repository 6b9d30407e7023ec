package keep

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"rollcall/app/owned/fuse"
	"rollcall/app/owned/launch"
	"rollcall/app/settings"
	"rollcall/app/store"
	"rollcall/internal/eventually"
	"rollcall/internal/must"
	"rollcall/proc"
)

// A command that finds an overdue timer starts a keeper and says so, also where another record can't be read.
func TestReviveSaysWhatIsOverdue(t *testing.T) {
	state := t.TempDir()
	must.Do(t, os.Chmod(state, 0o700))
	folder := store.Below(state, store.Fuses)
	begun := filepath.Join(state, "begun")
	c := &Client{State: state, Program: "/bin/sh", Args: []string{"-c", "echo >>" + begun}}
	launches, fuses := launch.In(state, proc.Open()), fuse.In(folder)
	revive := func(expires time.Duration) string {
		x := fuse.Fuse{Path: t.TempDir(), Script: "true", SetAt: time.Now().Add(-time.Hour), Expires: time.Now().Add(expires), Host: proc.Host(), Space: proc.Space()}
		must.Do(t, folder.Write(x.FileName(), x))
		return c.Revive(launches, fuses, &settings.Settings{})
	}
	if said := revive(time.Hour); said != "" {
		t.Errorf("with nothing overdue: %q", said)
	}
	must.Do(t, os.WriteFile(filepath.Join(state, store.Fuses, "broken.json"), []byte("{"), 0o600))
	must.Do(t, os.MkdirAll(filepath.Join(state, store.Fuses, "folder.json"), 0o700))
	if said := revive(-time.Minute); !strings.HasPrefix(said, "1 timer is overdue") || !strings.Contains(said, "one was started") {
		t.Errorf("with an overdue timer: %q", said)
	}
	// Both: one that is still about to write would do so while the folder is removed.
	eventually.True(t, "both keepers", func() bool { said, _ := os.ReadFile(begun); return string(said) == "\n\n" })
	c.Program = filepath.Join(state, "missing")
	if said := revive(-time.Minute); !strings.HasPrefix(said, "2 timers are overdue") || !strings.Contains(said, "could not be started") {
		t.Errorf("without a keeper: %q", said)
	}
}
