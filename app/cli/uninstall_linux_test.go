package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"rollcall/app/owned/fuse"
	"rollcall/app/owned/launch"
	"rollcall/app/store"
	"rollcall/internal/must"
	"rollcall/proc"
)

// TestPurgeOfSharedHome: uninstall --purge removes nothing while another container with the same home keeps a launch or a timer, except with
// --force: the container may be gone.
func TestPurgeOfSharedHome(t *testing.T) {
	for name, keep := range map[string]func(state string) error{
		"a launch of Codex in /src/shop runs on build-7": func(state string) error {
			return store.Below(state, store.Launches).Write("l1", launch.Record{ID: "l1", Agent: "codex", Dir: "/src/shop", Host: "build-7", Space: "elsewhere", LaunchedAt: time.Now()})
		},
		"a timer of build-7": func(state string) error {
			return store.Below(state, store.Fuses).Write(store.NameOf("/src/shop"), fuse.Fuse{Path: "/src/shop", SetAt: time.Now(), Expires: time.Now().Add(time.Hour),
				Script: "true", Host: "build-7", Space: "elsewhere"})
		},
	} {
		t.Run(name, func(t *testing.T) {
			state := filepath.Join(ownHome(t), ".local/state/rollcall")
			must.Do(t, keep(state))
			deps := Deps{
				Launches: func() (*launch.Launches, error) { return launch.In(state, proc.OpenAt("/proc", "/etc")), nil },
				Fuses:    func() (*fuse.Fuses, error) { return fuse.In(store.Below(state, store.Fuses)), nil },
			}
			code, text := said(t, deps, "uninstall", "--purge", "--yes")
			if _, err := os.Stat(state); code != Failure || !strings.Contains(text, name) || err != nil {
				t.Errorf("%d, %v: %s", code, err, text)
			}
			code, text = said(t, deps, "uninstall", "--purge", "--yes", "--force")
			if _, err := os.Stat(state); code != Done || err == nil {
				t.Errorf("with --force: %d, %v: %s", code, err, text)
			}
		})
	}
}

// TestFuseOfAnotherMachine: the list names the machine on which a timer was set, since no keeper here fires it.
func TestFuseOfAnotherMachine(t *testing.T) {
	folder := store.In(filepath.Join(t.TempDir(), "fuses"))
	x := fuse.Fuse{Path: "/src/shop", SetAt: time.Now(), Expires: time.Now().Add(-time.Hour), Script: "true", Host: "build-7", Space: "elsewhere"}
	must.Do(t, folder.Write(store.NameOf(x.Path), x))
	code, text := said(t, Deps{Fuses: func() (*fuse.Fuses, error) { return fuse.In(folder), nil }}, "fuse", "list")
	if code != Done || !strings.Contains(text, "only a keeper on build-7, where it was set, fires it") || strings.Contains(text, "overdue") {
		t.Errorf("%d: %s", code, text)
	}
}
