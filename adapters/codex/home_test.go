package codex

import (
	"os"
	"path/filepath"
	"testing"

	"rollcall/adapters/internal/kit"
	"rollcall/internal/adaptertest"
	"rollcall/internal/must"
	"rollcall/proc"
)

// A process without CODEX_HOME uses the home folder of its environment, which Windows names otherwise.
func TestHomeOfProcess(t *testing.T) {
	home := t.TempDir()
	must.Do(t, os.Mkdir(filepath.Join(home, ".codex"), 0o700))
	table := adaptertest.Shown{Line: []string{"codex"}, Program: filepath.Join(home, "codex"), Variables: []string{kit.Home + "=" + home}, Folder: home}
	h := inspect(table, proc.Process{Identity: proc.Identity{PID: os.Getpid(), Start: 1}, Comm: "codex"})
	if h == nil || h.user != home {
		t.Errorf("%+v", h)
	}
}
