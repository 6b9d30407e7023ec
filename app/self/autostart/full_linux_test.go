package autostart

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rollcall/internal/must"
	"rollcall/internal/testfs"
)

// TestFullDisk: on a full disk nothing is turned on, the error names the file, and what was there stays whole.
func TestFullDisk(t *testing.T) {
	disk := testfs.NewDisk(t)
	t.Setenv("HOME", disk.Path)
	t.Setenv("XDG_CONFIG_HOME", disk.Path)
	old := filepath.Join(t.TempDir(), "old program")
	c := must.Get(Tray.on(old))(t)
	path := c.Paths[0]
	before := read(t, path)
	disk.Fill(t)
	if _, err := Tray.On(); err == nil || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), "no space left") {
		t.Errorf("on a full disk: %v", err)
	}
	if now := read(t, path); now != before {
		t.Errorf("the file is now %q", now)
	}
	if entries, err := os.ReadDir(filepath.Dir(path)); err != nil || len(entries) != 1 {
		t.Errorf("%v, %v", entries, err)
	}
	disk.Free(t)
	if _, err := Tray.On(); err != nil {
		t.Error(err)
	}
}

// TestReadOnlyDisk: on a read-only disk nothing is turned on or off, the error names the file, and what was there stays.
func TestReadOnlyDisk(t *testing.T) {
	disk := testfs.NewDisk(t)
	t.Setenv("HOME", disk.Path)
	t.Setenv("XDG_CONFIG_HOME", disk.Path)
	c := must.Get(Tray.on(filepath.Join(t.TempDir(), "old program")))(t)
	path := c.Paths[0]
	before := read(t, path)
	disk.ReadOnly(t)
	_, on := Tray.On()
	_, off := Tray.Off()
	for _, err := range []error{on, off} {
		if err == nil || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), "read-only file system") {
			t.Errorf("on a read-only disk: %v", err)
		}
	}
	if now := read(t, path); now != before {
		t.Errorf("the file is now %q", now)
	}
}
