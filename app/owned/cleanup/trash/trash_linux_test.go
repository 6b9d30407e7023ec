package trash

import (
	"errors"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"rollcall/internal/must"
)

func none(string) string { return "" }

func write(t *testing.T, path, text string) string {
	t.Helper()
	must.Do(t, os.MkdirAll(filepath.Dir(path), 0o755))
	must.Do(t, os.WriteFile(path, []byte(text), 0o640))
	return path
}

// holds checks that the trash has the file with its info, and that it is gone
// from where it was.
func holds(t *testing.T, where, from, recorded, text string) {
	t.Helper()
	if got, err := os.ReadFile(where); err != nil || string(got) != text {
		t.Errorf("%s: %q, %v", where, got, err)
	}
	if _, err := os.Lstat(from); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%s is still there: %v", from, err)
	}
	can := filepath.Dir(filepath.Dir(where))
	info := must.Get(os.ReadFile(filepath.Join(can, "info", filepath.Base(where)+".trashinfo")))(t)
	lines := strings.Split(string(info), "\n")
	if len(lines) != 4 || lines[0] != "[Trash Info]" || lines[3] != "" {
		t.Fatalf("%q", info)
	}
	path, err := url.PathUnescape(strings.TrimPrefix(lines[1], "Path="))
	if err != nil || path != recorded {
		t.Errorf("%q, %v; want %q", path, err, recorded)
	}
	at, err := time.ParseInLocation("2006-01-02T15:04:05", strings.TrimPrefix(lines[2], "DeletionDate="), time.Local)
	if err != nil || time.Since(at).Abs() > time.Minute {
		t.Errorf("%q, %v", lines[2], err)
	}
}

func TestHomeTrash(t *testing.T) {
	home := t.TempDir()
	trash := New(home, none)
	for i, name := range []string{"a.json", "a.json", "a.json", "line\nbreak [Trash Info]\nPath=/etc", "\x1b[31m\xff%20", strings.Repeat("x", 255)} {
		from := write(t, filepath.Join(home, "d", name), strconv.Itoa(i))
		old := time.Now().Add(-time.Hour).Truncate(time.Second)
		must.Do(t, os.Chtimes(from, old, old))
		where := must.Get(trash.Put(from))(t)
		holds(t, where, from, from, strconv.Itoa(i))
		info, err := os.Stat(where)
		if err != nil || info.Mode().Perm() != 0o640 || !info.ModTime().Equal(old) {
			t.Errorf("%s: %v, %v", name, info.Mode(), err)
		}
	}
	for _, dir := range []string{"", "files", "info"} {
		if info, err := os.Stat(filepath.Join(home, ".local/share/Trash", dir)); err != nil || info.Mode().Perm() != 0o700 {
			t.Errorf("%s: %v, %v", dir, info, err)
		}
	}
}

func TestNames(t *testing.T) {
	home := t.TempDir()
	data := filepath.Join(home, "elsewhere")
	trash := New(home, func(name string) string { return map[string]string{"XDG_DATA_HOME": data}[name] })
	// A file without info, and an info without file: both names are taken.
	write(t, filepath.Join(data, "Trash/files/a"), "orphan")
	must.Do(t, os.MkdirAll(filepath.Join(data, "Trash/info"), 0o700))
	write(t, filepath.Join(data, "Trash/info/a.2.trashinfo"), "orphan")
	where, err := trash.Put(write(t, filepath.Join(home, "a"), "x"))
	if err != nil || where != filepath.Join(data, "Trash/files/a.3") {
		t.Error(where, err)
	}
	if got, _ := os.ReadFile(filepath.Join(data, "Trash/files/a")); string(got) != "orphan" {
		t.Errorf("%q", got)
	}
}

func TestRefused(t *testing.T) {
	home := t.TempDir()
	trash := New(home, none)
	must.Do(t, os.Symlink("/etc/passwd", filepath.Join(home, "link")))
	for _, path := range []string{home, filepath.Join(home, "link"), filepath.Join(home, "missing"), "relative"} {
		if where, err := trash.Put(path); err == nil {
			t.Errorf("%s went to %s", path, where)
		}
	}
	// A trash that can't be made: the file stays.
	from := write(t, filepath.Join(home, "f"), "x")
	write(t, filepath.Join(home, ".local/share/Trash"), "a file")
	if _, err := trash.Put(from); err == nil || !strings.Contains(err.Error(), "not a folder that belongs to you") {
		t.Error(err)
	}
	if _, err := os.Stat(from); err != nil {
		t.Error(err)
	}
}

const otherDisk = "ROLLCALL_TRASH_TEST_DISK"

// TestOtherFileSystem runs itself again in a mount namespace of its own, in which
// a tmpfs is another disk.
func TestOtherFileSystem(t *testing.T) {
	if dir := os.Getenv(otherDisk); dir != "" {
		onOtherDisk(t, dir)
		return
	}
	if os.Getuid() != 0 {
		t.Skip("takes root, to mount")
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestOtherFileSystem$", "-test.v")
	cmd.Env = append(os.Environ(), otherDisk+"="+t.TempDir())
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS}
	out, err := cmd.CombinedOutput()
	if errors.Is(err, syscall.EPERM) {
		t.Skip("no mount namespace to be had")
	}
	if strings.Contains(string(out), "--- SKIP") {
		t.Skipf("%s", out)
	}
	if err != nil || !strings.Contains(string(out), "--- PASS") {
		t.Errorf("%v\n%s", err, out)
	}
}

func onOtherDisk(t *testing.T, dir string) {
	if err := unix.Mount("none", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		t.Skip("can't make mounts private:", err)
	}
	disk := filepath.Join(dir, "disk")
	must.Do(t, os.Mkdir(disk, 0o755))
	if err := unix.Mount("tmpfs", disk, "tmpfs", 0, "size=1m"); err != nil {
		t.Skip("can't mount a tmpfs:", err)
	}
	t.Cleanup(func() { _ = unix.Unmount(disk, unix.MNT_DETACH) })
	trash := New(dir, none)
	uid := strconv.Itoa(os.Getuid())
	put := func(text string) (from, where string) {
		t.Helper()
		from = write(t, filepath.Join(disk, "sub dir/é.json"), text)
		where = must.Get(trash.Put(from))(t)
		return from, where
	}

	from, where := put("one")
	if where != filepath.Join(disk, ".Trash-"+uid, "files/é.json") {
		t.Errorf("its own trash: %s", where)
	}
	holds(t, where, from, "sub dir/é.json", "one")

	// An administrator's $top/.Trash counts only with the sticky bit.
	shared := filepath.Join(disk, ".Trash")
	must.Do(t, os.Mkdir(shared, 0o777))
	_, where = put("two")
	if !strings.HasPrefix(where, filepath.Join(disk, ".Trash-"+uid)) {
		t.Errorf("without sticky bit: %s", where)
	}
	must.Do(t, os.Chmod(shared, 0o777|os.ModeSticky))
	from, where = put("three")
	if where != filepath.Join(shared, uid, "files/é.json") {
		t.Errorf("with sticky bit: %s", where)
	}
	holds(t, where, from, "sub dir/é.json", "three")

	// A stranger's folder, or a link, in its place: the home trash, by a copy.
	must.Do(t, os.Lchown(filepath.Join(shared, uid), 12345, 12345))
	must.Do(t, os.Rename(filepath.Join(disk, ".Trash-"+uid), filepath.Join(disk, "away")))
	must.Do(t, os.Symlink("away", filepath.Join(disk, ".Trash-"+uid)))
	from, where = put("four")
	if !strings.HasPrefix(where, filepath.Join(dir, ".local/share/Trash/files")) {
		t.Errorf("a link for a trash: %s", where)
	}
	holds(t, where, from, from, "four")
}
