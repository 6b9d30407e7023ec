//go:build linux

// Package linux tests the script that installs the archives for Linux.
package linux

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"rollcall/internal/must"
	"rollcall/internal/testfs"
)

// archive returns a folder with the script and with programs of a version, of so many bytes.
func archive(t *testing.T, version string, size int) string {
	t.Helper()
	dir := t.TempDir()
	script := must.Get(os.ReadFile("install.sh"))(t)
	program := "#!/bin/sh\necho 'rollcall " + version + " (desktop, linux/amd64)'\nexit\n"
	program += strings.Repeat("#", max(0, size-len(program)))
	for name, text := range map[string]string{"install.sh": string(script), "bin/rollcall": program, "share/doc/rollcall/README.md": version} {
		path := filepath.Join(dir, name)
		must.Do(t, os.MkdirAll(filepath.Dir(path), 0o700))
		must.Do(t, os.WriteFile(path, []byte(text), 0o700))
	}
	return dir
}

// install runs the script of an archive, and returns its exit code and what it printed.
func install(t *testing.T, dir, prefix string, args ...string) (code int, said string) {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), filepath.Join(dir, "install.sh"), append(args, "--prefix", prefix)...).CombinedOutput()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return exit.ExitCode(), string(out)
	}
	must.Do(t, err)
	return 0, string(out)
}

// has fails the test unless the prefix has the whole program of an archive, and no other file beside it.
func has(t *testing.T, prefix, dir string) {
	t.Helper()
	wanted := must.Get(os.ReadFile(filepath.Join(dir, "bin/rollcall")))(t)
	if now, err := os.ReadFile(filepath.Join(prefix, "bin/rollcall")); err != nil || string(now) != string(wanted) {
		t.Errorf("the program is another one, or not whole: %v", err)
	}
	if entries, err := os.ReadDir(filepath.Join(prefix, "bin")); err != nil || len(entries) != 1 {
		t.Errorf("beside the program there are %v, %v", entries, err)
	}
}

// TestInstallOverRunningProgram: a program that runs, and so has its file open, keeps the old one; a new start is the new version.
func TestInstallOverRunningProgram(t *testing.T) {
	prefix := t.TempDir()
	old := archive(t, "v0.2.0", 0)
	latest := archive(t, "v0.3.0", 0)
	if code, said := install(t, old, prefix); code != 0 {
		t.Fatal(said)
	}
	running := must.Get(os.Open(filepath.Join(prefix, "bin/rollcall")))(t)
	defer func() { _ = running.Close() }()
	if code, said := install(t, latest, prefix); code != 0 {
		t.Error(said)
	}
	has(t, prefix, latest)
	if text, err := io.ReadAll(running); err != nil || !strings.Contains(string(text), "v0.2.0") {
		t.Errorf("the running program has another file: %v", err)
	}
}

// TestInstallOlder: an older version replaces a newer one only with --downgrade. Versions that cannot be compared replace each other.
func TestInstallOlder(t *testing.T) {
	for name, tt := range map[string]struct {
		has, brings string
		args        []string
		code        int
	}{
		"older":                       {"v0.10.0", "v0.9.1", nil, 3},
		"older, wanted":               {"v0.10.0", "v0.9.1", []string{"--downgrade"}, 0},
		"the same":                    {"v0.9.1", "v0.9.1", nil, 0},
		"newer":                       {"v0.9.1", "v0.10.0", nil, 0},
		"a release after its preview": {"v0.10.0-rc1", "v0.10.0", nil, 0},
		"no release":                  {"v0.10.0", "86cfc6a", nil, 0},
	} {
		t.Run(name, func(t *testing.T) {
			prefix := t.TempDir()
			first := archive(t, tt.has, 0)
			second := archive(t, tt.brings, 0)
			if code, said := install(t, first, prefix); code != 0 {
				t.Fatal(said)
			}
			code, said := install(t, second, prefix, tt.args...)
			if code != tt.code {
				t.Fatalf("exit code %d: %s", code, said)
			}
			if code == 0 {
				has(t, prefix, second)
				return
			}
			has(t, prefix, first)
			if !strings.Contains(said, "version 0.10.0, which is newer than 0.9.1") || !strings.Contains(said, "--downgrade") {
				t.Error(said)
			}
		})
	}
}

// TestInstallOnDiskThatCannotBeWritten: on a full or read-only disk the script fails and says what to do, and the old program stays whole.
func TestInstallOnDiskThatCannotBeWritten(t *testing.T) {
	for name, spoil := range map[string]func(*testing.T, *testfs.Disk){
		"full":      func(t *testing.T, d *testfs.Disk) { d.Fill(t) },
		"read-only": func(t *testing.T, d *testfs.Disk) { d.ReadOnly(t) },
	} {
		t.Run(name, func(t *testing.T) {
			disk := testfs.NewDisk(t)
			prefix := filepath.Join(disk.Path, "home")
			old := archive(t, "v0.2.0", 8192)
			latest := archive(t, "v0.3.0", 16384)
			if code, said := install(t, old, prefix); code != 0 {
				t.Fatal(said)
			}
			spoil(t, disk)
			code, said := install(t, latest, prefix)
			if code == 0 || !strings.Contains(said, "not finished") {
				t.Errorf("exit code %d: %s", code, said)
			}
			has(t, prefix, old)
		})
	}
}

// TestInstallTwice: two users who install into one prefix at once both succeed, and leave whole files.
func TestInstallTwice(t *testing.T) {
	prefix, dir := t.TempDir(), archive(t, "v0.3.0", 4<<20)
	var running sync.WaitGroup
	for range 4 {
		running.Go(func() {
			if code, said := install(t, dir, prefix); code != 0 {
				t.Error(strconv.Itoa(code) + ": " + said)
			}
		})
	}
	running.Wait()
	has(t, prefix, dir)
}
