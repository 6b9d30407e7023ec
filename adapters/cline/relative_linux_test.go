package cline

import (
	"os"
	"testing"
	"time"

	"rollcall/adapters"
	"rollcall/internal/adaptertest"
	"rollcall/internal/adaptertest/scene"
	"rollcall/internal/must"
)

// A relative folder on the command line is one below the working folder of the process.
func TestRelativeDataFolder(t *testing.T) {
	w := scene.New(t)
	s := scene.Cline(w).Start("/home/dev/proj", "one")
	w.Procs.End(s.Process.PID)
	must.Do(t, os.Rename(w.Path(".cline", "data"), w.Path("elsewhere")))
	p := w.Procs.Start(scene.Spec{Comm: "cline", Exe: scene.ClineProgram, CWD: w.Home, Started: time.Now(), Env: []string{"HOME=" + w.Home},
		Args: []string{scene.ClineProgram, "--data-dir", "elsewhere", "--id", s.ID}})
	got := adaptertest.Discover(t, New(adapters.Config{Home: w.Home, Env: w.Env, Table: w.Table}), adapters.Query{}).Sessions
	if len(got) != 1 || got[0].ID != s.ID || got[0].Process != p {
		t.Errorf("%+v", got)
	}
}
