//go:build unix

package store

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"rollcall/internal/eventually"
	"rollcall/internal/must"
)

// What another user may have written is not read, and the message says how to
// mend it.
func TestUnsafe(t *testing.T) {
	needsRoot := func(t *testing.T) {
		if os.Geteuid() != 0 {
			t.Skip("only root can give a file to another user")
		}
	}
	const stranger = 65534
	for name, tt := range map[string]struct {
		do   func(t *testing.T, top string, f Folder)
		says string
	}{
		"folder of another user": {func(t *testing.T, _ string, f Folder) {
			needsRoot(t)
			must.Do(t, os.Chown(f.Path(), stranger, stranger))
		}, "belongs to another user (uid 65534)"},
		"folder that others write": {func(t *testing.T, _ string, f Folder) { must.Do(t, os.Chmod(f.Path(), 0o777)) }, "chmod go-w"},
		"folder that the group writes": {func(t *testing.T, _ string, f Folder) {
			must.Do(t, os.Chmod(f.Path(), 0o770))
		}, "chmod go-w"},
		"top folder that others write": {func(t *testing.T, top string, _ Folder) { must.Do(t, os.Chmod(top, 0o777)) }, "chmod go-w"},
		"folder is a link": {func(t *testing.T, top string, f Folder) {
			must.Do(t, os.Rename(f.Path(), filepath.Join(top, "elsewhere")))
			must.Do(t, os.Symlink("elsewhere", f.Path()))
		}, "it is a link"},
		"top folder is a link": {func(t *testing.T, top string, _ Folder) {
			must.Do(t, os.Rename(top, top+"-elsewhere"))
			must.Do(t, os.Symlink(top+"-elsewhere", top))
		}, "it is a link"},
		"file of another user": {func(t *testing.T, _ string, f Folder) {
			needsRoot(t)
			must.Do(t, os.Chown(f.File("x"), stranger, stranger))
		}, "belongs to another user (uid 65534)"},
		"file that others write": {func(t *testing.T, _ string, f Folder) { must.Do(t, os.Chmod(f.File("x"), 0o666)) }, "chmod go-w"},
		"file is a link": {func(t *testing.T, top string, f Folder) {
			must.Do(t, os.Rename(f.File("x"), filepath.Join(top, "target")))
			must.Do(t, os.Symlink("../target", f.File("x")))
		}, "it is a link"},
		"file is a link in the folder": {func(t *testing.T, _ string, f Folder) {
			must.Do(t, os.Rename(f.File("x"), f.Path()+"/target"))
			must.Do(t, os.Symlink("target", f.File("x")))
		}, "it is a link"},
	} {
		t.Run(name, func(t *testing.T) {
			top := filepath.Join(t.TempDir(), "rollcall")
			f := Below(top, "x")
			must.Do(t, f.Write("x", value{1}))
			tt.do(t, top, f)
			var v value
			err := f.Read("x", &v)
			var unsafe *UnsafeError
			if !errors.As(err, &unsafe) || v.N != 0 || !strings.Contains(err.Error(), tt.says) {
				t.Errorf("read %+v, %v", v, err)
			}
			all, err := All[value](f)
			if !errors.As(err, &unsafe) || len(all) != 0 {
				t.Errorf("read all %v, %v", all, err)
			}
		})
	}
}

// Nothing is written through a link, or into a folder of another user's.
func TestUnsafeWrite(t *testing.T) {
	top, outside := filepath.Join(t.TempDir(), "rollcall"), t.TempDir()
	must.Do(t, os.Mkdir(top, 0o700))
	must.Do(t, os.Symlink(outside, filepath.Join(top, "x")))
	f := Below(top, "x")
	if err := f.Write("x", value{1}); !errors.Is(err, ErrUnsafe) || !errors.Is(err, ErrNotWritten) {
		t.Errorf("write: %v", err)
	}
	if _, err := f.Lock(t.Context()); !errors.Is(err, ErrUnsafe) {
		t.Errorf("lock: %v", err)
	}
	if left, _ := os.ReadDir(outside); len(left) > 0 {
		t.Errorf("%v was made outside", left)
	}
}

// To open a pipe that nobody writes to would take for ever, and so would a lock
// that leads to one.
func TestLockFileIsNone(t *testing.T) {
	for name, do := range map[string]func(path string) error{
		"pipe": func(path string) error { return syscall.Mkfifo(path, 0o600) },
		"link": func(path string) error { return os.Symlink("/dev/zero", path) },
		"link to a pipe": func(path string) error {
			return errors.Join(syscall.Mkfifo(path+"-pipe", 0o600), os.Symlink(filepath.Base(path)+"-pipe", path))
		},
		"folder": func(path string) error { return os.Mkdir(path, 0o700) },
	} {
		t.Run(name, func(t *testing.T) {
			f := In(t.TempDir())
			must.Do(t, do(filepath.Join(f.Path(), guard)))
			done := make(chan error, 1)
			go func() {
				unlock, err := f.Lock(context.Background())
				if err == nil {
					unlock()
				}
				done <- err
			}()
			select {
			case err := <-done:
				if !errors.Is(err, ErrUnsafe) || !strings.Contains(err.Error(), guard) {
					t.Errorf("%v", err)
				}
			case <-time.After(20 * time.Second):
				t.Fatal("it hangs")
			}
		})
	}
}

// A write that fails makes a temporary file and removes it again. That must not
// wake whoever would then try to write again.
func TestTemporaryFilesAreNoChanges(t *testing.T) {
	f := In(t.TempDir())
	changed := must.Get(f.Changes(t.Context()))(t)
	for _, name := range []string{"x" + temporary + "1", guard, "other"} {
		path := filepath.Join(f.Path(), name)
		must.Do(t, os.WriteFile(path, []byte("{}"), 0o600))
		must.Do(t, os.Remove(path))
	}
	select {
	case <-changed:
		t.Error("a temporary file was told as a change")
	case <-time.After(200 * time.Millisecond): // nothing tells that nothing is told
	}
	must.Do(t, f.Write("x", value{1}))
	select {
	case <-changed:
	case <-time.After(eventually.Limit):
		t.Fatal("the value's change was not told")
	}
}
