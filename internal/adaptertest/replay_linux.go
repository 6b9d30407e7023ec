package adaptertest

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rollcall/internal/adaptertest/scene"
	"rollcall/proc"
)

// The machine on which all recordings were made.
const (
	machineID    = "3d1219c7c4c5404aaa1f6d2a48adfda4"
	pidNamespace = "pid:[4026531836]"
	bootID       = "5b8a9f0e-3c51-4c55-9a43-0d6a1f2e7b90" // made up: recordings have none
)

// Replay copies the recording in dir into the test's temporary folder, with its
// modification times, and builds the /proc of that moment beside it.
//
// A recording says /home/dev (or its own "home") where the copy lies elsewhere.
// Paths of an agent's own storage, that is below a dot folder of the home, lead
// to the copy: the files that processes hold open, locks, binaries, HOME,
// CODEX_HOME and their like in environments, and path columns of SQLite files.
// Working directories stay as recorded, everywhere: they need not exist.
func Replay(t testing.TB, dir string) *Recording {
	t.Helper()
	processes, mtimes, expect := readRecording(t, dir)
	temp := t.TempDir()
	r := &Recording{
		Home:         filepath.Join(temp, scene.OddHome),
		ProcRoot:     filepath.Join(temp, "proc"),
		EtcRoot:      filepath.Join(temp, "etc"),
		Expect:       expect,
		CapturedAt:   unixTime(processes.CapturedAt),
		recordedHome: processes.Home,
	}
	copyTree(t, filepath.Join(dir, "home"), r.Home)
	r.rewriteDatabases(t)
	for name, seconds := range mtimes {
		at := unixTime(seconds)
		if err := os.Chtimes(filepath.Join(r.Home, name), at, at); err != nil {
			t.Fatalf("recording: mtimes.json: %v", err)
		}
	}
	r.buildProc(t, processes)
	r.Table = proc.OpenAt(r.ProcRoot, r.EtcRoot)
	return r
}

// folder translates a value that names the home or a folder in it, as the
// environment does.
func (r *Recording) folder(recorded string) string {
	if recorded == r.recordedHome {
		return r.Home
	}
	if rest, ok := strings.CutPrefix(recorded, r.recordedHome+"/"); ok {
		return filepath.Join(r.Home, rest)
	}
	return recorded
}

// copyTree copies a folder tree, writable whatever the modes of the original.
func copyTree(t testing.TB, from, to string) {
	t.Helper()
	err := filepath.WalkDir(from, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		target := filepath.Join(to, strings.TrimPrefix(path, from))
		switch {
		case entry.IsDir():
			return os.MkdirAll(target, 0o755)
		case entry.Type()&fs.ModeSymlink != 0:
			link, err := os.Readlink(path)
			if err != nil {
				return err
			}
			return os.Symlink(link, target)
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(target, content, 0o644)
	})
	if err != nil {
		t.Fatalf("recording: %v", err)
	}
}
