package proc

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"rollcall/internal/must"
)

// appendAndWatch is a child that appends to a file by two descriptors, reads it by
// a third, and watches its folder.
func appendAndWatch() error {
	var files []*os.File
	for range 2 {
		f, err := os.OpenFile("log", os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err != nil {
			return err
		}
		defer f.Close()
		files = append(files, f)
	}
	for i, line := range []string{"first\n", "second\n", "third\n"} {
		if _, err := files[i%2].WriteString(line); err != nil {
			return err
		}
	}
	reader, err := os.Open("log")
	if err != nil {
		return err
	}
	defer reader.Close()
	if _, err := reader.Read(make([]byte, 2)); err != nil {
		return err
	}
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	if _, err := unix.InotifyAddWatch(fd, ".", unix.IN_MODIFY); err != nil {
		return err
	}
	return ready("ready")
}

func TestAppendedAndWatched(t *testing.T) {
	folder := t.TempDir()
	c := start(t, "append", func(c *exec.Cmd) { c.Dir = folder })
	table := Open()
	p := must.Get(table.Find(c.Process.Pid))(t)
	resolved := must.Get(filepath.EvalSymlinks(folder))(t)
	ends, err := table.Appended(p.Identity, filepath.Join(resolved, "log"))
	if want := []int64{19, 13}; err != nil || !slices.Equal(ends, want) {
		t.Errorf("appended up to %v, %v, want %v", ends, err, want)
	}
	if ends, err := table.Appended(p.Identity, filepath.Join(resolved, "other")); err != nil || len(ends) != 0 {
		t.Errorf("of another file: %v, %v", ends, err)
	}
	info := must.Get(os.Stat(folder))(t)
	want, _ := FileIDOf(info)
	watched, err := table.Watched(p.Identity)
	if err != nil || !slices.Equal(watched, []FileID{want}) {
		t.Errorf("watched: %v, %v, want %v", watched, err, want)
	}
	reused := p.Identity
	reused.Start++
	if _, err := table.Watched(reused); !errors.Is(err, ErrGone) {
		t.Errorf("another process's: %v", err)
	}
	if _, err := table.Appended(reused, "x"); !errors.Is(err, ErrGone) {
		t.Errorf("another process's: %v", err)
	}
}

func TestParseFDInfo(t *testing.T) {
	for info, want := range map[string]int64{
		"pos:\t3679\nflags:\t0102001\nmnt_id:\t88\n": 3679, "pos:\t0\nflags:\t0102001\n": 0,
		"pos:\t3679\nflags:\t0100000\n": 0, "pos:\tx\nflags:\ty\n": 0, "": 0,
	} {
		if got := appendedTo(info); got != want {
			t.Errorf("%q: %d, want %d", info, got, want)
		}
	}
	line := "inotify wd:1 ino:a923ab sdev:fe00001 mask:fc6 ignored_mask:0 fhandle-bytes:8 fhandle-type:1 f_handle:ab23a9009a037d19"
	if got, ok := parseWatch(line); !ok || got != (FileID{0xfe, 1, 0xa923ab}) {
		t.Errorf("%x, %v", got, ok)
	}
	for _, bad := range []string{"", "pos:\t0", "inotify", "inotify wd:x ino:zz sdev:1", strings.Repeat("inotify:", 1000)} {
		if got, ok := parseWatch(bad); ok {
			t.Errorf("%.40q: %v", bad, got)
		}
	}
}
