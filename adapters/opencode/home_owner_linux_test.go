package opencode

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"rollcall/adapters"
	"rollcall/internal/adaptertest/scene"
	"rollcall/internal/must"
)

// Root lists the agents of all users, from the homes that their processes name.
func TestAgentsOfOtherUsers(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root may look into the homes of other users")
	}
	const someone = 65534
	for name, env := range map[string]func(e *elsewhere) string{
		"HOME":          func(e *elsewhere) string { return "HOME=" + e.home },
		"XDG_DATA_HOME": func(e *elsewhere) string { return "XDG_DATA_HOME=" + filepath.Dir(e.data) },
	} {
		t.Run(name, func(t *testing.T) {
			e := newElsewhere(t)
			process := e.fixture.Procs.Start(scene.Spec{Comm: "opencode", Exe: "/opt/opencode.exe", CWD: "/home/dev/p",
				Args: []string{"opencode"}, Env: []string{env(e)}, Started: e.now.Add(-time.Minute)})
			id := e.session(e.now.Add(-50 * time.Second).UnixMilli())
			e.message(id, e.now.Add(-40*time.Second).UnixMilli(), userData, textPart)
			e.message(id, e.now.Add(-39*time.Second).UnixMilli(), openData)
			must.Do(t, filepath.WalkDir(e.home, func(path string, _ os.DirEntry, err error) error {
				if err != nil {
					return err
				}
				return os.Chown(path, someone, someone)
			}))
			must.Do(t, os.Chmod(e.home, 0o700))
			sessions, _, err := asked(t, e.adapter, adapters.Query{})
			if got := sessions[id]; err != nil || got.Status != adapters.Working || got.Process != process {
				t.Errorf("%s in %v (%s), %v", got.Status, got.Process, got.Evidence, err)
			}
		})
	}
}
