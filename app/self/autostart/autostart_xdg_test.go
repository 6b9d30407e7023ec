//go:build unix && !darwin

package autostart

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rollcall/app/self/executable"
	"rollcall/internal/must"
)

// inHome gives the test a home folder, and returns the path of the tray's file.
func inHome(t *testing.T) (config, path string) {
	t.Helper()
	home := t.TempDir()
	t.Setenv("HOME", home)
	config = filepath.Join(home, ".config")
	t.Setenv("XDG_CONFIG_HOME", config)
	return config, filepath.Join(config, "autostart", "io.github.rollcall.Rollcall.desktop")
}

func read(t *testing.T, path string) string {
	t.Helper()
	text := must.Get(os.ReadFile(path))(t)
	return string(text)
}

func write(t *testing.T, path, text string) {
	t.Helper()
	must.Do(t, os.WriteFile(path, []byte(text), 0o600))
}

func TestOnAndOff(t *testing.T) {
	config, path := inHome(t)
	for _, e := range []Entry{Tray, Keeper} {
		if s, err := e.State(); err != nil || s.On {
			t.Errorf("%s before: %+v, %v", e, s, err)
		}
		for range 2 { // the second time changes nothing
			if c, err := e.On(); err != nil || len(c.Paths) == 0 {
				t.Fatalf("%s on: %+v, %v", e, c, err)
			}
		}
		self := must.Get(executable.Path())(t)
		if s, err := e.State(); err != nil || !s.On || s.Program != self || s.Problem != "" {
			t.Errorf("%s on: %+v, %v", e, s, err)
		}
	}
	if text := read(t, path); !strings.Contains(text, "Type=Application\n") || !strings.Contains(text, "\nTryExec=/") {
		t.Error(text)
	}
	for _, e := range []Entry{Tray, Keeper} {
		if c, err := e.Off(); err != nil || len(c.Paths) == 0 {
			t.Errorf("%s off: %+v, %v", e, c, err)
		}
		if c, err := e.Off(); err != nil || len(c.Paths) > 0 {
			t.Errorf("%s off again: %+v, %v", e, c, err)
		}
	}
	err := filepath.WalkDir(config, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			t.Errorf("%s is left", path)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// A file that names the program of before is Rollcall's own, and gets the new path.
func TestMovedProgram(t *testing.T) {
	_, path := inHome(t)
	old := filepath.Join(t.TempDir(), `a "b" $c %d \e`)
	if _, err := Tray.on(old); err != nil {
		t.Fatal(err)
	}
	if s, err := Tray.State(); err != nil || !s.On || s.Program != old || !strings.Contains(s.Problem, "cannot be found") {
		t.Errorf("%+v, %v", s, err)
	}
	if _, err := Tray.On(); err != nil {
		t.Error(err)
	}
	if text := read(t, path); strings.Contains(text, old) {
		t.Error(text)
	}
}

func TestEditedByHand(t *testing.T) {
	_, path := inHome(t)
	c := must.Get(Tray.On())(t)
	own := read(t, c.Paths[0])
	for name, text := range map[string]string{
		"another program": strings.Replace(own, "Exec=\"", "Exec=nice \"", 1),
		"a line more":     own + "X-KDE-autostart-after=panel\n",
		"another file":    "[Desktop Entry]\nName=x\n",
		"empty":           "",
	} {
		write(t, path, text)
		_, on := Tray.On()
		_, off := Tray.Off()
		for _, err := range []error{on, off} {
			if edited, ok := errors.AsType[*EditedError](err); !ok || edited.Path != path {
				t.Errorf("%s: %v", name, err)
			}
		}
		if s, err := Tray.State(); err != nil || !s.On || !strings.Contains(s.Problem, "by hand") {
			t.Errorf("%s: %+v, %v", name, s, err)
		}
		if read(t, path) != text {
			t.Errorf("%s: it was changed", name)
		}
	}
	// A desktop's switch is no edit by hand.
	for _, line := range []string{"Hidden=true\n", "X-GNOME-Autostart-enabled=false\n"} {
		write(t, path, own+line)
		if s, err := Tray.State(); err != nil || s.On || s.Problem == "" {
			t.Errorf("%s: %+v, %v", line, s, err)
		}
		if _, err := Tray.On(); err != nil || read(t, path) != own {
			t.Errorf("%s: %v", line, err)
		}
	}
}

// A folder that the user's group may write to is the desktop's business, and a link the user's.
func TestOtherFolders(t *testing.T) {
	config, path := inHome(t)
	folder := filepath.Join(config, "autostart")
	must.Do(t, os.MkdirAll(folder, 0o700))
	must.Do(t, os.Chmod(folder, 0o775))
	for range 2 {
		if _, err := Tray.On(); err != nil {
			t.Fatal(err)
		}
	}
	must.Do(t, os.Rename(path, path+".real"))
	must.Do(t, os.Symlink(path+".real", path))
	if _, err := Tray.Off(); err == nil {
		t.Error("a link was removed")
	}
}

// What cannot be written names the path, and no system call.
func TestNotWritable(t *testing.T) {
	config, _ := inHome(t)
	must.Do(t, os.MkdirAll(config, 0o700))
	write(t, filepath.Join(config, "autostart"), "a file where a folder must be")
	_, err := Tray.On()
	if err == nil || !strings.Contains(err.Error(), "start the tray at login: "+config) || strings.Contains(err.Error(), "mkdir") {
		t.Error(err)
	}
}

// The unit of the packages is the one that keep --install writes, for the program's path in a package.
func TestPackagedUnit(t *testing.T) {
	if text := read(t, "../../../packaging/linux/rollcall-keep.service"); text != Unit("/usr/bin/rollcall") {
		t.Errorf("packaging/linux/rollcall-keep.service differs:\n%s", text)
	}
}

// TestUnitOfPackage: systemctl --user enable links the unit that a package installed.
func TestUnitOfPackage(t *testing.T) {
	config, _ := inHome(t)
	packaged := filepath.Join(t.TempDir(), unit)
	write(t, packaged, Unit("/usr/bin/rollcall"))
	wants := filepath.Join(config, "systemd", "user", "default.target.wants")
	must.Do(t, os.MkdirAll(wants, 0o700))
	must.Do(t, os.Symlink(packaged, filepath.Join(wants, unit)))
	if s, err := Keeper.State(); err != nil || !s.On || len(s.Paths) != 1 {
		t.Errorf("%+v, %v", s, err)
	}
	if err := os.Remove(packaged); err != nil { // the package is gone, its link is not
		t.Fatal(err)
	}
	if s, err := Keeper.State(); err != nil || s.On {
		t.Errorf("without the package: %+v, %v", s, err)
	}
}

// TestTemporaryIsNew: what stands where a temporary file could be written is not followed and stays.
func TestTemporaryIsNew(t *testing.T) {
	dir := t.TempDir()
	victim, path := filepath.Join(dir, "victim"), filepath.Join(dir, "entry.desktop")
	must.Do(t, os.WriteFile(victim, []byte("mine"), 0o600))
	must.Do(t, os.Symlink(victim, path+".rollcall-new"))
	must.Do(t, replace(path, "text"))
	kept, err := os.ReadFile(victim)
	written, writeErr := os.ReadFile(path)
	info, statErr := os.Stat(path)
	if err != nil || writeErr != nil || statErr != nil || string(kept) != "mine" || string(written) != "text" || info.Mode().Perm() != 0o644 {
		t.Errorf("%q, %q, %v, %v, %v, %v", kept, written, info.Mode(), err, writeErr, statErr)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, ".*")); len(left) > 0 {
		t.Errorf("left %q", left)
	}
}
