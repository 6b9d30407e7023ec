package opencode

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"rollcall/adapters"
	"rollcall/adapters/internal/kit"
	"rollcall/internal/adaptertest"
	"rollcall/internal/must"
	"rollcall/proc"
)

// A service of OpenCode 2 registers itself below the home folder of its environment, which Windows names otherwise.
func TestServiceBelowItsHome(t *testing.T) {
	home := t.TempDir()
	folder := filepath.Join(home, ".local", "state", "opencode")
	must.Do(t, os.MkdirAll(folder, 0o700))
	must.Do(t, os.WriteFile(filepath.Join(folder, "service.json"), fmt.Appendf(nil, `{"pid":%d}`, os.Getpid()), 0o600))

	table := adaptertest.Shown{Line: []string{"opencode", "serve", "--service"}, Program: filepath.Join(home, "bin", "opencode"),
		Variables: []string{kit.Home + "=" + home}, Folder: home}
	a := New(adapters.Config{Home: t.TempDir(), Table: table})
	h := a.identify(proc.Process{Identity: proc.Identity{PID: os.Getpid(), Start: 1}, Comm: "opencode"})
	if h == nil || !h.service {
		t.Fatalf("not taken for a service: %+v", h)
	}
	if _, _, err := h.registered(); err != nil {
		t.Error(err)
	}
}
